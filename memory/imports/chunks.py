"""Cuts the content of a file into chunks, each stored in one transaction. Pure: the same file and choices give the same
chunks.

A session is cut at long pauses and when it grows too long. Diary entries of about the same time are read together.
Content other than messages becomes notes. Messages keep their order, and every line of text.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import cached_property
from itertools import chain, groupby, islice
from typing import Any, Literal
from zoneinfo import ZoneInfo

from chat.models.message import MAX_CHARACTERS
from echovessel.llm.prompts import tokens
from memory.consolidation.messages import PER_LINE
from memory.imports.choices import Choices
from memory.imports.readers.types import Card, Entry, FileMessage, FileSession, Lore, ReaderItem, Remembered, digest

UNNAMED_SPEAKER = "?"
NAME_CHARACTERS = 80
# Times in a session may go back by this much: clocks are set, and servers differ.
MAX_STEP_BACK = timedelta(hours=2)
_SECOND = timedelta(seconds=1)
_DAY = timedelta(days=1)
_MAX_ENTRY_SPAN = timedelta(days=7)
_NOTES_PER_CHUNK = 50
_LONGEST_ID = 150
# In ids, precedes the number of a further part of a message that is too long for one.
PART = "#"
_NOON = time(12)

Kind = Literal["talk", "prose", "notes"]
Role = Literal["user", "persona", "system"]
Note = Card | Lore | Remembered
_ROLES: dict[str, Role] = {"user": "user", "persona": "persona"}


@dataclass(frozen=True)
class ImportedMessage:
    """A message to be stored: a whole one, or a part of one that is too long. `speaker` is set if it is neither the
    owner nor the persona; `other_id` is used if another message of the file has the same id."""

    external_id: str
    role: Role
    speaker: str
    content: str
    at: datetime
    tokens: int

    @property
    def is_first_part(self) -> bool:
        """Whether it counts as a message: of several parts only the first does."""
        return PART not in self.external_id

    @property
    def other_id(self) -> str:
        return f"{self.external_id}~{hashlib.sha256(self.content.encode()).hexdigest()[:12]}"


@dataclass(frozen=True)
class Chunk:
    """The content of one transaction. `left_out` counts the messages of skipped speakers since the previous chunk; the
    last chunk may hold nothing else."""

    format: str
    kind: Kind
    dated: bool = True
    lines: tuple[ImportedMessage, ...] = ()
    notes: tuple[Note, ...] = ()
    left_out: int = 0

    @cached_property
    def digest(self) -> str:
        """Equal for equal content in any file of the format, whoever is chosen as its speakers."""
        hashed = hashlib.sha256(f"{self.format} {self.kind}".encode())
        for message in self.lines:
            hashed.update(f"\x1e{message.external_id}\x1f{message.content}".encode())
        for item in self.notes:
            hashed.update(f"\x1e{item!r}".encode("utf-8", "replace"))
        return hashed.hexdigest()

    @property
    def tokens(self) -> int:
        return sum(message.tokens for message in self.lines)


@dataclass(frozen=True)
class Cuts:
    """The limits for cutting, fixed at confirmation, so that a repeat cuts as the first run did. A session of at most
    `tokens` is consolidated in one piece. `newest_first`: the file begins with the newest message; `keeps_at_once`:
    even then messages with the same time are in order. `undated` counts the messages without a time, which are placed
    on one day before `until`."""

    hours: int
    lines: int
    tokens: int
    entry_tokens: int
    newest_first: bool = False
    undated: int = 0
    until: str = ""
    keeps_at_once: bool = False


def name_of(message: FileMessage) -> str:
    """The speaker's name, as people see it."""
    return message.speaker[:NAME_CHARACTERS]


def chunk_file(values: Iterable[ReaderItem], format_name: str, choices: Choices, cuts: Cuts) -> Iterator[Chunk]:
    """The chunks of a file, in its order, without skipped content."""
    chunking = _FileChunker(format_name, choices, cuts)
    for kind, group in groupby(values, lambda item: _KINDS.get(type(item), "")):
        if kind:
            yield from getattr(chunking, kind)(group)
    if chunking.left_out:
        yield Chunk(format_name, "talk", left_out=chunking.left_out)


def parts(text: str, limit: int = MAX_CHARACTERS) -> list[str]:
    """`text` in parts of at most `limit` characters, cut after a paragraph if possible, else after a line, a sentence
    or a word. Nothing is lost: joined they are the text.

    >>> parts("One. Two.\\n\\nThree.", 12), parts("abcdef", 4)
    (['One. Two.\\n\\n', 'Three.'], ['abcd', 'ef'])
    """
    pieces = []
    while len(text) > limit:
        # After the last such end in the second half.
        for ends in (("\n\n",), ("\n",), ("。", "！", "？", ". ", "! ", "? "), (" ",)):
            cut = max(place + len(end) if (place := text.rfind(end, 0, limit)) >= 0 else 0 for end in ends)
            if cut > limit // 2:
                break
        else:
            cut = limit
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text]


_KINDS = {FileSession: "talk", Entry: "prose", Card: "notes", Lore: "notes", Remembered: "notes"}


@dataclass
class _OpenChunk:
    """The messages of the next chunk, each in its parts."""

    lines: list[Sequence[ImportedMessage]] = field(default_factory=list)
    times: list[datetime | None] = field(default_factory=list)
    dated: bool = False
    tokens: int = 0

    def add(self, messages: Sequence[ImportedMessage], at: datetime | None = None, *, dated: bool) -> None:
        self.lines.append(messages)
        self.times.append(at)
        self.tokens += _cost(messages)
        self.dated = self.dated or dated


class _FileChunker:
    """Cuts one file."""

    def __init__(self, format_name: str, choices: Choices, cuts: Cuts) -> None:
        self.format = format_name
        self.choices = choices
        self.cuts = cuts
        self.zone = ZoneInfo(choices.zone)
        self.undated = _Undated(choices.undated, self.zone, cuts)
        self.latest = datetime.fromisoformat(cuts.until) if cuts.until else datetime.max.replace(tzinfo=UTC)
        self.taken_count = 0
        self.left_out = 0  # messages of skipped speakers, since the last chunk

    # --- sessions ---------------------------------------------------------------------------------------------------
    def talk(self, conversations: Iterable[Any]) -> Iterator[Chunk]:
        for _talk, pieces in groupby(conversations, lambda conversation: (conversation.source_id, conversation.title)):
            messages = chain.from_iterable(self._add_times(pieces))
            if self._is_within_limit():
                gathered, last = _OpenChunk(), None
                for message, own_time in messages:
                    at = own_time or self.undated.next()
                    if last is not None:
                        passed = last - at if self.cuts.newest_first else at - last
                        is_apart = passed > timedelta(hours=self.cuts.hours) or passed < -MAX_STEP_BACK
                        is_too_long = gathered.tokens + tokens(message.text) + PER_LINE > self.cuts.tokens
                        if is_apart or is_too_long or len(gathered.lines) >= self.cuts.lines:
                            yield self._session_chunk(gathered)
                            gathered, last = _OpenChunk(), None
                    last = at if last is None else min(last, at) if self.cuts.newest_first else max(last, at)
                    role = _ROLES.get(self.choices.roles.get(name_of(message), "other"), "system")
                    speaker = (name_of(message).strip() or UNNAMED_SPEAKER) if role == "system" else ""
                    gathered.add(
                        self._parts(message.text, message.source_id, last, role, speaker),
                        own_time,
                        dated=own_time is not None,
                    )
                if gathered.lines:
                    yield self._session_chunk(gathered)

    def _is_within_limit(self) -> bool:
        """Whether the limit allows another session or entry; counts it."""
        self.taken_count += 1
        return self.choices.limit is None or self.taken_count <= self.choices.limit

    def _add_times(self, pieces: Iterable[FileSession]) -> Iterator[list[tuple[FileMessage, datetime | None]]]:
        """The messages of a session, without skipped speakers, with their times. A message without a time gets that of
        the message before it, or at the beginning that of the next one with a time."""
        last: datetime | None = None
        for piece in pieces:
            times = [self._moment(message.at) for message in piece.lines]
            last = last or next(filter(None, times), None)
            timed = []
            for message, at in zip(piece.lines, times, strict=True):
                last = at or last
                if self.choices.roles.get(name_of(message), "other") == "skip":
                    self.left_out += 1
                else:
                    timed.append((message, last))
            yield timed

    def _session_chunk(self, gathered: _OpenChunk) -> Chunk:
        messages = self._reverse(gathered) if self.cuts.newest_first else gathered.lines
        left_out, self.left_out = self.left_out, 0
        return Chunk(self.format, "talk", gathered.dated, tuple(chain.from_iterable(messages)), left_out=left_out)

    def _reverse(self, gathered: _OpenChunk) -> list[Sequence[ImportedMessage]]:
        """The messages of a file that begins with the newest, in chronological order."""
        if not self.cuts.keeps_at_once:
            return gathered.lines[::-1]
        at_once = groupby(zip(gathered.times, gathered.lines, strict=True), key=lambda pair: pair[0])
        return [
            message for _at, group in reversed([(at, list(group)) for at, group in at_once]) for _at, message in group
        ]

    def _parts(self, text: str, source_id: str, at: datetime, role: Role, speaker: str = "") -> list[ImportedMessage]:
        # Keep the id, unless it is too long or looks like one that is made here.
        is_plain = len(source_id) <= _LONGEST_ID and not {"~", PART} & {*source_id}
        external_id = f"{self.format}:{source_id if is_plain else digest(source_id)}"
        pieces = [part for part in parts(text) if part.strip()]
        return [
            ImportedMessage(
                external_id if number == 1 else f"{external_id}{PART}{number}", role, speaker, part, at, tokens(part)
            )
            for number, part in enumerate(pieces, start=1)
        ]

    # --- prose ------------------------------------------------------------------------------------------------------
    def prose(self, entries: Iterable[Any]) -> Iterator[Chunk]:
        gathered, first = _OpenChunk(), None
        for entry in entries:
            if not self._is_within_limit():
                continue
            # The time of writing; for a day without an hour noon, which is the same day wherever the owner lives.
            if entry.at is None and entry.day is not None:
                own_time = self._moment(datetime.combine(entry.day, _NOON))
            else:
                own_time = self._moment(entry.at)
            at = own_time or self.undated.next()
            title = entry.title.strip()
            has_title = not title or entry.text.lstrip("# \n").startswith(title)
            text = entry.text if has_title else f"{title}\n\n{entry.text}"
            paragraphs, is_dated = self._parts(text, entry.source_id, at, "user"), own_time is not None
            if first is not None:
                is_full = gathered.tokens + _cost(paragraphs) > self.cuts.entry_tokens
                if is_full or is_dated != gathered.dated or abs(at - first) > _MAX_ENTRY_SPAN:
                    yield self._prose_chunk(gathered)
                    gathered, first = _OpenChunk(), None
            first = first or at
            gathered.add(paragraphs, own_time, dated=is_dated)
        if gathered.lines:
            yield self._prose_chunk(gathered)

    def _prose_chunk(self, gathered: _OpenChunk) -> Chunk:
        in_order = self._reverse(gathered) if self.cuts.newest_first else gathered.lines
        messages = sorted(in_order, key=lambda message: message[0].at)
        return Chunk(self.format, "prose", gathered.dated, tuple(chain.from_iterable(messages)))

    # --- notes ------------------------------------------------------------------------------------------------------
    def notes(self, notes: Iterable[Any]) -> Iterator[Chunk]:
        remaining = iter(notes)
        while batch := tuple(islice(remaining, _NOTES_PER_CHUNK)):
            yield Chunk(self.format, "notes", notes=batch)

    def _moment(self, at: datetime | None) -> datetime | None:
        """The time in UTC; without a zone it is in the owner's. Times in the future are moved back to the confirmation:
        else the message would be the newest in every prompt until then."""
        if at is None or not datetime.min.year < at.year < datetime.max.year:
            return None  # no clock showed that year, and it cannot be converted to other zones
        return min((at if at.tzinfo else at.replace(tzinfo=self.zone)).astimezone(UTC), self.latest)


def _cost(messages: Iterable[ImportedMessage]) -> int:
    return sum(message.tokens + PER_LINE for message in messages)


class _Undated:
    """Times for messages without one: one after the other on the day that a person chose."""

    def __init__(self, day: date | None, zone: ZoneInfo, cuts: Cuts) -> None:
        self.at = datetime.combine(day or date(1970, 1, 1), time.min, zone).astimezone(UTC)
        end = self.at + _DAY - _SECOND
        if cuts.until:
            end = max(self.at, min(end, datetime.fromisoformat(cuts.until)))
        self.step = min(_SECOND, (end - self.at) / max(1, cuts.undated))

    def next(self) -> datetime:
        at, self.at = self.at, self.at + self.step
        return at
