"""Which format a file has, and who speaks in it."""

import time

import pytest

from memory.imports.readers import FORMATS, format_named, read, speakers
from memory.imports.readers.reasons import REJECTIONS, SKIPS
from memory.imports.readers.types import FileMessage, FileSession, ImportRejected, Role, Skipped
from tests.memory.imports.readers.sources import fixture, messages_of, source_of
from tests.table import each_row


def talk(*spoken: tuple[str, Role], title: str = "") -> FileSession:
    return FileSession(
        title,
        "t",
        tuple(FileMessage(name, "Hi", None, str(number), "", role) for number, (name, role) in enumerate(spoken)),
        "",
    )


def guesses(*sessions: FileSession) -> dict[str, str]:
    return {speaker.name: speaker.guess for speaker in speakers(sessions)}


def test_formats_have_names_of_their_own_and_words_for_people() -> None:
    assert len({form.name for form in FORMATS}) == len(FORMATS)
    assert all(str(form.label) for form in FORMATS)
    assert format_named("whatsapp").name == "whatsapp"


def test_a_file_is_read_as_what_it_is() -> None:
    assert len(messages_of(list(read(fixture("telegram_chat.json"))))) == 5


def test_a_file_in_which_there_is_nothing_is_refused() -> None:
    with pytest.raises(ImportRejected) as rejected:
        list(read(source_of("[]"), format_named("chatgpt")))
    assert rejected.value.code == "nothing_found"


@each_row("data", ["[" * 70_000, '{"a":' * 20_000, "a: " * 20_000, "\n" * 70_000, "x" * 200_000, "1/1/1" * 20_000])
def test_a_look_at_a_strange_file_is_quick(data: str) -> None:
    begin = time.monotonic()
    for form in FORMATS:
        assert 0 <= form.resembles(source_of(data).sample) <= 1
    assert time.monotonic() - begin < 3


def test_messages_are_counted_per_speaker() -> None:
    items = [talk(("Ana", ""), ("Mira", ""), ("Ana", "")), Skipped("line 1", "media"), talk(("Ben", ""))]
    assert [(speaker.name, speaker.lines) for speaker in speakers(items)] == [("Ana", 2), ("Mira", 1), ("Ben", 1)]


def test_what_the_file_says_of_people_is_the_guess() -> None:
    assert guesses(talk(("Ana", "user"), ("Mira", "persona"))) == {"Ana": "user", "Mira": "persona"}


def test_of_two_people_one_follows_from_the_other() -> None:
    assert guesses(talk(("Ana", "user"), ("Mira", ""))) == {"Ana": "user", "Mira": "persona"}
    assert guesses(talk(("Assistant", ""), ("Ana", ""))) == {"Assistant": "persona", "Ana": "user"}
    assert guesses(talk(("Ana", ""), ("Mira", ""), title="Mira")) == {"Ana": "user", "Mira": "persona"}
    assert guesses(talk(("Ana", "user"), ("Mira", ""), ("The Paper", "other")))["Mira"] == "persona"


def test_where_nothing_speaks_for_a_side_nothing_is_guessed() -> None:
    assert set(guesses(talk(("Ana", ""), ("Mira", ""))).values()) == {""}
    assert set(guesses(talk(("Ana", ""), ("Mira", ""), ("Ben", ""), title="Ben")).values()) == {""}


def test_every_reason_has_words() -> None:
    assert all(str(words) for words in (*SKIPS.values(), *REJECTIONS.values()))
    with pytest.raises(ValueError, match="not a reason"):
        Skipped("line 1", "because")


def test_a_rejection_says_where_and_why() -> None:
    assert str(ImportRejected("not_json", "line 3")) == "line 3: This is not JSON, or it is damaged or cut off."
    assert "“X”" in str(ImportRejected("not_this", format="X"))
