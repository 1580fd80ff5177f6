"""A month on a sheet: of each day how often somebody was written to, and by which gates nobody was."""

import calendar
import datetime as dt
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum
from django.utils.dates import WEEKDAYS_ABBR
from django.utils.formats import get_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from proactive.models import Consideration, Outreach
from proactive.models.consideration import Gate

FIRST_YEAR, LAST_YEAR = 2000, 2199
BAR = 100  # a bar's whole width, in units of its SVG
ONE_DAY = dt.timedelta(days=1)
GATES = list(Gate)
Verdict = Consideration.Verdict


@dataclass(frozen=True)
class GateCount:
    """One gate's part of a day: how often it held back, and its piece of the bar."""

    gate: str
    label: Any
    times: int
    x: str
    width: str

    @property
    def number(self) -> int:
        """Its place among the gates, by which it has its colour."""
        return GATES.index(Gate(self.gate))


@dataclass(frozen=True)
class Day:
    """One square. `sent` counts what was decided to be sent, `said` what was then said."""

    day: dt.date
    is_within: bool
    sent: int = 0
    said: int = 0
    held: Sequence[GateCount] = ()

    @property
    def told(self) -> str:
        """All of it in words, for whoever does not see the square."""
        parts = [ngettext("%(count)d message", "%(count)d messages", self.said) % {"count": self.said}]
        if self.sent > self.said:
            parts.append(_("%(count)d not sent") % {"count": self.sent - self.said})
        return "; ".join([*parts, *(f"{one.label}: {one.times}" for one in self.held)])


@dataclass(frozen=True)
class MonthCalendar:
    """The month, week by week, with the names of the days and the months before and after ("" where there is none)."""

    first: dt.date
    weekdays: Sequence[Any]
    weeks: Sequence[Sequence[Day]]
    before: str
    after: str

    @property
    def days(self) -> list[Day]:
        return [day for week in self.weeks for day in week if day.is_within]

    @property
    def said(self) -> int:
        return sum(day.said for day in self.days)

    @property
    def gates(self) -> list[GateCount]:
        """The gates that held back in it, in their order, with how often."""
        times = {gate: sum(one.times for day in self.days for one in day.held if one.gate == gate) for gate in GATES}
        return [GateCount(gate, gate.label, times[gate], "0", "0") for gate in GATES if times[gate]]


def first_day(text: str, today: dt.date) -> dt.date:
    """The first day of the month that `text` names ("2026-11"); of today's where it names none.

    >>> first_day("2026-02", dt.date(2026, 11, 21))
    datetime.date(2026, 2, 1)
    """
    try:
        found = dt.datetime.strptime(text, "%Y-%m").date()
    except ValueError:
        return today.replace(day=1)
    return found if FIRST_YEAR <= found.year <= LAST_YEAR else today.replace(day=1)


def month_calendar(first: dt.date, persona: int | None, besides: Collection[Gate] = ()) -> MonthCalendar:
    """The month that begins on `first`, of one persona or of all, in one statement; without what these gates held
    back."""
    begins = int(get_format("FIRST_DAY_OF_WEEK"))  # 0 is Sunday; the standard library counts from Monday
    weeks = calendar.Calendar((begins + 6) % 7).monthdatescalendar(first.year, first.month)
    # By day: how many were sent and said, and by gate how often it held back.
    considered = _considerations(weeks[0][0], weeks[-1][-1], persona).exclude(gate__in=besides)
    rows = (
        considered.order_by()
        .values_list("day", "gate")
        .annotate(
            in_all=Sum("times"),
            sent=Count("pk", filter=Q(verdict=Verdict.SEND)),
            said=Count("pk", filter=Q(verdict=Verdict.SEND, outreach__status=Outreach.Status.DELIVERED)),
        )
    )
    counted: dict[dt.date, dict[str, int]] = {}
    for day, gate, times, sent, said in rows:
        counted.setdefault(day, {}).update({gate: times} if gate else {"sent": sent, "said": said})
    return MonthCalendar(
        first=first,
        weekdays=[WEEKDAYS_ABBR[(begins + 6 + number) % 7] for number in range(7)],
        weeks=[
            [
                Day(
                    day=day,
                    is_within=day.month == first.month,
                    sent=counts.get("sent", 0),
                    said=counts.get("said", 0),
                    held=list(_bar({gate: counts[gate] for gate in GATES if gate in counts})),
                )
                for day in week
                for counts in [counted.get(day, {})]
            ]
            for week in weeks
        ],
        before=_name(first - ONE_DAY),
        after=_name((first + 31 * ONE_DAY).replace(day=1)),
    )


def _name(day: dt.date) -> str:
    return f"{day:%Y-%m}" if FIRST_YEAR <= day.year <= LAST_YEAR else ""


def _considerations(first: dt.date, last: dt.date, persona: int | None) -> Any:
    """By the index that serves it: of one persona by day; of all by time, with a day more on both sides for zones."""
    rows = Consideration.objects.filter(day__range=(first, last))
    if persona is not None:
        return rows.filter(persona=persona)
    midnight = dt.time(tzinfo=dt.UTC)
    since, until = (dt.datetime.combine(day, midnight) for day in (first - ONE_DAY, last + 2 * ONE_DAY))
    return rows.filter(at__range=(since, until))


def _bar(times: Mapping[str, int]) -> Iterable[GateCount]:
    """The pieces of a bar, one beside the other."""
    whole, x = sum(times.values()), 0.0
    for gate, number in times.items():
        width = BAR * number / whole
        yield GateCount(gate, Gate(gate).label, number, f"{x:.2f}", f"{width:.2f}")
        x += width
