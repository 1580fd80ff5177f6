"""Chats of role-play programs."""

import json
from datetime import UTC, datetime

from memory.imports.readers import recognize
from memory.imports.readers.types import FileSession, Skipped
from tests.memory.imports.readers.sources import fixture, messages_of, read_items, source_of
from tests.table import each_row


@each_row(
    ("file", "name", "messages"),
    [
        (
            "ooba.json", "ooba",
            [("character", "persona", "Hello!"), ("user", "user", "Hi"), ("character", "persona", "How are you?")],
        ),
        ("agnai.json", "agnai", [("Mira", "persona", "Hello!"), ("Ana", "user", "Hi")]),
        (
            "cai_tools.json", "cai_tools",
            [("Mira", "persona", "Hello!"), ("Ana", "user", "Hi"), ("user", "user", "Again")],
        ),
        (
            "kobold_marked.json", "kobold_lite",
            [("Mira", "persona", "Hello!"), ("Ana", "user", "Hi"), ("Mira", "persona", "How are you?")],
        ),
        (
            "kobold_named.json", "kobold_lite",
            [("Mira", "persona", "Hello!"), ("Ana", "user", "Hi\nSit down. Please."), ("Ben", "persona", "Me too.")],
        ),
        ("risu.json", "risu", [("character", "persona", "Hello!"), ("Ana", "user", "Hi")]),
    ],
)  # fmt: skip
def test_a_chat_is_recognised_and_read(file: str, name: str, messages: list[tuple[str, str, str]]) -> None:
    form = recognize(fixture(file))
    assert form.name == name
    items = read_items(form, fixture(file))
    assert [(message.speaker, message.role, message.text) for message in messages_of(items)] == messages


def test_the_newer_files_of_ooba_are_read_as_they_were_typed() -> None:
    turns = [["<|BEGIN-VISIBLE-CHAT|>", "Hello!"], ["1 < 2 & so", "Yes."]]
    source = source_of(
        json.dumps({"internal": turns, "visible": [["", "Hello!"], ["1 &lt; 2 &amp; so", "Yes."]]}, indent=4)
    )
    assert recognize(source).name == "ooba"
    assert [message.text for message in messages_of(read_items(recognize(source), source))] == [
        "Hello!",
        "1 < 2 & so",
        "Yes.",
    ]


def test_each_history_of_a_character_is_a_session() -> None:
    source = fixture("cai_tools.json")
    sessions = [session for session in read_items(recognize(source), source) if isinstance(session, FileSession)]
    assert [session.source_id for session in sessions] == ["h1", "h2"]
    assert sessions[1].lines[0].at == datetime(2023, 6, 20, 14, 25, tzinfo=UTC)


def test_the_beginning_of_a_story_is_told() -> None:
    source = fixture("kobold_named.json")
    assert read_items(recognize(source), source)[0] == Skipped("conversation 1, message 1", "document")


def test_answers_that_were_not_kept_are_left_out() -> None:
    messages = [
        {"src": {"is_human": False, "name": "Vex"}, "text": text, "is_alternative": other}
        for text, other in (("Hello", False), ("Wrong", True), ("Right", False))
    ]
    source = source_of(json.dumps({"histories": {"histories": [{"external_id": "h", "msgs": messages}]}}))
    items = read_items(recognize(source), source)
    assert [message.text for message in messages_of(items)] == ["Hello", "Right"]
    assert [skip.reason for skip in items if isinstance(skip, Skipped)] == ["not_chosen"]
