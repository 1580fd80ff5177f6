"""The days of an answer, checked against the days that its quotes name."""

from datetime import date
from typing import Any

from memory.consolidation.answer_schema import ExtractionAnswer
from memory.consolidation.fact_checks import SaidMessage
from memory.consolidation.told_days import with_named_days
from tests.table import each_row

SAID_ON = date(2025, 1, 14)  # a Tuesday


def check_days(text: str, said_on: date = SAID_ON, **item: Any) -> tuple[Any, int]:
    """The only item of an answer that cites the whole of one message, after the check, and the mistakes found."""
    shared = {"description": "It.", "evidence": [{"message_id": "m1", "quote": text}]} | item
    name = "facts" if "whose" in item else "events"
    answer = ExtractionAnswer.model_validate({"events": [], name: [shared]})
    answer, mistakes = with_named_days(answer, {1: SaidMessage(text, True, said_on)})
    return getattr(answer, name)[0], mistakes


@each_row(
    ("text", "since", "until", "expected", "mistakes"),
    [
        ("Tomorrow week I'm giving a talk, Wednesday the 22nd.", "2025-01-15", "2025-01-15", "2025-01-22", 1),
        ("Tomorrow week I'm giving a talk, Wednesday the 22nd.", "", "", "2025-01-22", 0),
        ("Tomorrow week I'm giving a talk, Wednesday the 22nd.", "2025-01", "", "2025-01-22", 1),
        ("I'm flying on the 23rd.", "2025-02-23", "2025-02-23", "2025-01-23", 1),
        ("Four years sober in november. the 17th", "2025-11-17", "2025-11-17", "2025-11-17", 0),
        ("It's on Friday.", "2025-01-24", "2025-01-24", "2025-01-24", 0),
        ("We'll be away from the 3rd to the 10th.", "2025-02-03", "2025-02-10", "2025-02-03", 0),
        ("Some day I'll walk to Rome.", "", "", "", 0),
        ("下下周三体检", "2025-01-22", "2025-01-22", "2025-01-29", 1),
    ],
)
def test_a_plan_is_for_the_day_that_its_words_name(
    text: str, since: str, until: str, expected: str, mistakes: int
) -> None:
    fact, found_mistakes = check_days(text, whose="owner", domain="plans", state="planned", since=since, until=until)
    assert (fact.since, found_mistakes) == (expected, mistakes)


@each_row(
    ("text", "written_date", "expected"),
    [
        ("My grandad died last night.", None, "2025-01-13"),
        ("My grandad died last night.", "2025-01-14", "2025-01-13"),
        ("The baby is due on the 3rd of October!", "2025-10-03", "2025-10-03"),
        ("We're getting married on the 18th of February!", None, None),
        ("He came in October.", "2024-10-02", "2024-10-02"),
    ],
)
def test_what_happened_is_of_the_day_that_its_words_name_and_never_of_one_to_come(
    text: str, written_date: str | None, expected: str | None
) -> None:
    event, _ = check_days(
        text, emotional_impact=-3, subject="user", event_time=written_date and {"start": written_date}
    )
    assert (event.event_time and event.event_time.start.isoformat()) == expected


def test_a_fact_that_is_no_plan_keeps_the_times_that_the_model_wrote() -> None:
    fact, mistakes = check_days("I saw him yesterday.", whose="owner", domain="home", since="2019")
    assert (fact.since, mistakes) == ("2019", 0)
