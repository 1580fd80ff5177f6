"""Dates in everyday words: "yesterday", "three weeks ago", 「三周前」; and dates as prompts note them: "(9 April 2023,
five months ago)" if there are few, "[2023-04-09]" before each of many. Pure; in the owner's time zone."""

from calendar import monthrange
from collections.abc import Sequence
from datetime import date
from typing import Literal

_ENGLISH = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_CHINESE = ("零", "一", "两", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_NEAR_EN = {0: "today", 1: "yesterday", -1: "tomorrow"}
_NEAR_ZH = {0: "今天", 1: "昨天", 2: "前天", -1: "明天", -2: "后天"}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


# The meaning of a date: the day on which something happened, was mentioned or was recorded.
Basis = Literal["happened", "said", "noted"]
_UNITS_ZH = {"day": "天", "week": "周", "month": "个月", "year": "年"}


def humanize_date(day: date, today: date, language: str) -> str:
    """`day` relative to `today`, in Chinese if the language is `zh`, otherwise in English; beyond eleven months as its
    month.

    >>> [humanize_date(day, date(2026, 1, 22), "en") for day in (date(2026, 1, 1), date(2025, 1, 1))]
    ['three weeks ago', 'in January 2025']
    """
    if _counted(abs((today - day).days))[1] == "year":
        return write_days(day.replace(day=1), day.replace(day=_last_of_month(day)), language, before_month="in ")
    return humanize_distance(day, today, language)


def humanize_distance(day: date, today: date, language: str) -> str:
    """The same, but beyond eleven months as a number of years.

    >>> humanize_distance(date(2024, 1, 1), date(2026, 1, 22), "en")
    'two years ago'
    """
    days = (today - day).days
    near = _NEAR_ZH if language == "zh" else _NEAR_EN
    if days in near:
        return near[days]
    number, unit = _counted(abs(days))
    if language == "zh":
        count_and_unit = f"{_CHINESE[number] if number < len(_CHINESE) else number}{_UNITS_ZH[unit]}"
        return count_and_unit + ("前" if days > 0 else "后")
    count_and_unit = f"{_ENGLISH[number] if number < len(_ENGLISH) else number} {unit}{'s' if number > 1 else ''}"
    return f"{count_and_unit} ago" if days > 0 else f"in {count_and_unit}"


def write_days(first: date, last: date, language: str, *, before_month: str = "") -> str:
    """The days from `first` to `last` as exactly as they are known: a day, days of a month, whole months or years.

    >>> write_days(date(2024, 2, 29), date(2024, 2, 29), "en"), write_days(date(2024, 3, 1), date(2024, 5, 31), "zh")
    ('29 February 2024', '2024年3月至5月')
    """
    is_whole_months = first.day == 1 and last.day == _last_of_month(last)
    is_whole_years = is_whole_months and first.month == 1 and last.month == 12
    same_year = first.year == last.year
    same_month = same_year and first.month == last.month
    if language == "zh":
        begins, ends = f"{first.year}年", "" if same_year else f"{last.year}年"
        if is_whole_years:
            return begins if same_year else f"{begins}至{ends}"
        begins, ends = f"{begins}{first.month}月", ends if same_month else f"{ends}{last.month}月"
        if is_whole_months:
            return begins if same_month else f"{begins}至{ends}"
        return f"{begins}{first.day}日" + ("" if first == last else f"至{ends}{last.day}日")
    if is_whole_years:
        return f"{first.year}" if same_year else f"{first.year}–{last.year}"
    begins, ends = _MONTHS[first.month - 1], f"{_MONTHS[last.month - 1]} {last.year}"
    if is_whole_months:
        between = "" if same_month else f"{begins}–" if same_year else f"{begins} {first.year} – "
        return f"{before_month}{between}{ends}"
    if same_month:
        return f"{first.day}–{last.day} {ends}" if first < last else f"{last.day} {ends}"
    return f"{first.day} {begins}{'' if same_year else f' {first.year}'} – {last.day} {ends}"


def note_days(first: date, last: date, today: date, language: str) -> str:
    """The days from `first` to `last` as a prompt notes them, with their distance from `today`.

    >>> note_days(date(2023, 4, 9), date(2023, 4, 9), date(2023, 9, 12), "en")
    '(9 April 2023, five months ago)'
    """
    days = write_days(first, last, language)
    if first <= today <= last and first < last:
        now_word = "现在" if language == "zh" else "now"
    else:
        now_word = humanize_distance(last if last < today else first, today, language)
    return f"（{days}，{now_word}）" if language == "zh" else f"({days}, {now_word})"


def stamp_days(
    first: date, last: date, language: str, basis: Basis, said_on: date | None = None, also: Sequence[date] = ()
) -> str:
    """The same in the shortest form. A bare date is the day on which something was mentioned. `said` is that day, if it
    is needed beside the day on which it happened; `also` are further days on which it was mentioned.

    >>> day = date(2023, 4, 9)
    >>> stamp_days(day, day, "en", "said"), stamp_days(day, day, "en", "happened"), stamp_days(day, day, "zh", "noted")
    ('[2023-04-09]', '[on 2023-04-09]', '[2023-04-09记]')
    >>> stamp_days(date(2023, 3, 1), date(2023, 5, 31), "en", "happened", day, [date(2023, 6, 2)])
    '[March–May 2023; said 2023-04-09; also 2023-06-02]'
    """
    days = f"{first}" if first == last else write_days(first, last, language)
    others = ", ".join(map(str, also))
    if language == "zh":
        days = f"于{days}" if basis == "happened" and first == last else f"{days}记" if basis == "noted" else days
        return f"[{days}{f'；{said_on}说' if said_on else ''}{f'；{others}也说' if also else ''}]"
    days = f"on {days}" if basis == "happened" and first == last else f"noted {days}" if basis == "noted" else days
    return f"[{days}{f'; said {said_on}' if said_on else ''}{f'; also {others}' if also else ''}]"


def _last_of_month(day: date) -> int:
    return monthrange(day.year, day.month)[1]


def _counted(days: int) -> tuple[int, str]:
    """A number of days as a number of days, weeks, months or years."""
    if days < 7:
        return days, "day"
    if days < 31:
        return days // 7, "week"
    months = round(days / 30.44)
    return (max(1, months), "month") if months < 12 else (round(days / 365.25), "year")
