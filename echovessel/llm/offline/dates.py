"""Days that are said plainly, counted from the day of the line that says them."""

import re
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Days:
    """A first and a last day; the same for a single one."""

    start: date
    end: date

    def as_json(self) -> dict[str, str]:
        """As the extraction answer spells it."""
        return {"start": self.start.isoformat(), "end": self.end.isoformat()}


RELATIVE: dict[int, tuple[str, ...]] = {
    -2: ("前天", "day before yesterday"),
    -1: ("昨天", "昨晚", "yesterday", "last night"),
    0: ("今天", "今晚", "今早", "today", "tonight", "this morning", "this afternoon", "this evening"),
    2: ("后天", "day after tomorrow"),
    1: ("明天", "明晚", "tomorrow"),
}
WEEKS: dict[int, tuple[str, ...]] = {
    -1: ("上周", "上星期", "last week"),
    0: ("这周", "本周", "this week"),
    1: ("下周", "下星期", "next week"),
}
MONTHS: dict[int, tuple[str, ...]] = {-1: ("上个月", "last month"), 1: ("下个月", "next month")}
YEARS: dict[int, tuple[str, ...]] = {-1: ("去年", "last year"), 1: ("明年", "next year")}
NUMBERS = {word: value for value, word in enumerate("一二三四五六七八九十", start=1)} | {"两": 2}
NUMBERS |= {word: value for value, word in enumerate(("one", "two", "three", "four", "five", "six", "seven"), 1)}
NUMBERS |= {"a": 1}
MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTH_NAMES)

ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
FULL_ZH = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]")
MONTH_DAY = re.compile(rf"\b({MONTH})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?", re.I)
DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({MONTH})\b(?:,?\s+(\d{{4}}))?", re.I)
AGO = re.compile(r"(\d+|[一二两三四五六七八九十])天(前|后)")
AGO_EN = re.compile(r"\b(\d+|a|one|two|three|four|five|six|seven) days? (ago)\b|\bin (\d+) days?\b", re.I)


def local_day(at: str, timezone: str) -> date:
    """The day on which a line was said, where the user lives."""
    return datetime.fromisoformat(at).astimezone(ZoneInfo(timezone)).date()


def days_in(text: str, today: date) -> Days | None:
    """The first plain date of `text`, or None. Weekdays are left alone: "Friday" is as often past as coming.

    >>> days_in("I moved here two days ago", date(2026, 3, 1)).start
    datetime.date(2026, 2, 27)
    """
    readings = (_written, _counted, _single, _span)
    return next((days for reading in readings if (days := reading(text.casefold(), today))), None)


def _written(text: str, today: date) -> Days | None:
    if match := ISO.search(text):
        return _day(int(match[1]), int(match[2]), int(match[3]))
    if match := FULL_ZH.search(text):
        return _nearest(match[1], int(match[2]), int(match[3]), today)
    if match := MONTH_DAY.search(text):
        return _nearest(match[3], _month(match[1]), int(match[2]), today)
    if match := DAY_MONTH.search(text):
        return _nearest(match[3], _month(match[2]), int(match[1]), today)
    return None


def _month(name: str) -> int:
    return next(number for number, full in enumerate(MONTH_NAMES, 1) if full.startswith(name))


def _nearest(year: str | None, month: int, day: int, today: date) -> Days | None:
    """The given year, or the one that brings a bare date closest to today."""
    if year:
        return _day(int(year), month, day)
    options = [days for distance in (-1, 0, 1) if (days := _day(today.year + distance, month, day))]
    return min(options, key=lambda days: abs((days.start - today).days), default=None)


def _day(year: int, month: int, day: int) -> Days | None:
    try:
        found = date(year, month, day)
    except ValueError:
        return None
    return Days(found, found)


def _counted(text: str, today: date) -> Days | None:
    if match := AGO.search(text):
        return _away(_number(match[1]) * (-1 if match[2] == "前" else 1), today)
    if match := AGO_EN.search(text):
        return _away(-_number(match[1]) if match[2] else _number(match[3]), today)
    return None


def _number(word: str) -> int:
    return NUMBERS[word] if word in NUMBERS else int(word[:4])


def _away(days: int, today: date) -> Days:
    day = today + timedelta(days=days)
    return Days(day, day)


def _single(text: str, today: date) -> Days | None:
    days = next((days for days, words in RELATIVE.items() if any(word in text for word in words)), None)
    return None if days is None else _away(days, today)


def _span(text: str, today: date) -> Days | None:
    for distance, words in WEEKS.items():
        if any(word in text for word in words):
            monday = today - timedelta(days=today.weekday()) + timedelta(weeks=distance)
            return Days(monday, monday + timedelta(days=6))
    for distance, words in MONTHS.items():
        if any(word in text for word in words):
            return _month_span(today.year, today.month + distance)
    for distance, words in YEARS.items():
        if any(word in text for word in words):
            return Days(date(today.year + distance, 1, 1), date(today.year + distance, 12, 31))
    return None


def _month_span(year: int, month: int) -> Days:
    first = date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1)
    return Days(first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1))
