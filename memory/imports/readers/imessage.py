"""iMessage and SMS as imessage-exporter writes them: text files, alone or in a zip with their attachments.

    May 24, 2020 10:14:22 AM (Read by you after 5 seconds)
    Mira
    Hello
    Tapbacks:
        Loved by Me
        May 24, 2020 10:15:00 AM
        Me
        A reply is nested in the message that it answers, and repeated at its own time

    May 24, 2020 11:00:00 AM You named the conversation Us

The time and the sender have lines of their own. Times have the shape of most of the first ones, in any language and
clock: a line of another shape is part of a message.
"""

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice, pairwise, zip_longest
from pathlib import PurePosixPath

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.day_order import Numbers, choose_order
from memory.imports.readers.imessage_words import is_announcement, is_edit, words_in
from memory.imports.readers.journal import Journal
from memory.imports.readers.lines import message_of, role_named, sessions_of, skip_others
from memory.imports.readers.localized_times import moment_in
from memory.imports.readers.source import Sample, Source, TextLine
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Role, Skipped, digest

_SAMPLE_LINES = 600
_LONGEST_STAMP = 60
_LONGEST_NAME = 80
_MAX_WORDS_IN_NAME = 5
# The shape that imessage-exporter writes: May 24, 2020 10:14:22 AM.
_ITS_SHAPE = "a 9, 9 9:9:9 a"
_INDENT = 4
_MAX_HELD = 10_000
_RECEIPT = re.compile(r"\((?P<words>[^()\n]{1,120})\)")
_READ_BY = re.compile(r"Read by (?P<who>.{1,80}?) after ")
_CLOCK = re.compile(r"\d{1,2}[:.]\d\d")
_PARTS = re.compile(r"\d+|[^\W\d_]+\.?|\s+|[^\w\s]|_")
_SIGN = re.compile(
    r"^.*\d \(Read by .{1,80} after .*\)$|^(?:Tapbacks|Reactions):$|^This message responded to an earlier message\.$"
    r"|^Edited .* later: |unsent (?:a message|this message part)|^.*[AP]M .+ (?:named the conversation"
    r"|left the conversation"
    r"\.|to the conversation\.|from the conversation\.|the group photo\.)",
    re.M,
)
_ADDRESS = re.compile(r"\+?\d[\d ()-]{5,18}\d|\S+@\S+\.\S+")
_SENTENCE = re.compile(r"[.!?,;:。！？，；：…]\s*$|[。！？]|, ")


@dataclass(frozen=True)
class _Shape:
    """The shape of times in a file: numbers and words in a fixed order."""

    key: str
    pattern: re.Pattern[str]

    def begins(self, line: str) -> tuple[int, str, str] | None:
        """The indent of a line that begins with a time, the time, and the text after it."""
        match = self.pattern.match(line)
        if match is None or moment_in(match["stamp"]) is None:
            return None
        return len(match["indent"]), match["stamp"], line[match.end() :].strip()

    def after(self, line: str) -> str | None:
        begun = self.begins(line)
        return begun[2] if begun else None


@dataclass
class _Message:
    """A message as written in the file, with its lines; `number` is that of its first line."""

    number: int
    stamp: str = ""
    receipt: str = ""
    sender: str = ""
    lines: list[str] = field(default_factory=list)
    size: int = 0
    is_notice: bool = False
    is_nested: bool = False

    def take(self, text: str, limit: int) -> None:
        self.size += len(text) + 1
        # Lines beyond the limit are not kept.
        if self.size <= limit:
            self.lines.append(text)


class IMessage:
    name = "imessage"
    label = gettext_lazy("iMessage and SMS (imessage-exporter, text)")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        if sample.members:
            files = _chat_files(sample)
            return 0.93 if files else 0.0
        if sample.paths:
            return 0.0
        lines = sample.text.split("\n")[:_SAMPLE_LINES]
        shape = _shape_of(lines)
        return _likeness(lines, shape) if shape else 0.0

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        files = _chat_files(source.sample) if source.members else [""]
        yield from skip_others(source, files)
        for file in files:
            beginning = [line.text for line in islice(source.lines(file), _SAMPLE_LINES)]
            shape = _shape_of(beginning)
            if shape is None:
                raise ImportRejected("not_this", format=str(IMessage.label))
            if options.kind == "notes":
                yield from Journal().read(source, options)
                continue
            if options.kind is None and _likeness(beginning, shape) < 0.8:
                raise ImportRejected("ask_chat_or_notes", file or source.name)
            survey = _Survey(source.lines(file), shape)
            day_first = choose_order(options.day_first, survey.dates, file or source.name)
            title = PurePosixPath(file or source.name).stem
            reading = _MessageParser(shape, options.limits.message_bytes)
            messages = _in_order(reading.messages(source.lines(file)), shape, day_first)
            items = _read_messages(messages, survey.owners, options.limits)
            yield from sessions_of(title, digest("imessage", title), title or _("the chat"), items, options.limits)


def _chat_files(sample: Sample) -> list[str]:
    chats: list[str] = []
    for name in sample.members:
        lines = sample.inside(name).text.split("\n")[:_SAMPLE_LINES] if name.lower().endswith(".txt") else []
        shape = _shape_of(lines)
        if shape is not None and _likeness(lines, shape) > 0.8:
            chats.append(name)
    return chats


# --- shapes of times --------------------------------------------------------------------------------------------------
def _key(stamp: str) -> str:
    """
    >>> _key("May 24, 2020  5:14:22 PM"), _key("24. Mai 2020 um 17:14")
    ('a 9, 9 9:9:9 a', '9. a 9 a 9:9')
    """
    return "".join("9" if part[0].isdecimal() else " " if part.isspace() else "a" if part[0].isalpha() else part
                   for part in _PARTS.findall(stamp.strip()))  # fmt: skip


def _shape_of(lines: Iterable[str]) -> _Shape | None:
    """The shape of lines with only a time, and perhaps a receipt: that of most of them."""
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for line in lines:
        bare = line.strip()
        if bare.endswith(")") and (receipt := _RECEIPT.search(bare, max(0, bare.rfind("(")))):
            bare = bare[: receipt.start()].rstrip()
        if bare and len(bare) <= _LONGEST_STAMP and _CLOCK.search(bare) and moment_in(bare):
            key = _key(bare)
            counts[key] += 1
            first.setdefault(key, bare)
    if not counts:
        return None
    key = counts.most_common(1)[0][0]
    shape_text = "".join(
        r"\d{1,4}" if part[0].isdecimal() else r"\s{1,3}" if part.isspace()
        else r"[^\W\d_]{1,14}\.?" if part[0].isalpha() else re.escape(part)
        for part in _PARTS.findall(first[key].strip())
    )  # fmt: skip
    return _Shape(key, re.compile(rf"(?P<indent>[ \t]*)(?P<stamp>{shape_text})(?!\S)"))


def _likeness(lines: list[str], shape: _Shape) -> float:
    """The likeness of the file. A time on a line of its own is also above diary entries: then no name recurs below
    it."""
    names = [
        below.strip()
        for line, below in zip_longest(lines, lines[1:], fillvalue="")
        if (begun := shape.begins(line)) and (not begun[2] or _RECEIPT.fullmatch(begun[2]))
    ]
    names = [name for name in names if not is_announcement(name)]
    names_called = [name for name in names if name and not _SENTENCE.search(name) and len(name) <= _LONGEST_NAME]
    if not names_called or len(names_called) < 0.8 * len([name for name in names if name]):
        return 0.0
    if any(len(name.split()) > _MAX_WORDS_IN_NAME for name in names_called):
        return 0.0
    different = len(set(names_called))
    is_its_own = shape.key == _ITS_SHAPE
    comes_again = 2 * different <= len(names_called) + 1 and len(names_called) > 1
    if _SIGN.search("\n".join(lines)) or any(role_named(name) or _ADDRESS.fullmatch(name) for name in names_called):
        return 0.96
    if comes_again and (different > 1 or is_its_own):
        return 0.9
    # A single recurring name, or names that each occur once: below this likeness a person is asked.
    return 0.77 if different < len(names_called) or is_its_own else 0.0


# --- the whole file ---------------------------------------------------------------------------------------------------
class _Survey:
    """The owner of the phone, by the receipts, and the dates in which the order of day and month is open."""

    def __init__(self, lines: Iterable[TextLine], shape: _Shape) -> None:
        self.owners: set[str] = set()
        self.dates: list[Numbers] = []
        mine = False
        for line in lines:
            if mine:
                self.owners.add(line.text.strip())
                mine = False
            begun = shape.begins(line.text)
            if begun is None:
                continue
            moment = moment_in(begun[1])
            if moment and moment.open_order:
                numbers = moment.month, moment.day, moment.year
                # Without repetitions: a long chat has few different dates.
                self.dates += [numbers] if numbers not in self.dates[-1:] else []
            read = _READ_BY.search(begun[2])
            if read and read["who"] == "them":
                mine = True
            elif read and read["who"] != "you":
                self.owners.add(read["who"])
        self.owners.discard("")


# --- messages ---------------------------------------------------------------------------------------------------------


class _MessageParser:
    """Joins lines into messages. A reply is indented in the message it answers; older versions of the exporter indent
    only its first line."""

    def __init__(self, shape: _Shape, limit: int) -> None:
        self.shape, self.most = shape, limit
        self.top: _Message | None = None
        self.answers: list[_Message] = []
        self.within: _Message | None = None
        self.names_next = False
        self.blank = self.gap = True
        self.in_tapbacks = False

    def messages(self, lines: Iterator[TextLine]) -> Iterator[_Message]:
        """All messages; a reply follows the message in which it is nested."""
        for line, following in pairwise(chain(lines, [None])):
            if line is not None:
                yield from self.take(line, following.text if following else "")
        yield from self.ended()

    def take(self, line: TextLine, following: str) -> Iterator[_Message]:
        begun = self.shape.begins(line.text)
        if begun and (not begun[2] or _RECEIPT.fullmatch(begun[2])):
            indent, stamp, receipt = begun
            nested = indent > 0 and self.top is not None
            message = _Message(line.number, stamp, receipt, is_nested=nested)
            if nested:
                self.answers.append(message)
            else:
                yield from self.ended()
                self.top = message
            self.within, self.names_next, self.gap = message, True, False
        elif begun and self.blank and not begun[0] and not self.names_next and not is_edit(following):
            yield from self.ended()
            yield _Message(line.number, is_notice=True)
        elif self.names_next and self.within:
            self.within.is_notice = is_announcement(line.text) and not following.strip()
            self.within.sender, self.names_next = line.text.strip(), False
        else:
            self._grow(line)
        self.blank = not line.text.strip()

    def _grow(self, line: TextLine) -> None:
        if self.within is None:
            if line.text.strip():
                self.top = self.within = _Message(line.number)
            else:
                return
        text = line.text
        if self.within.is_nested and self.top:
            if not text.strip():
                self.gap = True
            elif text.startswith((" " * _INDENT, "\t")):
                text = text[1 if text[0] == "\t" else _INDENT :]
            elif self.gap:
                self.within = self.top
        self.within.take(text, self.most)

    def ended(self) -> Iterator[_Message]:
        if self.top:
            yield self.top
            yield from self.answers
        self.top = self.within = None
        self.answers, self.names_next = [], False


@dataclass(order=True)
class _Timed:
    at: datetime
    place: int
    message: _Message = field(compare=False)
    text: str = field(compare=False)
    left_out: list[str] = field(compare=False)


def _in_order(
    messages: Iterator[_Message], shape: _Shape, day_first: bool
) -> Iterator[tuple[_Message, datetime | None, str, list[str]]]:
    """Messages with their times and texts. A reply is nested in the message it answers and repeated at its own time; it
    is yielded once, at its own time."""
    held_back: list[_Timed] = []
    for place, message in enumerate(messages):
        words = words_in(message.lines, shape.after)
        moment = moment_in(message.stamp) if message.stamp else None
        at = moment.at(day_first) if moment else None
        if message.is_nested and at:
            heapq.heappush(held_back, _Timed(at.replace(tzinfo=None), place, message, words.text, words.left_out))
            if len(held_back) > _MAX_HELD:
                yield _as_row(heapq.heappop(held_back))
            continue
        while held_back and at and held_back[0].at < at.replace(tzinfo=None):
            yield _as_row(heapq.heappop(held_back))
        if at:
            # Older versions of the exporter lose lines of a nested reply: then its beginning is compared.
            said_then = [timed for timed in held_back if timed.at == at.replace(tzinfo=None)]
            same = next(
                (
                    timed
                    for timed in said_then
                    if timed.message.sender == message.sender
                    and (words.text.startswith(timed.text) or timed.text.startswith(words.text))
                ),
                None,
            )
            if same is not None:
                held_back.remove(same)
                heapq.heapify(held_back)
                yield same.message, None, "", ["duplicate"]
        yield message, at, words.text, words.left_out
    while held_back:
        yield _as_row(heapq.heappop(held_back))


def _as_row(timed: _Timed) -> tuple[_Message, datetime, str, list[str]]:
    return timed.message, timed.at, timed.text, timed.left_out


def _read_messages(
    messages: Iterable[tuple[_Message, datetime | None, str, list[str]]], owners: set[str], limits: Limits
) -> Iterator[FileMessage | Skipped]:
    position, places = _("line %d"), ContentIds()
    for message, at, text, left_out in messages:
        location = position % message.number
        if message.is_notice:
            yield Skipped(location, "notice")
            continue
        if not message.stamp:
            yield Skipped(location, "nobody")
            continue
        if not message.sender:
            yield Skipped(location, "broken")
            continue
        yield from (Skipped(location, reason) for reason in left_out)
        if message.size > limits.message_bytes:
            yield Skipped(location, "too_long")
        elif text or not left_out:
            role: Role = "user" if message.sender in owners else role_named(message.sender)
            yield message_of(message.sender, text, at, location, limits, places, role=role)


FORMATS = (IMessage(),)
