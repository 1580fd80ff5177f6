"""The time arm: the days that the lines ask about, and what happened in them.

A memory belongs to the days in which it happened, else to the one on which it was noted; a talk to the day on which it
began. How much the window says depends on how narrow it is: a week points at few memories, a year at most of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from echovessel.language.dates import Days
from memory.recall import dates

# Of the lines the last one that names days counts, if it is one of these.
LINES_READ = 2
# A window of so many days or fewer says as much as it can; one of four times as many half of that.
NARROW_DAYS = 7


@dataclass(frozen=True)
class Window:
    """The asked days in the owner's zone, and the moments (UTC, naive) between which they lie."""

    days: Days
    since: datetime
    until: datetime

    @property
    def weight(self) -> float:
        """How narrow the window is: 1 for a week or less, 0.5 for a month, 0.14 for a year."""
        return min(1.0, (NARROW_DAYS / ((self.days.end - self.days.start).days + 1)) ** 0.5)


def window_asked_for(turns: Sequence[str], now: datetime, zone: ZoneInfo) -> Window | None:
    """The window that the newest of the last lines asks for, or None. Today is no window: it is in every line.

    >>> asked(["What did I do yesterday?"], datetime(2026, 3, 18, 12, tzinfo=UTC), ZoneInfo("Asia/Shanghai")).since
    datetime.datetime(2026, 3, 16, 16, 0)
    """
    today = now.astimezone(zone).date()
    found = (dates.window(turn, today) for turn in reversed(turns[-LINES_READ:]))
    days = next((days for days in found if days), None)
    if days is None or days == Days(today, today):
        return None
    return Window(days, _midnight(days.start, zone), _midnight(days.end + timedelta(days=1), zone))


def _midnight(day: date, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, time(), zone).astimezone(UTC).replace(tzinfo=None)
