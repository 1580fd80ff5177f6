"""Sessions written as "Name: text"."""

from datetime import datetime

import pytest

from memory.imports.readers import read, recognize
from memory.imports.readers.transcript import Transcript
from memory.imports.readers.types import ImportRejected, Options, Skipped, is_between_people
from tests.memory.imports.readers.sources import entries_of, fixture, messages_of, read_items, source_of
from tests.table import each_row


def speakers_and_texts(data: str) -> list[tuple[str, str]]:
    return [(message.speaker, message.text) for message in messages_of(read_items(Transcript(), source_of(data)))]


def test_a_session_is_read() -> None:
    source = fixture("transcript.txt")
    assert recognize(source).name == "transcript"
    items = read_items(Transcript(), source)
    assert [(message.speaker, message.text, message.at) for message in messages_of(items)] == [
        ("Ana", "I went to the lake.\n\nIt was cold.\nNote: bring a coat.", None),
        ("Mira", "Did you swim?", None),
        ("Ana", "Yes: twice. See http://example.org", None),
        ("Mira", "Brave.", datetime(2024, 1, 5, 21, 5)),
        ("小黑", "喵", None),
        ("Ana", "Good night.", None),
        ("小黑", "喵喵", None),
    ]
    assert items[0] == Skipped("line 1", "nobody")


def test_two_lines_of_two_people_are_a_session() -> None:
    assert speakers_and_texts("Ana: hi\nMira: hello") == [("Ana", "hi"), ("Mira", "hello")]


def test_plain_labels_say_who_is_who() -> None:
    messages = messages_of(read_items(Transcript(), source_of("Human: hi\nAssistant: hello\nNote: one\nHuman: bye\n")))
    assert [(message.role, message.text) for message in messages] == [
        ("user", "hi"),
        ("persona", "hello\nNote: one"),
        ("user", "bye"),
    ]


@each_row("line", ["At 12:30: lunch", "see http://x", "A long sentence that ends like this: so", "Oh, well: no"])
def test_lines_with_colons_go_on_with_what_was_said(line: str) -> None:
    data = f"Ana: hi\nMira: hello\nAna: listen\n{line}\nMira: yes\n"
    assert ("Ana", f"listen\n{line}") in speakers_and_texts(data)


def test_text_in_which_nobody_speaks_is_refused() -> None:
    with pytest.raises(ImportRejected) as rejected:
        speakers_and_texts("Once upon a time.\n")
    assert rejected.value.code == "not_this"


def test_millions_of_names_are_not_held() -> None:
    data = "".join(f"N{number:x}a: hi\n" for number in range(30_000)) + "Ana: hi\nMira: hi\n" * 2
    assert {speaker for speaker, _text in speakers_and_texts(data)} == {"Ana", "Mira"}


def test_what_may_be_a_chat_and_may_be_notes_is_asked_and_the_answer_holds() -> None:
    unclear = {
        "names alone": "小美\n在吗\n\n安娜\n在的，怎么了\n吃饭了吗\n\n小美\n还没\n",
        "names alone, tight": "Ana\nare you there?\nMira\nyes\nAna\nlunch?\nMira\nno\n",
        "one name": "小美: 在吗\n小美: 你好\n小美：我到了\n",
        "a list": "Coffee: black\nTea: green\nMilk: none\n",
        "a form of ones own": "Body: ok\nMind: calm\nSoul: off\n\nBody: bad\nMind: calm\nSoul: on\n",
        "a form by day": "2024-01-15\nBody: ok\nMind: calm\n\n2024-01-16\nBody: tired\nMind: calm\n",
        "a diary that tells": "2024-01-15\nI met Ben.\nBen: ready?\nMe too, I said.\nBen: go\nRita: yes\nRita: ok\n"
        "We went.\n",
    }
    for case, data in unclear.items():
        for content in (data.encode(), data.replace("\n", "\r\n").encode("utf-16")):
            source = source_of(content, "copy.txt")
            with pytest.raises(ImportRejected) as rejected:
                list(read(source))
            assert rejected.value.code == "ask_chat_or_notes", case
            chat = list(read(source, options=Options(kind="chat")))
            assert len(messages_of(chat)) > 1, case
            assert not entries_of(chat), case
            notes = list(read(source, options=Options(kind="notes")))
            assert entries_of(notes), case
            assert not messages_of(notes), case
    messages = messages_of(list(read(source_of(unclear["names alone"]), options=Options(kind="chat"))))
    assert [(message.speaker, message.text) for message in messages] == [
        ("小美", "在吗"), ("安娜", "在的，怎么了\n吃饭了吗"), ("小美", "还没"),
    ]  # fmt: skip


def test_nobody_is_asked_where_it_is_clear() -> None:
    chats = {
        "days": ("2024-01-15\nAna: hi\nMira: yo\nAna: so\n\n2024-01-16\nMira: yes\nAna: good\n", 5),
        "roles": ("## User\n\nhi there\n\n## Assistant\n\nHello!\n\n## User\n\nbye\n", 3),
        "front matter": ("---\ntitle: a chat\n---\n\n**Ana:** hi\n**Mira:** yo\n**Ana:** so\n", 3),
    }
    for case, (data, count) in chats.items():
        source = source_of(data, "notes.md")
        assert recognize(source).name == "transcript", case
        assert len(messages_of(list(read(source)))) == count, case
    days = [message.at for message in messages_of(list(read(source_of(chats["days"][0]))))]
    assert days == [datetime(2024, 1, 15)] * 3 + [datetime(2024, 1, 16)] * 2
    notes = (
        "2016. 1. 24 SUNDAY\nMood: good\nWeather: rain\nI went out.\n\n2016. 1. 25 MONDAY\nMood: bad\nWeather: sun\n"
        "Home.\n",
        "Monday: went to the gym\nTuesday: rested\nJanuary 5: snow\n",
        "9:05 AM: up\n9:30 AM: bus\n1:30 PM: lunch\n",
        "Roses are red\nViolets are blue\n\nSugar is sweet\nAnd so are you\n\nRoses are red\nAgain\n",
        "TODO: milk\nIdeas: many\nTODO: bread\nIdeas: more\n",
        "I met Ben today: it rained, and we talked for long.\nNothing else.\n",
        "心情：好\n天气：雨\n今天在家。\n心情：差\n天气：晴\n出门。\n",
    )
    for data in notes:
        items = list(read(source_of(data, "notes.txt")))
        assert entries_of(items), data
        assert not messages_of(items), data
    assert is_between_people(Transcript())


def test_a_time_above_what_is_said_is_no_word_of_it() -> None:
    data = "1:30:05 PM\nAna: hi\n1:31:00 PM\nMira: yo\n1:32:00 PM\nAna: ok\nat\n"
    for day, at in (("", None), ("2024-01-15\n\n", datetime(2024, 1, 15, 13, 30, 5))):
        messages = messages_of(read_items(Transcript(), source_of(day + data)))
        assert [(message.speaker, message.text) for message in messages] == [
            ("Ana", "hi"),
            ("Mira", "yo"),
            ("Ana", "ok\nat"),
        ]
        assert messages[0].at == at
    assert ("Mira", "at\n12:30") in speakers_and_texts("Ana: when?\nMira: at\n12:30\nAna: ok\n")


def test_copies_of_mails_are_asked_about_and_their_heads_are_no_words() -> None:
    mails = (
        "From: Ana Lee <ana@example.org>\nTo: Mira\nSubject: lake\n\nShall we go?\n\n"
        "From: Mira\nTo: Ana\nSubject: Re: lake\n\nYes: at nine.\n",
        "Von: Ana Lee\nGesendet: Montag\nAn: Mira\nBetreff: See\n\nShall we go?\n\n"
        "Von: Mira\nAn: Ana\n\nYes: at nine.\n",
    )
    for data in mails:
        source = source_of(data, "mail.txt")
        with pytest.raises(ImportRejected) as rejected:
            list(read(source))
        assert rejected.value.code == "ask_chat_or_notes", data
        messages = messages_of(list(read(source, options=Options(kind="chat"))))
        assert [(message.speaker, message.text) for message in messages] == [
            ("Ana Lee", "Shall we go?"),
            ("Mira", "Yes: at nine."),
        ]
