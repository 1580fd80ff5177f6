"""Files without a published structure: the fields are guessed, confirmed, and read as confirmed."""

import json
import tracemalloc
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any

import pytest
from django.utils.translation import override
from hypothesis import given as supposing
from hypothesis import strategies as some

from memory.imports.readers import read, recognize
from memory.imports.readers.fields import Mapping
from memory.imports.readers.mapper import MappedFile, guess
from memory.imports.readers.types import FileSession, ImportRejected, Options, ReaderItem
from tests.memory.imports.readers.sources import entries_of, fixture, messages_of, read_items, skips_of, source_of
from tests.table import each_row


def read_mapped(data: Any, **corrections: str) -> list[ReaderItem]:
    """The items read with the guessed mapping, or with a corrected one."""
    source = source_of(data if isinstance(data, str) else json.dumps(data))
    mapping = guess(source)
    assert mapping
    return read_items(MappedFile(), source, Options(mapping=replace(mapping, **corrections)))


def test_the_guess_finds_records_deep_in_a_file() -> None:
    mapping = guess(fixture("character_talks.json"))
    assert mapping == Mapping(
        text="content",
        speaker="author.name",
        at="create_time",
        source_id="id",
        records="chats.chats.item.turns.item",
        sure=True,
    )


def test_conversations_stay_apart_and_have_their_titles() -> None:
    source = fixture("character_talks.json")
    items = read_items(MappedFile(), source, Options(mapping=guess(source)))
    sessions = [session for session in items if isinstance(session, FileSession)]
    assert [(session.title, len(session.lines), session.location) for session in sessions] == [
        ("The garden", 2, "conversation 1"),
        ("", 1, "conversation 2"),
    ]
    assert messages_of(items)[1].at == datetime(2024, 1, 5, 21, 5, 9, tzinfo=UTC)
    assert [message.source_id for message in messages_of(items)] == ["t1", "t2", "t3"]
    assert recognize(source).name == "mapped"


def test_a_guess_is_never_used_unasked() -> None:
    with pytest.raises(ImportRejected) as rejected:
        read_items(MappedFile(), fixture("character_talks.json"))
    assert rejected.value.code == "ask_mapping"


@each_row("flag", ["is_human", "is_user"])
def test_a_yes_or_no_says_who_speaks(flag: str) -> None:
    items = read_mapped([{flag: True, "text": "Hello there"}, {flag: False, "text": "Good evening"}])
    assert [(message.speaker, message.role) for message in messages_of(items)] == [
        ("user", "user"),
        ("assistant", "persona"),
    ]


def test_a_flag_for_bots_says_the_opposite() -> None:
    items = read_mapped([{"is_bot": 1, "text": "Hello there"}, {"is_bot": 0, "text": "Good evening"}], speaker="is_bot")
    assert [message.role for message in messages_of(items)] == ["persona", "user"]


@each_row(
    "record",
    [
        {"role": "user", "content": "Hello there"},
        {"sender": "Ana", "message": "Hello there", "timestamp": 1704488700},
        {"author": "Ana", "body": "Hello there", "created_at": "2024-01-05T21:05:00Z"},
        {"from": "Ana", "text": "Hello there", "date": "2024-01-05"},
        {"src": {"is_human": True}, "text": "Hello there"},
        {"name": "Ana", "mes": "Hello there", "send_date": "2024-01-05 21:05"},
    ],
)
def test_common_names_leave_no_doubt(record: dict[str, Any]) -> None:
    for data in ([record] * 3, {"a": {"b": [record] * 3}}, {"chats": [{"messages": [record] * 3}]}):
        mapping = guess(source_of(json.dumps(data)))
        assert mapping
        assert mapping.sure
        assert [message.text for message in messages_of(read_mapped(data))] == ["Hello there"] * 3


def test_json_lines_are_records() -> None:
    text = '{"role": "user", "content": "Hello"}\n{"role": "bot", "content": "Hi"}\n{broken\n'
    items = read_mapped(text)
    assert [message.text for message in messages_of(items)] == ["Hello", "Hi"]
    assert skips_of(items) == ["broken"]


def test_json_lines_may_each_be_a_conversation() -> None:
    line = json.dumps({"title": "One", "messages": [{"role": "user", "content": "Hello"}]})
    sessions = [session for session in read_mapped(f"{line}\n{line}\n") if isinstance(session, FileSession)]
    assert [(session.title, session.location) for session in sessions] == [
        ("One", "conversation 1"),
        ("One", "conversation 2"),
    ]


def test_records_without_speakers_are_entries() -> None:
    (entry,) = entries_of(read_mapped([{"date": "2024-01-05", "text": "It snowed all night."}]))
    assert (entry.day, entry.text) == (date(2024, 1, 5), "It snowed all night.")


def test_what_has_no_telling_names_is_guessed_from_values_and_not_sure() -> None:
    mapping = guess(source_of(json.dumps([{"x1": "2024-01-05", "x2": "A long line of words that somebody wrote."}])))
    assert mapping
    assert (mapping.text, mapping.at, mapping.sure) == ("x2", "x1", False)


def test_a_table_can_be_mapped_too() -> None:
    source = source_of("a,b\nAna,Hello there my dear\n", "t.csv")
    items = read_items(MappedFile(), source, Options(mapping=Mapping(text="2", speaker="1")))
    assert [message.speaker for message in messages_of(items)] == ["a", "Ana"]


def test_records_that_are_none_are_told() -> None:
    long = "x" * 70_000
    bad = [3, {"role": "user", "content": [1]}, {"role": "user", "content": long}]
    data = [{"role": "user", "content": "Hello"}] * 3 + bad
    assert skips_of(read_mapped(data)) == ["broken", "unknown", "too_long"]


@each_row(
    ("data", "code"),
    [
        ('{"a": 1}', "nothing_found"),
        ("[1, 2, 3]", "nothing_found"),
        ('[{"x": 1.5}]', "nothing_found"),
        ('[{"role": "user", "content": "Hello there"', "not_json"),
        ('[{"role": "user", "content": "Hello there"}, {"role"', "not_json"),
        ("", "nothing_found"),
        (b"\xff\xff\xfe", "encoding"),
    ],
)
def test_what_cannot_be_read_is_refused(data: str | bytes, code: str) -> None:
    mapping = None if code == "nothing_found" else Mapping(text="content", speaker="role", records="item")
    with pytest.raises(ImportRejected) as rejected:
        read_items(MappedFile(), source_of(data), Options(mapping=mapping))
    assert rejected.value.code == code


def test_nesting_without_end_is_told_or_refused() -> None:
    data = '[{"role": "user", "content": "Hello there"}, {"x": ' + "[" * 5_000
    with pytest.raises(ImportRejected):
        read_items(
            MappedFile(), source_of(data), Options(mapping=Mapping(text="content", speaker="role", records="item"))
        )


TEXTS = some.text(some.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(lambda text: bool(text.strip()))


@supposing(some.lists(some.lists(some.tuples(some.sampled_from(["Ana", "Mira"]), TEXTS), min_size=1), min_size=1))
def test_every_text_comes_out_in_its_order(sessions: list[list[tuple[str, str]]]) -> None:
    data = {"chats": [{"messages": [{"from": name, "text": text} for name, text in session]} for session in sessions]}
    mapping = Mapping(text="text", speaker="from", records="chats.item.messages.item")
    items = read_items(MappedFile(), source_of(json.dumps(data)), Options(mapping=mapping))
    assert [(message.speaker, message.text) for message in messages_of(items)] == [
        message for session in sessions for message in session
    ]


def test_a_long_file_is_read_in_little_memory() -> None:
    words = "It rained, and the day went by. " * 30
    records = ({"role": "user", "content": f"{number} {words}"} for number in range(5_500))
    source = source_of("[" + ",".join(json.dumps(record) for record in records) + "]")
    tracemalloc.start()
    items = MappedFile().read(source, Options(mapping=Mapping(text="content", speaker="role", records="item")))
    message_count = sum(len(session.lines) for session in items if isinstance(session, FileSession))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert message_count == 5_500
    assert peak < 12 * 1024**2


def test_the_same_words_in_two_sessions_are_two_lines() -> None:
    hello = [{"author": "Ana", "text": "Hello"}, {"author": "Mira", "text": "Hi"}]
    items = read_mapped([{"title": "a", "messages": hello}, {"title": "b", "messages": hello}])
    assert len({message.source_id for message in messages_of(items)}) == 4


def test_an_id_says_nothing_of_the_language_of_whoever_reads() -> None:
    entries = [{"date": "2024-01-05", "text": "It snowed."}, {"date": "2024-01-06", "text": "It rained."}]
    sessions = [[{"author": "Ana", "text": "Hello"}], [{"author": "Mira", "text": "Hi"}]]
    for records in (entries, sessions):
        with override("en"):
            english = read_mapped(records)
        with override("zh-hans"):
            assert [item.source_id for item in read_mapped(records)] == [item.source_id for item in english]  # type: ignore[union-attr]


def test_a_title_without_words_beneath_it_is_the_entry() -> None:
    items = read_mapped(
        {
            "entries": [
                {"title": "Rain.", "body": "", "date": "2024-01-05"},
                {"title": "Snow", "body": "Cold.", "date": "2024-01-06"},
            ]
        }
    )
    assert [(entry.title, entry.text) for entry in entries_of(items)] == [("", "Rain."), ("Snow", "Cold.")]


@each_row(
    ("speakers", "roles"),
    [
        ([{"nature": "Customer"}, {"nature": "Robot"}], ["user", "persona"]),
        ([{"sentBy": "user"}, {"sentBy": "nomi"}], ["user", ""]),
        ([{"IsSender": 1}, {"IsSender": 0}], ["user", "other"]),
    ],
)
def test_who_speaks_is_found_in_what_companions_write(speakers: list[Any], roles: list[str]) -> None:
    items = read_mapped([{"text": f"Hello {number}", **who} for number, who in enumerate(speakers)])
    assert [message.role for message in messages_of(items)] == roles


NAMED = ["Ana", "Ben", "阿华", "Dee", "Élodie", "Fay"]


@each_row(
    ("speaker", "others"),
    [
        ("sender", {"type": "text"}),
        ("senderDisplayName", {"senderUsername": "wxid_a1{}", "isSend": 0, "localType": 1}),
        ("fromUser", {"toUser": "Ana"}),
        ("sender_name", {"sender_id": 7001}),
        ("author.name", {"author.id": "88{}", "channel.name": "general", "channel.id": "9"}),
        ("user.name", {"user.id": 3, "team": "T1"}),
        ("from.name", {"from.id": 3}),
        ("NickName", {"Sender": "wxid_9{}", "Type": 1}),
        ("发送人", {"是否本人发送": "否", "消息类型": "文本"}),
        ("handle_of_it", {"seq": 4}),
    ],
)
def test_a_chat_of_six_people_has_its_speaker_proposed(speaker: str, others: dict[str, Any]) -> None:
    def record(number: int) -> dict[str, Any]:
        row: dict[str, Any] = {"content": f"What number {number} wrote down", "createTime": 1_700_000_000 + number}
        for path, value in ((speaker, NAMED[number % 6]), *others.items()):
            *around, key = path.split(".")
            node = row
            for name in around:
                node = node.setdefault(name, {})
            node[key] = value.format(number % 6) if isinstance(value, str) else value
        return row

    for data in ([record(n) for n in range(24)], {"about": {"name": "Us"}, "messages": [record(n) for n in range(24)]}):
        source = source_of(json.dumps(data, ensure_ascii=False))
        mapping = guess(source)
        assert mapping
        assert mapping.speaker == speaker
        assert {
            message.speaker for message in messages_of(read_items(MappedFile(), source, Options(mapping=mapping)))
        } == {*NAMED}
        with pytest.raises(ImportRejected) as rejected:
            read_items(MappedFile(), source, Options(mapping=replace(mapping, speaker="")))
        assert rejected.value.code == "ask_chat_or_notes"


def test_a_flag_beside_a_name_says_whose_lines_are_ones_own() -> None:
    rows = [{"who": ["Ben", "Ana"][n % 2], "is_sender": n % 2, "msg": f"Line {n}"} for n in range(6)]
    assert {(message.speaker, message.role) for message in messages_of(read_mapped(rows))} == {
        ("Ana", "user"),
        ("Ben", "other"),
    }
    # The name of the chat is a field of both sides' messages.
    partner = [{"StrTalker": "Ben", "IsSender": n % 2, "StrContent": f"Line {n}"} for n in range(6)]
    assert {(message.speaker, message.role) for message in messages_of(read_mapped(partner))} == {
        ("user", "user"),
        ("Ben", "other"),
    }


def test_an_id_of_a_person_is_no_id_of_a_message() -> None:
    data = [{"from": {"id": n % 2, "name": "AB"[n % 2]}, "text": f"Line {n}"} for n in range(8)]
    assert len({message.source_id for message in messages_of(read_mapped(data))}) == 8


def test_records_without_speakers_are_asked_about_where_they_may_be_a_chat() -> None:
    data = [{"message": f"See you at {n}", "date": "2024-01-05"} for n in range(5)]
    for kind, code in ((None, "ask_chat_or_notes"), ("chat", "ask_mapping")):
        with pytest.raises(ImportRejected) as rejected:
            read_items(
                MappedFile(),
                source_of(json.dumps(data)),
                Options(mapping=guess(source_of(json.dumps(data))), kind=kind),
            )  # type: ignore[arg-type]
        assert rejected.value.code == code
    mine = Options(mapping=guess(source_of(json.dumps(data))), kind="notes")
    assert len(entries_of(read_items(MappedFile(), source_of(json.dumps(data)), mine))) == 5


def test_a_table_of_messages_without_speakers_is_no_diary() -> None:
    text = "date,message\n" + "".join(f"2024-01-0{n},See you at {n}\n" for n in range(1, 6))
    with pytest.raises(ImportRejected) as rejected:
        list(read(source_of(text, "chat.csv")))
    assert rejected.value.code == "ask_mapping"
    moods = "date,entry,mood\n" + "".join(
        f"2024-01-0{n},It snowed,{'Happy' if n % 2 else 'Sad'}\n" for n in range(1, 6)
    )
    assert len(entries_of(list(read(source_of(moods, "diary.csv"))))) == 5


def test_ids_of_six_people_are_better_speakers_than_a_flag_and_a_flag_is_better_than_one_id() -> None:
    group = [{"senderUsername": f"wxid_a{n % 6}", "isSend": int(n % 6 == 5), "content": f"Line {n}"} for n in range(18)]
    assert len({message.speaker for message in messages_of(read_mapped(group))}) == 6
    assert {message.speaker for message in messages_of(read_mapped(group)) if message.role == "user"} == {"wxid_a5"}
    companion = [{"user_id": 7, "is_user": n % 2 == 0, "text": f"Line {n}"} for n in range(6)]
    assert [message.role for message in messages_of(read_mapped(companion))] == ["user", "persona"] * 3


def test_a_table_in_chinese_says_who_is_the_owner() -> None:
    rows = [f"2024-01-05 10:0{n},{'我叫小明' if n % 2 else '阿华'},{'是' if n % 2 else '否'},你好{n}" for n in range(6)]
    items = list(read(source_of("\n".join(["时间,发送人,是否本人发送,消息内容", *rows]), "a.csv")))
    assert {(message.speaker, message.role) for message in messages_of(items)} == {
        ("我叫小明", "user"),
        ("阿华", "other"),
    }


def test_a_name_that_only_the_other_one_has_is_theirs() -> None:
    data = [{"isSelf": True, "msg": "Hi"}, {"isSelf": False, "nick": "Ben", "msg": "Hello"}] * 3
    items = read_mapped(data)
    assert {(message.speaker, message.role) for message in messages_of(items)} == {("user", "user"), ("Ben", "other")}
    assert len([session for session in items if isinstance(session, FileSession)]) == 1


def test_short_names_of_fields_are_proposed_and_words_of_two_letters_are_words() -> None:
    for text, speaker, others in [
        ("txt", "uid", {"to": 2002}),
        ("msg", "from_uid", {"to_uid": 7}),
        ("t", "user_id", {}),
        ("said", "sender_uid", {"read": True}),
    ]:
        records = [
            {"ts": 1718000000123 + number, speaker: 1000 + number % 2, text: words, **others}
            for number, words in enumerate(("ты спишь?", "нет", "и я нет", "ok"))
        ]
        source = source_of("\n".join(json.dumps(record, ensure_ascii=False) for record in records))
        assert recognize(source).name == "mapped", text
        mapping = guess(source)
        assert mapping is not None
        assert (mapping.text, mapping.speaker, mapping.at) == (text, speaker, "ts")
        items = read_items(MappedFile(), source, Options(mapping=mapping))
        assert [message.speaker for message in messages_of(items)] == ["1000", "1001", "1000", "1001"]


def test_the_other_one_is_named_by_what_stands_above_all_of_it() -> None:
    messages = [{"isSend": n % 2, "msg": f"words of {n}", "createTime": 1702666800 + n} for n in range(4)]
    for above in (
        {"contact": "Lupita"},
        {"session": {"wxid": "wxid_9", "displayName": "Lupita"}},
        {"title": "Chat", "partner": {"name": "Lupita", "id": 7}, "owner": {"name": "Ana"}},
        {"exported": "2024-01-02", "name": "Lupita"},
    ):
        assert [message.speaker for message in messages_of(read_mapped({**above, "list": messages}))] == [
            "Lupita",
            "user",
        ] * 2, above
    chats = [{"contact": name, "list": messages} for name in ("Ben", "Cid")]
    assert {message.speaker for message in messages_of(read_mapped(chats))} == {"Ben", "Cid", "user"}


def test_what_a_program_wrote_among_messages_is_a_notice() -> None:
    records = [
        {"sender": "Ana", "text": "Tea?", "type": "text"},
        {"sender": "Ana", "text": "Ana joined", "type": "system"},
        {"sender": "Ben", "text": "Gladly", "type": "text"},
    ]
    items = read_mapped(records)
    assert [message.text for message in messages_of(items)] == ["Tea?", "Gladly"]
    assert skips_of(items) == ["notice"]


def test_contacts_are_no_messages() -> None:
    contacts = [{"name": name, "created": "2024-01-02", "email": f"{name}@a.example"} for name in ("Ana", "Ben", "Cid")]
    with pytest.raises(ImportRejected) as rejected:
        recognize(source_of(json.dumps(contacts)))
    assert rejected.value.code == "unknown_format"
