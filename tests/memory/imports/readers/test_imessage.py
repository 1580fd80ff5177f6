"""iMessage and SMS, as imessage-exporter writes them."""

from datetime import datetime

import pytest

from memory.imports.readers import read, recognize
from memory.imports.readers.called import may_be_name
from memory.imports.readers.imessage import IMessage
from memory.imports.readers.imessage_words import words_in
from memory.imports.readers.localized_times import moment_in
from memory.imports.readers.types import ImportRejected, Options, is_between_people
from tests.memory.imports.readers.sources import (
    entries_of,
    fixture,
    messages_of,
    read_items,
    skips_of,
    source_of,
    zip_source,
)

# Of versions before 2025: answers and reactions are indented in their first line only, and end with a blank line more.
OLD = """Sep 03, 2021  9:05:00 AM
Sample Contact
Shall we?
Reactions:
Loved by Me

    Sep 03, 2021  1:06:00 PM
    Me
    Yes
two lines
    Reactions:
        Laughed by Sample Contact


Sep 03, 2021  1:06:00 PM
Me
Yes
two lines
This message responded to an earlier message.

Sep 04, 2021 12:01:00 AM You renamed the conversation to Trip: 2021

Sep 04, 2021 12:02:00 AM Sample Contact changed the group photo.

Sep 04, 2021 12:03:00 AM
Sample Contact
This message was deleted from the conversation!
gone

"""
OF_A_GROUP = """Jan 05, 2024 11:59:59 PM (Read by Nina after 3 seconds)
+15551234567
Who comes?

Jan 06, 2024 12:00:00 AM (Read by them after 2 days, 1 hour)
Nina
I do
    Jan 06, 2024 12:30:00 AM
    ben@example.org
    Me too

    even twice

Jan 06, 2024 12:01:00 PM
ben@example.org
PM

Jan 06, 2024 12:02:00 PM ben@example.org left the conversation.

"""
IN_GERMAN = """24. Mai 2020 um 10:14:22 (Read by Ana after 5 seconds)
Mira Müller
Hallo

24. Mai 2020 um 13:30:05 (Read by them after 2 hours)
Ana
Na?

24. Mai 2020 um 13:31:00
Mira Müller
Gut
"""
IN_CHINESE = """2020年5月24日 上午10:14:22
小美
你好

2020年5月24日 下午1:30:05
我
嗨
上午 9:05 见

2020年5月24日 下午1:31:00
小美
好
"""
CUT_OFF = """and the rest of it

May 24, 2020  1:14:22 PM
Mira
Hello

May 24, 2020  1:15:22 PM
Me
Hi

May 24, 2020  1:16:22 PM"""


def test_nothing_but_what_was_said_becomes_a_message_and_each_at_its_time() -> None:
    source = fixture("imessage.txt")
    assert recognize(source).name == "imessage"
    items = list(read(source))
    assert [
        (message.at and message.at.strftime("%H:%M:%S"), message.speaker, message.text)
        for message in messages_of(items)
    ] == [
        ("10:14:22", "Mira", "Hello Ana"),
        ("13:30:05", "Me", "Hi! How was\nyour day?\n\nFine I hope."),
        ("13:31:00", "Mira", "Long.\nVery long"),
        ("13:36:00", "Mira", "look at this"),
        ("13:37:00", "Mira", "second version\nwith more"),
        ("13:39:00", "Me", "https://example.com/a"),
        ("13:40:00", "Me", "And now?"),
        ("13:45:00", "Mira", "See you at ten"),
    ]
    assert {message.speaker: message.role for message in messages_of(items)} == {"Mira": "", "Me": "user"}
    assert set(skips_of(items)) == {"notice", "media", "deleted", "duplicate"}


def test_other_versions_languages_and_clocks_are_read_and_the_owner_is_told_by_receipts() -> None:
    cases = {
        "old": (OLD, [("Sample Contact", "Shall we?", 9), ("Me", "Yes\ntwo lines", 13)], {"Me"}),
        "group": (
            OF_A_GROUP,
            [
                ("+15551234567", "Who comes?", 23), ("Nina", "I do", 0), ("ben@example.org", "Me too\n\neven twice", 0),
                ("ben@example.org", "PM", 12),
            ],
            {"Nina"},
        ),
        "german": (IN_GERMAN, [("Mira Müller", "Hallo", 10), ("Ana", "Na?", 13), ("Mira Müller", "Gut", 13)], {"Ana"}),
        "chinese": (IN_CHINESE, [("小美", "你好", 10), ("我", "嗨\n上午 9:05 见", 13), ("小美", "好", 13)], {"我"}),
        "cut off": (CUT_OFF, [("Mira", "Hello", 13), ("Me", "Hi", 13)], {"Me"}),
    }  # fmt: skip
    for case, (data, expected, owners) in cases.items():
        for end, encoding in (("\n", "utf-8"), ("\r\n", "utf-8-sig"), ("\n", "utf-16")):
            source = source_of(data.replace("\n", end).encode(encoding), "chat.txt")
            assert recognize(source).name == "imessage", case
            messages = messages_of(list(read(source)))
            assert [
                (message.speaker, message.text, message.at and message.at.hour) for message in messages
            ] == expected, case
            assert {message.speaker for message in messages if message.role == "user"} == owners, case


def test_what_somebody_did_to_the_conversation_is_nobodys_name_below_a_time_either() -> None:
    text = (
        "Nov 03, 2023 12:00:07 AM\n+447700900123 named the conversation “Bonfire: 5th”\n\n"
        "Nov 03, 2023 12:01:30 AM\n+447700900123\nwho has the matches\n\n"
        "Nov 03, 2023  6:15:02 AM\nGwen\nI left the conversation starters at home\n\n"
        "Nov 03, 2023 12:46:00 PM\n+447700900456 unsent a message!\n\n"
        "Nov 03, 2023  1:06:00 PM\nGwen added +447700900789 to the conversation.\n"
    )
    assert recognize(source_of(text, "group.txt")).name == "imessage"
    items = list(read(source_of(text, "group.txt")))
    assert [(message.speaker, message.text) for message in messages_of(items)] == [
        ("+447700900123", "who has the matches"),
        ("Gwen", "I left the conversation starters at home"),
    ]
    assert skips_of(items) == ["notice"] * 3


def test_what_apps_write_into_messages_is_nobodys_words() -> None:
    cases = {
        "GamePigeon message:\n8 Ball\nYour turn": "",
        "com.apple.fake message:\nTitle": "",
        "Here is my message:\nI love you": "Here is my message:\nI love you",
        "My message:\nI love you": "My message:\nI love you",
        "Apple Cash transaction: $5.00": "",
        "Check\u00a0In: Timer Started\nChecked in at Oct 14, 2023  1:54:29 PM": "",
        "- Rust (1)\n  - carol\n- Go (2)\n  - alice\n  - bob": "",
        "- milk\n- eggs": "- milk\n- eggs",
        "SharePlay Message\nEnded": "",
        "Started sharing location!": "",
        "Oh, il a traduit !\nTranslated from:\nOh it translated!": "Oh it translated!",
        "https://example.com/a\nTitle\nA summary of it": "https://example.com/a",
        "look\nhttps://example.com/a": "look\nhttps://example.com/a",
        "Song\nAlbum\nArtist\nhttps://music.apple.com/us/album/1": "https://music.apple.com/us/album/1",
        "attachments/1/My Photo.heic": "",
        "~/Library/Messages/Attachments/0a/10/x/IMG_0001.MOV\nso loud": "so loud",
        "Attachment missing!": "",
        "https://example.com/cat.jpg": "https://example.com/cat.jpg",
        "either/or is what I said": "either/or is what I said",
        "Sent with Love": "Sent with Love",
        "Sent with Love\nSent with Slam": "Sent with Love",
        "Outline Sticker from Me: a/b/c.heic": "",
        "Laughed at “what a day”": "",
        "Loved the idea": "Loved the idea",
        "Reactions:\nmixed, I would say": "Reactions:\nmixed, I would say",
        "You unsent this message part 1 hour, 49 seconds after sending!": "",
        "\ufffchello": "hello",
    }
    for body, text in cases.items():
        assert words_in(body.split("\n"), lambda line: None).text == text, body


def test_times_are_read_in_the_language_of_the_phone() -> None:
    evening = datetime(2020, 5, 24, 13, 30)
    for text in (
        "May 24, 2020 1:30 PM", "Sunday, May 24, 2020 at 1:30\u202fPM", "24 May 2020, 13:30",
        "24. Mai 2020 um 13:30 Uhr", "Sonntag, 24. Mai 2020 um 1:30 nachm.", "24 de mayo de 2020, 1:30 p. m.",
        "24 de mai. de 2020, 13:30 BRT", "dimanche 24 mai 2020 à 13h30", "24 мая 2020 г., 13:30 MSK",
        "2020年5月24日星期日 下午1:30", "2020. 5. 24. 오후 1:30", "2020년 5월 24일 일요일 오후 1:30",
        "2020/05/24(日) 午後1:30", "24. toukokuuta 2020 klo 13.30", "13:30, 24 May 2020",
        "24 thg 5, 2020 13:30", "2563年5月24日 13:30", "May 24, 2020 13:30 PM", "24.05.20, 13:30",
    ):  # fmt: skip
        moment = moment_in(text)
        assert moment is not None, text
        assert moment.at() == evening, text
    for other in ("24 May 2020, 13:30 Ana", "Ana 24 May 2020 13:30", "May", "13:30", "24 May 2020", "24.24.20 13:30"):
        assert moment_in(other) is None, other
    assert all(map(may_be_name, ("May", "Pam", "Amy", "Sun")))
    assert not any(map(may_be_name, ("PM", "p. m.", "下午", "nachm.", "(Read by you)", "Monday", "PM Ana", "24 May")))


def test_a_diary_with_the_same_times_stays_one_and_where_the_file_does_not_tell_it_is_asked() -> None:
    diary = "Jan 05, 2024 10:30:00 PM\nGym\nLegs.\n\nJan 06, 2024 10:30:00 PM\nI slept badly.\nThen work.\n"
    assert recognize(source_of(diary, "d.txt")).name == "journal"
    titles = "Jan 05, 2024 10:30:00 PM\nGym\nLegs.\n\nJan 06, 2024 10:30:00 PM\nWork\nLong.\n"
    source = source_of(titles, "d.txt")
    with pytest.raises(ImportRejected) as rejected:
        list(read(source))
    assert rejected.value.code == "ask_chat_or_notes"
    assert len(entries_of(list(read(source, options=Options(kind="notes"))))) == 2
    assert [message.speaker for message in messages_of(list(read(source, options=Options(kind="chat"))))] == [
        "Gym",
        "Work",
    ]


def test_the_zip_of_an_export_is_read_chat_by_chat_and_its_files_are_told() -> None:
    source = zip_source(
        {"export/Mira.txt": CUT_OFF, "export/Group - 5.txt": OF_A_GROUP, "export/attachments/1/a.heic": b"x"}
    )
    assert recognize(source).name == "imessage"
    items = list(read(source))
    assert len(messages_of(items)) == 6
    assert skips_of(items).count("media") == 1


def test_dates_in_either_order_are_asked_about_and_people_are_no_personas() -> None:
    data = "05/04/2020 22:14:05\nMira\nHallo\n\n05/04/2020 22:15:05\nMe\nNa\n"
    with pytest.raises(ImportRejected) as rejected:
        read_items(IMessage(), source_of(data))
    assert rejected.value.code == "ask_day_first"
    messages = messages_of(read_items(IMessage(), source_of(data), Options(day_first=True)))
    assert [message.at for message in messages] == [datetime(2020, 4, 5, 22, 14, 5), datetime(2020, 4, 5, 22, 15, 5)]
    assert is_between_people(IMessage())
