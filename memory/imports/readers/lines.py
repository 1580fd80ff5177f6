"""Messages and sessions from the values of a file: the rules that all chat formats share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from typing import Any, Generic, TypeVar

from django.utils.translation import gettext as _

from echovessel.language.plain_text import NUL
from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.json_values import reason_of
from memory.imports.readers.source import Source, TextLine
from memory.imports.readers.types import FileMessage, FileSession, ImportRejected, Limits, ReaderItem, Role, Skipped

# Times outside of these years are wrong.
_FIRST_YEAR, _LAST_YEAR = 1970, 2200
_MILLISECONDS_FROM = 10**11
_BEYOND_REASON = 10**17
# Names of more people are not distinguished.
_MAX_PEOPLE = 100_000
# Labels of the two sides in files that do not name them.
_USERS = frozenset({"user", "human", "you", "me", "self", "myself", "我", "你", "用户", "本人", "ich", "du"})
_PERSONAS = frozenset(
    {
        "assistant", "ai", "bot", "model", "character", "char", "persona", "chatgpt", "gpt", "claude", "gemini",
        "replika", "rep", "机器人", "助手", "ai助手",
    }
)  # fmt: skip

T = TypeVar("T")


def message_of(
    speaker: str,
    text: str,
    at: datetime | None,
    location: str,
    limits: Limits,
    places: ContentIds,
    source_id: str = "",
    role: Role = "",
) -> FileMessage | Skipped:
    """A message, or why it is skipped. Without an id in the file, its id is made from its place, speaker, time and
    text."""
    text = storable(text)
    if not text.strip():
        return Skipped(location, "empty")
    if 4 * len(text) > limits.message_bytes < len(text.encode()):
        return Skipped(location, "too_long")
    speaker, source_id = storable(speaker), storable(source_id)
    return FileMessage(speaker, text, at, source_id or places.id_of(speaker, text, at), location, role)


class SessionReader(ABC):
    """Reads the sessions of one file whose messages are JSON objects; each format reads a single message."""

    def __init__(self, limits: Limits) -> None:
        self.limits, self.places = limits, ContentIds()

    @abstractmethod
    def read_message(self, message: dict[str, Any], location: str) -> Iterator[FileMessage | Skipped]:
        """The messages and skipped parts of one JSON object."""

    def read_session(
        self, title: str, source_id: str, location: str, messages: Iterable[Any]
    ) -> Iterator[FileSession | Skipped]:
        places = ((self.place_of(location, number), message) for number, message in enumerate(messages, start=1))
        lines = chain.from_iterable(
            self.read_message(message, place) if isinstance(message, dict) else [Skipped(place, reason_of(message))]
            for place, message in places
        )
        return sessions_of(title, source_id, location, lines, self.limits)

    def place_of(self, session: str, number: int) -> str:
        """The position of a message, for people."""
        return _("%(talk)s, message %(number)d") % {"talk": session, "number": number}

    def line(
        self, speaker: str, text: str, at: datetime | None, location: str, source_id: str = "", role: Role = ""
    ) -> FileMessage | Skipped:
        return message_of(speaker, text, at, location, self.limits, self.places, source_id, role)


def skip_others(source: Source, files: Collection[str], settings: tuple[str, ...] = ()) -> Iterator[Skipped]:
    """The members of a zip that are not in `files`: data of the program by the endings of their names, else media.
    Raises ImportRejected if a zip has no file of the format."""
    if source.members and not files:
        raise ImportRejected("member_missing")
    for name in source.members:
        if name not in files:
            yield Skipped(name, "settings" if name.casefold().endswith(settings) else "media")


def place_messages(messages: Iterable[T], talk: str) -> Iterator[tuple[str, T]]:
    """Each message of a session with its position, for people."""
    message_number = _("%(talk)s, message %(number)d")
    for number, message in enumerate(messages, start=1):
        yield message_number % {"talk": talk, "number": number}, message


def storable(text: str) -> str:
    """`text` without NUL, and with unpaired surrogates replaced: databases accept neither."""
    return text.replace(NUL, "").encode("utf-8", "replace").decode() if not text.isprintable() else text


def sessions_of(
    title: str, source_id: str, location: str, items: Iterable[FileMessage | Skipped], limits: Limits
) -> Iterator[FileSession | Skipped]:
    """The messages of one session in pieces of at most `limits.talk_lines`; skipped ones are passed through."""
    messages: list[FileMessage] = []
    for item in items:
        if isinstance(item, Skipped):
            yield item
            continue
        messages.append(item)
        if len(messages) >= limits.talk_lines:
            yield FileSession(title, source_id, tuple(messages), location)
            messages.clear()
    if messages:
        yield FileSession(title, source_id, tuple(messages), location)


def something(items: Iterable[ReaderItem]) -> Iterator[ReaderItem]:
    """All of `items`. Raises ImportRejected at the end if there were only notices."""
    is_empty = True
    for item in items:
        is_empty = is_empty and isinstance(item, Skipped) and item.reason in ("notice", "nobody", "document")
        yield item
    if is_empty:
        raise ImportRejected("nothing_found")


@dataclass(frozen=True)
class SpeakerCounts(Generic[T]):
    """A line that begins a message, with the lines that continue it. `head` is None for lines before the first
    message."""

    number: int
    head: T | None
    text: str


def gather_sample(
    lines: Iterable[TextLine], begins: Callable[[str], tuple[T, str] | None], limits: Limits
) -> Iterator[SpeakerCounts[T]]:
    """The messages of a text file. `begins` returns a line's head and the words after it, None if the line continues
    the message before."""
    number, head = 1, None
    parts: list[str] = []
    length = 0
    for line in lines:
        begun = begins(line.text)
        if begun is None:
            length += len(line.text)
            # Lines beyond the limit are not kept.
            if length <= limits.message_bytes:
                parts.append(line.text)
            continue
        if parts:
            yield SpeakerCounts(number, head, "\n".join(parts))
        number, (head, words), length = line.number, begun, 0
        parts = [words]
    if parts:
        yield SpeakerCounts(number, head, "\n".join(parts))


def moment(value: Any) -> datetime | None:
    """A time as exports write it: ISO 8601 (aware if it has a zone), or seconds since 1970 (UTC), or milliseconds or
    microseconds, as a number or a string. None if it is no time, or an impossible one.

    >>> moment("2023-12-31T21:05:00Z") == moment(1704056700) == moment("1704056700000")
    True
    """
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        if isinstance(value, str) and not value.strip().lstrip("-").replace(".", "", 1).isdecimal():
            at = datetime.fromisoformat(value.strip())
        else:
            seconds = float(value)
            while _MILLISECONDS_FROM <= abs(seconds) < _BEYOND_REASON:
                seconds /= 1000
            at = datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return at if _FIRST_YEAR <= at.year <= _LAST_YEAR else None


def word(value: Any) -> str:
    """`value` as text if it is a string or a number; "" for everything else."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def table(value: Any) -> dict[str, Any]:
    """`value` if it is an object, else an empty one: files may lack a field, or have another type in it."""
    return value if isinstance(value, dict) else {}


def array(value: Any) -> list[Any]:
    """`value` if it is an array, else an empty one."""
    return value if isinstance(value, list) else []


def role_named(speaker: str) -> Role:
    """The role that a plain label names, "" for names of people.

    >>> role_named("Human"), role_named("assistant"), role_named("Ana")
    ('user', 'persona', '')
    """
    folded = speaker.strip().casefold()
    return "user" if folded in _USERS else "persona" if folded in _PERSONAS else ""


class Names:
    """Names of people with ids: if two have the same name, the later one's id is appended."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._taken: set[str] = set()

    def of(self, person: str, name: str) -> str:
        name = name or person
        if person not in self._names:
            if len(self._names) >= _MAX_PEOPLE:
                return name
            self._names[person] = f"{name} ({person})" if name in self._taken else name
            self._taken.add(self._names[person])
        return self._names[person]
