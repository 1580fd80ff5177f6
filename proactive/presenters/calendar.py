"""A month as a calendar sheet: per day, how often the persona wrote first and which gates refused."""

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
    """How often one gate refused on a day, and its segment of the day's bar."""

    gate: str
    label: Any
    times: int
    x: str
    width: str

    @property
    def number(self) -> int:
        """Position among the gates; it selects the colour."""
        return GATES.index(Gate(self.gate))


@dataclass(frozen=True)
class Day:
    """One day. `sent` counts decisions to send, `delivered` delivered messages."""

    day: dt.date
    is_within: bool
    sent: int = 0
    delivered: int = 0
    refusals: Sequence[GateCount] = ()

    @property
    def summary(self) -> str:
        """The whole day in words, for screen readers."""
        parts = [ngettext("%(count)d message", "%(count)d messages", self.delivered) % {"count": self.delivered}]
        if self.sent > self.delivered:
            parts.append(_("%(count)d not sent") % {"count": self.sent - self.delivered})
        return "; ".join([*parts, *(f"{count.label}: {count.times}" for count in self.refusals)])


@dataclass(frozen=True)
class MonthCalendar:
    """The weeks of a month, the names of the weekdays, and the months before and after ("" if there is none)."""

    first: dt.date
    weekdays: Sequence[Any]
    weeks: Sequence[Sequence[Day]]
    before: str
    after: str

    @property
    def days(self) -> list[Day]:
        return [day for week in self.weeks for day in week if day.is_within]

    @property
    def delivered(self) -> int:
        return sum(day.delivered for day in self.days)

    @property
    def gates(self) -> list[GateCount]:
        """All gates that refused in the month, in the order of `Gate`, with their counts."""
        times = {
            gate: sum(count.times for day in self.days for count in day.refusals if count.gate == gate)
            for gate in GATES
        }
        return [GateCount(gate, gate.label, times[gate], "0", "0") for gate in GATES if times[gate]]


def first_day(text: str, today: dt.date) -> dt.date:
    """The first day of the month in `text` ("2026-11"); the month of `today` if `text` names none.

    >>> first_day("2026-02", dt.date(2026, 11, 21))
    datetime.date(2026, 2, 1)
    """
    try:
        first_of_month = dt.datetime.strptime(text, "%Y-%m").date()
    except ValueError:
        return today.replace(day=1)
    return first_of_month if FIRST_YEAR <= first_of_month.year <= LAST_YEAR else today.replace(day=1)


def month_calendar(first: dt.date, persona: int | None, besides: Collection[Gate] = ()) -> MonthCalendar:
    """The month that begins on `first`, of one persona or of all, without the refusals of the gates in `besides`. One
    statement."""
    begins = int(get_format("FIRST_DAY_OF_WEEK"))  # 0 is Sunday; the standard library counts from Monday
    weeks = calendar.Calendar((begins + 6) % 7).monthdatescalendar(first.year, first.month)
    # Per day: messages decided on, messages delivered, and refusals by gate.
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
    counts_by_day: dict[dt.date, dict[str, int]] = {}
    for day, gate, times, sent_count, delivered_count in rows:
        counts_by_day.setdefault(day, {}).update(
            {gate: times} if gate else {"sent": sent_count, "delivered": delivered_count}
        )
    return MonthCalendar(
        first=first,
        weekdays=[WEEKDAYS_ABBR[(begins + 6 + number) % 7] for number in range(7)],
        weeks=[
            [
                Day(
                    day=day,
                    is_within=day.month == first.month,
                    sent=counts.get("sent", 0),
                    delivered=counts.get("delivered", 0),
                    refusals=list(_bar({gate: counts[gate] for gate in GATES if gate in counts})),
                )
                for day in week
                for counts in [counts_by_day.get(day, {})]
            ]
            for week in weeks
        ],
        before=_name(first - ONE_DAY),
        after=_name((first + 31 * ONE_DAY).replace(day=1)),
    )


def _name(day: dt.date) -> str:
    return f"{day:%Y-%m}" if FIRST_YEAR <= day.year <= LAST_YEAR else ""


def _considerations(first: dt.date, last: dt.date, persona: int | None) -> Any:
    """Filter so that an index serves: one persona by day; all personas by time, with a day more on both sides for time
    zones."""
    rows = Consideration.objects.filter(day__range=(first, last))
    if persona is not None:
        return rows.filter(persona=persona)
    midnight = dt.time(tzinfo=dt.UTC)
    since, until = (dt.datetime.combine(day, midnight) for day in (first - ONE_DAY, last + 2 * ONE_DAY))
    return rows.filter(at__range=(since, until))


def _bar(times: Mapping[str, int]) -> Iterable[GateCount]:
    """The segments of a bar, side by side."""
    total, x = sum(times.values()), 0.0
    for gate, number in times.items():
        width = BAR * number / total
        yield GateCount(gate, Gate(gate).label, number, f"{x:.2f}", f"{width:.2f}")
        x += width
