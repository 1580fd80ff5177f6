"""The record types of an archive, and the reader of its lines. Pure except for reading bytes.

A line is a JSON object with a `type`; the header comes first, the others in any order. Records refer to each other by
id. `by` is "owner" or missing: other users are unknown to other installations.
"""

import binascii
import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cache, cached_property
from typing import Annotated, Any, BinaryIO, Generic, Literal, NamedTuple, Self, TypeVar, get_args
from uuid import UUID

import numpy as np
from django.core.exceptions import ValidationError as NotValid
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from echovessel.language.coarse_dates import span_of
from memory.models.entity import MAX_RELATION
from memory.models.node import MAX_CONDITION, MAX_DESCRIPTION, MAX_IMPACT, RelationalTag
from memory.models.slow_cycle import MAX_QUESTION
from memory.models.thread import MAX_TITLE
from persona.models.core_block import MAX_CHARACTERS
from persona.models.mood_change import MAX_MOOD, MAX_SIGNAL
from persona.models.persona import validate_timezone

FORMAT = "echovessel-archive"
VERSION = 1
# No line that we write is longer; a file without line breaks must not fill the memory.
MAX_LINE_BYTES = 16 * 1024 * 1024
# Lines per transaction; fewer if they are long.
BATCH = 2_000
BATCH_BYTES = 16 * 1024 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# The start of a line whose type comes first, as in the lines we write.
_TYPE_AT_START = re.compile(rb'\{ ?"type": ?"([a-z_]{1,40})"')

# The first bytes of other files that people mistake for archives.
_OTHER_FILE_STARTS = {
    b"\x1f\x8b": "it is packed by gzip; unpack it first",
    b"PK\x03\x04": "it is a zip; unpack it first",
    b"\xff\xfe": "it is UTF-16; an archive is UTF-8",
    b"\xfe\xff": "it is UTF-16; an archive is UTF-8",
}
# Nothing that we write is nested as deeply; a deeper object may be an attack on the parser.
MAX_NESTING = 32

# No database can search for a name with a NUL.
Id = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]
Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120, pattern=r"^[^\x00]*$")]
Wordless = Annotated[str, StringConstraints(max_length=200)]
# Times that can be converted to any zone.
Moment = Annotated[AwareDatetime, Field(ge=datetime(1000, 1, 1, tzinfo=UTC), le=datetime(9000, 1, 1, tzinfo=UTC))]
Day = Annotated[date, Field(ge=date(2, 1, 1), le=date(9000, 1, 1))]
# Numbers that every database can store.
Count = Annotated[int, Field(ge=0, le=2**31 - 1)]
Ordinal = Annotated[int, Field(ge=1, le=2**31 - 1)]
Digest = Annotated[str, StringConstraints(pattern="^[0-9a-f]{64}$")]
Uuid = Annotated[str, StringConstraints(pattern="^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$")]
By = Literal["owner"] | None
EntityKind = Literal["person", "place", "org", "pet", "other"]
EntityStatus = Literal["confirmed", "uncertain", "merged"]
Answer = Literal["open", "merged", "kept_apart", "undone"]
Era = Annotated[int, Field(ge=0, le=100_000)]
Verification = Literal["unverified", "confirmed", "disputed"]


def check_coarse_date(code: str) -> str:
    """A coarse date, as `echovessel.language.coarse_dates` writes it."""
    if code and span_of(code) is None:
        raise ValueError("it is not a date such as 2024, 2024-spring, 2024-05 or 2024-05-03")
    return code


CoarseDate = Annotated[str, StringConstraints(max_length=12), AfterValidator(check_coarse_date)]


def check_storable(value: dict[str, Any]) -> dict[str, Any]:
    """Check that a database can store the object, whose fields are not ours. Raises ValueError."""

    def is_deeper(value: Any, depth: int) -> bool:
        inner: Iterable[Any] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return any(depth == 0 or is_deeper(item, depth - 1) for item in inner)

    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError) as error:
        raise ValueError("it holds what cannot be stored") from error
    if is_deeper(value, MAX_NESTING):
        raise ValueError(f"it is nested more than {MAX_NESTING} deep")
    return value


def check_kind(item: dict[str, Any]) -> dict[str, Any]:
    if not isinstance(item.get("kind"), str):
        raise ValueError("it does not say of what kind it is")
    return item


def check_zone(name: str) -> str:
    try:
        validate_timezone(name or "UTC")
    except NotValid as error:
        raise ValueError("; ".join(error.messages)) from error
    return name


def check_mood(value: dict[str, Any]) -> dict[str, Any]:
    """Check the known fields of a mood; unknown ones are kept."""
    try:
        state = MoodState.model_validate(value)
    except ValidationError as error:
        raise ValueError(_describe_errors(error)) from error
    at = {"updated_at": state.updated_at.isoformat()} if state.updated_at else {}
    return value | {"mood": state.mood, "energy": state.energy, **at} if value else value


JsonObject = Annotated[dict[str, Any], AfterValidator(check_storable)]


class ArchiveError(Exception):
    """The archive as a whole cannot be read; the message says why."""


class BrokenLine(ArchiveError):
    """A line cannot be imported. `number` counts from 1."""

    def __init__(self, number: int, reason: str) -> None:
        super().__init__(f"line {number}: {reason}")
        self.number = number
        self.reason = reason


class ExtensibleModel(BaseModel):
    """An object that may have unknown fields: they are kept in `model_extra` and reported."""

    # Built when the first archive is read: building takes a twentieth of every process's start.
    model_config = ConfigDict(extra="allow", allow_inf_nan=False, defer_build=True)


class Record(ExtensibleModel):
    """The fields of all types. `place` is the record's place among the records of its type, because the lines of a file
    may be in another order."""

    type: str = ""
    place: Annotated[int, Field(ge=1, le=2**53)] | None = None


class HeaderRecord(Record):
    format: Literal["echovessel-archive"]
    version: int
    exported_at: Moment | None = None
    embedding_model: str | None = None
    embedding_dimensions: int | None = None
    embedding_prefix: str | None = None
    source: str | None = None


BlockText = Annotated[str, StringConstraints(max_length=MAX_CHARACTERS)]


class BlocksRecord(ExtensibleModel):
    persona: BlockText | None = None
    user: BlockText | None = None
    style: BlockText | None = None

    def texts(self) -> dict[str, str]:
        """The texts that are set, by label."""
        texts = {"persona": self.persona, "user": self.user, "style": self.style}
        return {label: text for label, text in texts.items() if text is not None}


class MoodState(ExtensibleModel):
    mood: Annotated[str, StringConstraints(max_length=MAX_MOOD)] = ""
    energy: Annotated[int, Field(ge=0, le=10)] = 5
    last_user_signal: Annotated[str, StringConstraints(max_length=MAX_SIGNAL)] | None = None
    updated_at: Moment | None = None


class PersonaRecord(Record):
    id: Id
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80)]
    user_name: Annotated[str, StringConstraints(max_length=80)] = ""
    timezone: Annotated[str, AfterValidator(check_zone)] = "UTC"
    language: Literal["en", "zh"] | None = None
    colour: Literal["celadon", "clay", "amber", "plum", "indigo", "slate"] = "celadon"
    # Base64 of a PNG, JPEG or WebP.
    picture: str | None = None
    greeting: Annotated[str, StringConstraints(max_length=20_000)] = ""
    blocks: BlocksRecord = BlocksRecord()
    facts: JsonObject | None = None
    mood: Annotated[JsonObject, AfterValidator(check_mood)] | None = None
    uuid: UUID | None = None
    created_at: Moment | None = None
    care_until: Moment | None = None


class BlockVersionRecord(Record):
    """A version of a core block; the last one of a label is the text in the persona record."""

    label: Literal["persona", "user", "style"]
    version: Ordinal
    content: BlockText
    by: By = None
    edited_at: Moment


class TombstoneRecord(Record):
    """The keyed digest of a forgotten text; no archive has the key."""

    kind: Literal["text", "line", "name", "external"]
    digest: Digest
    key: Annotated[str, StringConstraints(max_length=8)]
    refused: Count = 0
    created_at: Moment


class TurnRecord(Record):
    """New messages and their reply, without the x-ray."""

    id: Id
    session: Id
    status: Literal["done", "failed", "stopped"] = "done"
    spoke_first: bool = False
    is_cut: bool = False
    error: Annotated[str, StringConstraints(max_length=40)] = ""
    partial: str = ""
    created_at: Moment
    started_at: Moment | None = None
    first_token_at: Moment | None = None
    finished_at: Moment | None = None
    usage: JsonObject | None = None


class FlagRecord(ExtensibleModel):
    """The crisis flag of a message, which somebody with permission should read soon."""

    raised_at: Moment
    by: By = None
    # None in older archives: then the rules decide.
    by_detector: bool | None = None
    by_model: bool = False
    seen_at: Moment | None = None
    seen_by: By = None


class SessionRecord(Record):
    id: Id
    channel: Annotated[str, StringConstraints(min_length=1, max_length=40)] = "web"
    status: Literal["open", "closing", "consolidating", "closed", "failed"] = "closed"
    started_at: Moment
    last_message_at: Moment | None = None
    closed_at: Moment | None = None
    close_reason: Literal["", "idle", "explicit", "length", "shutdown", "import"] = "import"
    summary: Annotated[str, StringConstraints(max_length=400)] | None = None
    failure: Annotated[str, StringConstraints(max_length=400)] | None = None
    trivial: bool = False
    off_the_record: bool = False
    file: Id | None = None


class MessageRecord(Record):
    id: Id
    session: Id
    role: Literal["user", "persona", "system"]
    speaker: Annotated[str, StringConstraints(max_length=80)] = ""
    content: str
    created_at: Moment
    withheld: bool = False
    turn: Id | None = None
    day: Day | None = None
    flagged: FlagRecord | None = None
    file: Id | None = None


FactDomain = Literal["", "about", "people", "health", "likes", "work", "home", "plans", "belongings", "beliefs"]
PlanState = Literal["", "planned", "done", "cancelled"]
LessonScope = Literal["", "always", "topic", "feeling", "person", "name"]
LessonCondition = Annotated[str, StringConstraints(max_length=MAX_CONDITION)]


class EventTime(ExtensibleModel):
    """Days from `start` to `end`; without an end, only the first day."""

    start: Day
    end: Day | None = None

    @model_validator(mode="after")
    def in_order(self) -> Self:
        if self.end is not None and self.end < self.start:
            raise ValueError("event_time ends before it starts")
        return self


class EvidenceRecord(ExtensibleModel):
    """A quote of a message; `start` is set if it is not the quote's first occurrence."""

    message: Id
    quote: Annotated[str, StringConstraints(min_length=1)]
    start: Annotated[int, Field(ge=0)] | None = None

    def place_in(self, content: str) -> int:
        """The start of the quote in `content`."""
        if self.start is not None and content.startswith(self.quote, self.start):
            return self.start
        return content.index(self.quote)


class NodeRecord(Record):
    id: Id
    kind: Literal["event", "fact", "thought", "intention", "expectation", "lesson"]
    subject: Literal["user", "persona", "shared", "other"] = "user"
    description: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_DESCRIPTION)]
    emotional_impact: Annotated[int, Field(ge=-MAX_IMPACT, le=MAX_IMPACT, strict=True)] = 0
    emotion_tags: Annotated[list[str], Field(max_length=4, default_factory=list)]
    relational_tags: Annotated[list[RelationalTag], Field(max_length=3, default_factory=list)]
    event_time: EventTime | None = None
    session: Id | None = None
    messages: Annotated[list[Id], Field(default_factory=list)]
    evidence: list[EvidenceRecord] | None = None
    filling: list[Id] | None = None
    superseded_by: Id | None = None
    status: Literal["active", "hidden", "superseded", "archived", "quarantined"] | None = None
    source: Literal["extraction", "reflection", "slow_cycle", "import", "person"] = "import"
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    verification: Verification = "unverified"
    mention_count: Count = 1
    last_mentioned_at: Moment | None = None
    access_count: Count = 0
    last_accessed_at: Moment | None = None
    outcome: Literal["open", "fulfilled", "violated", "expired"] = "open"
    resolved_at: Moment | None = None
    pinned: bool = False
    archived_because: Literal["", "expired", "settled", "old", "person"] = ""
    resolved_by: Id | None = None
    orphaned: Annotated[int, Field(ge=0, le=1_000)] = 0
    domain: FactDomain = ""
    since: CoarseDate = ""
    until: CoarseDate = ""
    plan_state: PlanState = ""
    scope: LessonScope = ""
    condition: LessonCondition = ""
    boundary: bool = False
    file: Id | None = None
    created_at: Moment
    embedding: str | None = None

    @model_validator(mode="after")
    def scope_of_lessons(self) -> Self:
        if (self.kind == "lesson") != bool(self.scope):
            raise ValueError("a lesson says when it holds, and nothing else does")
        if self.kind != "lesson" and (self.condition or self.boundary):
            raise ValueError("only a lesson has a condition")
        return self

    @model_validator(mode="after")
    def domain_of_facts(self) -> Self:
        if (self.kind == "fact") != bool(self.domain):
            raise ValueError("a fact says what it is about, and nothing else does")
        if self.kind != "fact" and (self.since or self.until or self.plan_state):
            raise ValueError("only a fact holds since or until a time")
        return self

    def vector(self, dimension: int) -> np.ndarray:
        """The stored vector: (dimension,) float32, unit length. Raises ValueError."""
        try:
            vector = np.frombuffer(binascii.a2b_base64(self.embedding or "", strict_mode=True), dtype="<f4")
        except (binascii.Error, ValueError) as error:
            raise ValueError(f"the embedding is not base64 of float32: {error}") from error
        if vector.shape != (dimension,):
            raise ValueError(f"the embedding has {vector.size} numbers, not {dimension}")
        with np.errstate(all="ignore"):  # damaged bytes may be NaN, or numbers whose squares float32 cannot hold
            length = float(np.linalg.norm(vector.astype(np.float64)))
        if not abs(length - 1) <= 1e-3:
            raise ValueError(f"the embedding is not of unit length ({length:.3f})")
        return vector


class NodeVersionRecord(Record):
    """The state of a node before a person corrected it."""

    node: Id
    version: Ordinal
    description: Annotated[str, StringConstraints(min_length=1, max_length=MAX_DESCRIPTION)]
    emotional_impact: Annotated[int, Field(ge=-MAX_IMPACT, le=MAX_IMPACT, strict=True)] = 0
    emotion_tags: Annotated[list[str], Field(max_length=4, default_factory=list)]
    relational_tags: Annotated[list[RelationalTag], Field(max_length=3, default_factory=list)]
    event_time: EventTime | None = None
    verification: Verification = "unverified"
    domain: FactDomain = ""
    since: CoarseDate = ""
    until: CoarseDate = ""
    plan_state: PlanState = ""
    scope: LessonScope = ""
    condition: LessonCondition = ""
    boundary: bool = False
    by: By = None
    edited_at: Moment


class EntityRecord(Record):
    id: Id
    name: Name
    kind: EntityKind = "other"
    aliases: list[Name] = []
    relation: Annotated[str, StringConstraints(max_length=MAX_RELATION)] = ""
    description: Annotated[str, StringConstraints(max_length=400)] | None = None
    described_by: Literal["", "slow_cycle", "person"] = ""
    # Base64 of a PNG, JPEG or WebP.
    picture: str | None = None
    status: EntityStatus = "confirmed"
    nodes: list[Id] = []
    merged_into: Id | None = None
    described_through: Id | None = None
    file: Id | None = None
    created_at: Moment | None = None


class BeforeRecord(ExtensibleModel):
    """The decision before a merge: to keep the two apart."""

    by: By = None
    decided_at: Moment | None = None
    confirmed: list[Id] = []


class MergeRecord(ExtensibleModel):
    """The data to undo a merge; `memory.archive.merges` explains each field."""

    at: Moment | None = None
    survivor: Id
    loser: Id
    kind: EntityKind
    kind_after: EntityKind
    status: EntityStatus
    loser_status: EntityStatus
    mentioned: list[Id] = []
    aliases: list[tuple[Id, str]] = []
    mentions: list[tuple[Id, Id]] = []
    doubled: list[tuple[Id, Era]] = []
    earlier: list[Id] = []
    proposals: list[tuple[Id, Id, Answer]] = []
    settled: list[tuple[Id, Answer, By, Moment | None]] = []
    description: Id | bool = False
    relation: Id | bool = False
    era: Era = 0
    since: list[tuple[Id, Id]] = []
    before: BeforeRecord | None = None


class SnapshotRecord(ExtensibleModel):
    """The data to undo a decision about two entities."""

    confirmed: list[Id] = []
    merge: MergeRecord | None = None


class ProposalRecord(Record):
    """A proposal or decision to merge two entities, or to keep them apart."""

    id: Id
    a: Id
    b: Id
    score: float
    reasons: list[Wordless] = []
    status: Answer = "open"
    by: By = None
    decided_at: Moment | None = None
    hinted_at: Moment | None = None
    created_at: Moment
    snapshot: SnapshotRecord | None = None


class MoodRecord(Record):
    id: Id
    mood: Annotated[str, StringConstraints(max_length=MAX_MOOD)]
    energy: Annotated[int, Field(ge=0, le=10)]
    last_user_signal: Annotated[str, StringConstraints(max_length=MAX_SIGNAL)] | None = None
    session: Id | None = None
    at: Moment


class ReflectionRecord(Record):
    """One decision of the reflection gate."""

    session: Id | None = None
    reason: Literal["shock", "timer", "hard_gate", "not_due", "nothing_new"]
    thoughts: Annotated[int, Field(ge=0, le=1_000)] = 0
    dropped: Annotated[int, Field(ge=0, le=1_000)] = 0
    at: Moment


class SlowCycleRecord(Record):
    """The last event that the slow cycle has read, and a request for a run."""

    through: Id | None = None
    wanted_at: Moment | None = None
    wanted_by: Id | None = None


class QuestionRecord(Record):
    """An open question of the persona."""

    id: Id
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_QUESTION)]
    status: Literal["open", "answered", "dropped"] = "open"
    nodes: list[Id] = []
    asked_at: Moment
    settled_at: Moment | None = None
    answered_by: Id | None = None


class ThreadRecord(Record):
    """A story line with its memories; `removed` are memories that the owner took out, with the time."""

    id: Id
    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_TITLE)]
    state: Literal["open", "ended"] = "open"
    titled_by: Literal["slow_cycle", "person"] = "slow_cycle"
    nodes: list[Id] = []
    removed: list[tuple[Id, Moment]] = []
    created_at: Moment
    dissolved_at: Moment | None = None


class SlowCycleRunRecord(Record):
    """One run of the slow cycle, with its input and output by ids."""

    id: Id
    session: Id | None = None
    reason: Literal["first", "rested", "shock", "correction"]
    outcome: Literal["done", "failed"]
    failure: Wordless = ""
    given: dict[str, list[Id]] = {}
    made: list[Annotated[JsonObject, AfterValidator(check_kind)]] = []
    through: Id | None = None
    tokens_in: Count = 0
    tokens_out: Count = 0
    dropped: Annotated[int, Field(ge=0, le=1_000)] = 0
    at: Moment


class ReceiptRecord(Record):
    """A receipt of forgetting: numbers, ids and digests."""

    id: Id
    targets: list[tuple[Wordless, Wordless]] = []
    choice: JsonObject = {}
    counts: dict[Wordless, Count] = {}
    erased: dict[Wordless, list[Uuid]] = {}
    prints: list[Wordless] = []
    stones: list[Digest] = []
    by: By = None
    at: Moment
    status: Literal["pending", "done"] = "done"
    finished_at: Moment | None = None


class FileRecord(Record):
    """An imported file. Records imported from it name it as `file`."""

    id: Id
    format: Annotated[str, StringConstraints(max_length=40)] = ""
    file_size: Annotated[int, Field(ge=0, le=2**60)] = 0
    file_digest: Digest | Literal[""] = ""
    status: Literal["remembering", "drafting", "done", "cancelled", "refused", "failed"] = "done"
    failure: Wordless = ""
    found: JsonObject = {}
    choices: JsonObject = {}
    counts: dict[Annotated[str, StringConstraints(max_length=40)], Annotated[int, Field(ge=0, le=10**9)]] = {}
    gone_through: Annotated[int, Field(ge=0, le=10**9)] = 0
    created_at: Moment
    confirmed_at: Moment
    finished_at: Moment | None = None


class PieceRecord(Record):
    """A chunk of an imported file."""

    file: Id
    number: Annotated[int, Field(ge=0, le=10**9)]
    digest: Annotated[str, StringConstraints(min_length=1, max_length=64)]
    kind: Literal["talk", "prose", "notes"]
    dated: bool = True
    session: Id | None = None


class QuotedRecord(ExtensibleModel):
    """A quote that a draft rests on, from a message or a place in a file."""

    quote: Annotated[str, StringConstraints(min_length=1)]
    message: Id | None = None
    said_at: Moment | None = None
    where: Annotated[str, StringConstraints(max_length=200)] = ""


class DraftRecord(Record):
    """A proposed text for a core block, and whether a person accepted it."""

    id: Id
    label: Literal["persona", "user", "style"]
    text: Annotated[str, StringConstraints(min_length=1, max_length=MAX_CHARACTERS)]
    status: Literal["open", "accepted", "rejected"] = "open"
    quotes: list[QuotedRecord] = []
    file: Id | None = None
    by: By = None
    created_at: Moment
    decided_at: Moment | None = None


R = TypeVar("R", bound=Record)


class Numbered(NamedTuple, Generic[R]):
    """A record and the number of its line."""

    number: int
    record: R


TYPES: Mapping[str, type[Record]] = {
    "header": HeaderRecord,
    "persona": PersonaRecord,
    "session": SessionRecord,
    "message": MessageRecord,
    "node": NodeRecord,
    "entity": EntityRecord,
    "block_version": BlockVersionRecord,
    "tombstone": TombstoneRecord,
    "turn": TurnRecord,
    "node_version": NodeVersionRecord,
    "proposal": ProposalRecord,
    "mood": MoodRecord,
    "reflection": ReflectionRecord,
    "slow_cycle": SlowCycleRecord,
    "slow_cycle_run": SlowCycleRunRecord,
    "question": QuestionRecord,
    "thread": ThreadRecord,
    "receipt": ReceiptRecord,
    "file": FileRecord,
    "piece": PieceRecord,
    "draft": DraftRecord,
}


@dataclass
class RawLine:
    """One line of the file, without a byte order mark. `size` is in bytes, including the line break."""

    number: int
    size: int
    content: bytes
    at: int = 0

    @cached_property
    def type(self) -> str:
        """The record type; empty if it is not a line of an archive."""
        if start := _TYPE_AT_START.match(self.content):
            return start[1].decode()
        try:
            return str(self.data["type"])
        except BrokenLine:
            return ""

    @property
    def storable(self) -> bytes:
        """The line without NULs, which all inputs drop (`echovessel.language.plain_text`)."""
        return _NUL.sub(rb"\1", self.content) if rb"\u0000" in self.content else self.content

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """The JSON object. Raises BrokenLine."""

        def parse_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            if len(values := dict(pairs)) < len(pairs):
                names = [name for name, _ in pairs]
                raise ValueError(f"{next(name for name in names if names.count(name) > 1)[:40]!r} is said twice")
            return values

        def refuse_constant(name: str) -> float:
            raise ValueError(f"{name} is no number")

        if len(self.content) > MAX_LINE_BYTES:
            raise BrokenLine(self.number, "the line is longer than 16 MB")
        try:
            data = json.loads(self.storable.decode(), object_pairs_hook=parse_object, parse_constant=refuse_constant)
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeDecodeError as error:
            raise BrokenLine(self.number, f"not UTF-8: {error.reason} at byte {error.start}") from error
        except UnicodeEncodeError as error:
            raise BrokenLine(self.number, "it holds half a surrogate pair, which is no character") from error
        except (ValueError, RecursionError) as error:
            raise BrokenLine(self.number, f"not JSON: {error}") from error
        if not isinstance(data, dict) or not isinstance(data.get("type"), str):
            raise BrokenLine(self.number, "not an object with a type")
        return data


_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")  # as JSON writes it


_TIMES = ("created_at", "started_at", "asked_at", "edited_at", "first_at", "wanted_at", "at")


@dataclass
class LineOffsets:
    """The lines of one type in a file: offsets and sizes in bytes, line numbers, order, and the hashes of their ids if
    the type has any."""

    kind: str
    type: type["Record"]
    at: "array[int]" = field(default_factory=lambda: array("Q"))
    numbers: "array[int]" = field(default_factory=lambda: array("Q"))
    sizes: "array[int]" = field(default_factory=lambda: array("L"))
    places: "array[int]" = field(default_factory=lambda: array("Q"))
    moments: "array[float]" = field(default_factory=lambda: array("d"))
    names: "array[int]" = field(default_factory=lambda: array("q"))

    @cached_property
    def time_field(self) -> str:
        """The field by which records of this type are ordered; empty if there is none."""
        return next((name for name in _TIMES if name in self.type.model_fields), "")

    def note(self, line: RawLine, record: "Record") -> None:
        self.at.append(line.at)
        self.numbers.append(line.number)
        self.sizes.append(line.size)
        self.places.append(record.place or 0)
        at: datetime | None = getattr(record, self.time_field) if self.time_field else None
        self.moments.append(at.timestamp() if at else 0.0)
        if "id" in self.type.model_fields:
            self.names.append(hash(record.id))  # type: ignore[attr-defined]

    def drop(self, numbers: set[int]) -> None:
        """Remove the lines with these numbers."""
        keep = [place for place, number in enumerate(self.numbers) if number not in numbers]
        if len(keep) < len(self.numbers):
            for name in ("at", "numbers", "sizes", "places", "moments", "names"):
                values = getattr(self, name)
                setattr(self, name, array(values.typecode, (values[place] for place in keep) if values else ()))

    def in_order(self) -> list[int]:
        """Indices by place, else by time, else as in the file."""
        keys = (np.asarray(self.numbers), np.asarray(self.moments), np.asarray(self.places))
        return [int(place) for place in np.lexsort(keys)]

    def batches(self) -> Iterator[list[int]]:
        """The indices in order, in batches that are stored in one transaction."""
        batch: list[int] = []
        size = 0
        for place in self.in_order():
            batch.append(place)
            size += self.sizes[place]
            if len(batch) >= BATCH or size >= BATCH_BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch


def raw_lines(file: BinaryIO) -> Iterator[RawLine]:
    """The lines of a file from its start, without empty ones, up to the first that is too long."""
    file.seek(0)
    number = at = 0
    while text := file.readline(MAX_LINE_BYTES + 1):
        number += 1
        if text.strip():
            yield RawLine(number, len(text), text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text, at)
        if len(text) > MAX_LINE_BYTES:
            return
        at += len(text)


def line_at(file: BinaryIO, at: int, number: int) -> RawLine:
    """The line that `raw_lines` read at this offset."""
    if file.tell() != at:
        file.seek(at)
    content = file.readline(MAX_LINE_BYTES + 1)
    return RawLine(number, len(content), content, at)


def parse_record(line: RawLine, types: Mapping[str, type[Record]] = TYPES) -> Record | None:
    """The line as a record; None if its type is not in `types`. Raises BrokenLine.

    A line with its type first is parsed once; only if that fails it is parsed again, for the reason.
    """
    if (expected := types.get(line.type)) is not None and line.size <= MAX_LINE_BYTES:
        try:
            record = expected.model_validate_json(line.storable)
        except ValidationError:
            return _parse_with_reason(line, types)
        if record.type == line.type:
            return record
    return _parse_with_reason(line, types)


def _parse_with_reason(line: RawLine, types: Mapping[str, type[Record]]) -> Record | None:
    """Parse through a dict, for the reason of a failure; a null field counts as missing."""
    kind = line.data["type"]
    if kind not in types:
        return None
    try:
        return types[kind].model_validate({name: value for name, value in line.data.items() if value is not None})
    except ValidationError as error:
        raise BrokenLine(line.number, _describe_errors(error)) from error


def check_record(line: RawLine, types: Mapping[str, type[Record]] = TYPES) -> tuple[Record | None, list[str]]:
    """The record of a line that is read for the first time, and its unknown fields. Counting finds duplicate fields:
    only if the counts differ is the line parsed strictly."""
    checked = parse_record(line, types)
    unknown: list[str] = []
    if checked is not None and _count_fields(checked, "", unknown) != line.content.count(b'":'):
        line.data  # noqa: B018  # raises BrokenLine
    return checked, unknown


def _count_fields(json_object: ExtensibleModel, within: str, unknown: list[str]) -> int:
    """The number of fields in the object and its nested objects; unknown ones are added to `unknown`."""
    count = len(json_object.model_fields_set)
    if json_object.model_extra:
        unknown += [f"{within}{name}" for name in json_object.model_extra]
    for name in nested_fields(type(json_object)):
        inner = getattr(json_object, name)
        for item in inner if isinstance(inner, list) else () if inner is None else (inner,):
            count += _count_fields(item, f"{within}{name}.", unknown)
    return count


@cache
def nested_fields(kind: type[ExtensibleModel]) -> tuple[str, ...]:
    """The fields that hold objects of our types."""

    def holds_objects(annotation: Any) -> bool:
        if isinstance(annotation, type) and issubclass(annotation, ExtensibleModel):
            return True
        return any(map(holds_objects, get_args(annotation)))

    return tuple(name for name, field in kind.model_fields.items() if holds_objects(field.annotation))


def read_records(
    file: BinaryIO, places: LineOffsets, indexes: Sequence[int], progress: Callable[[int], None] = lambda size: None
) -> list[Numbered[Any]]:
    """The records at these indices of `places`, which are known to be valid. They are read in the order of the file, so
    that little of a zip is decompressed twice."""
    records_by_index: dict[int, Numbered[Any]] = {}
    for index in sorted(indexes, key=places.at.__getitem__):
        raw_line = line_at(file, places.at[index], places.numbers[index])
        progress(raw_line.size)
        parsed = parse_record(raw_line, {places.kind: places.type})
        assert parsed is not None
        records_by_index[index] = Numbered(raw_line.number, parsed)
    return [records_by_index[index] for index in indexes]


def read_header(file: BinaryIO) -> HeaderRecord:
    """The first line. Raises ArchiveError if it is no header, or has another format or version."""
    first = next(raw_lines(file), None)
    if first is None:
        raise ArchiveError("the file is empty")
    try:
        is_header = first.data["type"] == "header" and first.data.get("format") == FORMAT
    except BrokenLine:
        is_header = False
    if not is_header:
        hint = next(
            (hint for file_start, hint in _OTHER_FILE_STARTS.items() if first.content.startswith(file_start)), ""
        )
        raise ArchiveError(
            f"line {first.number}: this is no archive: {hint or f'it must be a header with the format {FORMAT!r}'}"
        )
    if (version := first.data.get("version")) != VERSION:
        raise ArchiveError(
            f"line {first.number}: the archive has version {version!r}; this program reads version {VERSION}"
        )
    first_record = parse_record(first)
    assert isinstance(first_record, HeaderRecord)
    return first_record


def _describe_errors(error: ValidationError) -> str:
    """The validation errors in one sentence, without the values."""
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, fault['loc'])) or 'line'}: {fault['msg']}" for fault in faults)
