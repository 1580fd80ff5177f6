"""Ranges and lists of days, counted from the day on which they were said."""

from datetime import date

from echovessel.language.day_ranges import named_range
from tests.table import each_row

WEDNESDAY = date(2026, 3, 18)


@each_row(
    ("text", "first", "last"),
    [
        ("I'm off to York next Wednesday to Friday", "2026-03-25", "2026-03-27"),
        ("we're away this Saturday and Sunday", "2026-03-21", "2026-03-22"),
        ("a course Monday to Wednesday next week", "2026-03-23", "2026-03-25"),
        ("rehearsals Thursday, Friday and Saturday, then we rest on Monday", "2026-03-19", "2026-03-21"),
        ("on call Friday through Monday", "2026-03-20", "2026-03-23"),
        ("away Mon-Wed", "2026-03-23", "2026-03-25"),
        ("from the 20th to the 24th", "2026-03-20", "2026-03-24"),
        ("Rome, 4-8 April", "2026-04-04", "2026-04-08"),
        ("Rome April 4-8", "2026-04-04", "2026-04-08"),
        ("from 4 to 8 April", "2026-04-04", "2026-04-08"),
        ("half term is 25 to 29 May", "2026-05-25", "2026-05-29"),
        ("between 28 March and 2 April", "2026-03-28", "2026-04-02"),
        ("Friday evening to Sunday", "2026-03-20", "2026-03-22"),
        ("My exam moved from Thursday to Friday", "2026-03-20", "2026-03-20"),
        ("they postponed the match from Friday to Saturday", "2026-03-21", "2026-03-21"),
        ("away fri to sun", "2026-03-20", "2026-03-22"),
        ("下周三到周五我去杭州出差", "2026-03-25", "2026-03-27"),
        ("这周六周日我要搬家", "2026-03-21", "2026-03-22"),
        ("周四周五两天要培训", "2026-03-19", "2026-03-20"),
        ("下周一、周二要培训", "2026-03-23", "2026-03-24"),
        ("周四到周六要加班", "2026-03-19", "2026-03-21"),
        ("20号到24号我要去成都", "2026-03-20", "2026-03-24"),
        ("四月四日至六日放假", "2026-04-04", "2026-04-06"),
        ("下周二到下下周一我要休假", "2026-03-24", "2026-03-30"),
        ("周五晚上到周日", "2026-03-20", "2026-03-22"),
    ],
)
def test_days_joined_by_a_word_are_a_range(text: str, first: str, last: str) -> None:
    days = named_range(text, WEDNESDAY, ahead=True)
    assert days
    assert days.as_json() == {"start": first, "end": last}


@each_row(
    "text",
    [
        "I work Monday to Friday",
        "周一到周五要上班",
        "every Monday and Tuesday",
        "on Friday or Saturday",
        "the 20th and the 24th",
        "Friday and Monday",
        "Thursday at four, Friday off",
        "下周三面试，下周五体检",
        "I had 3-4 drinks",
        "We won 3-1 March",
    ],
)
def test_habits_and_days_apart_are_no_range(text: str) -> None:
    assert named_range(text, WEDNESDAY, ahead=True) is None


def test_a_range_in_the_past_is_the_last_one() -> None:
    days = named_range("I was ill Monday and Tuesday", WEDNESDAY, ahead=False)
    assert days
    assert days.as_json() == {"start": "2026-03-16", "end": "2026-03-17"}
