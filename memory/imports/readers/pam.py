"""Reads Portable AI Memory 1.0: `memory-store.json`, alone or in a zip with its `conversations/*.json`.

By the published specification of 2026-02-17 (portable-ai-memory.org). Memories keep their other fields in `rest`,
including their relations; of a conversation with branches the newest branch is read. Hashes are verified, and an item
that does not match its hash is reported, but read. Nothing is fetched from the network: signatures, whose key would
have to be looked up there, and embeddings are ignored. `pam_writing` writes the format.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import reason_of, values
from memory.imports.readers.lines import SessionReader, array, moment, storable, table, word
from memory.imports.readers.pam_hashes import Checksum, fits
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import (
    FileMessage,
    ImportRejected,
    Limits,
    Options,
    ReaderItem,
    Remembered,
    Role,
    Skipped,
    digest,
)

STORE = "portable-ai-memory"
CONVERSATION = "portable-ai-memory-conversation"
STORE_NAME = "memory-store.json"
# Under this key `rest` keeps the relations from a memory to others.
RELATIONS = "relations"
ROLES: Mapping[str, Role] = {"user": "user", "assistant": "persona"}
# The "side" in the metadata of a message that we exported, if it is from neither of the two, whatever its role.
OTHER: Role = "other"
_SILENT = {"system": "settings", "tool": "tool"}
_HEAD = ("schema", "schema_version", "id", "title")
_NEWEST_MAJOR = 1


class PortableMemory:
    name = "portable_ai_memory"
    label = gettext_lazy("Portable AI Memory 1.0 (JSON or zip)")

    def resembles(self, sample: Sample) -> float:
        if any(PurePosixPath(name).name == STORE_NAME for name in sample.members):
            return 0.95
        marked = b'"portable-ai-memory' in sample.head and "schema" in sample.paths
        return 0.95 if marked else 0.9 if sample.paths >= {"memories.item.content_hash", "owner.id"} else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        if not source.members:
            # A single file has its schema at the top.
            if _head(source, "").get("schema") == CONVERSATION:
                yield from _conversation(source, "", options.limits)
            else:
                yield from _store(source, "", options.limits)
            return
        stores = [name for name in source.members if PurePosixPath(name).name == STORE_NAME]
        if not stores:
            raise ImportRejected("member_missing")
        for store in stores:
            yield from _store(source, store, options.limits)
        for member in source.members:
            if member not in stores:
                if PurePosixPath(member).suffix.casefold() != ".json":
                    yield Skipped(member, "media")
                elif _head(source, member).get("schema") == CONVERSATION:
                    yield from _conversation(source, member, options.limits)
                else:
                    yield Skipped(member, "document")


def _head(source: Source, member: str) -> dict[str, Any]:
    return dict(values(source, _HEAD, member))


def _expect(head: Mapping[str, Any], schema: str, location: str) -> None:
    major = word(head.get("schema_version")).partition(".")[0]
    if head.get("schema") != schema or not major.isdecimal() or int(major) > _NEWEST_MAJOR:
        raise ImportRejected("not_this", location, format="Portable AI Memory 1.0")


# Memories


def _store(source: Source, member: str, limits: Limits) -> Iterator[ReaderItem]:
    _expect(_head(source, member), STORE, member)
    # The relations by the memory they start from.
    relations: dict[str, list[Any]] = defaultdict(list)
    for _place, relation in values(source, ("relations.item",), member):
        relations[word(table(relation).get("from"))].append(relation)
    integrity = dict(values(source, ("integrity.total_memories", "integrity.checksum"), member))
    checksum = Checksum(limits.item_bytes if integrity else 0)
    number = 0
    for number, (_place, value) in enumerate(values(source, ("memories.item",), member), 1):
        location = _("memory %d") % number
        yield _memory(value, relations, location, limits)
        # Check the text against its hash; a memory without a hash is accepted.
        content, known_hash = table(value).get("content"), table(value).get("content_hash")
        if isinstance(content, str) and isinstance(known_hash, str) and not fits(content, known_hash):
            yield Skipped(location, "altered")
        checksum.take(value)
    memory_count = integrity.get("integrity.total_memories", number)
    if memory_count != number:
        yield Skipped(_("memories in the file: %s") % word(memory_count), "broken")
    if not checksum.fits(integrity.get("integrity.checksum")):
        yield Skipped(_("all memories of the file"), "altered")
    # Conversations that the store lists but the zip does not contain.
    folder = PurePosixPath(member).parent
    for _place, value in values(source, ("conversations_index.item",), member):
        entry = table(value)
        ref = word(table(entry.get("storage")).get("ref"))
        if not ref or str(folder / ref) not in source.members:
            name = word(entry.get("title")) or word(entry.get("id"))
            yield Skipped(_("conversation “%s”") % name[:80], "broken")


def _memory(value: Any, relations: Mapping[str, list[Any]], location: str, limits: Limits) -> Remembered | Skipped:
    """A memory of the store, or why it is left out."""
    if not isinstance(value, dict) or not isinstance(value.get("content"), str):
        return Skipped(location, reason_of(value))
    text = storable(value["content"])
    if value.get("status") == "retracted":
        return Skipped(location, "deleted")
    if not text.strip() or len(text.encode()) > limits.message_bytes:
        return Skipped(location, "too_long" if text.strip() else "empty")
    temporal = table(value.get("temporal"))
    at = moment(temporal.get("valid_from")) or moment(temporal.get("created_at"))
    kind = word(value.get("type"))
    kind = word(value.get("custom_type")) or kind if kind == "custom" else kind
    source_id = storable(word(value.get("id")))
    rest = {name: item for name, item in value.items() if name not in ("id", "content")}
    rest |= {RELATIONS: relations[source_id]} if source_id in relations else {}
    # The current value, else the initial one.
    shares = [table(value.get("confidence")).get(name) for name in ("current", "initial")]
    numbers = [share for share in shares if isinstance(share, int | float) and not isinstance(share, bool)]
    confidence = next((float(share) for share in numbers if 0 <= share <= 1), None)
    day = at.date() if at else None
    return Remembered(text, kind, day, confidence, source_id or digest("memory", kind, text), location, rest)


# Conversations


@dataclass
class _Outline:
    """Data of a conversation that are needed before its first message: the participants, and which message answers
    which."""

    names: dict[str, str] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    last: str = ""

    def chosen_branch(self) -> frozenset[str] | None:
        """The ids of the messages that led to the last one; None if there are no branches."""
        parents = [parent for parent in self.parents.values() if parent]
        if len(parents) == len(set(parents)):
            return None
        branch: set[str] = set()
        key = self.last
        while key in self.parents and key not in branch:
            branch.add(key)
            key = self.parents[key]
        return frozenset(branch)


def _conversation(source: Source, member: str, limits: Limits) -> Iterator[ReaderItem]:
    head = _head(source, member)
    _expect(head, CONVERSATION, member)
    title, source_id = (storable(word(head.get(key))) for key in ("title", "id"))
    outline = _Outline()
    children_by_key: dict[str, list[str]] = defaultdict(list)
    for place, value in values(source, ("participants.item", "messages.item"), member):
        if place == "participants.item":
            children_by_key[word(table(value).get("role"))].append(word(table(value).get("name")))
        elif isinstance(value, dict):
            outline.last = word(value.get("id"))
            outline.parents[outline.last] = word(value.get("parent_id"))
    outline.names = {role: names[0] for role, names in children_by_key.items() if len(names) == 1 and names[0]}
    reader = _Messages(limits, member, outline)
    reader.places.begin(source_id or title)
    messages = (value for _place, value in values(source, ("messages.item",), member))
    yield from reader.read_session(title, source_id or digest("talk", member, title), member, messages)


class _Messages(SessionReader):
    def __init__(self, limits: Limits, member: str, outline: _Outline) -> None:
        super().__init__(limits)
        self.member, self.outline, self.branch = member, outline, outline.chosen_branch()

    def place_of(self, session: str, number: int) -> str:
        return ", ".join(filter(None, (self.member, _("message %d") % number)))

    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        source_id, role = word(message.get("id")), word(message.get("role"))
        # The text of a message; its parts are paragraphs.
        content = table(message.get("content"))
        texts = [table(part).get("text") for part in array(content.get("parts"))]
        text = content.get("text")
        text = text if isinstance(text, str) else "\n\n".join(part for part in texts if isinstance(part, str))
        if self.branch is not None and source_id not in self.branch:
            yield Skipped(location, "not_chosen")
        elif message.get("is_thought") is True:
            yield Skipped(location, "thinking")
        elif role not in ROLES:
            yield Skipped(location, _SILENT.get(role, "unknown"))
        elif not text and (message.get("attachments") or content.get("parts")):
            yield Skipped(location, "media")
        else:
            ours, at = table(message.get("raw_metadata")), moment(message.get("created_at"))
            speaker = word(ours.get("speaker")) or self.outline.names.get(role, role)
            side = OTHER if ours.get("side") == OTHER else ROLES[role]
            yield self.line(speaker, text, at, location, source_id, side)


FORMATS = (PortableMemory(),)
