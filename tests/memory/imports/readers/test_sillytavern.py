"""SillyTavern's chats."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.imports.readers import recognize
from memory.imports.readers.sillytavern import SillyTavern, send_date
from memory.imports.readers.types import FileSession, ImportRejected, Skipped
from tests.memory.imports.readers.sources import fixture, messages_of, read_items, source_of, zip_source
from tests.table import each_row

MESSAGE = {"name": "Mira", "is_user": False, "send_date": "June 19, 2023 2:20pm", "mes": "Hello"}


def rows(*messages: dict[str, Any]) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages)


def test_a_chat_is_read() -> None:
    items = read_items(SillyTavern(), fixture("sillytavern.jsonl"))
    assert [(message.speaker, message.role, message.text) for message in messages_of(items)] == [
        ("Mira", "persona", "*waves* Hello, {{user}}."),
        ("Ana", "user", "Hi, I brought tea.\nTwo cups."),
        ("Mira", "persona", "Thank you."),
        ("Ana", "user", "再见"),
    ]
    assert [skip for skip in items if isinstance(skip, Skipped)] == [
        Skipped("line 4", "not_chosen"), Skipped("line 4", "not_chosen"), Skipped("line 5", "broken"),
        Skipped("line 6", "hidden"),
    ]  # fmt: skip
    assert [(session.title, session.source_id) for session in items if isinstance(session, FileSession)] == [
        ("Mira", "int-1")
    ]


@each_row(
    "text",
    [
        "June 19, 2023 2:20pm", "Jun 19, 2023 2:20pm", "2023-6-19@14h20m00s", "2023-6-19 @14h 20m 00s 123ms",
        "2023-06-19T14:20:00",
    ],
)  # fmt: skip
def test_dates_of_every_version_are_read(text: str) -> None:
    assert send_date(text) == datetime(2023, 6, 19, 14, 20)


def test_dates_that_say_their_zone_keep_it() -> None:
    at = datetime(2023, 6, 19, 14, 20, tzinfo=UTC)
    assert send_date("2023-06-19T14:20:00.000Z") == send_date(1687184400000) == at


@each_row("value", ["", "yesterday", "2023-13-40@25h61m61s", None, True, 1e300, [], "June 45, 2023 2:20pm"])
def test_a_malformed_send_date_is_none(value: Any) -> None:
    assert send_date(value) is None


def test_a_chat_without_a_header_is_read() -> None:
    items = read_items(SillyTavern(), source_of(rows({"name": "Ana", "is_user": True, "mes": "Hi"})))
    assert [message.text for message in messages_of(items)] == ["Hi"]


def test_a_chat_of_chub_is_read() -> None:
    data = rows({"user_name": "Ana"}, {"name": "Mira", "is_user": False, "mes": {"message": "Hello"}})
    assert [message.text for message in messages_of(read_items(SillyTavern(), source_of(data)))] == ["Hello"]


def test_a_group_keeps_everybody() -> None:
    data = rows({"user_name": "Ana"}, *({"name": name, "is_user": False, "mes": "Hi"} for name in ("Mira", "Ben")))
    assert [message.speaker for message in messages_of(read_items(SillyTavern(), source_of(data)))] == ["Mira", "Ben"]


def test_many_chats_in_a_zip_are_read_and_the_rest_of_a_backup_is_told() -> None:
    chats = {f"chats/Mira/{n}.jsonl": rows({"character_name": "Mira", "create_date": n}, MESSAGE) for n in "ab"}
    empty = {"chats/Mira/c.jsonl": rows({"user_name": "Ana", "character_name": "Mira"})}
    source = zip_source(chats | empty | {"settings.json": "{}", "Mira.png": b"x", "note.txt": "x", "log.jsonl": "{}\n"})
    assert recognize(source).name == "sillytavern"
    items = read_items(SillyTavern(), source)
    assert len({session.source_id for session in items if isinstance(session, FileSession)}) == 2
    assert {(skip.location, skip.reason) for skip in items if isinstance(skip, Skipped)} == {
        ("chats/Mira/c.jsonl", "empty"), ("settings.json", "settings"), ("Mira.png", "media"),
        ("note.txt", "document"), ("log.jsonl", "unknown"),
    }  # fmt: skip


def test_a_narrator_is_neither_side() -> None:
    narrator = {"name": "Night", "is_user": False, "mes": "It rains.", "extra": {"type": "narrator"}}
    items = read_items(SillyTavern(), source_of(rows({"user_name": "Ana"}, MESSAGE, narrator)))
    assert [(message.speaker, message.role) for message in messages_of(items)] == [
        ("Mira", "persona"),
        ("Night", "other"),
    ]


def test_the_chat_of_a_group_is_named_for_nobody() -> None:
    data = rows(
        {"chat_metadata": {}, "user_name": "unused", "character_name": "unused"}, MESSAGE, MESSAGE | {"name": ""}
    )
    items = read_items(SillyTavern(), source_of(data))
    assert [session.title for session in items if isinstance(session, FileSession)] == [""]
    assert [message.speaker for message in messages_of(items)] == ["Mira", "persona"]


def test_a_file_that_begins_with_something_else_is_refused() -> None:
    with pytest.raises(ImportRejected) as rejected:
        read_items(SillyTavern(), source_of("\n[1, 2]\n"))
    assert (rejected.value.code, rejected.value.location) == ("not_this", "line 2")
