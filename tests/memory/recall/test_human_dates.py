"""Dates as people say them."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from echovessel.language.human_dates import humanize_date
from tests.table import each_row

TODAY = date(2026, 6, 15)


@each_row(
    ("days", "english", "chinese"),
    [
        (0, "today", "今天"),
        (1, "yesterday", "昨天"),
        (2, "two days ago", "前天"),
        (6, "six days ago", "六天前"),
        (7, "one week ago", "一周前"),
        (14, "two weeks ago", "两周前"),
        (21, "three weeks ago", "三周前"),
        (30, "four weeks ago", "四周前"),
        (31, "one month ago", "一个月前"),
        (92, "three months ago", "三个月前"),
        (300, "ten months ago", "十个月前"),
        (400, "in May 2025", "2025年5月"),
        (-1, "tomorrow", "明天"),
        (-2, "in two days", "后天"),
        (-10, "in one week", "一周后"),
    ],
)
def test_a_day_is_told_as_people_tell_it(days: int, english: str, chinese: str) -> None:
    day = TODAY - timedelta(days=days)
    assert (humanize_date(day, TODAY, "en"), humanize_date(day, TODAY, "zh")) == (english, chinese)


@given(st.dates(), st.dates(), st.sampled_from(["en", "zh"]))
def test_every_day_can_be_told(day: date, today: date, language: str) -> None:
    assert humanize_date(day, today, language).strip()
