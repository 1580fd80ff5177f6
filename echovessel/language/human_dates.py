"""Dates as people say them: "yesterday", "three weeks ago", 「三周前」. Pure; dates are those of the owner's zone."""

from datetime import date

_ENGLISH = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_CHINESE = ("零", "一", "两", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


def humanize_date(day: date, today: date, language: str) -> str:
    """`day` as seen from `today`, in the language `zh` or else English.

    >>> told(date(2026, 1, 1), date(2026, 1, 22), "en"), told(date(2026, 1, 1), date(2026, 1, 22), "zh")
    ('three weeks ago', '三周前')
    """
    days = (today - day).days
    if days == 0:
        return "今天" if language == "zh" else "today"
    return _in_chinese(day, days) if language == "zh" else _in_english(day, days)


def _in_english(day: date, days: int) -> str:
    if abs(days) == 1:
        return "yesterday" if days > 0 else "tomorrow"
    counted = _counted(abs(days))
    if counted is None:
        return f"in {_MONTHS[day.month - 1]} {day.year}"
    number, unit = counted
    written = f"{_ENGLISH[number]} {unit}{'s' if number > 1 else ''}"
    return f"{written} ago" if days > 0 else f"in {written}"


def _in_chinese(day: date, days: int) -> str:
    near = {1: "昨天", 2: "前天", -1: "明天", -2: "后天"}
    if days in near:
        return near[days]
    counted = _counted(abs(days))
    if counted is None:
        return f"{day.year}年{day.month}月"
    number, unit = counted
    written = f"{_CHINESE[number]}{ {'day': '天', 'week': '周', 'month': '个月'}[unit] }"
    return written + ("前" if days > 0 else "后")


def _counted(days: int) -> tuple[int, str] | None:
    """Days as a number of days, weeks or months; None beyond eleven months."""
    if days < 7:
        return days, "day"
    if days < 31:
        return days // 7, "week"
    months = round(days / 30.44)
    return (max(1, months), "month") if months < 12 else None
