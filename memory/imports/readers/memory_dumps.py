"""Memories of other memory systems: mem0 and Zep, as their clients return them and people save them.

mem0   {results: [{id, memory, created_at, updated_at, user_id, categories, metadata}]}, {memories: […]}, or the list
Zep    {facts: […]}, {edges: [{uuid, fact, valid_at, invalid_at, created_at, name}]}, {nodes: [{name, summary}]}, or
       sessions and threads with {messages: [{role, role_type, content}], facts?, summary?}

A memory is no message: it becomes a `Remembered`, with the day on which it was true.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.json_values import objects, reason_of, values
from memory.imports.readers.lines import SessionReader, array, moment, role_named, storable, table, word
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, Limits, Options, ReaderItem, Remembered, Role, Skipped, digest

_LISTS = ("results", "memories", "data")
_MEM0_BESIDE = frozenset(
    {"user_id", "agent_id", "app_id", "run_id", "hash", "categories", "metadata", "created_at", "updated_at", "score"}
)
_OPEN_MEMORY_BESIDE = frozenset({"state", "categories", "app_id", "user_id", "archived_at", "deleted_at"})
_MEM0 = tuple(f"{path}item" for path in ("", *(f"{name}." for name in _LISTS)))
_GONE = ("invalid_at", "expired_at", "deleted_at", "archived_at")
_ZEP_LISTS = ("facts", "edges", "nodes", "episodes", "sessions", "threads", "relevant_facts", "messages", "entities")
_AROUND = ("", "memory.", "data.", "graph.", "user.", "context.")
_SESSIONS = ("sessions", "threads")
_ROLES: Mapping[str, Role] = {"user": "user", "human": "user", "assistant": "persona", "ai": "persona"}
_SILENT = {"system": "hidden", "tool": "tool", "function": "tool", "norole": "hidden"}


class Mem0:
    name = "mem0"
    label = gettext_lazy("mem0 (memories)")

    def resembles(self, sample: Sample) -> float:
        if sample.members:
            return 0.0
        for place in _MEM0:
            inside = {path.removeprefix(f"{place}.") for path in sample.paths if path.startswith(f"{place}.")}
            if "memory" in inside and inside & _MEM0_BESIDE:
                return 0.9
            # The format of OpenMemory, its desktop app.
            if place == "memories.item" and "content" in inside and inside & _OPEN_MEMORY_BESIDE:
                return 0.9
        top_paths = {path for path in sample.paths if "." not in path}
        return 0.9 if "memory" in top_paths and len(top_paths & _MEM0_BESIDE) > 1 else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        # The values at the places in an object, the elements of a list, or the values of lines.
        record_paths = [place for place in _MEM0 if place != "item"]
        first = next((piece.lstrip() for piece in source.texts() if piece.strip()), "")
        paths = source.sample.paths
        in_object = first.startswith("{") and any(place.partition(".")[0] in paths for place in record_paths)
        records = (value for _place, value in values(source, record_paths)) if in_object else objects(source)
        for number, value in enumerate(records, start=1):
            location = _("memory %d") % number
            if not isinstance(value, dict):
                text = value if isinstance(value, str) else ""
                yield (
                    _remembered(text, "memory", {}, location, options.limits)
                    if text
                    else Skipped(location, reason_of(value))
                )
                continue
            text = next((word(value[key]) for key in ("memory", "data", "text", "content") if word(value.get(key))), "")
            categories = [word(item) for item in array(value.get("categories"))]
            yield _remembered(text, next(filter(None, categories), "memory"), value, location, options.limits)


def _remembered(text: str, kind: str, rest: Mapping[str, Any], location: str, limits: Limits) -> Remembered | Skipped:
    text = storable(text)
    if not text.strip():
        return Skipped(location, "empty")
    if len(text.encode()) > limits.message_bytes:
        return Skipped(location, "too_long")
    if any(word(rest.get(key)) for key in _GONE) or rest.get("deleted") is True:
        return Skipped(location, "outdated")
    memory_id = storable(word(rest.get("id") or rest.get("uuid") or rest.get("uuid_")))
    # When it was true, else when it was stored.
    times = (moment(rest.get(key)) for key in ("valid_at", "created_at", "createdAt", "updated_at"))
    # The system's own confidence; the score of a search is something else.
    value = rest.get("confidence", rest.get("rating"))
    usual = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1
    return Remembered(
        text,
        kind,
        next((at.date() for at in times if at), None),
        float(value) if usual and value is not None else None,
        memory_id or digest("memory", text),
        location,
    )


class Zep:
    name = "zep"
    label = gettext_lazy("Zep (facts and sessions)")

    def resembles(self, sample: Sample) -> float:
        if sample.members:
            return 0.0
        paths = sample.paths
        for around in _AROUND:
            if f"{around}edges.item.fact" in paths or f"{around}facts.item.fact" in paths:
                return 0.9
            if f"{around}facts" in paths and {"messages.item.role_type", "session_id"} & paths:
                return 0.9
            if (
                f"{around}sessions.item.messages.item.role_type" in paths
                or f"{around}relevant_facts.item.fact" in paths
            ):
                return 0.9
        bare = {"item.fact", "fact"} & paths and {"item.valid_at", "valid_at", "item.created_at", "item.uuid"} & paths
        if bare or {"messages.item.role_type", "messages.item.content"} <= paths:
            return 0.85
        if any(f"{path}item.messages.item.role_type" in paths for path in ("", "sessions.", "threads.")):
            return 0.85
        # {"facts": ["…", "…"]}, and few other fields.
        top = {path for path in sample.paths if "." not in path}
        return (
            0.8
            if "facts" in top and top <= {"facts", "user_id", "session_id", "summary", "created_at", "uuid", "metadata"}
            else 0.0
        )

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        paths = [f"{around}{name}.item" for around in _AROUND for name in _ZEP_LISTS if name != "messages"]
        paths += [f"{around}summary" for around in _AROUND]
        reader, number = _Sessions(options.limits), 0
        first = next((piece.lstrip() for piece in source.texts() if piece.strip()), "")
        if first.startswith("[") or "fact" in source.sample.paths:
            for value in objects(source):
                number += 1
                yield from _piece("facts", value, number, reader)
            return
        for place, value in values(source, paths):
            number += 1
            kind = place.removesuffix(".item").rpartition(".")[2]
            yield from _piece(kind, value, number, reader)
        for around in _AROUND:
            if (
                f"{around}messages.item.role" in source.sample.paths
                or f"{around}messages.item.role_type" in source.sample.paths
            ):
                messages = (value for _place, value in values(source, [f"{around}messages.item"]))
                yield from _session({"messages": messages}, 1, reader)
                break


def _piece(kind: str, value: Any, number: int, reader: "_Sessions") -> Iterator[ReaderItem]:
    location, limits = _("memory %d") % number, reader.limits
    if kind in _SESSIONS or (isinstance(value, dict) and isinstance(value.get("messages"), list)):
        yield from _session(value, number, reader)
        return
    if isinstance(value, str):
        yield _remembered(value, "summary" if kind == "summary" else "fact", {}, location, limits)
        return
    if not isinstance(value, dict):
        if value is not None:
            yield Skipped(location, reason_of(value))
        return
    if kind in ("nodes", "entities"):
        name, summary = word(value.get("name")), word(value.get("summary"))
        text = summary if name.casefold() in summary.casefold() else f"{name}: {summary}"
        yield _remembered(text, "entity", value, location, limits) if summary else Skipped(location, "empty")
    elif kind == "summary":
        yield _remembered(word(value.get("content")), "summary", value, location, limits)
    elif kind == "episodes":
        yield Skipped(location, "document")
    else:
        yield _remembered(word(value.get("fact")) or word(value.get("content")), "fact", value, location, limits)


def _session(value: Any, number: int, reader: "_Sessions") -> Iterator[ReaderItem]:
    session = table(value)
    location = _("conversation %d") % number
    session_id = word(session.get("session_id") or session.get("thread_id") or session.get("uuid"))
    reader.places.begin(session_id or f"zep {number}")
    for fact in (*array(session.get("facts")), *array(session.get("relevant_facts"))):
        yield from _piece("facts", fact, number, reader)
    messages = session.get("messages")
    if messages is None:
        yield Skipped(location, "empty")
        return
    listed = messages if not isinstance(messages, dict | str) else []
    yield from reader.read_session(word(session.get("name")), session_id or digest("zep", number), location, listed)


class _Sessions(SessionReader):
    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        """One message. In older versions `role` is a name, and `role_type` the side."""
        side = (word(message.get("role_type")) or word(message.get("role"))).casefold()
        if side in _SILENT:
            yield Skipped(location, _SILENT[side])
            return
        name = word(message.get("name")) or word(message.get("role")) or side
        role = _ROLES.get(side) or role_named(name)
        message_id = word(message.get("uuid") or message.get("uuid_"))
        at = moment(message.get("created_at"))
        yield self.line(name, word(message.get("content")), at, location, message_id, role)


FORMATS = (Mem0(), Zep())
