"""A talk written down as "Name: text", a message a line or over several; names can be bold, and lines have ISO stamps.

A line with a colon in it is not yet somebody speaking. Who speaks is found out first: names that begin lines more than
once; where there are fewer than two of those, all names that begin lines.
"""

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import PurePath

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from memory.importers.lines import Gathered, gathered, moment, role_named, said, talks
from memory.importers.places import Places
from memory.importers.source import Sample, Source
from memory.importers.types import Found, ImportRejected, Limits, Line, Options, Skipped, digest

# More names than people who talk with each other: what is counted of a file that is none.
# Names held while they are counted; beyond, those that stood there once are forgotten.
_MOST_NAMES = 10_000
_SAMPLE_LINES = 200
_LEAST_SHARE = 0.3
_MOST_WORDS = 4
_NAME = r"[^\W\d_][^:：\n*<>|\"“”!?;,。，！？；]{0,39}"
# A Chinese colon needs no space behind it; an address (http://…) and a time (12:30) have none either.
_COLON = r"(?:：|:(?=[*_]{0,2}(?:\s|$)))"
_STAMP = r"\[?(?P<at>\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)\]?,?\s(?:-\s)?"
_BEGINNING = re.compile(
    rf"(?:{_STAMP})?"
    rf"(?:(?P<mark>\*\*|__)(?P<bold>{_NAME})(?:{_COLON}(?P=mark)|(?P=mark){_COLON})|(?P<plain>{_NAME}){_COLON}) ?"
)


@dataclass(frozen=True)
class _Beginning:
    name: str
    at: datetime | None
    words: str


class Transcript:
    name = "transcript"
    label = gettext_lazy("Transcript (Name: text)")

    def resembles(self, sample: Sample) -> float:
        if sample.members or sample.paths:
            return 0.0
        lines = [line for line in sample.text.split("\n")[:_SAMPLE_LINES] if line.strip()]
        names = _speaking(lines)
        spoken = [begun for line in lines if (begun := _beginning(line)) and begun.name in names]
        if len(names) < 2 or len(spoken) < _LEAST_SHARE * len(lines):
            return 0.0
        return 0.4 + 0.4 * len(spoken) / len(lines)

    def read(self, source: Source, options: Options) -> Iterator[Found]:
        names = _speaking(line.text for line in source.lines())
        if not names:
            raise ImportRejected("not_this", format=str(self.label))
        title = PurePath(source.name).stem
        messages = gathered(source.lines(), partial(_begins, names), options.limits)
        found = _lines(messages, title, options.limits)
        yield from talks(title, digest("transcript", title), title or _("the talk"), found, options.limits)


def _speaking(lines: Iterable[str]) -> frozenset[str]:
    """Who of the names that begin lines are people that speak."""
    counts: Counter[str] = Counter()
    for line in lines:
        if begun := _beginning(line):
            counts[begun.name] += 1
        if len(counts) > _MOST_NAMES:
            counts = Counter({name: count for name, count in counts.items() if count > 1})
    again = frozenset(name for name, count in counts.items() if count > 1 or role_named(name))
    return again if len(again) > 1 else frozenset(counts)


def _beginning(line: str) -> _Beginning | None:
    found = _BEGINNING.match(line)
    name = (found["bold"] or found["plain"]).strip() if found else ""
    if found is None or len(name.split()) > _MOST_WORDS:
        return None
    return _Beginning(name, moment(found["at"]), line[found.end() :])


def _begins(names: Container[str], line: str) -> tuple[_Beginning, str] | None:
    begun = _beginning(line)
    return (begun, begun.words) if begun and begun.name in names else None


def _lines(messages: Iterable[Gathered[_Beginning]], title: str, limits: Limits) -> Iterator[Line | Skipped]:
    """Blank lines around messages belong to the layout."""
    line, places = _("line %d"), Places()
    for message in places.begun("", title, messages, lambda message: message.text.strip()):
        where, begun, text = line % message.number, message.head, message.text.strip("\n")
        if begun is not None:
            yield said(begun.name, text, begun.at, where, limits, places, role=role_named(begun.name))
        elif text.strip():
            yield Skipped(where, "nobody")


FORMATS = (Transcript(),)
