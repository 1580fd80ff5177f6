"""Dates that are headings in a diary, as people write them. Pure; one line at a time.

ISO and similar (2024-01-05, 2024/1/5, 2024. 1. 5.), Chinese, Japanese and Korean (2024年1月5日 星期五, 2024년 1월 5일,
二〇二四年一月五日), English (Friday, January 5, 2024; 5 Jan '24), other European languages (5. Januar 2024, 5 de enero
de 2024), and numbers whose order only the whole file tells (5/1/2024).
"""

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from pathlib import PurePosixPath

from echovessel.language import lazy_re as re
from echovessel.language.dates import DIGITS_ZH, MONTH, month_named, number_zh
from memory.imports.readers.localized_times import is_month, is_weekday, month_of

# The date of a heading is among its first letters; the limit keeps hostile lines from taking time.
_LONGEST_DATE = 120
# Two-digit years from here on belong to the last century.
_LAST_CENTURY = 70
_WEEKDAY = (
    r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?|(?:星期|礼拜|禮拜|周|週)[一二三四五六日天]"
    r"|[月火水木金土日](?:曜日?|(?=[)）]))|[월화수목금토일](?:요일|(?=[)）]))"
    r"|(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonnabend|sonntag"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miércoles|jueves|viernes|sábado|domingo"
    r"|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|(?:segunda|terça|quarta|quinta|sexta)(?:-feira)?"
    r"|maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag)\b"
)
# Names of months in German, French, Spanish, Portuguese, Italian and Dutch that differ from the English ones.
_MONTHS_ELSEWHERE = {
    name: number
    for number, names in enumerate(
        (
            "januar jänner janvier enero janeiro gennaio januari",
            "februar février febrero fevereiro febbraio februari",
            "märz mars marzo março maart", "april avril abril aprile", "mai mayo maio maggio mei",
            "juni juin junio junho giugno", "juli juillet julio julho luglio", "august août agosto augustus",
            "september septembre septiembre setembro settembre", "oktober okt octobre octubre outubro ottobre",
            "november novembre noviembre novembro", "dezember dez décembre diciembre dezembro dicembre december",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_MONTH_ELSEWHERE = "|".join(sorted(_MONTHS_ELSEWHERE, key=len, reverse=True))
_BEFORE = r"(?:(?:on|the|den|der|le|el|il)\s+)?"
_DATES = (
    r"(?P<iso_year>\d{4})(?P<mark>[-/]|\.\s?)(?P<iso_month>\d{1,2})(?P=mark)(?P<iso_day>\d{1,2})(?:\.(?=\s|$)|(?![\d]))",
    r"(?:(?P<zh_year>\d{4}|[〇零一二三四五六七八九]{4})\s*[年년]\s*)?(?P<zh_month>\d{1,2}|[一二三四五六七八九十]{1,2})\s*[月월]\s*"
    r"(?P<zh_day>\d{1,2}|[一二三四五六七八九十]{1,3})\s*[日号號일]",
    rf"(?P<en_month>{MONTH})\.?\s+(?P<en_day>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(?P<en_year>\d{{4}}|['’]\d{{2}})\b)?",
    rf"(?P<day_en>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month_en>{MONTH})\b\.?(?:,?\s+(?P<year_en>\d{{4}}|['’]\d{{2}})\b)?",
    rf"(?P<eu_day>\d{{1,2}})(?:\.|er|º|°)?\s*(?:de\s+)?(?P<eu_month>{_MONTH_ELSEWHERE}|(?<=\.\s){MONTH})\b\.?"
    r"(?:,?\s+(?:del?\s+)?(?P<eu_year>\d{4})\b)?",
    r"(?P<first>\d{1,2})(?P<dot>[-/.])(?P<second>\d{1,2})(?P=dot)(?P<year>\d{4}|\d{2})(?![\d])",
)
_TIME = (
    r"(?:T|[\s,，@]+(?:at\s+)?)?(?P<half_zh>凌晨|早上|上午|中午|下午|晚上)?\s*"
    r"(?P<hour>\d{1,2})[:：](?P<minute>\d{2})(?:[:：](?P<seconds>\d{2})(?:\.\d+)?)?(?!\d)"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?)?(?:\s*(?P<zone>Z\b|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d{2})?)?(?![\w+-])|[+-]\d{2}:?\d{2}))?"
)
_HEADING = re.compile(
    r"\s{0,3}(?P<hashes>#{1,6}\s+)?(?P<frame>[=~\-–—*_]{2,}\s*|[*_](?=\S))?[\[【「<(（《]?\s*"
    r"(?P<label>(?:date|日期)\s*[:：]\s*)?"
    rf"(?:{_BEFORE}(?:{_WEEKDAY})[,，]?\s*)?{_BEFORE}(?:{'|'.join(_DATES)})"
    rf"(?P<after>[\s,，(（]*(?:{_WEEKDAY})[)）]?)?(?P<clock>{_TIME})?(?P<frame_end>\s*[\]】」>)）》*_=~]*)",
    re.IGNORECASE,
)
_ONLY_YEAR = re.compile(r"\s{0,3}(?:(?P<hashes>#{1,6})\s+)?(?P<year>(?:19|20)\d{2})\s*(?P<sign>年)?\s*$")
_ONLY_MONTH = re.compile(
    r"(?:#{1,6}\s+)?[\[(*_=~—–-]*\s*(?:(?P<year_ahead>(?:19|20)\d{2})(?:\s*[年년./-]\s*(?P<number>\d{1,2})\s*[月월]?|[\s,]+(?P<behind>[^\W\d_]{3,12})\.?)"
    r"|(?P<before>[^\W\d_]{3,12})\.?,?\s+(?:de\s+)?(?P<year>(?:19|20)\d{2}))\s*[\])*_=~—–-]*"
)
_DAY_OF_MONTH = re.compile(
    r"(?:#{1,6}\s+)?[*_]*(?:(?P<weekday>[^\W\d_]{1,15}(?:-feira)?)[.,]?\s*(?P<behind>\d{1,2})(?:st|nd|rd|th|\.|日|일)?"
    r"|(?P<day>\d{1,2})(?:st|nd|rd|th|\.|日|일)?[,.]?\s*[(（]?(?P<beside>[^\W\d_]{1,15}(?:-feira)?)\.?[)）]?)[*_]*"
)
_IN_NAME = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d{2})(?P<mark>[-_.年 ]?)(?P<month>\d{1,2})[-_.月 ]?(?P<day>\d{1,2})(?!\d)"
)
_WEATHER = re.compile(r"[\s,，、|晴阴陰雨雪风風霜雾霧多云雲大小中转轉到阵陣暴雷天气氣:：]{1,12}$")
_SEPARATORS = re.compile(r"[\s:：,，、|;；.。–—\-]*")
_CLEAR_SEPARATOR = re.compile(r"\s*[:：|–—]|\s+-\s|\t")


@dataclass(frozen=True)
class WrittenDate:
    """A date as written; with `order_open`, `month` is its first number and `day` its second."""

    year: int | None
    month: int
    day: int
    order_open: bool = False

    def as_day(self, year: int | None = None, day_first: bool = False) -> date | None:
        """The day, in `year` if the date itself has none; None if the calendar has no such day."""
        month, day = (self.day, self.month) if self.order_open and day_first else (self.month, self.day)
        try:
            return date(self.year or year or 0, month, day)
        except ValueError:
            return None


@dataclass(frozen=True)
class Heading:
    """A line that begins an entry: its date, its time of day, and its other text, as a title or the first words."""

    written_date: WrittenDate
    clock: time | None
    title: str
    words: str
    # "Date: …"
    labelled: bool = field(default=False, repr=False, compare=False)


def heading_in(line: str, begins: bool) -> Heading | None:
    """The heading in `line`, or None. `begins` says that the line before is blank or a heading itself.

    >>> heading_in("## 2024-01-05 Snow", True)
    Heading(written_date=WrittenDate(year=2024, month=1, day=5, order_open=False), clock=None, title='Snow', words='')
    >>> heading_in("2024年1月5日 星期五 今天下雪了。", True).words
    '今天下雪了。'
    """
    match = _HEADING.match(line[:_LONGEST_DATE])
    rest = line[match.end() :].rstrip() if match else ""
    if match is None or not _stands_apart(match, rest, begins):
        return None
    written_date = _parse_date(match)
    orders = (False, True) if written_date.order_open else (False,)
    # 2000 is a leap year: it has every day that a date without a year can have.
    if not any(written_date.as_day(2000, day_first=order) for order in orders):
        return None
    clock = _clock(match)
    # Digits that are no time of day belong to the text.
    words = rest if clock or not match["clock"] else match["clock"] + match["frame_end"] + rest
    rest = _SEPARATORS.sub("", words, count=1)
    framed = bool(match["hashes"] or match["frame"])
    title, words = (rest.rstrip(" #*_=~-–—"), "") if framed else ("", rest)
    return Heading(written_date, clock, title, words, labelled=bool(match["label"]))


def _stands_apart(match: re.Match[str], rest: str, begins: bool) -> bool:
    """Whether the date is a heading rather than the beginning of a sentence that continues with `rest`."""
    if match["hashes"] or match["label"] or not rest.strip(" -–—=*_~|:："):
        return True
    if match["after"] or _WEATHER.match(rest):
        return begins or len(rest) <= 20
    if not begins:
        return False
    # English years do not count: sentences begin like "January 5, 2024 was cold".
    return any(match[name] for name in ("iso_year", "zh_year", "year")) or _CLEAR_SEPARATOR.match(rest) is not None


def _parse_date(match: re.Match[str]) -> WrittenDate:
    if match["iso_year"]:
        return WrittenDate(int(match["iso_year"]), int(match["iso_month"]), int(match["iso_day"]))
    if match["zh_month"]:
        year_text = match["zh_year"]
        if not year_text or year_text.isdigit():
            year_zh = _number(year_text)
        else:
            year_zh = int("".join(str(DIGITS_ZH[sign]) for sign in year_text))
        return WrittenDate(year_zh, number_zh(match["zh_month"]), number_zh(match["zh_day"]))
    if match["en_month"]:
        return WrittenDate(_number(match["en_year"]), month_named(match["en_month"]), int(match["en_day"]))
    if match["month_en"]:
        return WrittenDate(_number(match["year_en"]), month_named(match["month_en"]), int(match["day_en"]))
    if match["eu_month"]:
        month_name = match["eu_month"].casefold()
        return WrittenDate(
            _number(match["eu_year"]),
            _MONTHS_ELSEWHERE.get(month_name) or month_named(month_name),
            int(match["eu_day"]),
        )
    return WrittenDate(_full_year(match["year"]), int(match["first"]), int(match["second"]), order_open=True)


def _number(digits: str | None) -> int | None:
    return _full_year(digits.lstrip("'’")) if digits else None


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (1900 if year >= _LAST_CENTURY else 2000)


def _clock(match: re.Match[str]) -> time | None:
    if not match["clock"]:
        return None
    hour = int(match["hour"])
    if match["half"]:
        hour = hour % 12 + (12 if match["half"].casefold() == "p" else 0)
    elif match["half_zh"] in ("下午", "晚上") or (match["half_zh"] == "中午" and hour < 11):
        hour = hour % 12 + 12
    elif match["half_zh"] in ("上午", "凌晨") and hour == 12:
        hour = 0
    try:
        zone_text = match["zone"]
        if not zone_text:
            zone = None
        else:
            offset = re.search(r"([+-])(\d{1,2}?):?(\d{2})?$", zone_text)
            if offset is None:
                zone = UTC
            else:
                distance = timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
                zone = timezone(-distance if offset[1] == "-" else distance)
        return time(hour, int(match["minute"]), int(match["seconds"] or 0), tzinfo=zone)
    except ValueError:
        return None


def year_in(line: str) -> int | None:
    """The year of a heading without other text, as above the dates of a year; a bare number is none."""
    match = _ONLY_YEAR.match(line) if len(line) <= _LONGEST_DATE else None
    return int(match["year"]) if match and (match["hashes"] or match["sign"]) else None


def month_in(line: str) -> tuple[int, int] | None:
    """The year and the month of a line without other text, as above the days of a month.

    >>> month_in("2016 MARCH"), month_in("## März 2016"), month_in("2016年3月"), month_in("Marathon 2016")
    ((2016, 3), (2016, 3), (2016, 3), None)
    """
    match = _ONLY_MONTH.fullmatch(line.strip()) if len(line) <= _LONGEST_DATE else None
    if match is None:
        return None
    word, number = (match["before"] or match["behind"] or "").casefold().strip("."), match["number"]
    if number:
        month: int | None = int(number)
    else:
        month = _MONTHS_ELSEWHERE.get(word) or (month_of(word) if is_month(word) or not word.isascii() else None)
    return (int(match["year"] or match["year_ahead"]), month) if month and month <= 12 else None


def day_of_month_in(line: str) -> int | None:
    """The day in a line that has only a day and a weekday, as under the heading of a month.

    >>> [day_of_month_in(line) for line in ("Tuesday 1", "6. Sonntag", "6日 日曜日", "Sunday 66", "Jo 6")]
    [1, 6, 6, None, None]
    """
    match = _DAY_OF_MONTH.fullmatch(line.strip()) if len(line) <= _LONGEST_DATE else None
    if match is None or not is_weekday(match["weekday"] or match["beside"]):
        return None
    day = int(match["behind"] or match["day"])
    return day if 1 <= day <= 31 else None


def year_in_name(name: str) -> int | None:
    """The year in the name of a diary.

    >>> year_in_name("diary-2024.txt"), year_in_name("notes 20240105.txt")
    (2024, None)
    """
    match = re.search(r"(?<!\d)(?:19|20)\d{2}(?!\d)", name)
    return int(match[0]) if match else None


def day_in_name(name: str) -> date | None:
    """The day in the name of a file, as in daily notes.

    >>> day_in_name("2024-01-05 Friday.md"), day_in_name("notes.md")
    (datetime.date(2024, 1, 5), None)
    """
    match = _IN_NAME.search(name)
    if match is None or (not match["mark"] and len(match[0]) != 8):
        # January 5th, 2024.md
        heading = heading_in(PurePosixPath(name).stem, begins=True)
        return (
            heading.written_date.as_day()
            if heading and heading.written_date.year and not heading.written_date.order_open
            else None
        )
    return WrittenDate(int(match["year"]), int(match["month"]), int(match["day"])).as_day()


def at_clock(day: date | None, clock: time | None) -> datetime | None:
    return datetime.combine(day, clock) if day and clock else None


def nearest_year(written_date: WrittenDate, before: date | None, year: int | None) -> int | None:
    """The year of a date without one: that of the heading above, else the year nearest to the entry before."""
    if written_date.year or year or before is None:
        return written_date.year or year
    options = [day for offset in (-1, 0, 1) if (day := written_date.as_day(before.year + offset))]
    return min(options, key=lambda day: abs(day - before)).year if options else None
