"""Portable AI Memory, read and written."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import given as supposing
from hypothesis import strategies as some

from memory.imports.readers import recognize
from memory.imports.readers.canonical import canonical
from memory.imports.readers.pam import PortableMemory
from memory.imports.readers.pam_hashes import Checksum, content_hash, fits
from memory.imports.readers.pam_writing import PamExport, write
from memory.imports.readers.source import Source
from memory.imports.readers.types import FileMessage, FileSession, ImportRejected, ReaderItem, Remembered, Role, Skipped
from tests.memory.imports.readers.schema import faults
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

SCHEMAS = FILES.parent / "schemas"
STORE = (FILES / "pam_store.json").read_text()
CONVERSATION = (FILES / "pam_conversation.json").read_text()
STORE_SCHEMA: dict[str, Any] = json.loads((SCHEMAS / "pam_store.schema.json").read_text())
CONVERSATION_SCHEMA: dict[str, Any] = json.loads((SCHEMAS / "pam_conversation.schema.json").read_text())
EXPORT = PamExport(owner="ana", now=datetime(2026, 11, 21, 22, 0, tzinfo=UTC), export_id="e7")


def memories_of(items: list[ReaderItem]) -> list[Remembered]:
    return [memory for memory in items if isinstance(memory, Remembered)]


def whole() -> Source:
    return zip_source(
        {"pam/memory-store.json": STORE, "pam/conversations/c1.json": CONVERSATION, "pam/embeddings.json": "{}"}
    )


def rejection(source: Source) -> ImportRejected:
    with pytest.raises(ImportRejected) as rejected:
        read_items(PortableMemory(), source)
    return rejected.value


# In


def test_memories_come_with_all_that_is_said_of_them() -> None:
    first, second = memories_of(read_items(PortableMemory(), fixture("pam_store.json")))
    assert (first.text, first.type, first.source_id) == ("Likes green tea in the morning.", "preference", "m1")
    assert (first.day, first.confidence) == (date(2025, 12, 1), 0.9)
    assert first.other_data["metadata"] == {"language": "en", "heard": [1, 2]}
    assert [edge["to"] for edge in first.other_data["relations"]] == ["m2"]
    assert (second.type, second.day, second.confidence) == ("pet", date(2026, 1, 6), None)
    assert second.other_data["status"] == "superseded"


def test_what_was_retracted_is_left_out_and_missing_conversations_are_told() -> None:
    assert skips_of(read_items(PortableMemory(), fixture("pam_store.json"))) == ["deleted", "broken", "broken"]


def read_altered_store(*changes: tuple[str, str]) -> list[ReaderItem]:
    text = STORE
    for before, after in changes:
        assert before in text
        text = text.replace(before, after, 1)
    return read_items(PortableMemory(), source_of(text))


def test_a_memory_with_a_wrong_hash_is_read_and_reported() -> None:
    items = read_altered_store(("Likes green tea", "Likes black tea"))
    assert memories_of(items)[0].text.startswith("Likes black tea")
    assert [skip.location for skip in items if isinstance(skip, Skipped) and skip.reason == "altered"] == [
        "memory 1", "all memories of the file",
    ]  # fmt: skip


def test_a_change_beside_the_words_is_told_by_the_checksum_alone() -> None:
    skips = [skip for skip in read_altered_store(('"superseded"', '"active"')) if isinstance(skip, Skipped)]
    assert [skip.location for skip in skips if skip.reason == "altered"] == ["all memories of the file"]


def test_a_hash_over_any_whitespace_fits_too_as_the_authors_program_makes_it() -> None:
    assert fits("Likes\n tea", content_hash("likes tea"))
    assert fits("Likes\n tea", content_hash("Likes\n tea"))
    assert not fits("Likes tea", content_hash("likes teas"))


def test_a_checksum_that_would_take_too_much_room_is_not_held_against_the_file() -> None:
    checksum = Checksum(most_bytes=10)
    checksum.take({"id": "m1", "content": "longer than that"})
    assert checksum.fits("sha256:0")


def test_a_conversation_is_its_last_branch() -> None:
    items = read_items(PortableMemory(), fixture("pam_conversation.json"))
    (session,) = (session for session in items if isinstance(session, FileSession))
    assert (session.title, session.source_id) == ("Tea", "c1")
    assert [(message.speaker, message.role, message.text) for message in session.lines] == [
        ("Ana", "user", "Which tea?"),
        ("assistant", "persona", "Green.\n\nIn the morning."),
        ("Ana", "user", "谢谢。"),
    ]
    assert skips_of(items) == ["settings", "not_chosen", "thinking", "media"]


def test_a_zip_brings_memories_and_conversations() -> None:
    items = read_items(PortableMemory(), whole())
    assert (len(memories_of(items)), len(messages_of(items))) == (2, 3)
    assert skips_of(items) == ["deleted", "broken", "settings", "not_chosen", "thinking", "media", "document"]


@each_row("name", ["pam_store.json", "pam_conversation.json"])
def test_the_format_is_recognised(name: str) -> None:
    assert recognize(fixture(name)).name == "portable_ai_memory"
    assert recognize(whole()).name == "portable_ai_memory"


def test_messages_that_answer_each_other_in_a_circle_end() -> None:
    messages = [
        {"id": str(n), "parent_id": str((n + 1) % 3), "role": "user", "content": {"text": "x"}} for n in range(3)
    ]
    messages.append({"id": "4", "parent_id": "1", "role": "user", "content": {"text": "x"}})
    document = {"schema": "portable-ai-memory-conversation", "schema_version": "1.0", "messages": messages}
    assert len(messages_of(read_items(PortableMemory(), source_of(json.dumps(document))))) == 4


@each_row(
    ("data", "code"),
    [
        ("{}", "not_this"),
        (STORE.replace('"1.0"', '"2.0"'), "not_this"),
        (STORE.replace("portable-ai-memory", "portable-memory"), "not_this"),
        (STORE[:400], "not_json"),
        (STORE + "}", "not_json"),
        (b"\xff" + STORE.encode(), "encoding"),
    ],
)
def test_a_file_that_is_no_store_is_rejected(data: str | bytes, code: str) -> None:
    assert rejection(source_of(data)).code == code


def test_a_zip_without_a_store_is_refused() -> None:
    assert rejection(zip_source({"conversations/c1.json": CONVERSATION})).code == "member_missing"


@each_row("encoding", ["utf-16", "gbk"])
def test_a_store_in_another_encoding_is_read(encoding: str) -> None:
    assert len(memories_of(read_items(PortableMemory(), source_of(STORE.encode(encoding))))) == 2


def test_memories_that_are_none_are_told() -> None:
    memories = [3, {"content": 5}, {"content": " "}, {"content": "x" * 70_000}, {"content": "kept", "confidence": 7}]
    document = {"schema": "portable-ai-memory", "schema_version": "1.0", "memories": memories}
    items = read_items(PortableMemory(), source_of(json.dumps(document)))
    assert skips_of(items) == ["broken", "broken", "empty", "too_long"]
    assert [memory.text for memory in memories_of(items)] == ["kept"]


def test_a_count_that_does_not_fit_is_told() -> None:
    items = read_items(PortableMemory(), source_of(STORE.replace('"total_memories": 3', '"total_memories": 5')))
    assert "memories in the file: 5" in [skip.location for skip in items if isinstance(skip, Skipped)]


# Out


def write_store(memories: list[Remembered], sessions: list[FileSession]) -> bytes:
    return b"".join(write(memories, sessions, EXPORT))


def documents(data: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def faults_of(data: bytes) -> list[str]:
    return [
        f"{name}{fault}"
        for name, document in documents(data).items()
        for fault in faults(document, STORE_SCHEMA if name == "memory-store.json" else CONVERSATION_SCHEMA)
    ]


def read_and_written() -> bytes:
    items = read_items(PortableMemory(), whole())
    return write_store(memories_of(items), [session for session in items if isinstance(session, FileSession)])


def test_the_schemas_know_the_files_of_others() -> None:
    assert list(faults(json.loads(STORE), STORE_SCHEMA)) == []
    assert list(faults(json.loads(CONVERSATION), CONVERSATION_SCHEMA)) == []
    assert len(list(faults(json.loads(STORE.replace("sha256:", "md5:")), STORE_SCHEMA))) == 4


def test_what_is_written_fits_the_schemas() -> None:
    assert faults_of(read_and_written()) == []


def test_a_written_store_is_read_back_unchanged() -> None:
    before = read_items(PortableMemory(), whole())
    again = read_items(PortableMemory(), source_of(read_and_written()))
    assert [(m.text, m.type, m.day, m.confidence, m.source_id) for m in memories_of(again)] == [
        (m.text, m.type, m.day, m.confidence, m.source_id) for m in memories_of(before)
    ]
    for old, new in zip(memories_of(before), memories_of(again), strict=True):
        assert {name: new.other_data[name] for name in old.other_data if name != "content_hash"} == {
            name: value for name, value in old.other_data.items() if name != "content_hash"
        }
    assert [
        (message.speaker, message.role, message.text, message.at, message.source_id) for message in messages_of(again)
    ] == [
        (message.speaker, message.role, message.text, message.at, message.source_id) for message in messages_of(before)
    ]


def test_writing_the_same_gives_the_same_bytes() -> None:
    assert read_and_written() == read_and_written()


def test_the_checksum_is_that_of_the_canonical_memories() -> None:
    store = documents(read_and_written())["memory-store.json"]
    expected = hashlib.sha256(canonical(sorted(store["memories"], key=lambda memory: memory["id"]))).hexdigest()
    assert store["integrity"]["checksum"] == f"sha256:{expected}"
    assert store["integrity"]["total_memories"] == len(store["memories"]) == 2


def test_the_hash_of_a_memory_knows_no_case_and_no_spaces() -> None:
    assert content_hash("  Café  AU\u0020\u0020LAIT ") == content_hash("cafe\u0301 au lait")
    assert content_hash("likes tea") != content_hash("likes teas")


def test_the_index_tells_what_was_drawn_from_a_conversation() -> None:
    (entry,) = documents(read_and_written())["memory-store.json"]["conversations_index"]
    assert (entry["derived_memories"], entry["message_count"]) == (["m1"], 3)
    assert entry["storage"] == {"type": "file", "ref": "conversations/000001.json", "format": "json"}


def test_fields_that_the_specification_does_not_know_go_into_metadata() -> None:
    memory = Remembered("Likes tea.", "event", date(2024, 1, 5), 0.5, "n1", "", {"impact": -3, "metadata": {"a": 1}})
    (row,) = documents(write_store([memory], []))["memory-store.json"]["memories"]
    assert (row["type"], row["custom_type"]) == ("custom", "event")
    assert row["metadata"] == {"a": 1, "impact": -3}
    assert row["temporal"] == {"created_at": "2024-01-05T00:00:00+00:00"}


def test_a_memory_without_words_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="no words"):
        write_store([Remembered(" ", "fact", None, None, "n1", "")], [])


def test_an_empty_export_is_one() -> None:
    data = write_store([], [])
    assert faults_of(data) == []
    assert read_items(PortableMemory(), source_of(data)) == []


def long_talk(pieces: int) -> Iterator[FileSession]:
    for piece in range(pieces):
        messages = (
            FileMessage("Ana", f"{piece} {number} " * 20, None, f"{piece}-{number}", "", "user")
            for number in range(100)
        )
        yield FileSession("Long", "t", tuple(messages), "")


def test_a_session_in_pieces_is_one_conversation_and_streams() -> None:
    pieces = list(write([], long_talk(60), EXPORT))
    assert len(pieces) > 3
    store = documents(b"".join(pieces))["memory-store.json"]
    assert [entry["message_count"] for entry in store["conversations_index"]] == [6_000]


TEXTS = some.text(some.characters(exclude_categories=["Cs"]), min_size=1).filter(
    lambda text: bool(text.replace("\0", "").strip()) and "\0" not in text
)
ROLES: some.SearchStrategy[Role] = some.sampled_from(["user", "persona", "other"])
TALKS = some.lists(some.lists(some.tuples(ROLES, some.sampled_from(["Ana", "小美"]), TEXTS), min_size=1), max_size=3)


@supposing(some.lists(TEXTS, max_size=4), TALKS)
def test_whatever_is_written_comes_back(memories: list[str], chats: list[list[tuple[Role, str, str]]]) -> None:
    memory_items = [Remembered(text, "fact", None, None, f"n{number}", "") for number, text in enumerate(memories)]
    sessions = [
        FileSession(
            f"talk {number}", f"t{number}", tuple(_line(*message, place) for place, message in enumerate(messages)), ""
        )
        for number, messages in enumerate(chats)
    ]
    data = write_store(memory_items, sessions)
    items = read_items(PortableMemory(), source_of(data))
    assert faults_of(data) == []
    assert [memory.text for memory in memories_of(items)] == memories
    assert [(message.role, message.speaker, message.text) for message in messages_of(items)] == [
        message for chat in chats for message in chat
    ]


def _line(role: Role, speaker: str, text: str, place: int) -> FileMessage:
    return FileMessage(speaker, text, EXPORT.now, str(place), "", role)
