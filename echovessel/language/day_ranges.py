"""The days from one named day to another: "Thursday and Friday", "from the 30th to the 2nd", 「下周三到周五」. Pure."""

from datetime import date, timedelta

from echovessel.language import lazy_re as re
from echovessel.language.dates import Days
from echovessel.language.named_days import place_mentions

MAX_DAYS = 31
_PART_OF_DAY = r"(?: (?:morning|afternoon|evening|night)|早上|上午|中午|下午|晚上)?"
_TO = re.compile(rf"{_PART_OF_DAY}\s*(?:to|til|till|until|through|[-–—~]|到|至)\s*(?:on\s+)?(?:the\s+)?", re.I)
_AND = re.compile(r"\s*(?:,|&|/|,?\s*and|和|、|，)?\s*(?:on\s+)?(?:the\s+)?", re.I)
_BETWEEN = re.compile(r"\bbetween\s+(?:the\s+)?$", re.I)
# "Moved from Thursday to Friday": the day was one and is the other.
_MOVED = re.compile(
    r"\b(?:moved?|pushed|changed?|switched|rescheduled|postponed|shifted|delayed|brought forward)\b[^.,;!?\n]{0,30}?"
    r"\bfrom\s+(?:the\s+)?$",
    re.I,
)
_HABIT = re.compile(r"\b(?:every|each)\s+$|[每逢]个?$", re.I)
# Between two weekdays of one week these words hide the first of them from the reader of single days.
_TO_WEEKDAY_ZH = re.compile(r"(?<=[一二三四五六日天])\s*[到至]\s*(?=(?:上上|下下|上|下|这|本)?个?(?:周|星期|礼拜))")
_WORKING_WEEK = re.compile(
    r"\bmonday(?: to | ?[-–] ?| through | till )friday\b|(?:周|星期|礼拜)一[到至](?:周|星期|礼拜)五", re.I
)


def named_range(text: str, said_on: date, *, ahead: bool) -> Days | None:
    """The first range of days that `text` names, `ahead` of the day it was written on or before it; None if it names
    none. Two days joined by "and" are a range only if one follows the other. What moved from one day to another is
    on the last alone.

    >>> named_range("I am in York next Wednesday to Friday", date(2026, 3, 18), ahead=True).as_json()
    {'start': '2026-03-25', 'end': '2026-03-27'}
    """
    if _WORKING_WEEK.search(text):  # who works, not when
        return None
    text, places = place_mentions(_TO_WEEKDAY_ZH.sub("—", text), said_on)
    for at in range(len(places) - 1):
        (start, end), days = places[at]
        if _HABIT.search(text[:start]):
            continue
        if _MOVED.search(text[:start]):
            (next_start, _next_end), next_days = places[at + 1]
            if _TO.fullmatch(text[end:next_start]):
                return _nearest([Days(day, day) for day in next_days], said_on, ahead=ahead)
        is_between = _BETWEEN.search(text[:start]) is not None
        spans = [Days(day, day) for day in days]
        for (next_start, next_end), next_days in places[at + 1 :]:
            link = text[end:next_start]
            is_range = _TO.fullmatch(link) or (is_between and _AND.fullmatch(link))
            if not is_range and not _AND.fullmatch(link):
                break
            limit = timedelta(days=MAX_DAYS if is_range else 1)
            longer = [
                Days(span.start, min(later))
                for span in spans
                if (later := [day for day in next_days if span.end < day <= span.end + limit])
            ]
            if not longer:
                break
            spans, end = longer, next_end
        spans = [span for span in spans if span.start < span.end]
        if nearest := _nearest(spans, said_on, ahead=ahead):
            return nearest
    return None


def _nearest(spans: list[Days], said_on: date, *, ahead: bool) -> Days | None:
    """The nearest of the spans `ahead` of the day or before it, otherwise one around it; None if there is none."""
    fitting = [span for span in spans if (span.start >= said_on if ahead else span.start <= said_on)]
    fitting = fitting or [span for span in spans if span.start <= said_on <= span.end]
    return min(fitting, key=lambda span: abs((span.start - said_on).days)) if fitting else None
