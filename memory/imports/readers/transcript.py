"""A conversation written down as "Name: text", one message a line or over several lines; names can be bold, and lines
can have ISO stamps.

A line with a colon need not be a message. The speakers are found first: names that begin lines more than once; if there
are fewer than two of those, all names that begin lines. Copies from QQ and the like have the name on one line and the
words below. Forms and lists look similar: if the file does not tell, a person is asked.
"""

import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, time
from functools import partial
from itertools import groupby, islice, pairwise, takewhile
from pathlib import PurePath
from typing import Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from echovessel.process.word_caches import cached_words
from memory.imports.readers.called import is_form, is_label, may_be_name
from memory.imports.readers.content_ids import ContentIds
from memory.imports.readers.headings import heading_in
from memory.imports.readers.journal import Journal
from memory.imports.readers.lines import SpeakerCounts, gather_sample, message_of, moment, role_named, sessions_of
from memory.imports.readers.localized_times import moment_in
from memory.imports.readers.source import Sample, Source
from memory.imports.readers.types import FileMessage, ImportRejected, Limits, Options, ReaderItem, Skipped, digest

# With more names than people talk with each other, the file is no transcript.
# Names that are counted in memory; beyond that, names that occurred once are dropped.
_MAX_NAMES = 10_000
_SAMPLE_LINES = 200
_LEAST_SHARE = 0.3
_MAX_WORDS = 4
_NAME = r"[^\W\d_][^:：\n*<>|\"“”!?;,。，！？；]{0,39}"
# A Chinese colon needs no space after it; colons in addresses (http://…) and times (12:30) have none either.
_COLON = r"(?:：|:(?=[*_]{0,2}(?:\s|$)))"
_STAMP = r"\[?(?P<at>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)\]?,?\s(?:-\s)?"
_LONGEST_NAME_ALONE = 20
_LONGEST_DAY = 60
_LONGEST_HEAD = 6
_LONGEST_CLOCK = 16
_LEAST_SHARE_OF_NAMES = 0.2
_LEAST_BLOCKS = 3
_MAX_PEOPLE = 30
_MARKDOWN = (".md", ".markdown")
# A diary with dates above its entries resembles a transcript less.
_UNSURE_LIKENESS, _DATED_LIKENESS, _FRONTED_LIKENESS = 0.77, 0.76, 0.86
_MAX_PROSE = 0.2
_FROM = frozenset(
    {
        "from", "von", "de", "da", "van", "från", "fra", "от", "от кого", "发件人", "寄件者", "差出人",
        "보낸사람", "보낸 사람",
    }
)  # fmt: skip
_MAIL_FIELD = re.compile(
    r"\s{0,3}[*_>]{0,3}\s?(?P<field>from|to|cc|subject|sent|date|von|an|betreff|gesendet|datum|de|à|objet|envoyé"
    r"|para|asunto|assunto|enviado|fecha|da|a|oggetto|inviato|van|aan|onderwerp|verzonden|från|till|ämne|fra|til|emne"
    r"|от|от кого|кому|тема|дата|发件人|收件人|主题|发送时间|日期|寄件者|收件者|主旨|差出人|宛先|件名|日時|送信日時"
    r"|보낸 ?사람|받는 ?사람|제목|날짜)[*_]{0,3}\s?[:：][*_]{0,3}\s?(?P<value>\S.*)",
    re.I,
)
_ADDRESS = re.compile(r"\s*<[^<>\s]{1,200}>|\s*\[mailto:[^\]\s]{1,200}\]")
_DECORATION = re.compile(r"^#{1,6}\s+|\*\*|__|[:：]\s*$")
_SENTENCE = re.compile(r"[.!?,;:。！？，；：…~～]\s*$")
_BEGINNING = re.compile(
    rf"(?:{_STAMP})?"
    rf"(?:(?P<mark>\*\*|__)(?P<bold>{_NAME})(?:{_COLON}(?P=mark)|(?P=mark){_COLON})|(?P<plain>{_NAME}){_COLON}) ?"
)


@dataclass(frozen=True)
class _Beginning:
    name: str
    at: datetime | None
    words: str
    # A time of day on a line of its own, which applies to the messages below.
    clock: time | None = None
    is_mail: bool = False


# The beginning of a file: a chat, or perhaps notes; "" if nobody speaks.
Kind = Literal["chat", "unclear", ""]


class Transcript:
    name = "transcript"
    label = gettext_lazy("Transcript (Name: text)")
    between_people = True

    def resembles(self, sample: Sample) -> float:
        if sample.members or sample.paths:
            return 0.0
        beginning, has_front = _behind_front(sample.text.split("\n")[:_SAMPLE_LINES])
        kind = _kind(beginning, sample.name)
        if kind and has_front:
            return _FRONTED_LIKENESS
        if kind == "unclear":
            return _UNSURE_LIKENESS
        lines = [line for line in beginning if line.strip()]
        names = _find_speakers(lines)
        spoken = [begun for line in lines if (begun := _beginning(line)) and begun.name in names]
        likeness = 0.4 + 0.4 * len(spoken) / len(lines) if kind else 0.0
        # Dates above messages do not make it a diary.
        dated = kind and (any(map(_day_in, lines)) or not names)
        return max(likeness, _DATED_LIKENESS) if dated else likeness

    def read(self, source: Source, options: Options) -> Iterator[ReaderItem]:
        if options.kind == "notes":
            yield from Journal().read(source, options)
            return
        beginning, _front = _behind_front([line.text for line in islice(source.lines(), _SAMPLE_LINES)])
        if options.kind is None and _kind(beginning, source.name) == "unclear":
            raise ImportRejected("ask_chat_or_notes", source.name)
        # How messages begin in the file: after a name and a colon, or below a name; None if nobody speaks.
        if alone := _standalone_names(beginning):
            begins: Callable[[str], tuple[_Beginning, str] | None] | None = partial(_begins, alone, True, False)
        else:
            names = _find_speakers(line.text for line in source.lines())
            if _are_mails(beginning):
                begins = _begins_mail
            elif not names:
                begins = None
            else:
                # Whether most messages have a line above them with only a time of day.
                clocks = spoken = 0
                before = ""
                for line in beginning:
                    if (begun := _beginning(line)) and begun.name in names:
                        spoken += 1
                        clocks += _clock_in(before) is not None
                    before = line.strip() or before
                begins = partial(_begins, names, False, clocks > 1 and 2 * clocks > spoken)
        if begins is None:
            raise ImportRejected("not_this", format=str(self.label))
        title = PurePath(source.name).stem
        messages = gather_sample(source.lines(), begins, options.limits)
        items = _read_messages(messages, title, options.limits)
        yield from sessions_of(
            title, digest("transcript", title), title or _("the conversation"), items, options.limits
        )


def _kind(beginning: Sequence[str], file_name: str) -> Kind:
    lines = [line for line in beginning if line.strip()]
    if _are_mails(lines):
        return "unclear"
    names = [begun.name for line in lines if (begun := _beginning(line)) and not is_label(begun.name)]
    counts = Counter(names)
    again = [name for name, count in counts.items() if count > 1 or role_named(name)]
    if not names or len(names) < _LEAST_SHARE * len(lines):
        alone = _standalone_names(beginning)
        return "" if not alone else "chat" if len(alone) > 1 and all(map(role_named, alone)) else "unclear"
    if any(map(role_named, counts)) and len(counts) > 1:
        return "chat"
    if len(again) > 1 or len(counts) == 2:
        # Much text without a speaker under dates is a diary that quotes people.
        days = sum(_day_in(line) is not None for line in lines)
        others = sum(_beginning(line) is None and _clock_in(line.strip()) is None for line in lines) - days
        is_prose_by_day = days > 0 and others > _MAX_PROSE * len(lines)
        return "unclear" if is_form(names) or _is_filled_in_by_day(lines) or is_prose_by_day else "chat"
    if again or len(counts) == 1:
        return "unclear" if again or 2 * len(names) > len(lines) else ""
    if len(counts) > _MAX_PEOPLE:
        return ""
    is_list = file_name.casefold().endswith(_MARKDOWN) or any(heading_in(line, begins=True) for line in lines)
    return "" if is_list or 2 * len(names) < len(lines) else "unclear"


def _is_filled_in_by_day(lines: Iterable[str]) -> bool:
    """Whether every name occurs at most once under each of several dates: fields of a diary, or a chat of few
    messages."""
    days, since = 0, set[str]()
    for line in lines:
        begun = _beginning(line)
        if begun is not None and begun.at is None:
            if begun.name in since:
                return False
            since.add(begun.name)
        elif begun is None and heading_in(line, begins=True):
            days, since = days + 1, set()
    return days > 1


def _behind_front(lines: list[str]) -> tuple[list[str], bool]:
    """The lines after the front matter of a note, and whether it has one."""
    if not lines or lines[0].rstrip() != "---":
        return lines, False
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    return lines[end + 1 :] if end else lines, bool(end)


def _standalone_names(lines: Sequence[str]) -> frozenset[str]:
    """Names that are alone on lines above messages, if the beginning of a file looks so: short lines, some of them
    recurring, above nearly all others."""
    # Lines without markup, in groups between blank ones.
    stripped = [_bare(line) for line in lines]
    blocks = [list(group) for is_filled, group in groupby(stripped, bool) if is_filled]
    if not blocks or any(_beginning(line) for block in blocks for line in block):
        return frozenset()
    every = [line for block in blocks for line in block]
    # The lines above those with only a time of day, if all of them may be names.
    above = [line for line, below in pairwise(every) if _clock_in(below)]
    if len(above) > 1 and all(map(_may_stand_alone, above)):
        return frozenset(above)
    starts = [block[0] for block in blocks]
    by_blocks = len(blocks) >= _LEAST_BLOCKS and all(len(block) > 1 and _may_stand_alone(block[0]) for block in blocks)
    if by_blocks and len(set(starts)) < len(starts):
        return frozenset(starts)
    counts = Counter(line for line in every if _may_stand_alone(line))
    names = {name for name, count in counts.items() if count > 1 or role_named(name)}
    stand = [line in names for line in every]
    follow = any(first and second for first, second in pairwise(stand))
    few = len(names) < 2 or sum(stand) < max(3, _LEAST_SHARE_OF_NAMES * len(every))
    return frozenset() if few or follow or not stand[0] or stand[-1] else frozenset(names)


@cached_words(maxsize=1_000)
def _clock_in(line: str) -> time | None:
    moment = moment_in(f"2000-01-01 {line}") if len(line) <= _LONGEST_CLOCK and line[:1] not in "-/" else None
    return moment.clock if moment else None


def _bare(line: str) -> str:
    """A line without the markup of headings and bold text."""
    return _DECORATION.sub("", line.strip()).strip()


def _may_stand_alone(line: str) -> bool:
    return (
        len(line) <= _LONGEST_NAME_ALONE
        and len(line.split()) <= _MAX_WORDS
        and _SENTENCE.search(line) is None
        and line[0].isalpha()
        and not any(word[0].islower() and word.isascii() for word in line.split()[1:])
        and may_be_name(line)
        and not is_label(line)
        and heading_in(line, begins=True) is None
    )


def _find_speakers(lines: Iterable[str]) -> frozenset[str]:
    """Those of the names that begin lines that are speakers."""
    counts: Counter[str] = Counter()
    for line in lines:
        if (begun := _beginning(line)) and not is_label(begun.name):
            counts[begun.name] += 1
        if len(counts) > _MAX_NAMES:
            counts = Counter({name: count for name, count in counts.items() if count > 1})
    again = frozenset(name for name, count in counts.items() if count > 1 or role_named(name))
    return again if len(again) > 1 else frozenset(counts)


def _beginning(line: str) -> _Beginning | None:
    match = _BEGINNING.match(line)
    name = (match["bold"] or match["plain"]).strip() if match else ""
    if match is None or len(name.split()) > _MAX_WORDS or not may_be_name(name):
        return None
    return _Beginning(name, moment(match["at"]), line[match.end() :])


def _are_mails(lines: Iterable[str]) -> bool:
    """Whether the text begins with the head of a mail: the sender, and a recipient or subject."""
    head = [_MAIL_FIELD.match(line) for line in islice((line for line in lines if line.strip()), _LONGEST_HEAD)]
    fields = [match["field"].casefold() for match in takewhile(bool, head) if match]
    return any(field in _FROM for field in fields) and any(field not in _FROM for field in fields)


def _begins_mail(line: str) -> tuple[_Beginning, str] | None:
    """A mail begins with the sender in its head; the other fields of the head are not its text."""
    match = _MAIL_FIELD.match(line)
    if match is None or match["field"].casefold() not in _FROM:
        return None
    name = _ADDRESS.sub("", match["value"]).strip(" \"'") or match["value"].strip(" <>")
    return (_Beginning(name, None, "", is_mail=True), "") if name else None


def _begins(names: Container[str], alone: bool, clocks: bool, line: str) -> tuple[_Beginning, str] | None:
    """How a line begins a message: with a name before its words, or a name `alone` above them. A date on a line of its
    own, or with `clocks` a time of day, applies to the messages below."""
    begun = _Beginning(_bare(line), None, "") if alone else _beginning(line)
    if begun and begun.name in names:
        return begun, begun.words
    if clocks and (clock := _clock_in(line.strip())):
        return _Beginning("", None, "", clock), ""
    day = _day_in(line)
    return (_Beginning("", day, ""), "") if day else None


@cached_words(maxsize=1_000)
def _day_in(line: str) -> datetime | None:
    """The day in a line that has only a date, as above the messages of a day."""
    heading = heading_in(line, begins=True) if len(line) <= _LONGEST_DAY else None
    if heading is None or heading.title or heading.words or heading.written_date.order_open:
        return None
    day = heading.written_date.as_day() if heading.written_date.year else None
    return datetime.combine(day, heading.clock or time.min) if day else None


def _read_messages(
    messages: Iterable[SpeakerCounts[_Beginning]], title: str, limits: Limits
) -> Iterator[FileMessage | Skipped]:
    """The messages; blank lines around them belong to the layout."""
    position, places = _("line %d"), ContentIds()
    day: datetime | None = None
    clock: time | None = None
    for message in places.begin_with("", title, messages, lambda message: message.text.strip()):
        location, begun, text = position % message.number, message.head, message.text.strip("\n")
        if begun is not None and not begun.name:
            clock, day = begun.clock, day if begun.clock else begun.at
            if text.strip():
                yield Skipped(location, "nobody")
        elif begun is not None:
            if begun.is_mail:
                # The text of a mail without the fields of its head.
                lines = text.split("\n")
                fields = next((number for number, line in enumerate(lines) if not _MAIL_FIELD.match(line)), len(lines))
                text = "\n".join(lines[fields:]).strip("\n")
            first, _end, below = text.partition("\n")
            if not begun.words and (clock_time := _clock_in(first.strip())):
                text, at = below.strip("\n"), datetime.combine(day.date(), clock_time) if day else None
                yield message_of(begun.name, text, at, location, limits, places, role=role_named(begun.name))
                continue
            at = datetime.combine(day.date(), clock) if day and clock else day
            clock = None
            yield message_of(begun.name, text, begun.at or at, location, limits, places, role=role_named(begun.name))
        elif text.strip():
            yield Skipped(location, "nobody")


FORMATS = (Transcript(),)
