"""The window of days that the last messages ask about.

A memory belongs to the days in which it happened, else to the one on which it was noted; a session to the day on which
it began. The weight of a window depends on how narrow it is: a week points at few memories, a year at most of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from echovessel.language.dates import Days
from echovessel.language.day_spans import days_meant

# The newest of this many messages that names days counts.
MESSAGES_READ = 2
# A window of this many days or fewer has its full weight; one of four times as many half of that.
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
    """The window that the newest of the last messages asks for, or None. Today is no window: it is in every message.

    >>> now = datetime(2026, 3, 18, 12, tzinfo=UTC)
    >>> window_asked_for(["What did I do yesterday?"], now, ZoneInfo("Asia/Shanghai")).since
    datetime.datetime(2026, 3, 16, 16, 0)
    """
    today = now.astimezone(zone).date()
    read = (days_meant(turn, today) for turn in reversed(turns[-MESSAGES_READ:]))
    days = next((days for days in read if days), None)
    if days is None or days == Days(today, today):
        return None
    midnights = (datetime.combine(day, time(), zone) for day in (days.start, days.end + timedelta(days=1)))
    return Window(days, *(midnight.astimezone(UTC).replace(tzinfo=None) for midnight in midnights))
