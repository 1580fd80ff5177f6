"""The single days that a text names, counted from the day on which it was said."""

from datetime import date

from echovessel.language.named_days import named_days, only_day
from tests.table import each_row

JANUARY, JUNE = date(2025, 1, 14), date(2025, 6, 11)  # a Tuesday, a Wednesday


@each_row(
    ("text", "said_on", "day"),
    [
        ("Tomorrow week I'm giving a talk, Wednesday the 22nd at two o'clock.", JANUARY, "2025-01-22"),
        ("see you a week on Friday", JUNE, "2025-06-20"),
        ("Friday week, then", JUNE, "2025-06-20"),
        ("a week tomorrow", JUNE, "2025-06-19"),
        ("in a fortnight", JUNE, "2025-06-25"),
        ("in three weeks", JUNE, "2025-07-02"),
        ("next thursday, the 19th, city needs it", JUNE, "2025-06-19"),
        ("I start on the 7th of July.", JUNE, "2025-07-07"),
        ("so ill quit on july 15", JUNE, "2025-07-15"),
        ("on may 15", date(2025, 4, 4), "2025-05-15"),
        ("It's the 25th of March now, not the 11th.", date(2025, 3, 2), "2025-03-25"),
        ("my grandad died last night", JUNE, "2025-06-10"),
        ("two days ago", JUNE, "2025-06-09"),
        ("on 3 October 2026", JUNE, "2026-10-03"),
        ("the 5th of June two years ago", JUNE, "2023-06-05"),
        ("last year on 3 May", JUNE, "2024-05-03"),
        ("a year ago today", JUNE, "2024-06-11"),
        ("three weeks from today", JUNE, "2025-07-02"),
        ("ten days from now", JUNE, "2025-06-21"),
        ("two weeks tomorrow", JUNE, "2025-06-26"),
        ("a fortnight on Friday", JUNE, "2025-06-27"),
        ("a week ago yesterday", JUNE, "2025-06-03"),
        ("one month from tomorrow", date(2025, 1, 30), "2025-02-28"),
        ("I have been ill for two weeks today", JUNE, "2025-06-11"),
        ("I have been off work two weeks today", JUNE, "2025-06-11"),
        ("we have been married ten years today", JUNE, "2025-06-11"),
        ("he left two weeks yesterday", JUNE, "2025-06-10"),
        ("he left three days ago, and I called a week ago, yesterday", JUNE, None),
        ("three years ago now, and I have lived here two weeks now", JUNE, None),
        ("twenty-one days from today, or 2.5 weeks from today", JUNE, "2025-06-11"),
        ("I work forty hours a week Monday to Friday", JUNE, None),
        ("the last Friday of the month", JUNE, "2025-06-27"),
        ("the first Monday of May was hot", JUNE, "2025-05-05"),
        ("the second Tuesday in July", JUNE, "2025-07-08"),
        ("on the last Sunday of January 2026", JUNE, "2026-01-25"),
        ("the Saturday after next", JUNE, "2025-06-21"),
        ("Thursday fortnight", JUNE, "2025-06-26"),
        ("the first of July", JUNE, "2025-07-01"),
        ("on Tues 24th", JUNE, "2025-06-24"),
        ("the cat sat by the sun lounger", JUNE, None),
        ("这个月最后一个周五", JUNE, "2025-06-27"),
        ("七月第一个周一要开庭", JUNE, "2025-07-07"),
        ("再过三天就要考试了", JUNE, "2025-06-14"),
        ("过两天要去面试", JUNE, None),
        ("过三天就考试", JUNE, "2025-06-14"),
        *((text, JUNE, None) for text in ("难过三天", "超过五天", "不过三天", "熬过三天", "刚过5周岁", "过六天假")),
        ("the first Friday of March 0000", JUNE, None),
        ("0000年4月第一个周一", JUNE, None),
        ("2026年4月第一个周一", JUNE, "2026-04-06"),
        ("大前天一周后", JUNE, "2025-06-15"),
        ("三年前的今天", JUNE, "2022-06-11"),
        ("从今天起三个星期后", JUNE, "2025-07-02"),
        ("两周后的今天见", JUNE, "2025-06-25"),
        ("上个月的今天", JUNE, "2025-05-11"),
        ("一周前的昨天", JUNE, "2025-06-03"),
        ("上上周三去面试了", JUNE, "2025-05-28"),
        ("下周五要考试，二月二十八号", date(2025, 2, 18), "2025-02-28"),
        ("下下周三见", JUNE, "2025-06-25"),
        ("上周三搬的", JUNE, "2025-06-04"),
        ("星期六要去体检，十二号", date(2024, 10, 8), "2024-10-12"),
        ("十二月九号，周二", date(2025, 11, 30), "2025-12-09"),
        ("是十二月十一号做的，不是四号", JANUARY, "2024-12-11"),
        ("下个月十五号回来", JUNE, "2025-07-15"),
        ("八月十五我们回大理", JUNE, "2025-08-15"),
        ("三天后出发", JUNE, "2025-06-14"),
        ("大后天", JUNE, "2025-06-14"),
        ("下周六有市集，周六就去", JUNE, "2025-06-21"),
        # What may mean several days, or none.
        ("on Friday", JUNE, None),
        ("next Friday", JUNE, None),
        ("flying on the 23rd", JUNE, None),
        ("三天后出发，下个月十五号回来", JUNE, None),
        ("预产期十二月三号", JUNE, None),
        ("She comes on Fridays, lives on the second floor, it's her 70th birthday", JUNE, None),
        ("may the 4th floor", JUNE, None),
        ("三月五个人来，坐2号线", JUNE, None),
        ("on 31 February, 二月三十号", JUNE, None),
        ("in 3 months, 两年前", JUNE, None),
        ("two months from now", JUNE, None),
        ("9999 years from today", JUNE, "2025-06-11"),
        ("", JUNE, None),
    ],
)
def test_the_day_that_a_text_names_is_the_one_that_all_its_ways_of_naming_it_mean(
    text: str, said_on: date, day: str | None
) -> None:
    found = only_day(named_days(text, said_on))
    assert (found and found.isoformat()) == day


@each_row(
    "text",
    [
        "going to wed Laura soon",
        "to sun and sea in Malta",
        "I love this sun",
        "put it on sun cream",
        "next to sat nav",
        "Mon ami",
        "she sat and sunbathed",
    ],
)
def test_words_like_short_names_are_no_days(text: str) -> None:
    assert named_days(text, JUNE) == []


@each_row(
    "text",
    ["on sat", "see you this Sun", "next wed at 4", "on sat we swim", "on Sun, then", "this wed night", "free mon"],
)
def test_short_names_of_days_are_read(text: str) -> None:
    assert len(named_days(text, JUNE)) == 1


@each_row(
    ("text", "before", "to_come"),
    [
        ("on the 23rd", "2025-05-23", "2025-06-23"),
        ("the 31st", "2025-05-31", "2025-07-31"),
        ("周五", None, None),
        ("last Friday", None, None),
        ("this Friday", "2025-06-06", "2025-06-13"),
        ("预产期十二月三号", "2024-12-03", "2025-12-03"),
    ],
)
def test_a_number_without_a_month_is_the_day_before_or_the_one_to_come(
    text: str, before: str | None, to_come: str | None
) -> None:
    mentions = named_days(text, JUNE)
    found = only_day(mentions, last=JUNE), only_day(mentions, first=JUNE)
    assert tuple(day and day.isoformat() for day in found) == (before, to_come)


@each_row(
    ("text", "days"),
    [
        ("下周六有市集，周六周日两天", ["06-21", "06-21", "06-22"]),
        ("上周一到周三出差", ["06-02", "06-04"]),
        ("上周五发烧了，周一去看医生", ["06-06", "several"]),
        ("上周三去面试了，周五要再去", ["06-04", "several"]),
        ("下周三考试。周五去看电影", ["06-18", "several"]),
        ("下周五回来，周一出发", ["06-20", "several"]),
    ],
)
def test_a_named_week_holds_for_the_later_weekdays_of_the_same_sentence(text: str, days: list[str]) -> None:
    mentions = named_days(text, JUNE)
    assert [f"{min(mention):%m-%d}" if len(mention) == 1 else "several" for mention in mentions] == days
