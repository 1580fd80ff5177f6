"""Times as exact as they were told."""

from datetime import date

from echovessel.language.coarse_dates import humanize_coarse_date, parse_coarse_date, span_of
from echovessel.language.dates import Days
from tests.table import each_row


@each_row(
    ("text", "code"),
    [
        ("2024", "2024"),
        ("2024-5", "2024-05"),
        ("2024-05-03", "2024-05-03"),
        ("2024-05-03T10:00:00Z", "2024-05-03"),
        ("2024/5/3", "2024-05-03"),
        ("spring 2024", "2024-spring"),
        ("Fall of 2024", "2024-autumn"),
        ("2024-Winter", "2024-winter"),
        ("3 May 2024", "2024-05-03"),
        ("May 3rd, 2024", "2024-05-03"),
        ("September 2024", "2024-09"),
        ("2024年", "2024"),
        ("2024年5月", "2024-05"),
        ("2024年5月3日", "2024-05-03"),
        ("2024年春天", "2024-spring"),
        ("2024-02-31", ""),
        ("2024-13", ""),
        ("soon", ""),
        ("", ""),
        ("null", ""),
        ("20240503", ""),
    ],
)
def test_a_coarse_date_is_read_in_the_ways_in_which_models_write_it(text: str, code: str) -> None:
    assert parse_coarse_date(text) == code


@each_row(
    ("code", "first", "last", "english", "chinese"),
    [
        ("2024", date(2024, 1, 1), date(2024, 12, 31), "2024", "2024年"),
        ("2024-02", date(2024, 2, 1), date(2024, 2, 29), "February 2024", "2024年2月"),
        ("2024-spring", date(2024, 3, 1), date(2024, 5, 31), "spring 2024", "2024年春天"),
        ("2023-winter", date(2023, 12, 1), date(2024, 2, 29), "winter 2023", "2023年冬天"),
        ("2024-05-03", date(2024, 5, 3), date(2024, 5, 3), "3 May 2024", "2024年5月3日"),
    ],
)
def test_a_coarse_date_is_a_range_of_days_and_has_words(
    code: str, first: date, last: date, english: str, chinese: str
) -> None:
    assert span_of(code) == Days(first, last)
    assert (humanize_coarse_date(code, "en"), humanize_coarse_date(code, "zh")) == (english, chinese)
