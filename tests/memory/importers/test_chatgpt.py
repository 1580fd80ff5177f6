"""ChatGPT's export."""

import json
from datetime import UTC, datetime
from typing import Any

from memory.importers import recognised
from memory.importers.chatgpt import ChatGPT
from memory.importers.types import Found, Remembered, Skipped, Talk
from tests.memory.importers.given import FILES, fixture, found_by, given, lines_of, skips_of, zipped

DATA = (FILES / "chatgpt.json").read_bytes()


def read(conversations: Any) -> list[Found]:
    return found_by(ChatGPT(), given(json.dumps(conversations)))


def conversation() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(DATA)[0]
    return found


def test_the_current_branch_is_read_and_nothing_else() -> None:
    found = found_by(ChatGPT(), fixture("chatgpt.json"))
    assert [(line.speaker, line.role, line.text) for line in lines_of(found)] == [
        ("user", "user", "My cat is called 小黑.\nHe is black."),
        ("assistant", "persona", "What a good name for a cat."),
        ("user", "user", "Here he is."),
        ("assistant", "persona", "He looks proud."),
        ("user", "user", "Can you hear me?"),
        ("assistant", "persona", "Yes, I can hear you."),
        ("user", "user", "Second talk."),
        ("assistant", "persona", "Indeed."),
    ]
    assert sorted(skips_of(found)) == ["hidden", "media", "media", "not_chosen", "thinking", "tool", "tool"]


def test_a_line_has_the_files_id_its_time_and_a_place_for_people() -> None:
    talk = next(one for one in found_by(ChatGPT(), fixture("chatgpt.json")) if isinstance(one, Talk))
    line = talk.lines[1]
    assert (talk.title, talk.source_id, talk.where) == ("小黑 the cat", "c-1", "conversation 1")
    assert (line.source_id, line.where) == ("a1", "conversation 1, message 5")
    assert line.at == datetime(2023, 12, 31, 21, 5, 2, 250_000, UTC)


def test_what_the_user_wrote_about_herself_is_offered_once() -> None:
    found = read([conversation(), conversation() | {"id": "c-9", "conversation_id": "c-9"}])
    about = [(one.type, one.text) for one in found if isinstance(one, Remembered)]
    assert about == [("user_profile", "I am Ana and live in Shanghai."), ("user_instructions", "Be brief.")]


def test_without_a_current_node_the_branch_written_last_is_read() -> None:
    assert [line.source_id for line in lines_of(read([conversation() | {"current_node": None}]))][-1] == "a3"


def test_a_circle_of_parents_ends() -> None:
    circular = conversation()
    circular["mapping"]["root"]["parent"] = "a3"
    assert len(lines_of(read([circular]))) == 6


def test_the_zip_is_read_with_all_its_parts_and_the_rest_is_told() -> None:
    first, second = json.loads(DATA)
    source = zipped(
        {
            "conversations-000.json": json.dumps([first]), "conversations-001.json": json.dumps([second]),
            "user.json": "{}", "chat.html": "<html>", "dalle/1.webp": b"x", "export_manifest.json": "{}",
        }
    )  # fmt: skip
    assert recognised(source).name == "chatgpt"
    found = found_by(ChatGPT(), source)
    assert [line.source_id for line in lines_of(found)] == [
        line.source_id for line in lines_of(found_by(ChatGPT(), fixture("chatgpt.json")))
    ]
    beside = {one.where: one.reason for one in found if isinstance(one, Skipped)}
    assert beside["chat.html"] == "duplicate"
    assert beside["user.json"] == beside["export_manifest.json"] == "settings"
    assert beside["dalle/1.webp"] == "media"


def test_a_conversation_that_is_none_is_told_by_its_number() -> None:
    found = read([{"title": "x"}, conversation()])
    assert found[0] == Skipped("conversation 1", "broken")
    assert lines_of(found)[0].where == "conversation 2, message 4"


def test_times_beyond_reason_are_left_open() -> None:
    late = conversation()
    late["mapping"]["u1"]["message"]["create_time"] = 1e18
    assert lines_of(read([late]))[0].at is None
