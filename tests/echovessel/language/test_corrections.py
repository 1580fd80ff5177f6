"""A day or an hour that the next line puts right, and lines that only look like it."""

from echovessel.language.corrections import LONGEST, apply_correction, takes_back
from tests.table import each_row


@each_row(
    ("said", "line", "right"),
    [
        ("我下周四有个面试。", "不对，是周五", "我下周五有个面试。"),
        ("我周四有面试", "不，是周五", "我周五有面试"),
        ("我周四有面试", "说错了，是周五", "我周五有面试"),
        ("我周四有面试", "不是周四，是周五。", "我周五有面试"),
        ("我周四有面试", "哦不对，面试是周五", "我周五有面试"),
        ("我周四有面试", "面试改到周五了", "我周五有面试"),
        ("我明天去看牙医", "啊，记错了，是后天", "我后天去看牙医"),
        ("我周四下午三点有面试", "不对，是下午四点", "我周四下午四点有面试"),
        ("我5月4号搬家", "不对，是5月6号", "我5月6号搬家"),
        ("我5月4号搬家", "不对，是6号", "我5月6号搬家"),
        ("我们星期四见面", "你记错了，是星期五", "我们星期五见面"),
        ("My interview is on Thursday.", "No, it's on Friday.", "My interview is on Friday."),
        ("My interview is on Thursday.", "No, it’s Friday", "My interview is on Friday."),
        ("My interview is next Thursday.", "Actually it's Friday, not Thursday.", "My interview is next Friday."),
        ("My interview is on Thursday.", "It's Friday, not Thursday.", "My interview is on Friday."),
        ("My interview is on Thursday.", "wait, the interview is on Friday", "My interview is on Friday."),
        ("My interview is on Thursday.", "The interview was moved to Friday.", "My interview is on Friday."),
        ("The party is on March 4th.", "oops, March 6th", "The party is on March 6th."),
        ("I fly at 3 pm on Monday.", "No, 4 pm.", "I fly at 4 pm on Monday."),
        ("I see her tomorrow.", "no, the day after tomorrow", "I see her the day after tomorrow."),
    ],
)
def test_the_day_of_the_line_before_is_put_right(said: str, line: str, right: str) -> None:
    assert apply_correction(said, line) == right


@each_row(
    ("said", "line"),
    [
        ("I run on Thursday.", "No, on Friday I see the dentist."),
        ("周四我去跑步", "不，周五我要去看医生"),
        ("我周四有面试", "周五呢？"),
        ("我周四有面试", "不是周五吗？"),
        ("我周四有面试", "对，是周四"),
        ("我周四有面试", "不对，是周四"),
        ("我周四有面试", "其实我很紧张"),
        ("My interview is on Thursday.", "No, I am not nervous."),
        ("My interview is on Thursday.", "Friday is my birthday."),
        ("My interview is on Thursday.", "Not much happened on Friday."),
        ("My interview is on Thursday.", "Sorry, I was asleep on Friday."),
        ("I have a cat.", "No, it's Friday."),
        ("My cat broke a vase today.", "No, it's on Friday."),
        ("My interview is on Thursday.", "No, it's on Friday." + " Really." * LONGEST),
        ("My interview is on Thursday.", "No, not on Thursday."),
    ],
)
def test_what_tells_something_of_its_own_puts_nothing_right(said: str, line: str) -> None:
    assert apply_correction(said, line) is None


def test_a_day_of_another_manner_is_put_right_where_it_is_taken_loosely() -> None:
    assert apply_correction("My interview is tomorrow.", "No, Friday.") is None
    assert apply_correction("My interview is tomorrow.", "No, Friday.", loosely=True) == "My interview is Friday."
    assert apply_correction("My interview is tomorrow.", "No, the interview is Friday.") == "My interview is Friday."


@each_row("line", ["不对，是周五", "No, it's on Friday.", "The dinner was moved to 8 pm."])
def test_a_line_that_takes_something_back_is_known_by_itself(line: str) -> None:
    assert takes_back(line)


@each_row("line", ["不对", "我周五有面试", "No!", "It's on Friday.", "", "No, it's Friday. " * LONGEST])
def test_a_line_that_names_no_day_or_takes_nothing_back_is_not(line: str) -> None:
    assert not takes_back(line)
