"""Recollections as the prompt shows them: exact days in the owner's zone, and what has none."""

from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from echovessel.llm.prompts import tokens
from memory.recall.render import RenderedMessage, RenderedNode, Renderer
from tests.table import each_row

NOW = datetime(2023, 9, 12, 12, tzinfo=UTC)
TOLD = datetime(2023, 4, 9, 12)


def renderer(language: str = "en", zone: str = "UTC", now: datetime = NOW) -> Renderer:
    return Renderer(language, {"user": "Ana", "persona": "Mira"}, now.astimezone(ZoneInfo(zone)))


def node(text: str, start: date | None = None, end: date | None = None, **values: Any) -> RenderedNode:
    known: dict[str, Any] = {"kind": "event", "created_at": TOLD, "outcome": ""} | values
    return RenderedNode(1, "0" * 32, None, description=text, event_start=start, event_end=end or start, **known)


def message(text: str, at: datetime, key: int = 1, **values: Any) -> RenderedMessage:
    return RenderedMessage(key, "0" * 32, None, values.pop("role", "user"), text, at, 1, None, **values)


@each_row(
    ("language", "shown", "line"),
    [
        ("en", node("Ana got a cat.", date(2023, 4, 2)), "- [on 2023-04-02] Ana got a cat."),
        ("zh", node("安娜养了猫。", date(2023, 4, 2)), "- [于2023-04-02]安娜养了猫。"),
        ("en", node("Ana got a cat."), "- [2023-04-09] Ana got a cat."),
        ("zh", node("安娜养了猫。"), "- [2023-04-09]安娜养了猫。"),
        (
            "en",
            node("Ana lived in Lyon.", date(2023, 3, 1), date(2023, 5, 31)),
            "- [March–May 2023] Ana lived in Lyon.",
        ),
        ("zh", node("安娜住在里昂。", date(2022, 1, 1), date(2022, 12, 31)), "- [2022年]安娜住在里昂。"),
        ("en", node("Ana leaps.", date(2020, 2, 29)), "- [on 2020-02-29] Ana leaps."),
        ("en", node("Ana writes.", date(2023, 9, 1), date(2023, 9, 30)), "- [September 2023] Ana writes."),
        # Words that count from the day of telling need that day beside the event's own.
        (
            "en",
            node("Ana moved last Friday.", date(2023, 4, 7)),
            "- [on 2023-04-07; said 2023-04-09] Ana moved last Friday.",
        ),
        (
            "zh",
            node("安娜前天搬家了。", date(2022, 12, 31), created_at=datetime(2023, 1, 2)),
            "- [于2022-12-31；2023-01-02说]安娜前天搬家了。",
        ),
        ("en", node("Ana wept today.", date(2023, 4, 9)), "- [on 2023-04-09] Ana wept today."),
        (
            "en",
            node("I will ask tomorrow.", date(2023, 9, 14), kind="intention", outcome="open"),
            "- [on 2023-09-14] I will ask tomorrow.",
        ),
        ("en", node("Ana fears change.", kind="thought"), "- [noted 2023-04-09] Ana fears change."),
        ("en", node("Brought.", is_from_session=False), "- [noted 2023-04-09] Brought."),
        # What lasts is shown without a day, unless its words need one.
        ("en", node("Ana lives in Basel.", kind="fact"), "- Ana lives in Basel."),
        ("zh", node("安娜住在巴塞尔。", kind="fact"), "- 安娜住在巴塞尔。"),
        (
            "en",
            node("Ana started at the bakery last week.", kind="fact"),
            "- [2023-04-09] Ana started at the bakery last week.",
        ),
        # A file without times says no day: the stand-in is not passed off for one.
        ("en", node("Ana got a cat.", is_undated=True), "- [day unknown] Ana got a cat."),
        ("zh", node("安娜养了猫。", is_undated=True), "- [日期不详]安娜养了猫。"),
        (
            "en",
            node("Ana moved yesterday.", date(2019, 5, 1), is_undated=True),
            "- [on 2019-05-01] Ana moved yesterday.",
        ),
    ],
)
def test_a_memory_bears_its_day(language: str, shown: RenderedNode, line: str) -> None:
    assert renderer(language).node(shown) == line


@each_row(
    ("zone", "at", "now", "day"),
    [
        ("UTC", datetime(2023, 4, 9, 23, 59), NOW, "[2023-04-09]"),
        ("Asia/Shanghai", datetime(2023, 4, 9, 16, 1), NOW, "[2023-04-10]"),
        ("America/Los_Angeles", datetime(2023, 4, 9, 6, 59), NOW, "[2023-04-08]"),
        (
            "UTC",
            datetime(2023, 9, 11, 23, 59),
            datetime(2023, 9, 12, 0, 1, tzinfo=UTC),
            "[2023-09-11]",
        ),
        ("UTC", datetime(2023, 9, 12), NOW, "[2023-09-12]"),
        ("UTC", datetime(2008, 2, 29), NOW, "[2008-02-29]"),
    ],
)
def test_a_quotation_bears_the_day_in_the_owners_zone(zone: str, at: datetime, now: datetime, day: str) -> None:
    shown = renderer(zone=zone, now=now).passage([message("See you tomorrow.", at)])
    assert shown == f'- {day} Ana: "See you tomorrow."'


@pytest.mark.parametrize(
    ("language", "lines"),
    [
        (
            "en",
            '- [2023-04-09] Ana: "Not today."\n  [2023-04-10] Mira: "It is tomorrow now."\n  Ana: "So it is."',
        ),
        (
            "zh",
            '- [2023-04-09]Ana："Not today."\n  [2023-04-10]Mira："It is tomorrow now."\n  Ana："So it is."',
        ),
    ],
)
def test_a_passage_that_runs_over_midnight_says_where_the_next_day_begins(language: str, lines: str) -> None:
    first = message("Not today.", datetime(2023, 4, 9, 23, 58))
    second = message("It is tomorrow now.", datetime(2023, 4, 10, 0, 2), 2, role="persona")
    third = message("So it is.", datetime(2023, 4, 10, 0, 3), 3)
    teller = renderer(language)
    assert teller.passage([first, second, third]) == lines
    _, _, joined, _ = teller.costs(second, [first, third])
    line, cost, *_ = teller.costs(first, [second])
    assert (line, cost) == (teller.passage([first]), tokens(teller.passage([first])))
    assert tokens(teller.passage([first, second])) <= cost + joined


def test_a_quotation_of_a_file_without_times_has_no_day() -> None:
    shown = renderer().passage([message("I got a cat.", TOLD, is_undated=True)])
    assert shown == '- [day unknown] Ana: "I got a cat."'


@each_row(
    ("shown", "when"),
    [
        (node("Ana got a cat.", date(2023, 9, 11)), "yesterday"),
        (node("Ana got a cat."), "five months ago"),
        (node("Ana fears change.", kind="thought"), ""),
        (node("Ana lives in Basel.", kind="fact"), ""),
        (node("Ana got a cat.", is_undated=True), ""),
    ],
)
def test_people_are_told_how_long_ago_it_was(shown: RenderedNode, when: str) -> None:
    assert renderer().humanize_node_age(shown) == when
