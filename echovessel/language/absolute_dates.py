"""Replace phrases that count from a day by the date they mean, so that the readers of dates need not know them. Pure;
English and Chinese.

"Three weeks from tomorrow" and 「两周后的今天」 contain a word that alone means another day: they are read first.
"""

from calendar import monthrange
from datetime import date, timedelta
from functools import partial

from echovessel.language import lazy_re as re
from echovessel.language.dates import (
    DAY_WORDS,
    MONTH,
    MONTH_NAMES,
    NUMBER,
    NUMBER_ZH,
    STEPS,
    UNITS_ZH,
    WEEKDAY_NAMES,
    YEAR_ZH,
    YEARS_ZH,
    month_named,
    number_en,
    number_zh,
    weekday_zh,
)

# Not the "one" of "twenty-one", nor the "5" of "2.5".
_COUNT_EN = rf"(?<!\w-)(?<!\d[.,])\b(?P<count>{NUMBER}) (?P<unit>day|week|fortnight|month|year)s?"
# "40 hours a week Monday to Friday" is a rate.
_NO_RATE = "".join(f"(?<!{unit} )" for unit in ("times", "once", "twice", "hours", "days", "nights", "shifts"))
_UNIT_ZH = rf"(?P<count>{NUMBER_ZH})(?P<unit>天|个?星期|个?礼拜|周|个月|年)(?:之|以)?"
_ANCHOR_ZH = r"(?P<anchor>今天|明天|后天|大后天|昨天|前天|大前天|现在)"
# A part of a year next to the words that name the year.
_PART_EN = (
    rf"(?P<part>(?:(?:in|on|at|around|over|during|early|late|mid)[ -])*(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)? (?:of )?)?"
    rf"(?:(?:{MONTH})\b\.?(?: \d{{1,2}}(?:st|nd|rd|th)?\b)?|spring|summer|autumn|fall|winter|"
    rf"christmas(?: eve| day)?|easter|halloween|thanksgiving|new year's (?:eve|day)))"
)
_YEARS_AGO = rf"(?:(?P<count>{NUMBER}) years? ago|the year before last)"
_YEAR_THEN_PART = re.compile(rf"\b{_YEARS_AGO},? {_PART_EN}\b", re.I)
_LAST_YEAR_THEN_PART = re.compile(rf"\b(?P<year>last year|this year|next year),? {_PART_EN}\b", re.I)
# 「08年」, and 「85年生」: a number longer than a life is not a number of years.
_SHORT_YEAR_ZH = re.compile(
    r"(?<![\d第])(?:(?P<young>0\d)年(?![前后])|(?P<old>[4-9]\d)年(?=出?生|毕业|结婚|参军|入伍))"
)
_PART_THEN_YEAR = re.compile(rf"\b{_PART_EN},? {_YEARS_AGO}\b", re.I)
_YEAR_THEN_PART_ZH = re.compile(
    rf"(?P<count>{NUMBER_ZH})年(?:之|以)?前的?(?:那个)?(?=(?:\d|[一二三四五六七八九十]){{1,2}}月|[春夏秋冬][天季]|"
    r"国庆|春节|过年|中秋|端午|清明|元旦|五一|十一|圣诞|除夕|暑假|寒假|年[初底末中])"
)
# Each with the sign of its count.
_COUNTED_FROM = (
    (re.compile(rf"{_COUNT_EN} (?:from|after) (?P<anchor>today|now|tomorrow|yesterday)\b", re.I), 1),
    (re.compile(rf"{_COUNT_EN} ago (?P<anchor>today|tomorrow|yesterday)\b", re.I), -1),
    # "A fortnight tomorrow", but not "ill for two weeks today", "been ill two weeks today", "it is two weeks today" or
    # "married two months today". Years, "two weeks now" and "two weeks yesterday" tell how long something has lasted.
    (
        re.compile(
            r"(?P<lasts>\bbeen (?:\S+ ){0,3})?(?<!for )(?<!is )(?<!'s )(?<!’s )(?<!what )(?<!ed )(?<!last )"
            rf"(?<!past ){_COUNT_EN.replace('day|', '').replace('|year', '')} (?P<anchor>today|tomorrow)\b",
            re.I,
        ),
        1,
    ),
    (re.compile(r"\b(?P<anchor>today|tomorrow) (?:a )?(?P<unit>week|fortnight)\b(?! (?:of|off|long))", re.I), 1),
    (re.compile(rf"从?{_ANCHOR_ZH}(?:开始|算起|起|往后)?(?:再?过)?{_UNIT_ZH}后"), 1),
    (re.compile(rf"{_UNIT_ZH}后的?{_ANCHOR_ZH}"), 1),
    (re.compile(rf"{_UNIT_ZH}前的?{_ANCHOR_ZH}"), -1),
)
_WEEKDAY = "|".join(WEEKDAY_NAMES)
# "Friday week", "Friday fortnight", "the Friday after next", "two weeks on Friday".
_WEEKS_FROM_WEEKDAY = re.compile(
    rf"\b(?:on )?(?:the )?(?P<weekday>{_WEEKDAY}) (?P<way>week|fortnight|after next)\b"
    rf"|{_NO_RATE}\b(?P<weeks>a week|a fortnight|two weeks) (?:from |on )?(?P<anchor>{_WEEKDAY})\b"
    r"(?! (?:to|through)\b)",
    re.I,
)
# "Monday to Wednesday next week" names its week behind the days.
_WEEK_BEHIND = re.compile(
    rf"\b(?P<first>{_WEEKDAY})(?P<link>,? (?:to|till|until|through|and) | ?[-–&] ?)(?P<last>{_WEEKDAY}),? (?:of )?"
    r"(?P<week>last|this|next) week\b",
    re.I,
)
_NTH = {
    "first": 0, "1st": 0, "second": 1, "2nd": 1, "third": 2, "3rd": 2, "fourth": 3, "4th": 3, "last": -1,
    "第一": 0, "第二": 1, "第三": 2, "第四": 3, "最后一": -1,
}  # fmt: skip
# "The last Friday of the month", 「四月第一个周一」.
_NTH_WEEKDAY = re.compile(
    rf"(?<!every )\b(?:the )?(?P<nth>first|1st|second|2nd|third|3rd|fourth|4th|last) (?P<weekday>{_WEEKDAY}) (?:of|in) "
    rf"(?:(?P<which>the|this|next|last) month\b|(?P<month>{MONTH})\b(?:,? (?P<year>[12]\d{{3}})\b|(?!,? \d{{4}}\b)))",
    re.I,
)
_NTH_WEEKDAY_ZH = re.compile(
    r"(?<!每)(?:(?P<year>[12]\d{3})年|(?<!\d年))(?:(?P<which>上上|下下|上|下|这|本)个?月|(?P<month>1[0-2]|[1-9]|十?[一二]|[三四五六七八九十])月份?)的?"
    r"(?P<nth>第[一二三四]|最后一)个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])"
)
# "4-8 April", "April 4 to 8", 「四月四日至六日」: both days get their month or their sign.
_NUMBER_OF_MONTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_TO_NUMBER = r"(?: ?[-–—] ?| (?:to|till|until|through) )(?:the )?"
_NUMBERS_THEN_MONTH = re.compile(
    rf"(?<![\d.:-])\b{_NUMBER_OF_MONTH}{_TO_NUMBER}{_NUMBER_OF_MONTH}(?: of)? ({MONTH})\b", re.I
)
_MONTH_THEN_NUMBERS = re.compile(
    rf"\b({MONTH})\.? {_NUMBER_OF_MONTH}{_TO_NUMBER}{_NUMBER_OF_MONTH}\b(?![.:]\d| ?[ap]\.?m\b|%| (?:{MONTH})\b)", re.I
)
_TO_DAY_ZH = re.compile(rf"(?<=[日号])([到至~—-])({NUMBER_ZH})日")
_ORDINAL_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
_ORDINAL_OF_MONTH = re.compile(rf"\b(?:the )?({'|'.join(_ORDINAL_WORDS)}) of (?=(?:{MONTH})\b)", re.I)
_DAY_OR_MONTH = re.compile(rf"\b(?:{'|'.join(name[:3] for name in (*WEEKDAY_NAMES, *MONTH_NAMES))})", re.I)
# "Mon-Wed", "on Sat", "weds": short names. "Sat", "sun" and "wed" are days only beside such words: not in "to wed
# Laura", "on sun cream", "this sun"; "mon" is none in French.
_SHORT = r"(?:mon|tues?|weds?|thu(?:rs?)?|fri|sat|sun)"
_AFTER_SHORT = (
    r"(?=\s*(?:$|[.,;:!?()/&–—])|-(?=\d|(?:mon|tue|wed|thu|fri|sat|sun))| (?:the|at|or|to|til|till|until|through|"
    r"morning|lunch\w*|afternoon|evening|night|i|i'm|i'll|we|we're|we'll|he|she|they|"
    r"and(?! (?:sea|sand|sky|moon|air|surf|snow|rain|wind|heat|fun|shade)\b))\b| \d)"
)
_SHORT_WEEKDAY = re.compile(
    r"\b(tues?|weds|thurs?|thu|fri)\b\.?(?!')|\b(mon)\b(?! (?:ami|cher|chér|dieu|amour|petit|frère|père|c[oœ]))"
    r"\.?(?!')|"
    r"(?:(?<=\bon )|(?<=\bnext )|(?<=\blast )(?<!the last )|(?<=\btil )|(?<=\buntil )|(?<=(?:day|mon|tue|wed|thu|fri|"
    r"sat|sun|ues|eds|urs|hur) to )|(?<=(?:day|mon|tue|wed|thu|fri|sat|sun|ues|eds|urs|hur)-))(sat|sun|wed)\b\.?(?!')"
    rf"{_AFTER_SHORT}|(?<=\bthis )(sat|wed|(?-i:Sun)|sun(?= (?:at )?\d| (?:morning|lunch|afternoon|evening|night)))\b"
    rf"\.?(?!'){_AFTER_SHORT}|"
    rf"\b(sat|sun|wed)\b\.?(?= (?:the )?\d|(?:-| to | and )(?:{_SHORT}|{_WEEKDAY})\b)",
    re.I,
)
# 「再过三天」 without a 后; 「过两天」 is soon, 「难过三天」 and 「过六天假」 tell how long something lasts.
_AFTER_ZH = re.compile(
    rf"(?:再过|(?<![难超不经通熬度路渡走])过(?!两))({NUMBER_ZH})(天|个?星期|个?礼拜|周)(?![后多半来两年岁假班没]|左右)"
)
_STEP_OF_TODAY = re.compile(
    rf"(?:(?P<step>上上|下下|上|下)(?:(?P<weeks>个?(?:周|星期|礼拜))|个月)|(?P<year>{YEAR_ZH}))的?今天"
)


def with_absolute_dates(text: str, today: date) -> str:
    """The text with the dates that its phrases count to: "two years ago in October" becomes "in October of 2024",
    「三年前的春天」 becomes 「2023年春天」, "three weeks from tomorrow" becomes "2026-03-23".

    >>> with_absolute_dates("We met in spring two years ago.", date(2026, 3, 1))
    'We met in spring of 2024.'
    """

    def year_of(match: re.Match[str]) -> int:
        count = match["count"]
        return today.year - (2 if not count else number_en(count) if count.isascii() else number_zh(count))

    for pattern, sign in _COUNTED_FROM:
        text = pattern.sub(partial(_counted_from, sign=sign, today=today), text)
    if _DAY_OR_MONTH.search(text):
        text = _SHORT_WEEKDAY.sub(lambda match: _long_weekday(match[0]), text)
        text = _NTH_WEEKDAY.sub(lambda match: _nth_weekday(match, today), text)
        text = _WEEK_BEHIND.sub(lambda match: _days_of_week(match, today), text)
        text = _ORDINAL_OF_MONTH.sub(lambda match: f"{_ORDINAL_WORDS.index(match[1].casefold()) + 1} ", text)
        text = _NUMBERS_THEN_MONTH.sub(lambda match: _both_of_month(match, match[3], match[1], match[2]), text)
        text = _MONTH_THEN_NUMBERS.sub(lambda match: _both_of_month(match, match[1], match[2], match[3]), text)
    if not text.isascii():
        text = _NTH_WEEKDAY_ZH.sub(lambda match: _nth_weekday(match, today), text)
        text = _AFTER_ZH.sub(r"\1\2后", text)
        text = _TO_DAY_ZH.sub(r"\1\2号", text)
    text = _WEEKS_FROM_WEEKDAY.sub(lambda match: _weeks_from_weekday(match, today), text)
    text = _STEP_OF_TODAY.sub(lambda match: _step_of(match, today), text)
    text = _YEAR_THEN_PART.sub(lambda match: f"{match['part']} of {year_of(match)}", text)
    text = _LAST_YEAR_THEN_PART.sub(lambda match: f"{match['part']} {match['year']}", text)
    text = _PART_THEN_YEAR.sub(lambda match: f"{match['part']} of {year_of(match)}", text)
    text = _SHORT_YEAR_ZH.sub(lambda match: f"{'20' if match['young'] else '19'}{match[0]}", text)
    return _YEAR_THEN_PART_ZH.sub(lambda match: f"{year_of(match)}年", text)


def _counted_from(match: re.Match[str], sign: int, today: date) -> str:
    """The date that is so far from the day of the phrase. "Two months from now" means no day, only "in two months"."""
    if match.groupdict().get("lasts"):
        return match[0]
    count, unit, anchor = match.groupdict().get("count") or "1", match["unit"].casefold(), match["anchor"].casefold()
    number = number_en(count) if count.isascii() else number_zh(count)
    unit = UNITS_ZH.get(unit.removeprefix("个").replace("礼拜", "星期"), unit)
    if anchor in ("now", "现在") and unit in ("month", "year"):
        return f"in {count} {unit}s" if anchor == "now" else match[0].removeprefix("从").replace("现在", "", 1)
    begin = today + timedelta(days=DAY_WORDS.get(anchor, 0))
    return _shifted(begin, sign * number, unit, match[0])


def _weeks_from_weekday(match: re.Match[str], today: date) -> str:
    weekday = WEEKDAY_NAMES.index((match["weekday"] or match["anchor"]).casefold())
    weeks = 1 if (match["weeks"] or match["way"] or "").casefold() in ("a week", "week", "after next") else 2
    return _shifted(today, (weekday - today.weekday()) % 7 + 7 * weeks, "day", match[0])


def _long_weekday(word: str) -> str:
    """
    >>> _long_weekday("Tues.")
    'Tuesday'
    """
    name = next(name for name in WEEKDAY_NAMES if name.startswith(word[:3].casefold()))
    return name.capitalize() if word[0].isupper() else name


def _days_of_week(match: re.Match[str], today: date) -> str:
    monday = today - timedelta(days=today.weekday()) + timedelta(weeks=STEPS[match["week"].casefold()])
    first, last = (monday + timedelta(days=WEEKDAY_NAMES.index(match[name].casefold())) for name in ("first", "last"))
    return f"{first}{match['link']}{last}"


def _nth_weekday(match: re.Match[str], today: date) -> str:
    """The date of the nth weekday of a month: of the nearest one with that name if no year is named."""
    groups = match.groupdict()
    if groups["month"]:
        month = (
            month_named(groups["month"])
            if groups["month"].isascii() and groups["month"].isalpha()
            else (number_zh(groups["month"]))
        )
        years = [int(groups["year"])] if groups["year"] else [today.year - 1, today.year, today.year + 1]
        first = min((date(year, month, 1) for year in years), key=lambda day: abs((day - today).days))
    else:
        months = today.year * 12 + today.month - 1 + STEPS.get(groups["which"].casefold(), 0)
        first = date(months // 12, months % 12 + 1, 1)
    name, nth = groups["weekday"].casefold(), _NTH[groups["nth"].casefold()]
    weekday = WEEKDAY_NAMES.index(name) if name.isascii() else weekday_zh(name)
    days = [first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * week) for week in range(5)]
    return [day for day in days if day.month == first.month][nth].isoformat()


def _both_of_month(match: re.Match[str], month: str, first: str, last: str) -> str:
    """Two numbers of a month, each with its name; unchanged if the first is not before the last: "we won 3-1 March"."""
    return f"{month} {first} to {month} {last}" if int(first) < int(last) else match[0]


def _step_of(match: re.Match[str], today: date) -> str:
    """The date of 「上个月的今天」."""
    if match["year"]:
        return _shifted(today, YEARS_ZH[match["year"]], "year", match[0])
    return _shifted(today, STEPS[match["step"]], "week" if match["weeks"] else "month", match[0])


def _shifted(day: date, count: int, unit: str, phrase: str) -> str:
    """The date in digits, on the last day of a month that is too short; the phrase itself beyond the calendar."""
    try:
        if unit in ("month", "year"):
            year, month = divmod(day.year * 12 + day.month - 1 + count * (12 if unit == "year" else 1), 12)
            return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1])).isoformat()
        return (day + timedelta(days=count * {"day": 1, "week": 7, "fortnight": 14}[unit])).isoformat()
    except (ValueError, OverflowError):
        return phrase
