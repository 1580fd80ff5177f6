"""Dates as headings: what is one, and what only looks like one."""

from datetime import UTC, date, datetime, time, timedelta, timezone

from memory.imports.readers.day_order import day_first
from memory.imports.readers.headings import WrittenDate, day_in_name, heading_in, nearest_year, year_in, year_in_name
from memory.imports.readers.when import read_time
from tests.table import each_row

FIFTH = WrittenDate(2024, 1, 5)


@each_row(
    "line",
    [
        "2024-01-05", "2024/1/5", "2024.01.05", "# 2024-01-05", "###### 2024-01-05", "[2024-01-05]", "**2024-01-05**",
        "=== 2024-01-05 ===", "--- 2024-01-05 ---", "2024-01-05 (Fri)", "Friday 2024-01-05", "Date: 2024-01-05",
        "2024年1月5日", "2024 年 1 月 5 日", "2024年01月05号", "二〇二四年一月五日", "【2024年1月5日】",
        "2024年1月5日 星期五", "日期：2024年1月5日", "January 5, 2024", "Jan. 5 2024",
        "Friday, January 5th, 2024", "5 January 2024", "Fri 5 Jan 2024", "the 5th of January, 2024", "JANUARY 5, 2024",
        "5 Jan '24", "Jan 5, ’24", "2024. 1. 5.", "2024.01.05.", "2024年1月5日(金)", "2024年1月5日 金曜日",
        "2024년 1월 5일 금요일",
        "5. Januar 2024", "Freitag, den 5. Januar 2024", "5. Jan. 2024", "Vendredi 5 janvier 2024", "le 5 janvier 2024",
        "5 de enero de 2024", "viernes, 5 de enero de 2024", "5 de janeiro de 2024", "venerdì 5 gennaio 2024",
        "vrijdag 5 januari 2024",
    ],
)  # fmt: skip
def test_a_date_by_itself_is_a_heading_wherever_it_stands(line: str) -> None:
    for begins in (True, False):
        heading = heading_in(line, begins)
        assert heading
        assert (heading.written_date, heading.words, heading.title) == (FIFTH, "", "")


@each_row(
    ("line", "clock"),
    [
        ("2024-01-05 21:30", time(21, 30)),
        ("2024-01-05T21:30:15Z", time(21, 30, 15, tzinfo=UTC)),
        ("2024-01-05 21:30 +08:00", time(21, 30, tzinfo=timezone(timedelta(hours=8)))),
        ("January 5, 2024 at 9:30:00 PM GMT+1", time(21, 30, tzinfo=timezone(timedelta(hours=1)))),
        ("January 5, 2024 at 9:30 PM UTC-03:30", time(21, 30, tzinfo=timezone(-timedelta(hours=3, minutes=30)))),
        ("January 5, 2024 at 9:30 PM", time(21, 30)),
        ("January 5, 2024, 12:05 a.m.", time(0, 5)),
        ("2024年1月5日 下午9:30", time(21, 30)),
        ("2024年1月5日 星期五 凌晨 1:05", time(1, 5)),
    ],
)
def test_a_time_of_day_is_read_with_its_zone(line: str, clock: time) -> None:
    heading = heading_in(line, begins=False)
    assert heading
    assert (heading.clock, heading.words) == (clock, "")


@each_row(
    ("line", "title", "words"),
    [
        ("## 2024-01-05 Friday — First snow", "First snow", ""),
        ("2024-01-05: It snowed.", "", "It snowed."),
        ("2024年1月5日，我去了北京。", "", "我去了北京。"),
        ("2024年1月5日 星期五 晴", "", "晴"),
        ("2024-01-05 99:99 is no time", "", "99:99 is no time"),
    ],
)
def test_a_heading_keeps_its_title_and_text(line: str, title: str, words: str) -> None:
    heading = heading_in(line, begins=True)
    assert heading
    assert (heading.title, heading.words) == (title, words)


@each_row(
    "line",
    [
        "", "2024", "May", "I", "may 5 people come", "January 5 was cold", "January 5, 2024 was cold", "2024-13-45",
        "2024-02-30", "2月30日", "31/31/2024", "- 2024-01-05 buy milk", "* 2024-01-05 buy milk", "1. 2024-01-05",
        "1/2/3", "2024-01-051", "Ana 2024-01-05", "192.168.0.1", "5.1.2.3",
    ],
)  # fmt: skip
def test_lines_that_only_resemble_headings_are_none(line: str) -> None:
    assert heading_in(line, begins=True) is None


def test_a_date_at_the_beginning_of_a_sentence_is_a_heading_only_above_a_new_entry() -> None:
    assert heading_in("2024-01-05 was a good day.", begins=False) is None
    assert heading_in("2024-01-05 was a good day.", begins=True)


def test_two_numbers_stay_open_until_the_file_tells() -> None:
    heading = heading_in("03/04/2024", begins=True)
    assert heading
    assert heading.written_date.order_open
    assert heading.written_date.as_day(day_first=True) == date(2024, 4, 3)
    assert heading.written_date.as_day(day_first=False) == date(2024, 3, 4)
    assert heading_in("3.4.24", begins=True) == heading_in("03.04.2024", begins=True)
    assert heading_in("3/4/99", begins=True) == heading_in("03/04/1999", begins=True)


@each_row(
    ("dates", "order"),
    [
        ([], True),
        ([(5, 5, 2024)], True),
        ([(3, 4, 2024)], None),
        ([(3, 4, 2024), (13, 4, 2024)], True),
        ([(3, 4, 2024), (4, 13, 2024)], False),
        ([(13, 4, 2024), (4, 13, 2024)], None),
        ([(5, 1, 2024), (3, 2, 2024), (4, 2, 2024)], True),
        ([(1, 5, 2024), (2, 3, 2024), (2, 4, 2024)], False),
        ([(2, 4, 2024), (2, 3, 2024), (1, 5, 2024)], False),
        ([(1, 2, 2024), (2, 2, 2024), (2, 3, 2024)], None),
    ],
)
def test_the_order_of_day_and_month_is_told_by_the_calendar_or_by_time_itself(
    dates: list[tuple[int, int, int]], order: bool | None
) -> None:
    assert day_first(dates) is order


@each_row(
    ("name", "day"),
    [
        ("2024-01-05.md", date(2024, 1, 5)),
        ("20240105.txt", date(2024, 1, 5)),
        ("Journal 2024_01_05.md", date(2024, 1, 5)),
        ("2024年1月5日.txt", date(2024, 1, 5)),
        ("2024.md", None),
        ("notes 20240105123.md", None),
        ("2024-13-05.md", None),
    ],
)
def test_a_file_may_be_named_for_its_day(name: str, day: date | None) -> None:
    assert day_in_name(name) == day


def test_a_year_is_a_heading_or_a_name_and_never_a_bare_number() -> None:
    assert [year_in(line) for line in ("# 2024", "2024年", "2024", "# 2024 was good")] == [2024, 2024, None, None]
    assert (year_in_name("diary-2024"), year_in_name("diary")) == (2024, None)


def test_a_date_without_a_year_is_nearest_to_the_entry_before() -> None:
    second = WrittenDate(None, 1, 2)
    assert nearest_year(second, date(2023, 12, 30), None) == 2024
    assert nearest_year(second, date(2023, 12, 30), 2020) == 2020
    assert nearest_year(second, None, None) is None


@each_row(
    ("value", "at"),
    [
        ("2024-01-05T21:05:00Z", datetime(2024, 1, 5, 21, 5, tzinfo=UTC)),
        ("2024-01-05 21:05", datetime(2024, 1, 5, 21, 5)),
        (1704488700, datetime(2024, 1, 5, 21, 5, tzinfo=UTC)),
        ("1704488700000", datetime(2024, 1, 5, 21, 5, tzinfo=UTC)),
        ("Jan 5, 2024 9:05pm", datetime(2024, 1, 5, 21, 5)),
        ("5/1/2024 21:05", datetime(2024, 1, 5, 21, 5)),
        ("2024-01-05", datetime(2024, 1, 5)),
        ("20240105", datetime(2024, 1, 5)),
    ],
)
def test_a_field_with_a_time_is_read(value: object, at: datetime) -> None:
    when = read_time(value, day_first=True)
    assert when
    assert when.as_moment() == at


@each_row("value", [None, True, "", "soon", 7, "7", 2024, "2024", "January", [], {}, "5/1/2024", 1e300])
def test_a_field_that_is_no_time_is_not_read(value: object) -> None:
    assert read_time(value) is None
