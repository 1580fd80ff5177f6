"""Talks written down as "Name: text"."""

from datetime import datetime

import pytest

from memory.importers import recognised
from memory.importers.transcript import Transcript
from memory.importers.types import ImportRejected, Skipped
from tests.memory.importers.given import fixture, found_by, given, lines_of


def spoken(data: str) -> list[tuple[str, str]]:
    return [(line.speaker, line.text) for line in lines_of(found_by(Transcript(), given(data)))]


def test_a_talk_is_read() -> None:
    source = fixture("transcript.txt")
    assert recognised(source).name == "transcript"
    found = found_by(Transcript(), source)
    assert [(line.speaker, line.text, line.at) for line in lines_of(found)] == [
        ("Ana", "I went to the lake.\n\nIt was cold.\nNote: bring a coat.", None),
        ("Mira", "Did you swim?", None),
        ("Ana", "Yes: twice. See http://example.org", None),
        ("Mira", "Brave.", datetime(2024, 1, 5, 21, 5)),
        ("小黑", "喵", None),
        ("Ana", "Good night.", None),
        ("小黑", "喵喵", None),
    ]
    assert found[0] == Skipped("line 1", "nobody")


def test_two_lines_of_two_people_are_a_talk() -> None:
    assert spoken("Ana: hi\nMira: hello") == [("Ana", "hi"), ("Mira", "hello")]


def test_plain_labels_say_who_is_who() -> None:
    lines = lines_of(found_by(Transcript(), given("Human: hi\nAssistant: hello\nNote: one\nHuman: bye\n")))
    assert [(line.role, line.text) for line in lines] == [
        ("user", "hi"),
        ("persona", "hello\nNote: one"),
        ("user", "bye"),
    ]


@pytest.mark.parametrize(
    "line", ["At 12:30: lunch", "see http://x", "A long sentence that ends like this: so", "Oh, well: no"]
)
def test_lines_with_colons_go_on_with_what_was_said(line: str) -> None:
    data = f"Ana: hi\nMira: hello\nAna: listen\n{line}\nMira: yes\n"
    assert ("Ana", f"listen\n{line}") in spoken(data)


def test_text_in_which_nobody_speaks_is_refused() -> None:
    with pytest.raises(ImportRejected) as rejected:
        spoken("Once upon a time.\n")
    assert rejected.value.code == "not_this"


def test_millions_of_names_are_not_held() -> None:
    data = "".join(f"N{number:x}a: hi\n" for number in range(30_000)) + "Ana: hi\nMira: hi\n" * 2
    assert {speaker for speaker, _text in spoken(data)} == {"Ana", "Mira"}
