"""The days that a message is about: "last spring", "two years ago in October", 「上个月15号」, 「国庆节」. Pure.

`days_meant` reads one message, in English or Chinese, as days of the owner's time zone. `dates` reads plain dates; this
module reads what needs more context: the latest Friday, March or Christmas (or the next one, if the message is about
the future), seasons, holidays, parts of months, periods up to today.

No day is better than a wrong one: habits ("on Fridays"), ordinals ("on the 5th floor") and ambiguous expressions ("next
Friday", early in the week) are not read. Left out: hours, lunar dates except the great holidays, decades. dateparser
1.5.0 is not used: it reads none of 下周五, 三天前 and 上个月15号, and within a sentence it reads the first as 下周
(design/platform.md).
"""

import unicodedata
from collections.abc import Callable
from datetime import date, timedelta

from echovessel.language import holidays
from echovessel.language import lazy_re as re
from echovessel.language.absolute_dates import with_absolute_dates
from echovessel.language.dates import (
    MONTH,
    NUMBER,
    NUMBER_ZH,
    STEPS,
    UNITS_ZH,
    WEEKDAY_NAMES,
    YEAR_ZH,
    YEARS_EN,
    YEARS_ZH,
    Days,
    away,
    day_in,
    days_in,
    month_named,
    names_month,
    number_en,
    number_zh,
    week_away,
    weekday_zh,
)

_AHEAD = re.compile(
    r"\b(?:next|coming|upcoming|will|going to|gonna|plans?|planned|planning|looking forward)\b"
    r"|下个|下次|将|打算|计划|安排|即将|要去",
    re.I,
)
_BACK = re.compile(r"\b(?:did|was|were|had|happened|went|last)\b|发生|了|过|上次|那时", re.I)
_NUMERAL = re.compile(r"(?<![第周期拜])([一二三四五六七八九十]{1,3})(?=月|号|日(?![子本常记出落期历程]))")
_YEAR_NUMERAL = re.compile(r"[〇零一二三四五六七八九]{4}(?=年)")
_DIGITS = {
    digit: str(value)
    for value, digits in enumerate(("〇零", "一", "二", "三", "四", "五", "六", "七", "八", "九"))
    for digit in digits
}

_DAY_NAMES = "|".join(WEEKDAY_NAMES)
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_UNITS_ZH = UNITS_ZH | {"日": "day", "礼拜": "week"}

_SOME_AGO = re.compile(
    r"\b(?:a few|some|several) (day|week|month|year)s ago\b|几个?(天|周|星期|礼拜|月|年)(?:之|以)?前", re.I
)
_LATELY = re.compile(r"\bthe other (day|week)\b|前几(天)|前些(天)|前(?:一)?阵子?()", re.I)
_HALF_YEAR_AGO = re.compile(r"\bhalf a year ago\b|半年(?:之|以)?前", re.I)
_THE_PAST = re.compile(rf"\bthe (?:last|past) (?:({NUMBER}|few) )?(day|week|month|year)s?\b(?! of\b)", re.I)
_THE_PAST_ZH = re.compile(
    rf"(?:最近|过去|近)(?:这|的)?({NUMBER_ZH}|几)?个?(天|日|周|星期|礼拜|月|年)|这(几|两|三|些)(天)"
)
_BEFORE_LAST = re.compile(r"\bthe (week|month|year) (?:before last|(after next))\b", re.I)
_DAYS_AGO = re.compile(rf"\b({NUMBER}) ({_DAY_NAMES})s ago\b", re.I)

_WEEKDAY = re.compile(
    r"(?<!every )(?<!each )(?<!black )(?<!good )(?<!easter )(?<!palm )(?:\b(last|this|next|this past)\s+)?"
    rf"\b({_DAY_NAMES})\b"
    r"(?!s|'s|’s)(?:\s+(?:of )?(last|this|next) week)?(?!\s+before last)",
    re.I,
)
_WEEKDAY_BARE_ZH = re.compile(r"(?<![上下这本每个隔])(?:周|星期|礼拜)([一二三四五六日天])(?![到至])")
_WEEKEND = re.compile(r"\b(?:(last|this|next)|over the|at the|on the|during the|this past) weekend\b", re.I)
_WEEKEND_ZH = re.compile(r"(?<!每个)(?<!每)(上上|下下|上|下|这|本)?个?周末(?!愉快)")

_DAY_OF_MONTH = re.compile(
    r"\bthe (\d{1,2})(?:st|nd|rd|th)"
    r"(?: of (last|this|next) month\b|(?=\s*(?:[?.!,;]|$)|\s+(?:i|we|you|did|what|and|at)\b))",
    re.I,
)
_LAST_MONTH_ON = re.compile(r"\b(last|this|next) month on the (\d{1,2})(?:st|nd|rd|th)\b", re.I)
_DAY_OF_MONTH_ZH = re.compile(
    r"(?:(上上|下下|上|下|这|本)个?月的?|(?<![\d月第]))(\d{1,2})(?:号(?![楼线房店院门车机桌选球位码])|日(?=[^\w]|$|那|的|我|你|晚|早))"
)

_PART = r"(early|mid|late|the beginning of|the start of|the middle of|the end of)[ -]"
_YEAR_AFTER = r"(?:,?\s+(?:of\s+)?((?:19|20)\d\d|last year|this year|next year)\b)?"
_MONTH_EN = re.compile(rf"(?:\b{_PART})?(?:\b(last|this|next)\s+)?\b({MONTH})\b\.?(?!['’-]){_YEAR_AFTER}", re.I)
_PART_OF_MONTH_EN = re.compile(rf"\b{_PART}(last|this|next|the) (month|year)\b", re.I)
_BEFORE_A_TIME = re.compile(r"\b(?:in|of|since|during|until|by|for|around|through|from)\s+$", re.I)
_WEEK_OF_MONTH = re.compile(rf"\bthe (first|second|third|fourth|last) week of ({MONTH})\b{_YEAR_AFTER}", re.I)
_YEAR_BEFORE_ZH = rf"(?:((?:19|20)\d\d)年|({YEAR_ZH}))?的?"
_PARTS_ZH = r"(上旬|中旬|下旬|月初|月中|月底|月末|初|中|底|末)?"
_MONTH_ZH = re.compile(
    rf"{_YEAR_BEFORE_ZH}(?<!\d)(1[0-2]|0?[1-9])月份?{_PARTS_ZH}(?:第([一二三四])(?:周|个星期))?(?!\d)"
)
_PART_OF_MONTH_ZH = re.compile(r"(上上|上|这|本|下)个?月(上旬|中旬|下旬|初|中|底|末)|(?<![\w])(月初|月底|月中)")
_PART_OF_YEAR_ZH = re.compile(rf"{_YEAR_BEFORE_ZH}(年初|年中(?!秋)|年底|年末|上半年|下半年|(?<=年)(?:初|底|末))")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12, "春": 3, "夏": 6, "秋": 9, "冬": 12}
_SEASON = re.compile(
    r"\b(?:(last|this|next)|(in|during|over|since)(?: the| that)?(?: early| late)?)\s+"
    r"(spring|summer|autumn|fall|winter)\b"
    rf"(?! (?:roll|break|sale|coat|job)){_YEAR_AFTER}"
    r"|\b(spring|summer|autumn|winter) of ((?:19|20)\d\d|last year|this year)\b",
    re.I,
)
_SEASON_ZH = re.compile(
    rf"(?:((?:19|20)\d\d)年|({YEAR_ZH})|(上个|这个|下个))的?([春夏秋冬])(?:[天季]|(?=[^\w]|$))|([春夏秋冬])[天季](?=的时候|里|那阵|那会)"
)


def days_meant(text: str, today: date, *, ahead: bool | None = None) -> Days | None:
    """The days that `text` is about, or None if it names none clearly. `ahead` decides whether "in May" is the next
    one; without it the words decide.

    >>> days_meant("What did we do last Friday?", date(2026, 3, 18)).as_json()
    {'start': '2026-03-13', 'end': '2026-03-13'}
    """
    plain = with_absolute_dates(unicodedata.normalize("NFKC", text), today)
    plain = _NUMERAL.sub(lambda numeral: str(number_zh(numeral[1])), plain)
    plain = _YEAR_NUMERAL.sub(lambda year: "".join(_DIGITS[digit] for digit in year[0]), plain)
    try:
        is_ahead = looks_ahead(plain) if ahead is None else ahead
        return next((days for reading in _READINGS if (days := reading(plain, today, is_ahead))), None)
    except (ValueError, OverflowError):  # beyond the calendar
        return None


def looks_ahead(text: str) -> bool:
    """Whether a message is about the future.

    >>> looks_ahead("What are my plans for April?"), looks_ahead("What did I plan in April?")
    (True, False)
    """
    return bool(_AHEAD.search(text)) and not _BACK.search(text)


def _days_up_to_now(text: str, today: date, ahead: bool) -> Days | None:
    """Periods that end about now: "the past two weeks", 「最近三天」, "a few days ago"."""
    if match := _SOME_AGO.search(text):
        unit = _UNIT_DAYS[match[1].casefold() if match[1] else _UNITS_ZH[match[2]]]
        return _between(today, -7 * unit, -2 * unit)
    if match := _LATELY.search(text):
        return _between(today, -21, -3) if match[1] and match[1].casefold() == "week" else _between(today, -14, -1)
    if _HALF_YEAR_AGO.search(text):
        return _between(today, -215, -150)
    if match := _BEFORE_LAST.search(text):
        return away(2 if match[2] else -2, match[1].casefold(), today)
    if match := _THE_PAST.search(text):
        count = 7 if (match[1] or "").casefold() == "few" else number_en(match[1]) if match[1] else 1
        return _between(today, -count * _UNIT_DAYS[match[2].casefold()], 0)
    if match := _THE_PAST_ZH.search(text):
        number, unit_zh = (match[3] or match[1] or "一"), _UNITS_ZH[match[2] or match[4]]
        count = 7 if number in "几些" else number_zh(number)
        return _between(today, -count * _UNIT_DAYS[unit_zh], 0)
    return None


def _between(today: date, first: int, last: int) -> Days:
    return Days(today + timedelta(days=first), today + timedelta(days=last))


def _weekday(text: str, today: date, ahead: bool) -> Days | None:
    if match := _DAYS_AGO.search(text):
        latest = _latest_weekday(WEEKDAY_NAMES.index(match[2].casefold()), today)
        return _day(latest - timedelta(weeks=number_en(match[1]) - 1))
    if match := _WEEKDAY.search(text):
        which, place = (match[1] or "").casefold(), WEEKDAY_NAMES.index(match[2].casefold())
        if match[3]:
            return _day(week_away(STEPS[match[3].casefold()], today).start + timedelta(days=place))
        return _weekday_meant(which, place, today, ahead)
    if match := _WEEKDAY_BARE_ZH.search(text):
        return _weekday_meant("", weekday_zh(match[1]), today, ahead)
    return None


def _weekday_meant(which: str, place: int, today: date, ahead: bool) -> Days | None:
    latest = _latest_weekday(place, today)
    if which == "this":
        return _day(week_away(0, today).start + timedelta(days=place))
    if which == "next":
        return _day(latest + timedelta(weeks=1 + (place == today.weekday()))) if place <= today.weekday() else None
    if which == "last":  # of yesterday one says yesterday
        return _day(latest - timedelta(weeks=latest == today - timedelta(days=1)))
    return _day(latest + timedelta(weeks=1 + (place == today.weekday()))) if ahead else _day(latest)


def _latest_weekday(place: int, today: date) -> date:
    """The latest such weekday before today."""
    return today - timedelta(days=(today.weekday() - place - 1) % 7 + 1)


def _day(day: date) -> Days:
    return Days(day, day)


def _weekend(text: str, today: date, ahead: bool) -> Days | None:
    if match := _WEEKEND.search(text):
        which = (match[1] or "").casefold()
    elif match := _WEEKEND_ZH.search(text):
        which = match[1] or ""
    else:
        return None
    if which == "next" and today.weekday() < 5:
        return None
    if which in ("last", ""):
        saturday = today - timedelta(days=(today.weekday() - 5) % 7)
        if which and saturday + timedelta(days=1) >= today:
            saturday -= timedelta(weeks=1)
    else:
        saturday = week_away(STEPS[which], today).start + timedelta(days=5)
    return Days(saturday, saturday + timedelta(days=1))


def _day_of_month(text: str, today: date, ahead: bool) -> Days | None:
    if match := _LAST_MONTH_ON.search(text):
        return _numbered(int(match[2]), match[1], today, ahead)
    if match := _DAY_OF_MONTH.search(text):
        return _numbered(int(match[1]), match[2], today, ahead)
    if match := _DAY_OF_MONTH_ZH.search(text):
        return _numbered(int(match[2]), match[1], today, ahead)
    return None


def _numbered(number: int, which: str | None, today: date, ahead: bool) -> Days | None:
    """The day with that number in a named month; without one the latest such day, or the next if the message looks
    ahead."""
    if which:
        return _within(away(STEPS[which.casefold()], "month", today), number)
    for step in range(0, 3) if ahead else range(0, -3, -1):
        day = _within(away(step, "month", today), number)
        if day and (day.start >= today if ahead else day.start <= today):
            return day
    return None


def _within(month: Days | None, number: int) -> Days | None:
    if month is None or not 1 <= number <= month.end.day:
        return None
    return _day(month.start.replace(day=number))


def _part(text: str, today: date, ahead: bool) -> Days | None:
    """A part of a month or year: 「上个月底」, 「年初」, "at the end of last month"."""
    if match := _WEEK_OF_MONTH.search(text):
        months = _month_of(month_named(match[2]), _year_in_words(match[3], today), "", today, ahead)
        return _week_of(months, ("first", "second", "third", "fourth", "last").index(match[1].casefold()))
    if match := _PART_OF_MONTH_EN.search(text):
        span = away(STEPS.get(match[2].casefold(), 0), match[3].casefold(), today)
        return _part_of(span, match[1])
    if match := _PART_OF_MONTH_ZH.search(text):
        return _part_of(away(STEPS[match[1]] if match[1] else 0, "month", today), match[2] or match[3])
    if match := _PART_OF_YEAR_ZH.search(text):
        return _part_of(away(_year_zh(match[1], match[2], today) - today.year, "year", today), match[3])
    return None


def _part_of(span: Days | None, words: str) -> Days | None:
    if span is None:
        return None
    if "半年" in words:
        july = date(span.start.year, 7, 1)
        return Days(span.start, july - timedelta(days=1)) if "上" in words else Days(july, span.end)
    if span.end.month != span.start.month:
        first, second, third = (date(span.start.year, month, 1) for month in (3, 5, 11))
    else:
        first, second, third = (span.start.replace(day=day) for day in (11, 11, 21))
    if re.search(r"early|beginning|start|初|上旬", words, re.I):
        return Days(span.start, first - timedelta(days=1))
    if re.search(r"mid|中", words, re.I):
        return Days(second, (third if first == second else date(span.start.year, 9, 1)) - timedelta(days=1))
    return Days(third, span.end)


def _week_of(month: Days | None, place: int) -> Days | None:
    if month is None:
        return None
    if place == 4:
        return Days(month.end - timedelta(days=6), month.end)
    return Days(month.start + timedelta(days=7 * place), month.start + timedelta(days=7 * place + 6))


def _month(text: str, today: date, ahead: bool) -> Days | None:
    for month_match in _MONTH_EN.finditer(text):
        # A month without more is a time after such a word; April and June are people too.
        after_preposition = _BEFORE_A_TIME.search(text[: month_match.start()])
        clear = month_match[1] or month_match[2] or month_match[4]
        if clear or (names_month(month_match[3], text[: month_match.start(3)]) and after_preposition):
            month = _month_of(
                month_named(month_match[3]), _year_in_words(month_match[4], today), month_match[2] or "", today, ahead
            )
            return _part_of(month, month_match[1]) if month_match[1] else month
    if match := _MONTH_ZH.search(text):
        year = _year_zh(match[1], match[2], today) if match[1] or match[2] else None
        month = _month_of(int(match[3]), year, "", today, ahead)
        if match[5]:
            return _week_of(month, "一二三四".index(match[5]))
        return _part_of(month, match[4]) if match[4] else month
    return None


def _month_of(month: int, year: int | None, which: str, today: date, ahead: bool) -> Days | None:
    def of(this: int) -> Days | None:
        return away((this - today.year) * 12 + month - today.month, "month", today)

    if year:
        return of(year)
    step = STEPS.get(which.casefold())
    if step == 0:
        return of(today.year)
    if step == 1 or (ahead and step is None):
        return of(today.year + (month < today.month or (step == 1 and month == today.month)))
    return of(today.year - (month > today.month or (step == -1 and month == today.month)))


def _year_in_words(words: str | None, today: date) -> int | None:
    if not words:
        return None
    return int(words) if words.isdigit() else today.year + YEARS_EN[words.casefold()]


def _year_zh(number: str | None, word: str | None, today: date) -> int:
    return int(number) if number else today.year + (YEARS_ZH[word] if word else 0)


def _season(text: str, today: date, ahead: bool) -> Days | None:
    if match := _SEASON.search(text):
        name, year = (match[3] or match[5]).casefold(), _year_in_words(match[4] or match[6], today)
        return _season_of(_SEASONS[name], year, (match[1] or "").casefold(), today, ahead)
    if match := _SEASON_ZH.search(text):
        year = _year_zh(match[1], match[2], today) if match[1] or match[2] else None
        which = {"上个": "last", "这个": "this", "下个": "next"}.get(match[3] or "", "")
        return _season_of(_SEASONS[match[4] or match[5]], year, which, today, ahead)
    return None


def _season_of(first_month: int, year: int | None, which: str, today: date, ahead: bool) -> Days:
    """A meteorological season; winter belongs to the year in which it begins."""

    def of(this: int) -> Days:
        end = date(this + first_month // 12, (first_month + 2) % 12 + 1, 1) - timedelta(days=1)
        return Days(date(this, first_month, 1), end)

    return of(year) if year else _one_of([of(today.year + step) for step in range(-2, 3)], which, today, ahead)


def _one_of(times: list[Days], which: str, today: date, ahead: bool) -> Days:
    """One of the yearly recurrences `times`: the one named by `which`, otherwise the latest that has begun."""
    if which == "last":
        return max((time for time in times if time.end < today), key=lambda time: time.start)
    if which == "this":
        return min(times, key=lambda time: (time.start.year != today.year, not time.start <= today <= time.end))
    if which == "next" or ahead:
        return min(
            (time for time in times if time.end >= today and (which != "next" or time.start > today)),
            key=lambda time: time.start,
        )
    return max((time for time in times if time.start <= today), key=lambda time: time.start)


def _holiday(text: str, today: date, ahead: bool) -> Days | None:
    """A holiday of the named year; without one the latest, or the next if the message looks ahead."""
    holiday = holidays.find_holiday(text)
    if holiday is None:
        return None
    of, which, year_words = holiday
    if year_words:
        number = re.search(r"\d{4}", year_words)
        word = year_words.casefold()
        return of(int(number[0]) if number else today.year + (YEARS_ZH | YEARS_EN)[word])
    times = [time for step in range(-2, 3) if (time := of(today.year + step))]
    return _one_of(times, which, today, ahead) if len(times) == 5 else None


_READINGS: tuple[Callable[[str, date, bool], Days | None], ...] = (
    lambda text, today, _: day_in(text, today),
    _days_up_to_now, _day_of_month, _weekday, _weekend, _part, _holiday, _season, _month,
    lambda text, today, _: days_in(text, today),
)  # fmt: skip
