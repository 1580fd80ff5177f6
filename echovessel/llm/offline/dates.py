"""Words for a day, told as the day, so that a memory can be read later."""

import re
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from echovessel.dates import DAY_WORD, DAY_WORDS
from echovessel.llm.offline.text import CJK

# How a word of one day is told once the day has passed, where that is more than the day.
TOLD_AS = {
    "昨晚": "{day}晚上", "昨夜": "{day}夜里", "今晚": "{day}晚上", "今早": "{day}早上", "明晚": "{day}晚上",
    "yesterday morning": "on the morning of {day}", "yesterday evening": "on the evening of {day}",
    "last night": "on the night of {day}", "tonight": "on the evening of {day}",
    "this morning": "on the morning of {day}", "this afternoon": "on the afternoon of {day}",
    "this evening": "on the evening of {day}",
}  # fmt: skip
NO_ON = re.compile(r"\b(?:since|until|till|from|for|by|before|after|of|than|on|as|about)\s+$", re.I)


def local_day(at: str, timezone: str) -> date:
    """The day on which a line was said, where the user lives."""
    return datetime.fromisoformat(at).astimezone(ZoneInfo(timezone)).date()


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
