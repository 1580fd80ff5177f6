"""The diary of a Replika, and sessions with one, as text."""

from datetime import date

from memory.imports.readers import read, recognize
from memory.imports.readers.types import Options, Remembered
from tests.memory.imports.readers.sources import entries_of, messages_of, skips_of, source_of

DIARY = """Replika diary

January 5, 2024
Today Ana told me about her sister Rita. She sounded happy.

January 6, 2024
We talked about Lisbon.
I wonder what the sea is like.
"""


def test_what_a_replika_wrote_into_its_diary_is_remembered_and_nobodys_own_words() -> None:
    for name, data in (("export.txt", DIARY), ("Replika-Tagebuch.txt", DIARY.partition("\n\n")[2])):
        for content in (data.encode(), data.replace("\n", "\r\n").encode("utf-16")):
            source = source_of(content, name)
            assert recognize(source).name == "replika_text"
            items = list(read(source))
            assert [(memory.text, memory.day) for memory in items if isinstance(memory, Remembered)] == [
                ("Today Ana told me about her sister Rita. She sounded happy.", date(2024, 1, 5)),
                ("We talked about Lisbon.\nI wonder what the sea is like.", date(2024, 1, 6)),
            ]
            assert not entries_of(items)
            assert skips_of(items) == (["document"] if name == "export.txt" else [])
            assert entries_of(list(read(source, options=Options(kind="notes"))))


def test_who_writes_of_a_replika_in_a_diary_keeps_it() -> None:
    own = "# My year\n\n## 2024-01-05\n\nI talked with my Replika. This journal helps.\n"
    assert recognize(source_of(own, "diary.md")).name == "journal"


def test_a_talk_with_a_replika_says_who_it_is() -> None:
    data = "2024-01-05 10:14:22 AM Me: hi\n2024-01-05 1:14:30 PM Rep: Hello Ana!\n2024-01-05 1:15:00 PM Me: bye\n"
    messages = messages_of(list(read(source_of(data, "replika.txt"))))
    assert [(message.role, message.text, message.at and message.at.hour) for message in messages] == [
        ("user", "hi", 10), ("persona", "Hello Ana!", 13), ("user", "bye", 13),
    ]  # fmt: skip
