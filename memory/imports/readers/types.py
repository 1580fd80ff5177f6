"""The values that readers yield: plain and frozen, in the words and the order of the file.

Nothing here is trusted, nothing is stored, and nothing is looked up on a network. A reader yields contents and skipped
items (`Skipped`); a file that is not of its format raises `ImportRejected`, possibly after some values: so the caller
reads to the end before storing, or stores so that it can be reverted.

A module of formats exports `FORMATS`, a tuple of its `Format`s; `memory/imports/readers/__init__.py` puts them in
order.
"""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol

from django.utils.functional import Promise

from memory.imports.readers.reasons import REJECTIONS, SKIPS, describe_contents

if TYPE_CHECKING:
    from memory.imports.readers.source import Sample, Source

Role = Literal["user", "persona", "other", ""]
# A person's answer about an ambiguous file: a chat of several people, or the owner's own prose.
Kind = Literal["chat", "notes"]


@dataclass(frozen=True)
class Limits:
    """The most that is read of a file."""

    file_bytes: int = 2 * 1024**3
    message_bytes: int = 64 * 1024
    # One conversation in a file of many, which is kept in memory as a whole.
    item_bytes: int = 64 * 1024**2
    # One line of a text file.
    line_characters: int = 16 * 1024**2
    # Messages in one FileSession; a longer session comes in pieces.
    talk_lines: int = 2_000
    nesting: int = 32
    zip_ratio: int = 100
    zip_entries: int = 100_000


@dataclass(frozen=True)
class Options:
    """A person's choices about a file. With `day_first` None the file decides; if it cannot, ImportRejected is raised
    with the code "ask_day_first". `kind` None works alike, with "ask_chat_or_notes"; "chat" reads the text as messages
    of the named speakers, "notes" as the owner's own prose. `limits` are those of the source. There is no time zone:
    naive times are local to the person who confirms the import."""

    day_first: bool | None = None
    mapping: Any = None
    limits: Limits = field(default_factory=Limits)
    kind: Kind | None = None


@dataclass(frozen=True)
class FileMessage:
    """A message, verbatim: only the file's own framing is removed, never words.

    `speaker` is the name in the file. `at` is aware if the file has a zone, else naive. `source_id` is the message's id
    in the file, else `digest(…)`. `location` is for people: "conversation 3, message 12". `role` is the speaker's role
    in the file, "" if it has none.
    """

    speaker: str
    text: str
    at: datetime | None
    source_id: str
    location: str
    role: Role = ""


@dataclass(frozen=True)
class FileSession:
    """The messages of a session, in order. A long session comes in adjacent pieces with the same `source_id` and
    `title`, so that no file has to be kept in memory as a whole."""

    title: str
    source_id: str
    lines: tuple[FileMessage, ...]
    location: str


@dataclass(frozen=True)
class Entry:
    """Prose: a diary entry or a note."""

    title: str
    text: str
    day: date | None
    at: datetime | None
    source_id: str
    location: str


@dataclass(frozen=True)
class Lore:
    """One entry of a lorebook. `keys` are plain words even if the book calls them patterns; `other_data` is everything
    else, unchanged."""

    keys: tuple[str, ...]
    content: str
    name: str
    enabled: bool
    source_id: str
    location: str
    other_data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Card:
    """A character card. The texts are unchanged, including macros; `other_data` is everything else, unchanged, so that
    the card can be written again without loss."""

    name: str
    nickname: str
    description: str
    personality: str
    scenario: str
    example_messages: str
    post_history: str
    greetings: tuple[str, ...]
    lore: tuple[Lore, ...]
    source_id: str
    location: str
    other_data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Remembered:
    """A memory of another system. `type` is that system's term, `confidence` is 0…1."""

    text: str
    type: str
    day: date | None
    confidence: float | None
    source_id: str
    location: str
    other_data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Skipped:
    """Skipped content: `reason` is a key of `reasons.SKIPS`."""

    location: str
    reason: str

    def __post_init__(self) -> None:
        if self.reason not in SKIPS:
            raise ValueError(f"{self.reason} is not a reason to skip")


ReaderItem = FileSession | Entry | Card | Lore | Remembered | Skipped


class ImportRejected(Exception):
    """The file cannot be read as this format. `code` is a key of `reasons.REJECTIONS`, `location` a position for people
    ("" for none), `facts` the values in the sentence."""

    def __init__(self, code: str, location: str = "", **facts: object) -> None:
        super().__init__(code, location)
        self.code = code
        self.location = location
        self.facts = facts

    @property
    def reason(self) -> str:
        """A sentence for people in the current language; if the file contains no messages, what it contains instead."""
        if "contents" in self.facts:
            return describe_contents(str(self.facts["contents"]))
        return str(REJECTIONS[self.code]) % self.facts

    def __str__(self) -> str:
        return f"{self.location}: {self.reason}" if self.location else self.reason


class Format(Protocol):
    """A kind of file that can be read. `resembles` is 0…1 and never raises.

    A format with `between_people = True` holds chats between human beings, none of whom is the persona unless a person
    says so. Use `is_between_people`; the default is False.
    """

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str | Promise: ...

    def resembles(self, sample: "Sample") -> float: ...

    def read(self, source: "Source", options: Options) -> Iterator[ReaderItem]: ...


def is_between_people(file_format: Format) -> bool:
    """Whether files of the format hold chats between human beings."""
    return bool(getattr(file_format, "between_people", False))


def digest(*parts: object) -> str:
    """An id for an item without one in its file: the same parts, in the same order, always give the same id."""
    return hashlib.sha256("\x1f".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:32]
