"""WhatsApp's chats, in the stamps of many phones."""

from datetime import datetime

import pytest

from memory.imports.readers import recognize
from memory.imports.readers.types import FileSession, ImportRejected, Options, Skipped
from memory.imports.readers.whatsapp import WhatsApp
from tests.memory.imports.readers.sources import (
    FILES,
    fixture,
    messages_of,
    read_items,
    skips_of,
    source_of,
    zip_source,
)
from tests.table import each_row

NARROW = "\u202f"
MARK = "\u200e"
RIGHT = "\u200f"
EVENING = datetime(2023, 12, 31, 21, 5)


def texts(data: str, options: Options | None = None) -> list[tuple[str, str]]:
    return [
        (message.speaker, message.text) for message in messages_of(read_items(WhatsApp(), source_of(data), options))
    ]


def test_a_chat_of_android_is_read() -> None:
    items = read_items(WhatsApp(), fixture("WhatsApp Chat with Mira.txt"))
    assert [(message.speaker, message.text) for message in messages_of(items)] == [
        ("Ana", "Happy new year!"),
        ("Mira", "Happy new year, Ana.\nI wish you:\n\n- health\n- Note: luck"),
        ("Ana", "The fireworks"),
        ("Mira", "So bright!"),
        ("Ana", "3/4 of it is over: sad"),
    ]
    assert skips_of(items) == ["notice", "media", "media", "deleted", "notice"]
    assert [session.title for session in items if isinstance(session, FileSession)] == ["Mira"]
    assert [message.at for message in messages_of(items)][1:3] == [
        datetime(2023, 12, 31, 21, 6),
        datetime(2023, 12, 31, 23, 59),
    ]


def test_a_chat_of_an_iphone_is_read() -> None:
    items = read_items(WhatsApp(), fixture("_chat.txt"))
    assert [(message.speaker, message.text) for message in messages_of(items)] == [
        ("Ana", "Happy new year!"), ("Mira", "My dog"), ("Ana", "He is\nlovely"), ("Ben", "Hello all"),
    ]  # fmt: skip
    assert skips_of(items) == ["notice", "media", "media"]
    assert messages_of(items)[0].at == datetime(2023, 12, 31, 21, 5, 33)


def test_a_chat_in_chinese_is_read() -> None:
    items = read_items(WhatsApp(), fixture("与小美的 WhatsApp 聊天.txt"))
    assert [(message.speaker, message.text, message.at) for message in messages_of(items)] == [
        ("安娜", "新年快乐！", datetime(2023, 12, 31, 9, 5)),
        ("小美", "新年快乐\n今天下雪了。", datetime(2023, 12, 31, 21, 5)),
        ("小美", "吃饭了吗？", datetime(2023, 12, 31, 12, 10)),
    ]
    assert skips_of(items) == ["media", "deleted"]
    assert [session.title for session in items if isinstance(session, FileSession)] == ["小美"]


@each_row(
    "stamp",
    [
        "31/12/2023, 21:05 - ", "31.12.23, 21:05 - ", "31-12-2023 21:05 - ", "12/31/23, 9:05 PM - ",
        f"12/31/23, 9:05{NARROW}PM - ", "31/12/2023, 9:05 pm - ", "31/12/23, 9:05 p. m. - ", "2023/12/31 21:05 - ",
        "2023/12/31 下午9:05 - ", "2023-12-31 21:05 - ", "2023年12月31日 下午9:05 - ", "31/12/2023, 21.05 - ",
        "2023. 12. 31. 오후 9:05 - ", "31/12/2023 à 21:05 - ", "31/12/23 21:05 – ", "[31/12/2023, 21:05:00] ",
        f"[12/31/23, 9:05:00{NARROW}PM] ", "[31.12.23, 21:05:00] ", "[2023/12/31 下午9:05:00] ",
        "[2023/12/31 晚上9:05:00] ", f"{MARK}[31/12/2023, 21:05:00] ", "[31-12-2023 21:05:00] ",
        "31/12/2023, 21:05:00 - ", "2023년 12월 31일 오후 9:05 - ", "31.12.23 г., 21:05 ч. - ", "31/12/2566 21:05 - ",
        "2023-12-31 21 h 05 - ", "[2023-12-31 21 h 05 min 00 s] ", "31/12/23, 9:05 μ.μ. - ", "31.12.2023 klo 21.05 - ",
        f"{RIGHT}٣١{RIGHT}/١٢{RIGHT}/٢٠٢٣, ٩:٠٥ م - ", f"[٣١{RIGHT}/١٢{RIGHT}/٢٠٢٣، ٩:٠٥:٠٠ م] ",
        "२०२३/१२/३१, ९:०५ अपराह्न - ", "[21:05, 31/12/2023] ", f"[9:05{NARROW}PM, 12/31/2023] ", "21:05, 31/12/2023 - ",
    ],
)  # fmt: skip
def test_stamps_of_many_phones_say_the_same_moment(stamp: str) -> None:
    data = f"{stamp}Ana: Hello\nand more\n{stamp}Mira: Good evening\n"
    messages = messages_of(read_items(WhatsApp(), source_of(data)))
    assert [(message.speaker, message.text, message.at) for message in messages] == [
        ("Ana", "Hello\nand more", EVENING), ("Mira", "Good evening", EVENING),
    ]  # fmt: skip
    assert recognize(source_of(data)).name == "whatsapp"


@each_row(
    ("clock", "hour"),
    [
        ("12:30 AM", 0), ("12:30 PM", 12), ("1:30 a.m.", 1), ("11:30 pm", 23), ("凌晨12:30", 0), ("凌晨1:30", 1),
        ("中午12:30", 12), ("中午11:30", 11), ("中午1:30", 13), ("下午1:30", 13), ("晚上11:30", 23), ("上午8:30", 8),
        ("0:30", 0), ("23:30", 23), ("下午15:30", 15),
    ],
)  # fmt: skip
def test_halves_of_the_day_are_understood(clock: str, hour: int) -> None:
    messages = messages_of(read_items(WhatsApp(), source_of(f"2023/12/31 {clock} - Ana: Hello\n")))
    assert [message.at for message in messages] == [datetime(2023, 12, 31, hour, 30)]


def chat(*days: str) -> str:
    return "".join(f"{day}, 10:00 - Ana: Hello {number}\n" for number, day in enumerate(days))


@each_row(
    ("days", "second"),
    [
        (("03/04/2024", "13/04/2024"), datetime(2024, 4, 13)), (("03/04/2024", "03/24/2024"), datetime(2024, 3, 24)),
        (("03/11/2024", "04/11/2024", "02/12/2024"), datetime(2024, 11, 4)),
        (("3.4.2024", "4.4.2024"), datetime(2024, 4, 4)), (("04/04/2024", "05/05/2024"), datetime(2024, 5, 5)),
    ],
)  # fmt: skip
def test_the_order_of_day_and_month_is_told_from_the_whole_file(days: tuple[str, ...], second: datetime) -> None:
    assert messages_of(read_items(WhatsApp(), source_of(chat(*days))))[1].at == second.replace(hour=10)


def test_where_no_date_tells_the_order_it_is_asked_for() -> None:
    data = chat("03/04/2024", "05/04/2024")
    with pytest.raises(ImportRejected) as rejected:
        texts(data)
    assert rejected.value.code == "ask_day_first"
    for day_first, month in ((True, 4), (False, 3)):
        message = messages_of(read_items(WhatsApp(), source_of(data), Options(day_first=day_first)))[0]
        assert message.at is not None
        assert message.at.month == month


def test_an_order_in_which_the_dates_do_not_exist_is_refused() -> None:
    with pytest.raises(ImportRejected) as rejected:
        texts(chat("03/04/2024", "13/04/2024"), Options(day_first=False))
    assert rejected.value.code == "other_day_first"


def test_what_only_looks_like_a_stamp_goes_on_with_the_message() -> None:
    assert texts(chat("03/04/2024") + chat("99/99/2024") + chat("13/04/2024")) == [
        ("Ana", "Hello 0\n99/99/2024, 10:00 - Ana: Hello 0"), ("Ana", "Hello 0"),
    ]  # fmt: skip


def test_where_dates_contradict_each_other_the_chosen_order_holds() -> None:
    data = chat("03/04/2024", "13/04/2024", "04/14/2024")
    with pytest.raises(ImportRejected) as rejected:
        texts(data)
    assert rejected.value.code == "ask_day_first"
    assert len(texts(data, Options(day_first=True))) == 2


@each_row(
    ("text", "reason"),
    [
        ("<Media omitted>", "media"), ("<Medien ausgeschlossen>", "media"), ("<省略多媒体文件>", "media"),
        (f"{MARK}image omitted", "media"), (f"{MARK}音频已忽略", "media"), (f"{MARK}<attached: 1.opus>", "media"),
        ("PTT-20231231-WA0003.opus (file attached)", "media"), ("IMG-1.jpg (Datei angehängt)", "media"),
        (f"{MARK}IMG-1.jpg (文件附件)", "media"),
        ("This message was deleted", "deleted"), (f"{MARK}You deleted this message.", "deleted"),
        ("<Medien weggelassen>", "media"), ("<Mídia oculta>", "media"), ("<تم استبعاد الوسائط>", "media"),
        ("<המדיה לא נכללה>", "media"), ("<メディアなし>", "media"), ("<已省略多媒體檔>", "media"),
        ("<मीडिया शामिल नहीं है>", "media"), ("<View once photo omitted>", "media"),
        (f"{MARK}画像は除外されています", "media"), (f"{MARK}изображение отсутствует", "media"),
        (f"{MARK}已忽略图片", "media"), (f"{MARK}<附件：1-PHOTO.jpg>", "media"),
        (f"{MARK}Bill.pdf • {MARK}3 pages {MARK}<attached: 2-Bill.pdf>", "media"),
        (f"{MARK}Bill.pdf • {MARK}3 pages {MARK}document omitted", "media"),
        (f"{MARK}This message was deleted by admin Ben.", "deleted"), ("Bu mesajı sildiniz", "deleted"),
        ("Je hebt dit bericht verwijderd", "deleted"),
        (f"{MARK}POLL:\nWhere to?\n{MARK}OPTION: The sea (2 votes)\n{MARK}OPTION: Home (0 votes)\n", "media"),
        ("UMFRAGE:\nWohin?\nOPTION: Ans Meer (2 Stimmen)\nOPTION: Heim (0 Stimmen)\n", "media"),
        (f"{MARK}Ort: https://maps.google.com/?q=1.5,2.5", "media"), ("null", "media"),
        ("location: https://maps.google.com/?q=51.48,-3.18", "media"), ("Ben.vcf (file attached)", "media"),
        (f"{MARK}The Sea (1 Beach Rd): https://foursquare.com/v/4b", "media"), ("Missed voice call", "notice"),
        ("Voice call, 2 min", "notice"), ("Verpasster Videoanruf", "notice"), ("未接语音通话", "notice"),
        ("此消息已删除", "deleted"), (f"{MARK}Missed voice call", "notice"), ("", "empty"),
    ],
)  # fmt: skip
def test_what_stands_in_place_of_words_is_told(text: str, reason: str) -> None:
    items = read_items(WhatsApp(), source_of(f"31/12/2023, 21:05 - Ana: Hello\n31/12/2023, 21:06 - Ana: {text}\n"))
    assert skips_of(items) == [reason]
    assert [message.text for message in messages_of(items)] == ["Hello"]


@each_row(
    ("text", "words", "reason"),
    [
        (f"So bright {MARK}image omitted", "So bright", "media"), (f"图 {MARK}<附件: 1-PHOTO.jpg>", "图", "media"),
        (f"nasılsın {MARK}<Bu mesaj düzenlendi>", "nasılsın", ""), ("пока <Сообщение изменено>", "пока", ""),
        ("look: https://maps.google.com/?q=1.5,2.5", "look: https://maps.google.com/?q=1.5,2.5", ""),
        ("null and void", "null and void", ""), ("a video call, at 9?", "a video call, at 9?", ""),
        ("see\n31/12/2023\n21:05 - he wrote: no", "see\n31/12/2023\n21:05 - he wrote: no", ""),
    ],
)  # fmt: skip
def test_what_somebody_said_beside_what_the_app_put_there_stays(text: str, words: str, reason: str) -> None:
    items = read_items(WhatsApp(), source_of(f"31/12/2023, 21:06 - Ana: {text}\n"))
    assert [message.text for message in messages_of(items)] == [words]
    assert skips_of(items) == [reason] * bool(reason)


@each_row(
    "text",
    [
        "<hug>", "see <3", "I deleted this message", "image omitted?", "Note: this", "31/12/2023", "(file attached)",
        "a: b: c", "12:30 - Ana", "https://example.org/x.jpg", '"quoted: words"', "Media omitted",
    ],
)  # fmt: skip
def test_words_that_look_like_something_else_stay_words(text: str) -> None:
    assert texts(f"31/12/2023, 21:05 - Ana: {text}\n") == [("Ana", text)]


@each_row(
    "notice",
    [
        "Messages and calls are end-to-end encrypted.", "Mira added you", 'Ana changed the subject to "Rome: again"',
        "Ana hat die Gruppe „Rom: bald“ erstellt", "您创建了群组“罗马: 再见”",
    ],
)  # fmt: skip
def test_notices_of_the_app_are_told(notice: str) -> None:
    items = read_items(WhatsApp(), source_of(f"31/12/2023, 21:05 - {notice}\n31/12/2023, 21:06 - Ana: Hello\n"))
    assert items[0] == Skipped("line 1", "notice")
    assert [message.speaker for message in messages_of(items)] == ["Ana"]


def test_a_later_export_gives_the_same_ids() -> None:
    lines = [f"31/12/2023, 21:{minute:02} - Ana: Hello\n" for minute in (1, 1, 2, 3)]
    whole, later = (messages_of(read_items(WhatsApp(), source_of("".join(part)))) for part in (lines, lines[2:]))
    assert len({message.source_id for message in whole}) == 4
    assert [message.source_id for message in whole][2:] == [message.source_id for message in later]


def test_everybody_in_a_group_keeps_their_name() -> None:
    data = "".join(f"31/12/2023, 21:05 - {name}: Hi\n" for name in ("Ana", "Mira", "+49 170 1234567", "Ben: B", "小美"))
    assert [speaker for speaker, _text in texts(data)] == ["Ana", "Mira", "+49 170 1234567", "Ben", "小美"]


@each_row("name", ["_chat.txt", "WhatsApp Chat with Mira.txt"])
def test_the_zip_is_read_and_its_pictures_are_told(name: str) -> None:
    source = zip_source({name: (FILES / name).read_bytes(), "1.jpg": b"x", "note.txt": "x"}, "WhatsApp Chat - Mira.zip")
    assert recognize(source).name == "whatsapp"
    items = read_items(WhatsApp(), source)
    assert len(messages_of(items)) == len(messages_of(read_items(WhatsApp(), fixture(name))))
    assert Skipped("1.jpg", "media") in items
    assert Skipped("note.txt", "document") in items
    assert {session.title for session in items if isinstance(session, FileSession)} == {"Mira"}


def test_several_chats_in_a_zip_are_sessions_of_their_own() -> None:
    chat_of = "31/12/2023, 21:06 - {}: Hello\n".format
    folders = {f"WhatsApp Chat - {name}/_chat.txt": chat_of(name) for name in ("Mira", "Ben")}
    for members in (folders, {"a/_chat.txt": chat_of("Mira"), "b/_chat.txt": chat_of("Ben")}):
        sessions = [
            session for session in read_items(WhatsApp(), zip_source(members)) if isinstance(session, FileSession)
        ]
        assert [session.lines[0].speaker for session in sessions] in (["Mira", "Ben"], ["Ben", "Mira"])
        assert len({(session.title, session.source_id) for session in sessions}) == 2


@each_row(
    ("name", "title"),
    [
        ("WhatsApp Chat with Mira (2).txt", "Mira"), ("WhatsApp-Chat mit Mira.txt", "Mira"), ("notes.txt", ""),
        ("Chat de WhatsApp con Mira.txt", "Mira"), ("和小美的WhatsApp对话.txt", "小美"),
    ],
)  # fmt: skip
def test_the_name_of_the_file_says_whom_the_chat_is_with(name: str, title: str) -> None:
    items = read_items(WhatsApp(), source_of("31/12/2023, 21:06 - Ana: Hello\n", name))
    assert [session.title for session in items if isinstance(session, FileSession)] == [title]


def test_what_stands_before_the_first_stamp_is_told() -> None:
    items = read_items(WhatsApp(), source_of("My notes\n31/12/2023, 21:06 - Ana: Hello\n"))
    assert items[0] == Skipped("line 1", "nobody")


def test_other_text_is_refused() -> None:
    with pytest.raises(ImportRejected) as rejected:
        texts("Dear diary,\nit rained.\n")
    assert rejected.value.code == "not_this"


def test_a_part_of_a_chat_may_begin_within_a_message() -> None:
    rest = "".join(f"31.12.23, 21:0{minute} - Ana: Hello {minute}\n" for minute in range(4))
    source = source_of(f"12.03. at 14:00 - do not forget\n{rest}")
    assert isinstance(recognize(source), WhatsApp)
    items = read_items(WhatsApp(), source)
    assert (len(messages_of(items)), skips_of(items)) == (4, ["nobody"])


def test_what_a_group_is_told_is_nobodys_words_in_any_language() -> None:
    notices = (
        "Messages and calls are end-to-end encrypted. Only people in this chat can read: learn more",
        "Ana created group “Trip: 2024”", "Ana changed the subject from Trip: 2024 to Rome",
        "Ben hat den Betreff der Gruppe zu „Rom: wieder“ geändert", "Ana creó el grupo «Viaje: 2024»",
        "Ana a créé le groupe « Voyage : 2024 »: oui", "Ana 建立了群組「旅行: 2024」",
        "Ana bytte namn till ”Resa: 2024”",
        "Ana changed the group description: see there", "안나님이 그룹 이름을 '여행: 2024'(으)로 변경했습니다",
    )  # fmt: skip
    for notice in notices:
        assert texts(f"31/12/2023, 21:05 - {notice}\n31/12/2023, 21:05 - Ana: hi\n") == [("Ana", "hi")], notice


def test_a_group_that_tells_of_itself_under_its_own_name_is_no_speaker() -> None:
    head = "[31/12/2023, 21:05:33] "
    text = f"{head}Ana: hello: all\n{head}Mira: I left early, and changed the subject\n{head}Ben: Anna added salt\n"
    for first in (
        "Trip 2024: Messages and calls are end-to-end encrypted. No one outside of this chat can read them.",
        "Trip 2024: Ana created this group", "Trip 2024: Ana hat diese Gruppe erstellt",
        "旅行: 消息和通话已进行端到端加密。",
    ):  # fmt: skip
        name = first.partition(":")[0]
        for mark in ("", MARK):
            data = f"{head}{first.replace(': ', ': ' + mark)}\n{head}{name}: {mark}Ben was added\n{text}"
            assert [speaker for speaker, _text in texts(data)] == ["Ana", "Mira", "Ben"], first
    chat_text = f"{head}Mira: {MARK}Messages and calls are end-to-end encrypted.\n{head}Mira: hi\n{head}Ana: yo\n"
    assert texts(chat_text) == [("Mira", "hi"), ("Ana", "yo")]


def test_the_bare_term_of_a_notice_is_a_message() -> None:
    assert texts(f"{chat('13/04/2024')}13/04/2024, 10:05 - Ana: 端對端加密\n")[-1] == ("Ana", "端對端加密")
    head = "[31/12/2023, 21:05:33] "
    assert texts(f"{head}Ana: end-to-end encryption\n{head}Mira: hm?\n")[0] == ("Ana", "end-to-end encryption")


def test_who_deleted_a_message_here_is_the_owner() -> None:
    for notice in ("You deleted this message", f"{MARK}Du hast diese Nachricht gelöscht.", "您删除了此消息"):
        chat_with = chat("13/04/2024") + f"13/04/2024, 10:05 - Ana: {notice}\n13/04/2024, 10:06 - Mira: hi\n"
        roles = [
            (message.speaker, message.role) for message in messages_of(read_items(WhatsApp(), source_of(chat_with)))
        ]
        assert roles == [("Ana", "user"), ("Mira", "")], notice
        both_deleted = chat_with + f"13/04/2024, 10:07 - Mira: {notice}\n"
        assert {message.role for message in messages_of(read_items(WhatsApp(), source_of(both_deleted)))} == {""}, (
            notice
        )


def test_a_chat_in_which_nothing_was_said_is_refused_and_no_diary() -> None:
    source = source_of("31/12/23, 23:41 - Messages and calls are end-to-end encrypted. Tap to learn more.\n")
    assert recognize(source).name == "whatsapp"
    with pytest.raises(ImportRejected) as rejected:
        read_items(WhatsApp(), source)
    assert rejected.value.code == "nothing_found"
