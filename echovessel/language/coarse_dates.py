"""Dates as exact as they were mentioned: a year, a season, a month or a day. Pure; English and Chinese.

A coarse date is written "2024", "2024-spring", "2024-05" or "2024-05-03"; missing parts are not invented.
"""

import re
from datetime import date, timedelta

from echovessel.language.dates import MONTH, MONTH_NAMES, Days, month_named

MAX_COARSE_DATE = 12
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}
_SEASON_NAMES = {"fall": "autumn", "春": "spring", "夏": "summer", "秋": "autumn", "冬": "winter"}
_SEASONS_ZH = {"spring": "春天", "summer": "夏天", "autumn": "秋天", "winter": "冬天"}
_NUMBERS = re.compile(r"((?:19|20)\d\d)(?:[-/.年]\s*(\d{1,2})(?:[-/.月]\s*(\d{1,2}))?)?\s*[年月日号]?(?:T.*)?")
_SEASON_FIRST = re.compile(r"(spring|summer|autumn|fall|winter)(?: of)?,? ((?:19|20)\d\d)", re.I)
_YEAR_FIRST = re.compile(r"((?:19|20)\d\d)年?[- ]?(?:的)?(spring|summer|autumn|fall|winter|[春夏秋冬])[天季]?", re.I)
_MONTH_YEAR = re.compile(
    rf"(?:(\d{{1,2}})(?:st|nd|rd|th)? )?({MONTH})\.?(?: (\d{{1,2}})(?:st|nd|rd|th)?)?,? ((?:19|20)\d\d)", re.I
)


def parse_coarse_date(text: str) -> str:
    """The coarse date that `text` is, or "".

    >>> [parse_coarse_date(text) for text in ("2024-5", "Spring 2024", "3 May 2024", "2024年春天", "soon")]
    ['2024-05', '2024-spring', '2024-05-03', '2024-spring', '']
    """
    plain = " ".join(text.split())
    if match := _NUMBERS.fullmatch(plain):
        code = "-".join(part if len(part) == 4 else f"{int(part):02}" for part in match.groups() if part)
    elif match := _SEASON_FIRST.fullmatch(plain):
        code = f"{match[2]}-{_season_named(match[1])}"
    elif match := _YEAR_FIRST.fullmatch(plain):
        code = f"{match[1]}-{_season_named(match[2])}"
    elif match := _MONTH_YEAR.fullmatch(plain):
        day = match[1] or match[3]
        code = f"{match[4]}-{month_named(match[2]):02}" + (f"-{int(day):02}" if day else "")
    else:
        return ""
    return code if span_of(code) else ""


def span_of(code: str) -> Days | None:
    """The first and last day of a coarse date; None if `code` is not one.

    >>> span_of("2024-winter")
    Days(start=datetime.date(2024, 12, 1), end=datetime.date(2025, 2, 28))
    """
    year, _, rest = code.partition("-")
    try:
        if not rest:
            return Days(date(int(year), 1, 1), date(int(year), 12, 31))
        if rest in _SEASONS:
            return _months(int(year), _SEASONS[rest], 3)
        month, _, day = rest.partition("-")
        if not day:
            return _months(int(year), int(month), 1)
        only = date(int(year), int(month), int(day))
        return Days(only, only)
    except ValueError:
        return None


def humanize_coarse_date(code: str, language: str) -> str:
    """The coarse date in words.

    >>> humanize_coarse_date("2024-spring", "en"), humanize_coarse_date("2024-05-03", "zh")
    ('spring 2024', '2024年5月3日')
    """
    year, _, rest = code.partition("-")
    if language == "zh":
        month, _, day = rest.partition("-")
        tail = _SEASONS_ZH.get(rest) or (f"{int(month)}月" if month else "") + (f"{int(day)}日" if day else "")
        return f"{year}年{tail}"
    if rest in _SEASONS or not rest:
        return f"{rest} {year}".strip()
    month, _, day = rest.partition("-")
    return f"{int(day) if day else ''} {MONTH_NAMES[int(month) - 1].title()} {year}".strip()


def _season_named(word: str) -> str:
    return _SEASON_NAMES.get(word.casefold(), word.casefold())


def _months(year: int, month: int, count: int) -> Days:
    after = year * 12 + month - 1 + count
    return Days(date(year, month, 1), date(after // 12, after % 12 + 1, 1) - timedelta(days=1))
