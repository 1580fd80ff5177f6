"""A year of feelings as a picture: a jar for each month, and a square for each day."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import groupby
from typing import Any

from memory.models import ConceptNode
from persona.models import Persona

DAYS = 371  # 53 weeks
CELL, GAP, TOP = 12, 3, 20
MAX_FEELINGS = 3
STRONG, CLEAR = 7, 4
SHADES = ("hard-3", "hard-2", "hard-1", "even", "glad-1", "glad-2", "glad-3")


@dataclass(frozen=True)
class YearEvent:
    """A memory of a day, with the fields that the year needs."""

    day: date
    impact: int
    feelings: Sequence[str]


@dataclass(frozen=True)
class Cell:
    """A day: its place, and the feeling of its strongest memory, from −3 (hard) to 3 (glad); None without one."""

    day: date
    x: int
    y: int
    degree: int | None

    @property
    def shade(self) -> str:
        """The suffix of its CSS class."""
        if self.degree is None:
            return "none"
        return f"{'hard' if self.degree < 0 else 'glad'}-{abs(self.degree)}" if self.degree else "even"


@dataclass(frozen=True)
class Month:
    """A month: how full its jar is (0 … 10), its mean feeling, and the feelings named most often."""

    first: date
    last: date
    count: int
    level: int
    mean: int
    feelings: Sequence[str]

    @property
    def tone(self) -> str:
        return "glad" if self.mean > 0 else "hard" if self.mean < 0 else "even"


@dataclass(frozen=True)
class MonthLabel:
    x: int
    day: date


def events_of_year(persona: Persona, today: date) -> list[YearEvent]:
    """Memories of events in the last 53 weeks, by the day they are about."""
    events = ConceptNode.objects.of(persona).active().filter(kind=ConceptNode.Kind.EVENT)
    columns = ("event_time_start", "created_at", "emotional_impact", "emotion_tags")
    first = _first_day(today)
    days = (
        YearEvent(start or created_at.astimezone(persona.zone).date(), impact, feelings)
        for start, created_at, impact, feelings in events.values_list(*columns)
    )
    return sorted((event for event in days if first <= event.day <= today), key=lambda event: event.day)


def draw_year(events: Sequence[YearEvent], today: date) -> dict[str, Any]:
    """The months and days of a year, for the template."""
    first = _first_day(today)
    strongest = {
        day: max(rows, key=lambda row: abs(row.impact)) for day, rows in _group_by(events, lambda row: row.day)
    }
    days = [first + timedelta(number) for number in range((today - first).days + 1)]
    cells = [
        Cell(day, number // 7 * (CELL + GAP), TOP + number % 7 * (CELL + GAP), _feeling_degree(strongest.get(day)))
        for number, day in enumerate(days)
    ]
    labels = [MonthLabel(cell.x, cell.day) for cell in cells if cell.day.day == 1]
    return {
        "months": list(_months(events, today)),
        "cells": cells,
        "labels": labels,
        "shades": SHADES,
        "cell": CELL,
        "width": cells[-1].x + CELL + 2 * GAP,
        "height": TOP + 7 * (CELL + GAP),
    }


def _first_day(today: date) -> date:
    """The Monday 53 weeks ago."""
    earliest = today - timedelta(DAYS - 1)
    return earliest - timedelta(earliest.weekday())


def _feeling_degree(event: YearEvent | None) -> int | None:
    """The strength of a feeling from -3 to 3; None without a feeling.

    >>> [_feeling_degree(YearEvent(date(2026, 5, 1), impact, ())) for impact in (-9, -4, 0, 1, 7)]
    [-3, -2, 0, 1, 3]
    """
    if event is None:
        return None
    size = abs(event.impact)
    degree = 3 if size >= STRONG else 2 if size >= CLEAR else 1 if size else 0
    return degree if event.impact > 0 else -degree


def _months(events: Sequence[YearEvent], today: date) -> Iterator[Month]:
    """The last twelve months, newest first."""
    by_month = dict(_group_by(events, lambda row: row.day.replace(day=1)))
    max_count = max(map(len, by_month.values()), default=1)
    start = today.replace(day=1)
    for _number in range(12):
        rows = by_month.get(start, [])
        names = Counter(name for row in rows for name in row.feelings)
        mean = round(sum(row.impact for row in rows) / len(rows)) if rows else 0
        end = (start + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        level = round(9 * len(rows) / max_count) + 1 if rows else 0
        yield Month(start, end, len(rows), level, mean, [name for name, _count in names.most_common(MAX_FEELINGS)])
        start = (start - timedelta(days=1)).replace(day=1)


def _group_by(events: Sequence[YearEvent], key: Any) -> Iterable[tuple[date, list[YearEvent]]]:
    return ((at, list(rows)) for at, rows in groupby(events, key))
