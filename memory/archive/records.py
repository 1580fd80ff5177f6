"""What an archive's lines may say: one pydantic type per kind of line, and the reader. Pure but for reading bytes.

A line is JSON of one object with a `type`; the first one is the header, the rest come in any order.
"""

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, BinaryIO, Generic, Literal, Self, TypeVar

import numpy as np
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, model_validator

from memory.models.node import MAX_DESCRIPTION, MAX_IMPACT
from persona.models.core_block import MAX_CHARACTERS

FORMAT = "echovessel-archive"
VERSION = 1
# No honest line is longer; a file without line breaks must not fill the memory.
LONGEST_LINE_BYTES = 16 * 1024 * 1024
BATCH = 200

Id = Annotated[str, StringConstraints(min_length=1, max_length=200)]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120)]
RelationalTag = Literal["identity-bearing", "unresolved", "vulnerability", "turning-point", "correction", "commitment"]


class ArchiveError(Exception):
    """The archive as a whole cannot be read; the message says why."""


class BrokenLine(ArchiveError):
    """One line cannot be taken. `number` counts from 1."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"line {number}: {reason}")
        self.number = number
        self.reason = reason


class Record(BaseModel):
    """What all lines have in common: fields that we do not know are kept in `model_extra` and reported."""

    model_config = ConfigDict(extra="allow")


class HeaderRecord(Record):
    format: Literal["echovessel-archive"]
    version: int
    exported_at: AwareDatetime | None = None
    embedding_model: str | None = None
    source: str | None = None


class PersonaRecord(Record):
    id: Id
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
    user_name: Annotated[str, StringConstraints(max_length=80)] = ""
    timezone: str = "UTC"
    language: Literal["en", "zh"] | None = None
    blocks: dict[Literal["persona", "user", "style"], Annotated[str, StringConstraints(max_length=MAX_CHARACTERS)]] = {}
    facts: dict[str, Any] | None = None
    mood: dict[str, Any] | None = None


class SessionRecord(Record):
    id: Id
    channel: Annotated[str, StringConstraints(min_length=1, max_length=40)] = "web"
    status: Literal["open", "closing", "consolidating", "closed", "failed"] = "closed"
    started_at: AwareDatetime
    last_message_at: AwareDatetime | None = None
    closed_at: AwareDatetime | None = None
    close_reason: Literal["", "idle", "explicit", "length", "shutdown", "import"] = "import"
    summary: Annotated[str, StringConstraints(max_length=400)] | None = None
    failure: Annotated[str, StringConstraints(max_length=400)] | None = None
    trivial: bool = False
    off_the_record: bool = False


class MessageRecord(Record):
    id: Id
    session: Id
    role: Literal["user", "persona", "system"]
    content: str
    created_at: AwareDatetime
    withheld: bool = False


class EventTime(BaseModel):
    """Days from `start` to `end`; without an end, that one day."""

    start: date
    end: date | None = None

    @model_validator(mode="after")
    def in_order(self) -> Self:
        if self.end is not None and self.end < self.start:
            raise ValueError("event_time ends before it starts")
        return self


class EvidenceRecord(BaseModel):
    """Words of a message; `start` is said where it is not the first place in it at which they stand."""

    message: Id
    quote: Annotated[str, StringConstraints(min_length=1)]
    start: Annotated[int, Field(ge=0)] | None = None

    def place_in(self, content: str) -> int:
        """Where in `content`, which holds the quote, it begins."""
        if self.start is not None and content.startswith(self.quote, self.start):
            return self.start
        return content.index(self.quote)


class NodeRecord(Record):
    id: Id
    kind: Literal["event", "thought", "intention", "expectation"]
    subject: Literal["user", "persona", "shared"] = "user"
    description: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_DESCRIPTION)]
    emotional_impact: Annotated[int, Field(ge=-MAX_IMPACT, le=MAX_IMPACT, strict=True)] = 0
    emotion_tags: Annotated[list[str], Field(max_length=4)] = []
    relational_tags: Annotated[list[RelationalTag], Field(max_length=3)] = []
    event_time: EventTime | None = None
    session: Id | None = None
    messages: list[Id] = []
    evidence: list[EvidenceRecord] | None = None
    filling: list[Id] | None = None
    superseded_by: Id | None = None
    status: Literal["active", "hidden", "superseded", "archived", "quarantined"] | None = None
    source: Literal["extraction", "reflection", "slow_cycle", "import", "person"] = "import"
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    verification: Literal["unverified", "confirmed", "disputed"] = "unverified"
    mention_count: Annotated[int, Field(ge=0)] = 1
    last_mentioned_at: AwareDatetime | None = None
    access_count: Annotated[int, Field(ge=0)] = 0
    last_accessed_at: AwareDatetime | None = None
    outcome: Literal["open", "fulfilled", "violated", "expired"] = "open"
    resolved_at: AwareDatetime | None = None
    pinned: bool = False
    archived_because: Literal["", "expired", "settled", "old", "person"] = ""
    created_at: AwareDatetime
    embedding: str | None = None

    def vector(self, dimension: int) -> np.ndarray:
        """The stored vector: (dimension,) float32, unit length. Raises ValueError."""
        try:
            found = np.frombuffer(base64.b64decode(self.embedding or "", validate=True), dtype="<f4")
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"the embedding is not base64 of float32: {error}") from error
        if found.shape != (dimension,):
            raise ValueError(f"the embedding has {found.size} numbers, not {dimension}")
        length = float(np.linalg.norm(found))
        if not abs(length - 1) <= 1e-3:
            raise ValueError(f"the embedding is not of unit length ({length:.3f})")
        return found


class EntityRecord(Record):
    id: Id
    name: Name
    kind: Literal["person", "place", "org", "pet", "other"] = "other"
    aliases: list[Name] = []
    description: Annotated[str, StringConstraints(max_length=400)] | None = None
    described_by: Literal["", "slow_cycle", "person"] = ""
    status: Literal["confirmed", "uncertain", "merged"] = "confirmed"
    nodes: list[Id] = []


R = TypeVar("R", bound=Record)


@dataclass(frozen=True)
class Numbered(Generic[R]):
    """A record and the line it stands in."""

    number: int
    record: R


TYPES: Mapping[str, type[Record]] = {
    "header": HeaderRecord,
    "persona": PersonaRecord,
    "session": SessionRecord,
    "message": MessageRecord,
    "node": NodeRecord,
    "entity": EntityRecord,
}


@dataclass(frozen=True)
class RawLine:
    """One line, or why it is none. `size` is in bytes, with its line break."""

    number: int
    size: int
    type: str = ""
    data: Mapping[str, Any] | None = None
    fault: str = ""


def raw_lines(file: BinaryIO) -> Iterator[RawLine]:
    """The lines of a file from its start, one at a time; empty ones are left out."""
    file.seek(0)
    number = 0
    while line := file.readline(LONGEST_LINE_BYTES + 1):
        number += 1
        if len(line) > LONGEST_LINE_BYTES:
            yield RawLine(number, len(line), fault="the line is longer than 16 MB")
            return
        if line.strip():
            yield _raw(number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line)


def record(line: RawLine) -> Record | None:
    """The line as its type; None where the type is unknown to us. Raises BrokenLine."""
    if line.data is None:
        raise BrokenLine(line.number, line.fault)
    if line.type not in TYPES:
        return None
    try:
        return TYPES[line.type].model_validate({key: value for key, value in line.data.items() if key != "type"})
    except ValidationError as error:
        raise BrokenLine(line.number, _told(error)) from error


def batches(
    file: BinaryIO, *types: type[R], progress: Callable[[int], None] = lambda size: None
) -> Iterator[list[Numbered[R]]]:
    """The good lines of these types, at most BATCH at a time; `progress` hears of the bytes read."""
    batch: list[Numbered[R]] = []
    for line in raw_lines(file):
        progress(line.size)
        found = _good(line)
        if isinstance(found, types):
            batch.append(Numbered(line.number, found))
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


def _good(line: RawLine) -> Record | None:
    """The record of a line; None for one that is broken."""
    try:
        return record(line)
    except BrokenLine:
        return None


def header(file: BinaryIO) -> HeaderRecord:
    """The first line. Raises ArchiveError where it is no header, or one of another format or version."""
    first = next(raw_lines(file), None)
    if first is None:
        raise ArchiveError("the file is empty")
    if first.type != "header" or first.data is None or first.data.get("format") != FORMAT:
        raise ArchiveError(f"line 1: this is no archive: it must be a header with the format {FORMAT!r}")
    if (version := first.data.get("version")) != VERSION:
        raise ArchiveError(f"line 1: the archive has version {version!r}; this program reads version {VERSION}")
    found = record(first)
    assert isinstance(found, HeaderRecord)
    return found


def _raw(number: int, line: bytes) -> RawLine:
    try:
        data = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        return RawLine(number, len(line), fault=f"not UTF-8: {error.reason} at byte {error.start}")
    except (ValueError, RecursionError) as error:
        return RawLine(number, len(line), fault=f"not JSON: {error}")
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        return RawLine(number, len(line), fault="not an object with a type")
    return RawLine(number, len(line), data["type"], data)


def _told(error: ValidationError) -> str:
    """The validator's faults in one sentence, without the words that were found."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'line'}: {fault['msg']}" for fault in faults)
