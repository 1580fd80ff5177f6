"""Claude's export."""

import json
from typing import Any

from memory.imports.readers import recognize
from memory.imports.readers.claude import Claude
from memory.imports.readers.types import FileSession, ReaderItem, Remembered, Skipped
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

CONVERSATIONS: list[dict[str, Any]] = json.loads((FILES / "claude.json").read_bytes())


@each_row("name", ["claude.json", "claude.jsonl"])
def test_conversations_are_read_from_an_array_and_from_lines(name: str) -> None:
    items = read_items(Claude(), fixture(name))
    assert [(message.speaker, message.role, message.text) for message in messages_of(items)] == [
        ("human", "user", "I planted tomatoes."),
        ("assistant", "persona", "They need sun.\n\nAnd water."),
        ("human", "user", "谢谢！"),
    ]
    assert skips_of(items) == ["document", "media", "thinking", "tool", "tool"]
    assert [(session.title, session.source_id) for session in items if isinstance(session, FileSession)] == [
        ("The garden", "k-1")
    ]


def test_one_conversation_over_several_lines_is_read() -> None:
    items = read_items(Claude(), source_of(json.dumps(CONVERSATIONS[0], indent=2)))
    assert len(messages_of(items)) == 3


def test_messages_stand_in_the_order_of_their_times() -> None:
    reversed_chat = CONVERSATIONS[0] | {"chat_messages": CONVERSATIONS[0]["chat_messages"][::-1]}
    items = read_items(Claude(), source_of(json.dumps([reversed_chat])))
    assert [message.source_id for message in messages_of(items)] == ["k-m1", "k-m2", "k-m3"]


def test_without_all_times_messages_stand_as_in_the_file() -> None:
    messages = [dict(message) for message in CONVERSATIONS[0]["chat_messages"][::-1]]
    messages[1]["created_at"] = "soon"
    items = read_items(Claude(), source_of(json.dumps([{"uuid": "k", "chat_messages": messages}])))
    assert [message.source_id for message in messages_of(items)] == ["k-m3", "k-m2", "k-m1"]


def test_a_broken_line_costs_one_conversation() -> None:
    line = json.dumps(CONVERSATIONS[0])
    items = read_items(Claude(), source_of(f"{line}\n{line[:100]}\n{line}\n"))
    assert len(messages_of(items)) == 6
    assert Skipped("conversation 2", "broken") in items


def test_what_claude_remembers_is_read() -> None:
    source = fixture("claude_memories.json")
    assert recognize(source).name == "claude"
    items = read_items(Claude(), source)
    assert [(memory.type, memory.text) for memory in items if isinstance(memory, Remembered)] == [
        ("conversations_memory", "**Personal**\nAna grows tomatoes."),
        ("project_memory", "The garden project is about a balcony."),
    ]


def test_the_zip_is_read_and_documents_of_projects_are_told() -> None:
    source = zip_source(
        {
            "conversations.json": json.dumps(CONVERSATIONS), "users.json": "[]",
            "memories.json": (FILES / "claude_memories.json").read_bytes(),
            "projects.json": (FILES / "claude_projects.json").read_bytes(),
        }
    )  # fmt: skip
    assert recognize(source).name == "claude"
    items = read_items(Claude(), source)
    assert len(messages_of(items)) == 3
    assert len([memory for memory in items if isinstance(memory, Remembered)]) == 2
    assert Skipped("projects.json, document 2", "document") in items
    assert Skipped("users.json", "settings") in items


def read_forked_chat(leaf: str = "") -> list[ReaderItem]:
    """A session in which the second question was edited and asked again."""
    turns = [
        ("1", "human", "0"), ("2", "assistant", "1"), ("3", "human", "2"), ("4", "assistant", "3"),
        ("5", "human", "2"), ("6", "assistant", "5"),
    ]  # fmt: skip
    messages = [
        {
            "uuid": name, "sender": sender, "text": f"said {name}", "parent_message_uuid": parent,
            "created_at": f"2024-05-01T10:0{name}:00Z",
        }
        for name, sender, parent in turns
    ]  # fmt: skip
    open_at = {"current_leaf_message_uuid": leaf} if leaf else {}
    return read_items(Claude(), source_of(json.dumps([{"uuid": "k", "chat_messages": messages, **open_at}])))


@each_row(("leaf", "source_ids"), [("", "1256"), ("6", "1256"), ("4", "1234")])
def test_what_was_asked_anew_is_told_as_not_chosen(leaf: str, source_ids: str) -> None:
    items = read_forked_chat(leaf)
    assert "".join(message.source_id for message in messages_of(items)) == source_ids
    assert skips_of(items) == ["not_chosen", "not_chosen"]
