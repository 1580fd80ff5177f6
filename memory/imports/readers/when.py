"""Times in any format that a field of a table or record may have. Pure."""

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any

from memory.imports.readers.headings import Heading, at_clock, day_in_name, heading_in
from memory.imports.readers.lines import moment

# Numbers below this are years, days or counts rather than seconds since 1970.
_LEAST_SECONDS = 10**8


@dataclass(frozen=True)
class TimeOfRecord:
    """A day, and the moment if the time of day is known."""

    day: date
    at: datetime | None

    def as_moment(self) -> datetime:
        return self.at or datetime.combine(self.day, time.min)


def read_time(value: Any, day_first: bool | None = None) -> TimeOfRecord | None:
    """The time in `value`, or None: ISO 8601, seconds or milliseconds since 1970, or a date as in diaries.

    If `day_first` is None, dates like 3/4/2024 are not read.

    >>> read_time("5 Jan 2024, 9:05 pm").at, read_time("5/1/2024", day_first=True).day, read_time("soon")
    (datetime.datetime(2024, 1, 5, 21, 5), datetime.date(2024, 1, 5), None)
    """
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _time_of(moment(value)) if abs(value) >= _LEAST_SECONDS else None
    text = value.strip() if isinstance(value, str) else ""
    if text.replace(".", "", 1).isdecimal():
        if float(text) >= _LEAST_SECONDS:
            return _time_of(moment(text))
        # 20240105
        compact = day_in_name(text) if len(text) == 8 else None
        return TimeOfRecord(compact, None) if compact else None
    # Usual stamps are read fast; a date alone has no time of day.
    if len(text) > 10 and (usual_time := _time_of(moment(text))):
        return usual_time
    heading = as_date(text)
    if heading is None or (heading.written_date.order_open and day_first is None):
        return None
    day = heading.written_date.as_day(day_first=bool(day_first))
    return TimeOfRecord(day, at_clock(day, heading.clock)) if day else None


def _time_of(at: datetime | None) -> TimeOfRecord | None:
    return TimeOfRecord(at.date(), at) if at else None


def as_date(text: Any) -> Heading | None:
    """The date in `text`, with a year; None if the text has other words."""
    heading = heading_in(text.strip(), begins=True) if isinstance(text, str) else None
    if heading is None or heading.title or heading.words or heading.written_date.year is None:
        return None
    return heading
