"""Words for a day, told as the day, so that a memory can be read later."""

import re
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from echovessel.language.dates import DAY_WORD, DAY_WORDS
from echovessel.llm.offline.asking import is_question
from echovessel.llm.offline.text import CJK

# How a word of one day is told once the day has passed, where that is more than the day.
TOLD_AS = {
    "昨晚": "{day}晚上", "昨夜": "{day}夜里", "今晚": "{day}晚上", "今早": "{day}早上", "明晚": "{day}晚上",
    "yesterday morning": "on the morning of {day}", "yesterday evening": "on the evening of {day}",
    "last night": "on the night of {day}", "tonight": "on the evening of {day}",
    "this morning": "on the morning of {day}", "this afternoon": "on the afternoon of {day}",
    "this evening": "on the evening of {day}",
}  # fmt: skip
DATED = re.compile(r"(?:\b(on )(?:the (morning|afternoon|evening|night) of )?)?(\d{4}-\d{2}-\d{2})", re.I)
NEAR_ZH = {-2: "后天", -1: "明天", 0: "今天", 1: "昨天", 2: "前天"}
PART_OF_TODAY, PART_OF_YESTERDAY = {"evening": "tonight", "night": "tonight"}, {"night": "last night"}
WEEKDAYS_EN = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
WEEKDAYS_ZH = "一二三四五六日"
COMING_EN = re.compile(rf"\b(?:by|until|till|before|this|next|coming|on)\s+({'|'.join(WEEKDAYS_EN)})\b", re.I)
COMING_ZH = re.compile("(?<![上])(?:周|星期|礼拜)([一二三四五六日天])")
AHEAD = re.compile(
    r"\b(?:will|shall|going to|gonna|expects?|expecting|waits?|waiting|hopes?|hoping|due|plans?|by|until|next|upcoming|"
    r"(?:has|have|get|gets|hears?|starts?|leaves?|goes|comes?|arrives?|flies|lands?|"
    r"moves?|is|are) (?:\w+ ){0,6}?(?:on|by|this|next))\b|"
    r"要|会|将|等|之前|以前|出结果|打算|准备|下周|下个",
    re.I,
)
NO_ON = re.compile(r"\b(?:since|until|till|from|for|by|before|after|of|than|on|as|about)\s+$", re.I)


def local_day(at: str, timezone: str) -> date:
    """The day on which a line was said, where the user lives."""
    return datetime.fromisoformat(at).astimezone(ZoneInfo(timezone)).date()


def weekday_ahead(told: str, told_on: date) -> date | None:
    """The next day that goes by the weekday `told` speaks of, where it looks ahead.

    >>> weekday_ahead("Ana gets the result by Friday.", date(2026, 3, 2))
    datetime.date(2026, 3, 6)
    """
    match = COMING_EN.search(told) or COMING_ZH.search(told)
    if match is None or not AHEAD.search(told) or is_question(told):
        return None
    name = match[1].casefold()
    weekday = WEEKDAYS_EN.index(name) if name in WEEKDAYS_EN else WEEKDAYS_ZH.index(name.replace("天", "日"))
    return told_on + timedelta(days=(weekday - told_on.weekday()) % 7 or 7)


def dated(text: str, today: date) -> str:
    """`text` in which the words for a day are the day, so that it can be read later.

    >>> dated("My cat died yesterday.", date(2026, 3, 5)), dated("我昨晚没睡", date(2026, 3, 5))
    ('My cat died on 2026-03-04.', '我2026-03-04晚上没睡')
    """
    text = DAY_WORD.sub(lambda match: _told_day(text, match, today), text)
    return text if CJK.search(text) else text[:1].upper() + text[1:]


def _told_day(text: str, match: re.Match[str], today: date) -> str:
    word = match[0].casefold()
    told = TOLD_AS.get(word, "on {day}" if word.isascii() else "{day}")
    words = told.format(day=(today + timedelta(days=DAY_WORDS[word])).isoformat())
    return words.removeprefix("on ") if NO_ON.search(text[: match.start()]) else words


def spoken(text: str, today: date) -> str:
    """`text` with its days as one speaks of them `today`; what names no day that there is stays.

    >>> spoken("It died on the night of 2026-03-04.", date(2026, 3, 5)), spoken("你2026-03-01面试", date(2026, 3, 5))
    ('It died last night.', '你3月1日面试')
    """
    in_words = _in_chinese if CJK.search(text) else _in_english
    return DATED.sub(lambda match: in_words(match, today), text)


def _in_chinese(match: re.Match[str], today: date) -> str:
    day = _day(match[3])
    if day is None:
        return match[0]
    year = "" if day.year == today.year else f"{day.year}年"
    return (match[1] or "") + NEAR_ZH.get((today - day).days, f"{year}{day.month}月{day.day}日")


def _in_english(match: re.Match[str], today: date) -> str:
    day, part = _day(match[3]), (match[2] or "").casefold()
    if day is None:
        return match[0]
    days = (today - day).days
    if days == 0:
        return PART_OF_TODAY.get(part, f"this {part}") if part else "today"
    if days == 1:
        return PART_OF_YESTERDAY.get(part, f"yesterday {part}".rstrip())
    if days == -1:
        return f"tomorrow {part}".rstrip()
    year = "" if day.year == today.year else f" {day.year}"
    named = f"{day:%A}" if 1 < days < 7 else f"{day.day} {day:%B}{year}"
    of = f"the {part} of " if part else ""
    return f"{match[1] or ''}{of}{named}"


def _day(written: str) -> date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None
