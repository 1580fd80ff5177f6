"""Memories of other systems: Letta, mem0, Zep, and Replika's diary."""

import json
from datetime import date
from typing import Any

import pytest

from memory.imports.readers import read, recognize
from memory.imports.readers.types import ImportRejected, ReaderItem, Remembered
from tests.memory.imports.readers.sources import messages_of, skips_of, source_of, zip_source
from tests.table import each_row


def memory_rows(items: list[ReaderItem]) -> list[tuple[str, str, date | None]]:
    return [(memory.type, memory.text, memory.day) for memory in items if isinstance(memory, Remembered)]


def of(data: Any, name: str = "file.json") -> tuple[str, list[ReaderItem]]:
    source = source_of(data if isinstance(data, str) else json.dumps(data, ensure_ascii=False), name)
    return recognize(source).name, list(read(source))


MESSAGES: list[dict[str, Any]] = [
    {"id": "m1", "role": "system", "content": [{"type": "text", "text": "You are Sam."}]},
    {"id": "m2", "role": "user", "content": json.dumps({"type": "login", "last_login": "never", "time": "x"})},
    {
        "id": "m3", "role": "user", "created_at": "2025-03-01T10:00:00+00:00",
        "content": [{"type": "text", "text": json.dumps({"type": "user_message", "message": "I love tea"})}],
    },
    {
        "id": "m4", "role": "assistant", "content": [{"type": "text", "text": "She loves tea."}],
        "tool_calls": [
            {"function": {"name": "send_message", "arguments": json.dumps({"message": "Which tea?"})}},
            {"function": {"name": "core_memory_append", "arguments": "{}"}},
        ],
    },
    {"id": "m5", "role": "tool", "content": [{"type": "text", "text": "{}"}]},
    {"id": "m6", "role": "user", "content": "Green"},
    {"id": "m7", "role": "assistant", "content": "I see."},
]  # fmt: skip
NOW = {
    "agents": [{"name": "Sam", "agent_type": "memgpt_agent", "block_ids": ["block-0"], "messages": MESSAGES}],
    "blocks": [
        {"id": "block-0", "label": "human", "value": "Her name is Ana."},
        {"id": "block-1", "label": "persona", "value": "I am Sam."},
        {"id": "block-2", "label": "plans", "value": "Move to Porto"},
        {"id": "block-3", "label": "empty", "value": ""},
    ],
    "passages": [{"id": "p1", "text": "Ana has a cat.", "created_at": "2025-02-01T00:00:00Z"}],
    "files": [{"file_name": "a.md", "content": "…"}], "tools": [{"name": "t", "json_schema": {"a": {"b": {}}}}],
}  # fmt: skip
BEFORE = {
    "name": "Sam", "agent_type": "memgpt_agent", "messages": MESSAGES,
    "core_memory": [{"label": "human", "value": "Her name is Ana."}, {"label": "persona", "value": "I am Sam."}],
}  # fmt: skip


@each_row("data", [NOW, json.dumps(json.dumps(NOW, indent=2)), BEFORE])
def test_an_agent_of_letta_brings_its_blocks_its_archive_and_what_was_said(data: Any) -> None:
    name, items = of(data, "sam.af")
    assert name == "letta"
    others = [("plans", "Move to Porto", None), ("memory", "Ana has a cat.", date(2025, 2, 1))]
    assert memory_rows(items) == [
        ("user_profile", "Her name is Ana.", None),
        ("companion", "I am Sam.", None),
        *(others if data is not BEFORE else []),
    ]
    assert [(message.speaker, message.text, message.role) for message in messages_of(items)] == [
        ("user", "I love tea", "user"),
        ("Sam", "Which tea?", "persona"),
        ("user", "Green", "user"),
        ("Sam", "I see.", "persona"),
    ]
    assert {"hidden", "notice", "thinking", "tool"} <= {*skips_of(items)}


MEMORY = {
    "id": "a1", "memory": "Loves green tea", "hash": "x", "user_id": "ana", "score": 0.3, "categories": ["food"],
    "created_at": "2024-07-26T08:30:00.000-07:00", "metadata": {"a": 1},
}  # fmt: skip


@each_row(
    "data",
    [
        {"results": [MEMORY, MEMORY | {"id": "a2", "memory": ""}], "relations": []},
        {"memories": [MEMORY, MEMORY | {"id": "a2", "memory": ""}]},
        [MEMORY, MEMORY | {"id": "a2", "memory": ""}],
        f"{json.dumps(MEMORY)}\n{json.dumps(MEMORY | {'id': 'a2', 'memory': ''})}\n",
        {"count": 2, "next": None, "results": [MEMORY, 3]},
    ],
)
def test_a_dump_of_mem0_is_memories(data: Any) -> None:
    name, items = of(data)
    assert name == "mem0"
    assert memory_rows(items) == [("food", "Loves green tea", date(2024, 7, 26))]
    assert skips_of(items) in (["empty"], ["broken"])
    assert messages_of(items) == []


EDGES = [
    {"uuid": "e1", "fact": "Ana lives in Porto", "name": "LIVES_IN", "valid_at": "2024-03-01T00:00:00Z"},
    {"uuid": "e2", "fact": "Ana lives in Lisbon", "valid_at": "2020-03-01", "invalid_at": "2024-03-01T00:00:00Z"},
]  # fmt: skip
SAID = [
    {"uuid": "m1", "role": "Ana", "role_type": "user", "content": "I moved", "created_at": "2024-03-01T10:00:00Z"},
    {"uuid": "m2", "role": "assistant", "role_type": "assistant", "content": "Where to?"},
    {"role_type": "system", "content": "x"},
]


def test_a_dump_of_zep_is_memories_and_what_was_said() -> None:
    porto = ("fact", "Ana lives in Porto", date(2024, 3, 1))
    for data in ({"edges": EDGES}, {"graph": {"edges": EDGES}}, EDGES, {"facts": EDGES}):
        name, items = of(data)
        assert (name, memory_rows(items), skips_of(items)) == ("zep", [porto], ["outdated"]), data
    name, items = of({"facts": ["Ana has a cat", "Ana likes tea"], "user_id": "ana"})
    assert (name, [text for _kind, text, _day in memory_rows(items)]) == ("zep", ["Ana has a cat", "Ana likes tea"])
    session = {"session_id": "s1", "facts": ["Ana moved"], "messages": SAID}
    for whole in ({"sessions": [session]}, [session], session):
        name, items = of(whole)
        assert name == "zep", whole
        assert [(message.speaker, message.text, message.role) for message in messages_of(items)] == [
            ("Ana", "I moved", "user"),
            ("assistant", "Where to?", "persona"),
        ]
        assert [text for _kind, text, _day in memory_rows(items)] == ["Ana moved"]
    name, items = of({"nodes": [{"uuid": "n", "name": "Ana", "summary": "Ana is a nurse."}], "edges": EDGES[:1]})
    assert memory_rows(items) == [("entity", "Ana is a nurse.", None), porto]


DIARY = [{"id": "d1", "title": "Tea", "text": "Today Ana told me of tea.", "date": "2024-01-05"}, {"text": ""}, 3]
CHAT = [
    {"id": "2", "from": "Rep", "text": "Hi Ana", "timestamp": "2024-01-05T10:01:00"},
    {"id": "1", "from": "Me", "text": "Hello", "timestamp": "2024-01-05T10:00:00"},
]


def test_replika_brings_messages_and_its_diary_is_what_it_kept() -> None:
    members = {
        "replika/messages.json": json.dumps(CHAT),
        "replika/diary.json": json.dumps(DIARY),
        "replika/profile.json": "{}",
    }
    as_csv = {
        "messages.csv": "Timestamp,From,Text\n2024-01-05 10:00:00,Me,Hello\n2024-01-05 10:01:00,Rep,Hi Ana\n",
        "diary.csv": "Date,Title,Text\n2024-01-05,Tea,Today Ana told me of tea.\n",
    }
    for source in (
        zip_source(members), zip_source(as_csv, "replika-export.zip"),
        source_of(json.dumps({"messages": CHAT, "diary": DIARY}), "data.json"),
    ):  # fmt: skip
        assert recognize(source).name == "replika"
        items = list(read(source))
        assert [(message.text, message.role) for message in messages_of(items)] == [
            ("Hello", "user"),
            ("Hi Ana", "persona"),
        ]
        assert memory_rows(items) == [("diary", "Tea\n\nToday Ana told me of tea.", date(2024, 1, 5))]


@each_row(
    "text",
    [
        '{"agents": [{"agent_type": "x", "block_ids": [',
        '{"results": [{"memory": "a", "user_id": 1}',
        '{"edges": [{"fact": "a"}',
    ],
)
def test_damaged_dumps_are_refused(text: str) -> None:
    with pytest.raises(ImportRejected) as rejected:
        of(text)
    assert rejected.value.code == "not_json"
