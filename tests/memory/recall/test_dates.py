"""Which days a question asks about, in both languages, and in whose zone."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from echovessel.language import holidays
from echovessel.language.day_spans import days_meant
from memory.recall.dates import read_window
from tests.memory.recall.date_phrases import PHRASES, TODAY
from tests.table import each_row

SHANGHAI = ZoneInfo("Asia/Shanghai")
NOON = datetime(2026, 3, 18, 12, tzinfo=UTC)


@each_row(("said", "start", "end"), PHRASES, ids=[said for said, _, _ in PHRASES])
def test_phrases_for_days_give_their_range(said: str, start: str, end: str) -> None:
    found = days_meant(said, TODAY)
    assert (found.as_json() if found else {"start": "", "end": ""}) == {"start": start, "end": end}


@given(text=st.text(max_size=40), today=st.dates())
def test_no_text_on_no_day_breaks_the_reading(text: str, today: date) -> None:
    found = days_meant(text, today)
    assert found is None or found.start <= found.end


@given(
    said=st.sampled_from([said for said, start, _ in PHRASES if start]),
    today=st.dates(date(2005, 1, 1), date(2045, 1, 1)),
)
def test_a_window_never_ends_before_it_begins_whatever_day_it_is(said: str, today: date) -> None:
    found = days_meant(said, today)
    assert found is None or found.start <= found.end


def test_a_feast_beyond_the_table_is_read_as_its_year_and_easter_falls_by_rule() -> None:
    assert days_meant("1995年春节", TODAY) == holidays.Days(date(1995, 1, 1), date(1995, 12, 31))
    assert days_meant("Easter 2038", TODAY) == holidays.Days(date(2038, 4, 23), date(2038, 4, 26))


def test_days_begin_in_the_owners_zone() -> None:
    late = datetime(2026, 3, 17, 20, tzinfo=UTC)  # the 18th in Shanghai
    found = read_window(["What did I do yesterday?"], late, SHANGHAI)
    assert found is not None
    assert found.days.start == date(2026, 3, 17)
    assert (found.since, found.until) == (datetime(2026, 3, 16, 16), datetime(2026, 3, 17, 16))


def test_the_newest_message_that_names_days_counts_and_old_messages_do_not() -> None:
    asked = read_window(["What did I do last week?", "Or on Friday?"], NOON, SHANGHAI)
    assert asked is not None
    assert asked.days.start == date(2026, 3, 13)
    assert read_window(["last week", "I like tea.", "And coffee."], NOON, SHANGHAI) is None


def test_today_is_no_window() -> None:
    assert read_window(["I am tired today."], NOON, SHANGHAI) is None


def test_the_narrower_the_window_the_more_it_says() -> None:
    week, month, year = (
        read_window([f"What happened last {span}?"], NOON, SHANGHAI) for span in ("week", "month", "year")
    )
    assert week
    assert month
    assert year
    assert 1 == week.weight > month.weight > year.weight > 0
