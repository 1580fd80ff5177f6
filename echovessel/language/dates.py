"""Plain dates and distances in days, relative to the day of the message. Pure; English and Chinese."""

from dataclasses import dataclass
from datetime import date, timedelta

from echovessel.language import lazy_re as re


@dataclass(frozen=True)
class Days:
    """A first and a last day; the same for a single one."""

    start: date
    end: date

    def as_json(self) -> dict[str, str]:
        """The form of the extraction answer."""
        return {"start": self.start.isoformat(), "end": self.end.isoformat()}


MONTH_NAMES = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
WEEKDAY_NAMES = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTH_NAMES)
DIGITS_ZH = {word: value for value, word in enumerate("一二三四五六七八九", start=1)} | {"两": 2, "〇": 0, "零": 0}
_COUNT = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen",
)  # fmt: skip
NUMBERS_EN = {word: value for value, word in enumerate(_COUNT, start=1)}
NUMBERS_EN |= {"a": 1, "an": 1, "twenty": 20, "thirty": 30, "a couple of": 2}

NUMBER = rf"\d{{1,4}}|{'|'.join(sorted(NUMBERS_EN, key=len, reverse=True))}"
NUMBER_ZH = r"\d{1,4}|[一二两三四五六七八九十]{1,3}"
ISO = re.compile(r"(?<!\d)(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)")
YEAR_ZH = "大前年|前年|去年|今年|明年|后年"
FULL_ZH = re.compile(rf"(?:(\d{{4}}年)|({YEAR_ZH})的?)?(\d{{1,2}})月(\d{{1,2}})[日号]")
TAIL_YEAR = r"(?:,?\s+(?:of\s+)?(\d{4}|next year|last year|this year)\b)?"
HEAD_YEAR = r"(?:\b(next|last|this)\s+year,?\s+(?:on\s+)?)?"
MONTH_DAY = re.compile(rf"{HEAD_YEAR}\b({MONTH})\.?\s+(\d{{1,2}})(st|nd|rd|th)?\b(?!\s*%){TAIL_YEAR}", re.I)
DAY_MONTH = re.compile(rf"{HEAD_YEAR}(?:the\s+)?\b(\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?({MONTH})\b{TAIL_YEAR}", re.I)
# "May" and "march" are verbs too: in small letters they name a month only after such a word.
BEFORE_MONTH = re.compile(
    r"\b(?:on|in|is|was|until|till|since|by|from|to|before|after|for|of|around|next year)\s+$", re.I
)
COUNTED_ZH = re.compile(rf"(?<![几十\d第])({NUMBER_ZH})(天|个?星期|周|个月|年)(?:之|以)?(前|后)(?!半)")
AGO_EN = re.compile(rf"\b({NUMBER}) (day|week|month|year)s? ago\b", re.I)
IN_EN = re.compile(rf"\bin ({NUMBER}) (day|week|month|year)s?\b(?! of)", re.I)

UNITS_ZH = {"天": "day", "周": "week", "星期": "week", "月": "month", "年": "year"}
YEARS_ZH = {"大前年": -3, "前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
YEARS_EN = {"last year": -1, "this year": 0, "next year": 1}
DAY_WORDS = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "昨夜": -1, "今天": 0, "今晚": 0, "今早": 0,
    "大后天": 3, "后天": 2, "明天": 1, "明晚": 1,
    "the day before yesterday": -2, "day before yesterday": -2, "yesterday morning": -1, "yesterday evening": -1,
    "yesterday": -1, "last night": -1, "the day after tomorrow": 2, "day after tomorrow": 2, "tomorrow": 1,
    "today": 0, "tonight": 0, "this morning": 0, "this afternoon": 0, "this evening": 0,
}  # fmt: skip
_WORDS_ZH = "|".join(word for word in DAY_WORDS if not word.isascii())
_WORDS_EN = "|".join(word for word in sorted(DAY_WORDS, key=len, reverse=True) if word.isascii())
# The 先天 and 后天 of a talent, and 今天 as an era, are rare enough to ignore; "today's" is left as it is.
DAY_WORD = re.compile(rf"(?<!大)(?:{_WORDS_ZH})(?!性)|\b(?:{_WORDS_EN})\b(?!'s|’s|-)", re.I)

WEEK_ZH = re.compile(r"(上上|下下|上|下|这|(?<!日)本)(?:个)?(?:周|星期|礼拜)(?!边|围|刊|岁|年|[一二三四五六日天末])")
WEEKDAY_ZH = re.compile(r"(上上|下下|上|下|这|(?<!日)本)个?(?:周|星期|礼拜)([一二三四五六日天])")
WEEK_EN = re.compile(r"\b(last|this|next) week\b", re.I)
MONTH_ZH = re.compile(r"(上上|下下|上|下|这)个月|(本)月")
MONTH_EN = re.compile(r"\b(last|this|next) month\b", re.I)
YEAR_WORD_ZH = re.compile(rf"(?<![大目]){YEAR_ZH}")
YEAR_WORD_EN = re.compile(r"\b(last|this|next) year\b", re.I)
IN_YEAR = re.compile(r"(?<!\d)((?:19|20)\d\d)年|\b(?:in|since) ((?:19|20)\d\d)\b(?!\s+[a-z]+s\b)", re.I)
# Further relative expressions: weekdays, weekends, seasons, "recently", and months without a year.
_OTHER_RELATIVE = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\bweekends?\b|\bthe other day\b|\b(?:recent|late)ly\b|\bsoon\b"
    r"|\b(?:last|this|next|coming)\s+(?:few\s+)?(?:spring|summer|autumn|fall|winter|days?|weeks?|months?|years?)\b"
    r"|\b(?:a few|some|several) (?:day|week|month|year)s (?:ago|earlier)\b"
    rf"|\b(?:in|since|until|till|by|last|next) (?:{MONTH})\b(?! \d{{4}})"
    r"|[上下这本]周末|最近|近来|刚刚|这几[天周]|前几[天周]|过几[天周]|不久|今[春夏秋冬]|[去明]?年[初底]|(?:周|星期|礼拜)[一二三四五六日天末]",
    re.I,
)
# Every expression that is_relative looks for contains one of these: searching a text for them takes 2 µs, for all
# expressions 140 µs.
_HINTS = (
    "day", "week", "month", "year", "ago", "ately", "recently", "soon", "night", "morning", "noon", "evening",
    "spring", "summer", "autumn", "fall", "winter", *(name[:3] for name in MONTH_NAMES),
    *"天日周月年期拜末近来刚久昨今明晚夜春夏秋冬",
)  # fmt: skip
STEPS = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2, "last": -1, "this": 0, "next": 1}


def days_in(text: str, today: date) -> Days | None:
    """The first plain date of `text`, or None. Weekdays are not read: "Friday" is as often past as future.

    >>> days_in("I moved here two days ago", date(2026, 3, 1)).start
    datetime.date(2026, 2, 27)
    """
    if days := day_in(text, today):
        return days
    if match := COUNTED_ZH.search(text):
        count = number_zh(match[1]) * (-1 if match[3] == "前" else 1)
        return away(count, UNITS_ZH[match[2].removeprefix("个")], today)
    if match := AGO_EN.search(text):
        return away(-number_en(match[1]), match[2].casefold(), today)
    if match := IN_EN.search(text):
        return away(number_en(match[1]), match[2].casefold(), today)
    if match := DAY_WORD.search(text):
        return away(DAY_WORDS[match[0].casefold()], "day", today)
    if match := WEEKDAY_ZH.search(text):  # 上周三: only Chinese names the week of a weekday
        day = week_away(STEPS[match[1]], today).start + timedelta(days=weekday_zh(match[2]))
        return Days(day, day)
    return _span(text, today)


def day_in(text: str, today: date) -> Days | None:
    """The first day of `text` that is given by its month and number, or None.

    >>> day_in("我是5月4号搬来的", date(2026, 3, 5)).start
    datetime.date(2026, 5, 4)
    """
    if (match := ISO.search(text)) and (days := _day(int(match[1]), int(match[2]), int(match[3]))):
        return days
    if match := FULL_ZH.search(text):
        year = int(match[1][:4]) if match[1] else today.year + YEARS_ZH[match[2]] if match[2] else None
        if days := nearest(year, int(match[3]), int(match[4]), today):
            return days
    for match in MONTH_DAY.finditer(text):
        if match[4] or match[5] or names_month(match[2], text[: match.start(2)]):
            days = nearest(_year_en(match[1], match[5], today), month_named(match[2]), int(match[3]), today)
            if days:
                return days
            break
    for match in DAY_MONTH.finditer(text):
        is_date = re.search(r"\d(?:st|nd|rd|th)|\bof\b", match[0], re.I) or match[3][0].isupper()
        if is_date or month_named(match[3]) not in (3, 5):
            return nearest(_year_en(match[1], match[4], today), month_named(match[3]), int(match[2]), today)
    return None


def is_relative(text: str) -> bool:
    """Whether `text` has words that mean another day on another date: "yesterday", 「上周五」.

    >>> is_relative("She moved last Friday."), is_relative("她住在里昂。"), is_relative("We met on 5 May 2020.")
    (True, False, False)
    """
    folded = text.casefold()
    if not any(hint in folded for hint in _HINTS):
        return False
    chinese = () if text.isascii() else (COUNTED_ZH, WEEK_ZH, MONTH_ZH, YEAR_WORD_ZH)
    relative = (DAY_WORD, AGO_EN, IN_EN, YEAR_WORD_EN, _OTHER_RELATIVE, *chinese)
    if any(pattern.search(text) for pattern in relative):
        return True
    dated = (*FULL_ZH.finditer(text), *MONTH_DAY.finditer(text), *DAY_MONTH.finditer(text))
    return any(not any(re.fullmatch(r"\d{4}年?", part) for part in match.groups(default="")) for match in dated)


def names_month(word: str, before: str) -> bool:
    return word[0].isupper() or month_named(word) not in (3, 5) or BEFORE_MONTH.search(before) is not None


def _year_en(head: str | None, tail: str | None, today: date) -> int | None:
    if tail and tail.isdigit():
        return int(tail)
    words = f"{head} year" if head else tail
    return today.year + YEARS_EN[words.casefold()] if words else None


def month_named(word: str) -> int:
    name = word.casefold()
    return next(number for number, full in enumerate(MONTH_NAMES, 1) if full.startswith(name))


def nearest(year: int | None, month: int, day: int, today: date) -> Days | None:
    """The given year, or the year in which the date is nearest to today."""
    if year:
        return _day(year, month, day)
    options = [days for distance in (-1, 0, 1) if (days := _day(today.year + distance, month, day))]
    return min(options, key=lambda days: abs((days.start - today).days), default=None)


def _day(year: int, month: int, day: int) -> Days | None:
    try:
        only = date(year, month, day)
    except ValueError:
        return None
    return Days(only, only)


def number_en(word: str) -> int:
    return int(word) if word.isdigit() else NUMBERS_EN[word.casefold()]


def number_zh(word: str) -> int:
    """The number below a hundred that `word` spells.

    >>> number_zh("十二"), number_zh("二十"), number_zh("三")
    (12, 20, 3)
    """
    if word.isdigit():
        return int(word)
    tens, ten, ones = word.rpartition("十")
    if not ten:
        return DIGITS_ZH.get(word[-1], 1)
    return DIGITS_ZH.get(tens, 1) * 10 + DIGITS_ZH.get(ones, 0)


def weekday_zh(sign: str) -> int:
    """The number of the weekday that the last character names: 0 is 「周一」."""
    return "一二三四五六日".index(sign.replace("天", "日"))


def away(count: int, unit: str, today: date) -> Days | None:
    """The day, week, month or year that is `count` units from `today`; None beyond the calendar."""
    try:
        if unit == "day":
            day = today + timedelta(days=count)
            return Days(day, day)
        if unit == "week":
            return week_away(count, today)
        if unit == "month":
            year, month = divmod(today.year * 12 + today.month - 1 + count, 12)
            first = date(year, month + 1, 1)
            return Days(first, (first + timedelta(days=31)).replace(day=1) - timedelta(days=1))
        return Days(date(today.year + count, 1, 1), date(today.year + count, 12, 31))
    except (ValueError, OverflowError):
        return None


def week_away(count: int, today: date) -> Days:
    """The week, Monday to Sunday, that is `count` weeks away."""
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=count)
    return Days(monday, monday + timedelta(days=6))


def _span(text: str, today: date) -> Days | None:
    spans = ((WEEK_ZH, "week"), (WEEK_EN, "week"), (MONTH_ZH, "month"), (MONTH_EN, "month"), (YEAR_WORD_EN, "year"))
    for words, unit in spans:
        if match := words.search(text):
            step = next(group for group in match.groups() if group)
            return away(STEPS[step.casefold()], unit, today)
    if match := YEAR_WORD_ZH.search(text):
        return away(YEARS_ZH[match[0]], "year", today)
    if match := IN_YEAR.search(text):
        return away(int(match[1] or match[2]) - today.year, "year", today)
    return None
