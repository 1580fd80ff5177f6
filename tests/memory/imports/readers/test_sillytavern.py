"""SillyTavern's chats."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from memory.imports.readers import recognize
from memory.imports.readers.sillytavern import SillyTavern, send_date
from memory.imports.readers.types import FileSession, ImportRejected, Skipped
from tests.memory.imports.readers.given import fixture, found_by, given, lines_of, zipped
from tests.table import each_row

MESSAGE = {"name": "Mira", "is_user": False, "send_date": "June 19, 2023 2:20pm", "mes": "Hello"}


def rows(*messages: dict[str, Any]) -> str:
    return "".join(json.dumps(message) + "\n" for message in messages)


def test_a_chat_is_read() -> None:
    found = found_by(SillyTavern(), fixture("sillytavern.jsonl"))
    assert [(line.speaker, line.role, line.text) for line in lines_of(found)] == [
        ("Mira", "persona", "*waves* Hello, {{user}}."),
        ("Ana", "user", "Hi, I brought tea.\nTwo cups."),
        ("Mira", "persona", "Thank you."),
        ("Ana", "user", "再见"),
    ]
    assert [one for one in found if isinstance(one, Skipped)] == [
        Skipped("line 4", "not_chosen"), Skipped("line 4", "not_chosen"), Skipped("line 5", "broken"),
        Skipped("line 6", "hidden"),
    ]  # fmt: skip
    assert [(talk.title, talk.source_id) for talk in found if isinstance(talk, FileSession)] == [("Mira", "int-1")]


@each_row(
    "written",
    [
        "June 19, 2023 2:20pm", "Jun 19, 2023 2:20pm", "2023-6-19@14h20m00s", "2023-6-19 @14h 20m 00s 123ms",
        "2023-06-19T14:20:00",
    ],
)  # fmt: skip
def test_dates_of_every_version_are_read(written: str) -> None:
    assert send_date(written) == datetime(2023, 6, 19, 14, 20)


def test_dates_that_say_their_zone_keep_it() -> None:
    at = datetime(2023, 6, 19, 14, 20, tzinfo=UTC)
    assert send_date("2023-06-19T14:20:00.000Z") == send_date(1687184400000) == at


@each_row("written", ["", "yesterday", "2023-13-40@25h61m61s", None, True, 1e300, [], "June 45, 2023 2:20pm"])
def test_what_is_no_date_is_none(written: Any) -> None:
    assert send_date(written) is None


def test_a_chat_without_a_header_is_read() -> None:
    found = found_by(SillyTavern(), given(rows({"name": "Ana", "is_user": True, "mes": "Hi"})))
    assert [line.text for line in lines_of(found)] == ["Hi"]


def test_a_chat_of_chub_is_read() -> None:
    data = rows({"user_name": "Ana"}, {"name": "Mira", "is_user": False, "mes": {"message": "Hello"}})
    assert [line.text for line in lines_of(found_by(SillyTavern(), given(data)))] == ["Hello"]


def test_a_group_keeps_everybody() -> None:
    data = rows({"user_name": "Ana"}, *({"name": name, "is_user": False, "mes": "Hi"} for name in ("Mira", "Ben")))
    assert [line.speaker for line in lines_of(found_by(SillyTavern(), given(data)))] == ["Mira", "Ben"]


def test_many_chats_in_a_zip_are_read_and_the_rest_of_a_backup_is_told() -> None:
    chats = {f"chats/Mira/{n}.jsonl": rows({"character_name": "Mira", "create_date": n}, MESSAGE) for n in "ab"}
    empty = {"chats/Mira/c.jsonl": rows({"user_name": "Ana", "character_name": "Mira"})}
    source = zipped(chats | empty | {"settings.json": "{}", "Mira.png": b"x", "note.txt": "x", "log.jsonl": "{}\n"})
    assert recognize(source).name == "sillytavern"
    found = found_by(SillyTavern(), source)
    assert len({talk.source_id for talk in found if isinstance(talk, FileSession)}) == 2
    assert {(one.where, one.reason) for one in found if isinstance(one, Skipped)} == {
        ("chats/Mira/c.jsonl", "empty"), ("settings.json", "settings"), ("Mira.png", "media"),
        ("note.txt", "document"), ("log.jsonl", "unknown"),
    }  # fmt: skip


def test_a_narrator_is_neither_side() -> None:
    told = {"name": "Night", "is_user": False, "mes": "It rains.", "extra": {"type": "narrator"}}
    found = found_by(SillyTavern(), given(rows({"user_name": "Ana"}, MESSAGE, told)))
    assert [(line.speaker, line.role) for line in lines_of(found)] == [("Mira", "persona"), ("Night", "other")]


def test_the_chat_of_a_group_is_named_for_nobody() -> None:
    data = rows(
        {"chat_metadata": {}, "user_name": "unused", "character_name": "unused"}, MESSAGE, MESSAGE | {"name": ""}
    )
    found = found_by(SillyTavern(), given(data))
    assert [talk.title for talk in found if isinstance(talk, FileSession)] == [""]
    assert [line.speaker for line in lines_of(found)] == ["Mira", "persona"]


def test_a_file_that_begins_with_something_else_is_refused() -> None:
    with pytest.raises(ImportRejected) as rejected:
        found_by(SillyTavern(), given("\n[1, 2]\n"))
    assert (rejected.value.code, rejected.value.where) == ("not_this", "line 2")
