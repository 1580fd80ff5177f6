"""Dates as people say them."""

from datetime import date, timedelta

from hypothesis import given
from hypothesis import strategies as st

from echovessel.language.dates import is_relative
from echovessel.language.human_dates import humanize_date, note_days, stamp_days, write_days
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


@given(st.dates(), st.dates(), st.dates(), st.sampled_from(["en", "zh"]))
def test_every_day_can_be_told(first: date, last: date, today: date, language: str) -> None:
    assert humanize_date(first, today, language).strip()
    first, last = sorted((first, last))
    for note in (note_days(first, last, today, language), stamp_days(first, last, language, "said", first)):
        assert str(first.year) in note
        assert note[0] + note[-1] in ("()", "（）", "[]")


@each_row(
    ("first", "last", "english", "chinese"),
    [
        (date(2024, 2, 29), date(2024, 2, 29), "29 February 2024", "2024年2月29日"),
        (date(2024, 2, 5), date(2024, 2, 9), "5–9 February 2024", "2024年2月5日至9日"),
        (date(2024, 2, 1), date(2024, 2, 29), "February 2024", "2024年2月"),
        (date(2023, 2, 1), date(2023, 2, 28), "February 2023", "2023年2月"),
        (date(2024, 2, 1), date(2024, 2, 28), "1–28 February 2024", "2024年2月1日至28日"),
        (date(2024, 3, 28), date(2024, 4, 2), "28 March – 2 April 2024", "2024年3月28日至4月2日"),
        (date(2024, 3, 1), date(2024, 5, 31), "March–May 2024", "2024年3月至5月"),
        (date(2023, 12, 1), date(2024, 2, 29), "December 2023 – February 2024", "2023年12月至2024年2月"),
        (date(2023, 12, 30), date(2024, 1, 2), "30 December 2023 – 2 January 2024", "2023年12月30日至2024年1月2日"),
        (date(2024, 1, 1), date(2024, 12, 31), "2024", "2024年"),
        (date(2020, 1, 1), date(2024, 12, 31), "2020–2024", "2020年至2024年"),
    ],
)
def test_days_are_written_as_exactly_as_they_are_known(first: date, last: date, english: str, chinese: str) -> None:
    assert (write_days(first, last, "en"), write_days(first, last, "zh")) == (english, chinese)


@each_row(
    ("text", "relative"),
    [
        ("I saw her yesterday.", True),
        ("She moved last Friday.", True),
        ("We leave in two weeks.", True),
        ("He came back the other day.", True),
        ("They marry in May.", True),
        ("The exam is on 5 May.", True),
        ("Recently he sleeps badly.", True),
        ("Next summer we sail.", True),
        ("昨天见到她了。", True),
        ("他上周五搬走了。", True),
        ("三天前下了雪。", True),
        ("5月4号考试。", True),
        ("最近他睡不好。", True),
        ("明年去冰岛。", True),
        ("They married in May 2020.", False),
        ("The exam was on 5 May 2020.", False),
        ("She lives in Basel.", False),
        ("May loves tea.", False),
        ("她住在里昂。", False),
        ("2020年5月4日考试。", False),
        ("2020-05-04", False),
        ("", False),
    ],
)
def test_words_that_depend_on_the_day_of_telling_are_known(text: str, relative: bool) -> None:
    assert is_relative(text) is relative
