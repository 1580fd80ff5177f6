"""The window of days that the last messages ask about.

The date of a memory is the day it happened, otherwise the day it was recorded; that of a session is the day it began.
The weight of a window depends on its width: a week selects few memories, a year most of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo

from echovessel.language.dates import Days
from echovessel.language.day_spans import days_meant

# How many of the last messages are read; the newest one that names days counts.
MESSAGES_READ = 2
# A window of up to this many days has the full weight; one four times as wide has half of it.
NARROW_DAYS = 7


@dataclass(frozen=True)
class Window:
    """The requested days in the owner's time zone, and their bounds (UTC, naive)."""

    days: Days
    since: datetime
    until: datetime

    @property
    def weight(self) -> float:
        """Weight by width: 1 for a week or less, 0.5 for a month, 0.14 for a year."""
        return min(1.0, (NARROW_DAYS / ((self.days.end - self.days.start).days + 1)) ** 0.5)


def read_window(turns: Sequence[str], now: datetime, zone: ZoneInfo) -> Window | None:
    """The window of the newest of the last messages that names days, or None. Today is no window: every message implies
    it.

    >>> now = datetime(2026, 3, 18, 12, tzinfo=UTC)
    >>> read_window(["What did I do yesterday?"], now, ZoneInfo("Asia/Shanghai")).since
    datetime.datetime(2026, 3, 16, 16, 0)
    """
    today = now.astimezone(zone).date()
    spans = (days_meant(turn, today) for turn in reversed(turns[-MESSAGES_READ:]))
    days = next((days for days in spans if days), None)
    if days is None or days == Days(today, today):
        return None
    midnights = (datetime.combine(day, time(), zone) for day in (days.start, days.end + timedelta(days=1)))
    return Window(days, *(midnight.astimezone(UTC).replace(tzinfo=None) for midnight in midnights))
