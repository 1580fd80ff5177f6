"""The single days that a text names, relative to the day on which it was written. Pure; English and Chinese.

"Friday" may be past or future, "the 14th" may be of this month or the next: a mention holds every day that it may mean.
If a text names one day in several ways ("next Thursday, the 25th"), it is the day that all of them may mean.
"""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from echovessel.language import lazy_re as re
from echovessel.language.absolute_dates import with_absolute_dates
from echovessel.language.dates import (
    AGO_EN,
    COUNTED_ZH,
    DAY_MONTH,
    DAY_WORD,
    DAY_WORDS,
    IN_EN,
    ISO,
    MONTH_DAY,
    MONTH_NAMES,
    STEPS,
    UNITS_ZH,
    WEEKDAY_NAMES,
    YEAR_ZH,
    YEARS_ZH,
    away,
    day_in,
    nearest,
    number_en,
    number_zh,
    week_away,
    weekday_zh,
)

Mention = frozenset[date]
Place = tuple[int, int]
_WEEKDAY = "|".join(WEEKDAY_NAMES)
_NUMBER_ZH = "十[一二三四五六七八九]?|二十[一二三四五六七八九]?|三十一?|[一二三四五六七八九]|\\d{1,2}"
_FORTNIGHT = re.compile(r"\bin a fortnight\b", re.I)
_WEEKDAY_EN = re.compile(rf"\b(?:(last|next|this|coming|past)\s+)?({_WEEKDAY})\b(?!s|\s+week|\s+of\b)", re.I)
_ORDINAL = re.compile(
    r"\b(?:the )?(\d{1,2})(?:st|nd|rd|th)\b(?!\s+(?:floor|time|birthday|grade|century|place|of\s+[a-z]))", re.I
)
# "In November. The 17th."
_MONTH_THEN_NUMBER = re.compile(
    rf"\b({'|'.join(MONTH_NAMES)})[.,;:]?\s+(?:on\s+)?the\s+(\d{{1,2}})(?:st|nd|rd|th)\b(?! floor)", re.I
)
_MONTH_DAY_ZH = re.compile(
    rf"(?:(\d{{4}})年|({YEAR_ZH})的?)?(?<![\d一二三四五六七八九十个])({_NUMBER_ZH})月({_NUMBER_ZH})(?:[日号]|(?![\w%]*[个天年次岁块分点]))"
)
_WEEKDAY_ZH = re.compile(
    r"(上上|下下|上|下|这|(?<!日)本)?个?(?:周|星期|礼拜)([一二三四五六日天])(?(1)|(?!到|至))(?![一二三四五六日天])"
)
_DAY_ZH = re.compile(
    rf"(?:(上上|下下|上|下|这|本)个?月|(?<![月\d一二三四五六七八九十第]))({_NUMBER_ZH})号(?![线楼院店厅码])"
)
_DENIED = re.compile(r"(?:\bnot(?: on| at)?|\binstead of|\brather than|不是|并非|不在)\s*$", re.I)
# A bare weekday may be of any of these weeks; only its context decides.
_WEEKS_AROUND = range(-2, 4)
_SAYS_YEAR = re.compile(r"\d{4}|year|last|next|this", re.I)
_SURELY_NEAR_DAYS = 75


def named_days(text: str, said_on: date) -> list[Mention]:
    """Every mention of a single day in `text`, in order, as the set of days that it may mean; without negated mentions
    ("not the 11th").

    >>> [sorted(map(str, days)) for days in named_days("二月二十八号要考试", date(2025, 2, 18))]
    [['2025-02-28']]
    """
    return [days for _place, days in place_mentions(text, said_on)[1]]


def place_mentions(text: str, said_on: date) -> tuple[str, list[tuple[Place, Mention]]]:
    """The text with absolute dates, and each mention of a single day with its place in that text."""
    mentions: list[tuple[Place, Mention]] = []
    text = with_absolute_dates(text, said_on)
    last_end = 0
    # Longer mentions come before those that they contain.
    for (start, end), days in sorted(_mentions(text, said_on), key=lambda mention: (mention[0][0], -mention[0][1])):
        if days and start >= last_end and not _DENIED.search(text[:start]):
            mentions.append(((start, end), days))
            last_end = end
    return text, mentions


def only_day(mentions: Iterable[Mention], *, first: date = date.min, last: date = date.max) -> date | None:
    """The one day from `first` to `last` that all mentions may mean.

    >>> only_day(named_days("next thursday, the 25th", date(2025, 9, 19)))
    datetime.date(2025, 9, 25)
    """
    within = [{day for day in days if first <= day <= last} for days in mentions]
    common = set.intersection(*within) if within else set()
    return common.pop() if len(common) == 1 else None


def _dates(text: str, said_on: date) -> Iterator[tuple[Place, Mention]]:
    """The dates with a month and a number."""
    for pattern in (ISO, MONTH_DAY, DAY_MONTH):
        for match in pattern.finditer(text):
            # "may 15" is a date only after certain words; the words before the match decide.
            before = text[max(0, match.start() - 12) : match.start()]
            days = day_in(match[0], said_on) or day_in(f"{before.rpartition(',')[2]}{match[0]}", said_on)
            if days:
                has_year = pattern is ISO or any(group and _SAYS_YEAR.search(group) for group in match.groups())
                yield match.span(), frozenset((days.start,)) if has_year else _of_year(days.start, said_on)
    for match in _MONTH_THEN_NUMBER.finditer(text):
        if days := day_in(f"{match[1]} {match[2]}th", said_on):
            yield match.span(), _of_year(days.start, said_on)
    for match in _MONTH_DAY_ZH.finditer(text):
        year = int(match[1]) if match[1] else said_on.year + YEARS_ZH[match[2]] if match[2] else None
        days = nearest(year, number_zh(match[3]), number_zh(match[4]), said_on)
        if days:
            yield match.span(), frozenset((days.start,)) if year else _of_year(days.start, said_on)


def _mentions(text: str, said_on: date) -> Iterator[tuple[Place, Mention]]:
    """Each mention with its position, unordered; positions may overlap."""
    yield from _dates(text, said_on)
    for match in _FORTNIGHT.finditer(text):
        yield match.span(), frozenset((said_on + timedelta(weeks=2),))
    for match in DAY_WORD.finditer(text):
        yield match.span(), frozenset((said_on + timedelta(days=DAY_WORDS[match[0].casefold()]),))
    for match in (*AGO_EN.finditer(text), *IN_EN.finditer(text)):
        sign = -1 if match[0].casefold().endswith("ago") else 1
        yield match.span(), _counted(sign * number_en(match[1]), match[2].casefold(), said_on)
    for match in COUNTED_ZH.finditer(text):
        count = number_zh(match[1]) * (-1 if match[3] == "前" else 1)
        yield match.span(), _counted(count, UNITS_ZH[match[2].removeprefix("个")], said_on)
    for match in _WEEKDAY_EN.finditer(text):
        yield match.span(), _weekday_en((match[1] or "").casefold(), WEEKDAY_NAMES.index(match[2].casefold()), said_on)
    weeks: Iterable[int] = _WEEKS_AROUND
    named: re.Match[str] | None = None
    for match in _WEEKDAY_ZH.finditer(text):
        if match[1]:
            weeks, named = (STEPS[match[1]],), match
        elif named and not _is_of_week(match, named):
            weeks, named = _WEEKS_AROUND, None
        weekday = timedelta(days=weekday_zh(match[2]))
        yield match.span(), frozenset(week_away(week, said_on).start + weekday for week in weeks)
    for match in _ORDINAL.finditer(text):
        yield match.span(), _last_and_next(int(match[1]), said_on)
    for match in _DAY_ZH.finditer(text):
        number = number_zh(match[2])
        days = _of_month(number, (STEPS[match[1]],), said_on) if match[1] else _last_and_next(number, said_on)
        yield match.span(), days


def _is_of_week(weekday: re.Match[str], named: re.Match[str]) -> bool:
    """Whether a weekday is of the week that was named before it: 「下周六有市集，周六周日两天」, but not
    「上周五发烧了，周一去看医生」, whose Monday is another week's."""
    between = weekday.string[named.end() : weekday.start()]
    is_past = STEPS[named[1]] < 0
    is_later = weekday_zh(weekday[2]) >= weekday_zh(named[2])
    return is_later and not re.search("[，,。；;！!？?\n]" if is_past else "[。！!？?\n]", between)


def _days_until(weekday: int, said_on: date) -> int:
    return (weekday - said_on.weekday()) % 7


def _weekday_en(which: str, weekday: int, said_on: date) -> Mention:
    """The days that "Friday", "next Friday" or "last Friday" may mean."""
    ahead = _days_until(weekday, said_on)
    weeks = {"last": (-1, -2), "past": (-1,), "next": (0, 1), "this": (0, -1), "coming": (0,)}.get(which, _WEEKS_AROUND)
    shift = 1 if not ahead and which in ("next", "coming") else 0
    return frozenset(said_on + timedelta(days=ahead, weeks=week + shift) for week in weeks)


def _counted(count: int, unit: str, said_on: date) -> Mention:
    """The day that is `count` days or weeks away; for months and years no single day is meant."""
    if unit in ("month", "year") or (days := away(count * (7 if unit == "week" else 1), "day", said_on)) is None:
        return frozenset()
    return frozenset((days.start,))


def _of_year(day: date, said_on: date) -> Mention:
    """A date without a year, of which `day` is the nearest; if that is far away, the same date in the adjacent year
    too."""
    if abs((day - said_on).days) <= _SURELY_NEAR_DAYS:
        return frozenset((day,))
    nearest_day = nearest(day.year + (1 if day < said_on else -1), day.month, day.day, said_on)
    return frozenset((day, nearest_day.start)) if nearest_day else frozenset((day,))


def _of_month(day: int, months: Iterable[int], said_on: date) -> Mention:
    """The day with that number in each of the months at the offsets `months`."""
    spans = [month for step in months if (month := away(step, "month", said_on))]
    return frozenset(month.start.replace(day=day) for month in spans if 1 <= day <= month.end.day)


def _last_and_next(day: int, said_on: date) -> Mention:
    """The last and the next day with that number; today if it has that number."""
    days = _of_month(day, range(-2, 3), said_on)
    before, coming = (day for day in days if day <= said_on), (day for day in days if day >= said_on)
    return frozenset((max(before), min(coming))) if days else frozenset()
