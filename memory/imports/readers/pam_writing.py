"""Writes Portable AI Memory 1.0: a zip with `memory-store.json` and a file for each conversation, as a stream.

By the published specification of 2026-02-17: content hashes over normalized text (section 6), and a checksum over the
memories in canonical JSON, sorted by id (section 15).
"""

import hashlib
import io
import json
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from memory.imports.readers.canonical import canonical
from memory.imports.readers.pam import CONVERSATION, OTHER, RELATIONS, STORE, STORE_NAME
from memory.imports.readers.pam_hashes import content_hash, sha256
from memory.imports.readers.types import FileSession, Remembered

VERSION = "1.0"
_SPECIFICATION = "https://portable-ai-memory.org/spec/v1.0"
TYPES = frozenset(
    {
        "fact", "preference", "skill", "context", "relationship", "goal", "instruction", "identity", "environment",
        "project",
    }
)  # fmt: skip
# Fields of a memory that are kept from `rest`, beside those that we write ourselves.
_KNOWN = frozenset({"status", "summary", "tags", "confidence", "temporal", "provenance", "access", "metadata"})
# Fields that we write ourselves, whatever `rest` has in them.
_OWN = frozenset({"id", "type", "custom_type", "content", "content_hash", "embedding_ref", RELATIONS})
_ROLES = {"user": "user", "persona": "assistant", "other": "user", "": "user"}


@dataclass(frozen=True)
class PamExport:
    """The metadata of an export: the owner's stable id, the platform and its version, and the time."""

    owner: str
    now: datetime
    export_id: str
    platform: str = "echovessel"
    version: str = "0.1.0"


def write(memories: Iterable[Remembered], conversations: Iterable[FileSession], export: PamExport) -> Iterator[bytes]:
    """The bytes of the zip. Memories are kept in memory to be sorted; conversations are streamed piece by piece.

    Pieces of a session must be adjacent, as readers yield them. A time without a zone counts as UTC. Raises ValueError
    for a memory without text.
    """
    sorted_memories = sorted(memories, key=lambda memory: memory.source_id)
    # The memories that were drawn from each conversation, by their provenance.
    derived: dict[str, list[str]] = defaultdict(list)
    for memory in sorted_memories:
        provenance = memory.other_data.get("provenance")
        if isinstance(provenance, Mapping) and isinstance(provenance.get("conversation_ref"), str):
            derived[provenance["conversation_ref"]].append(memory.source_id)
    index: list[dict[str, Any]] = []
    drain = _Drain()
    with zipfile.ZipFile(drain, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (source_id, pieces) in enumerate(
            groupby(conversations, lambda conversation: conversation.source_id), 1
        ):
            entry = _IndexEntry(source_id, f"conversations/{number:06}.json", derived.get(source_id, []))
            yield from _member(archive, drain, entry.ref, _conversation(pieces, entry, export), export)
            index.append(entry.as_json(export))
        yield from _member(archive, drain, STORE_NAME, store(sorted_memories, index, export), export)
    yield drain.take()


class _Drain(io.RawIOBase):
    """A write-only file whose bytes are removed as they come."""

    def __init__(self) -> None:
        self._held: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._held.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        drained, self._held = b"".join(self._held), []
        return drained


def _member(
    archive: zipfile.ZipFile, drain: _Drain, name: str, pieces: Iterable[str], export: PamExport
) -> Iterator[bytes]:
    info = zipfile.ZipInfo(name, export.now.timetuple()[:6])
    info.compress_type = zipfile.ZIP_DEFLATED
    with archive.open(info, "w", force_zip64=True) as member:
        for piece in pieces:
            member.write(piece.encode())
            if chunk := drain.take():
                yield chunk


# Memories


def store(memories: list[Remembered], index: list[dict[str, Any]], export: PamExport) -> Iterator[str]:
    """`memory-store.json` piece by piece; `memories` in the order of their ids."""
    checksum = hashlib.sha256(b"[")
    yield "{" + ",\n".join(
        f"{json.dumps(name)}: {json.dumps(value)}"
        for name, value in {
            "schema": STORE,
            "schema_version": VERSION,
            "spec_uri": _SPECIFICATION,
            "export_id": export.export_id,
            "exported_by": f"{export.platform}/{export.version}",
            "export_date": _stamp(export.now),
            "export_type": "full",
            "owner": {"id": export.owner},
        }.items()
    )
    yield ',\n"memories": ['
    for number, memory in enumerate(memories):
        memory_json = memory_object(memory, export)
        checksum.update((b"," if number else b"") + canonical(memory_json))
        yield (",\n" if number else "\n") + _json(memory_json)
    checksum.update(b"]")
    integrity = {"canonicalization": "RFC8785", "checksum": sha256(checksum), "total_memories": len(memories)}
    edges = [edge for memory in memories for edge in memory.other_data.get(RELATIONS, ())]
    yield "],\n" + _json({"relations": edges, "conversations_index": index, "integrity": integrity})[1:] + "\n"


def memory_object(memory: Remembered, export: PamExport) -> dict[str, Any]:
    """A memory in the format of the specification; data without a field there are kept in `metadata`."""
    if not memory.text.strip():
        raise ValueError(f"the memory {memory.source_id} holds no words")
    rest = {name: value for name, value in memory.other_data.items() if name in _KNOWN}
    unknown = {name: value for name, value in memory.other_data.items() if name not in _KNOWN | _OWN}
    rest |= {"metadata": {**rest.get("metadata", {}), **unknown}} if unknown else {}
    day = datetime(memory.day.year, memory.day.month, memory.day.day, tzinfo=UTC) if memory.day else export.now
    confidence = {} if memory.confidence is None else {"confidence": {"current": memory.confidence}}
    kind = memory.type if memory.type in TYPES else "custom"
    return (
        {"temporal": {"created_at": _stamp(day)}, "provenance": {"platform": export.platform}, **confidence}
        | rest
        | {
            "id": memory.source_id,
            "type": kind,
            "custom_type": memory.type or "memory" if kind == "custom" else None,
            "content": memory.text,
            "content_hash": content_hash(memory.text),
            "embedding_ref": None,
        }
    )


# Conversations


@dataclass
class _IndexEntry:
    """A conversation's entry in the index, known once it is written."""

    id: str
    ref: str
    derived: list[str]
    title: str = ""
    count: int = 0
    started_at: datetime | None = None
    ended_at: datetime | None = None

    def as_json(self, export: PamExport) -> dict[str, Any]:
        return {
            "id": self.id,
            "platform": export.platform,
            "title": self.title or None,
            "message_count": self.count,
            "temporal": self.temporal(export),
            "derived_memories": self.derived,
            "storage": {"type": "file", "ref": self.ref, "format": "json"},
        }

    def temporal(self, export: PamExport) -> dict[str, Any]:
        ended = self.ended_at and _stamp(self.ended_at)
        return {"created_at": _stamp(self.started_at or export.now), "updated_at": ended}

    def take(self, at: datetime | None, export: PamExport) -> datetime:
        """The time of the next message: its own, else that of the one before."""
        at = at or self.ended_at or export.now
        self.started_at = self.started_at or at
        self.ended_at = at
        self.count += 1
        return at


def _conversation(pieces: Iterable[FileSession], entry: _IndexEntry, export: PamExport) -> Iterator[str]:
    """A conversation's file; `entry` collects the data for the index."""
    people: dict[tuple[str, str], None] = {}
    head = {"schema": CONVERSATION, "schema_version": VERSION, "id": entry.id, "provider": {"name": export.platform}}
    yield _json(head)[:-1] + ',\n"messages": ['
    for piece in pieces:
        entry.title = piece.title
        for message in piece.lines:
            people[_ROLES[message.role], message.speaker] = None
            separator, at = ",\n" if entry.count else "\n", entry.take(message.at, export)
            yield separator + _json(
                {
                    "id": message.source_id,
                    "role": _ROLES[message.role],
                    "content": {"type": "text", "text": message.text},
                    "created_at": _stamp(at),
                    "raw_metadata": {"speaker": message.speaker} | ({"side": OTHER} if message.role == OTHER else {}),
                }
            )
    participants = [{"role": role, "name": name} for role, name in people]
    rest = {"title": entry.title or None, "temporal": entry.temporal(export), "participants": participants}
    yield "],\n" + _json(rest)[1:] + "\n"


def _stamp(at: datetime) -> str:
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).isoformat()


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
