"""Frozen situations, and what is decided in each: the order of the gates, their edges, zones and clocks that jump."""

import json
from dataclasses import FrozenInstanceError, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proactive.models.consideration import Consideration, Gate
from proactive.policy.decision import decide
from proactive.policy.gates import GATES
from proactive.policy.situation import LastMessage, Situation
from tests.proactive.policy.situations import DAY, HOUR, NOON, PROMISE, SECOND, SHOCK, SILENCE, at, said, situation
from tests.table import each_row

SPEAK = None
SHANGHAI, NEW_YORK, BERLIN, KATHMANDU, LORD_HOWE = (
    "Asia/Shanghai",
    "America/New_York",
    "Europe/Berlin",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
)


def quiet(start: int, end: int, *moment: int, zone: str = "UTC", fold: int = 0) -> Situation:
    return situation(at(zone, *moment, fold=fold), zone, quiet_start=start, quiet_end=end)


# In New York two o'clock is three o'clock on 8 March 2026; in Berlin three is two again on 25 October.
SPRING = at(NEW_YORK, 2026, 3, 8, 1, 59, 59) + SECOND
SPRING_MIDNIGHT, AUTUMN_MIDNIGHT = at(NEW_YORK, 2026, 3, 8, 0), at(BERLIN, 2026, 10, 25, 0)
MORNING = NOON - 4 * HOUR

TABLE: dict[str, tuple[Situation, Gate | None]] = {
    "nothing in the way": (situation(), SPEAK),
    "nobody has turned it on": (situation(enabled=False), Gate.ENABLED),
    # --- a crisis was spoken of
    "a crisis a while ago": (situation(care_until=NOON + DAY), Gate.CRISIS_HOLD),
    "the hold ends in a second": (situation(care_until=NOON + SECOND), Gate.CRISIS_HOLD),
    "the hold ends now": (situation(care_until=NOON), SPEAK),
    "the hold is over": (situation(care_until=NOON - SECOND), SPEAK),
    "not even for a shock": (situation(care_until=NOON + HOUR, reasons=(SHOCK,)), Gate.CRISIS_HOLD),
    # --- quiet hours, which go over midnight
    "the second before eleven at night": (quiet(23, 7, 2026, 3, 5, 22, 59, 59), SPEAK),
    "eleven at night": (quiet(23, 7, 2026, 3, 5, 23), Gate.QUIET_HOURS),
    "the last second of the day": (quiet(23, 7, 2026, 3, 5, 23, 59, 59), Gate.QUIET_HOURS),
    "midnight": (quiet(23, 7, 2026, 3, 6, 0), Gate.QUIET_HOURS),
    "the second before seven": (quiet(23, 7, 2026, 3, 6, 6, 59, 59), Gate.QUIET_HOURS),
    "seven in the morning": (quiet(23, 7, 2026, 3, 6, 7), SPEAK),
    "noon": (quiet(23, 7, 2026, 3, 6, 12), SPEAK),
    # --- quiet hours within a day, for who works at night
    "before a quiet day": (quiet(9, 17, 2026, 3, 5, 8, 59, 59), SPEAK),
    "a quiet day begins": (quiet(9, 17, 2026, 3, 5, 9), Gate.QUIET_HOURS),
    "in a quiet day": (quiet(9, 17, 2026, 3, 5, 13, 30), Gate.QUIET_HOURS),
    "a quiet day is over": (quiet(9, 17, 2026, 3, 5, 17), SPEAK),
    "midnight is the start": (quiet(0, 6, 2026, 3, 5, 0), Gate.QUIET_HOURS),
    "the second before that": (quiet(0, 6, 2026, 3, 4, 23, 59, 59), SPEAK),
    "midnight is the end": (quiet(20, 0, 2026, 3, 5, 0), SPEAK),
    "one hour before that": (quiet(20, 0, 2026, 3, 4, 23), Gate.QUIET_HOURS),
    "all hours but one": (quiet(8, 7, 2026, 3, 5, 6), Gate.QUIET_HOURS),
    "that one": (quiet(8, 7, 2026, 3, 5, 7, 30), SPEAK),
    # --- start and end are the same: none
    "start is end, at that hour": (quiet(7, 7, 2026, 3, 5, 7), SPEAK),
    "start is end, at night": (quiet(7, 7, 2026, 3, 5, 3), SPEAK),
    "start is end at midnight": (quiet(0, 0, 2026, 3, 5, 0), SPEAK),
    # --- the owner's zone, not the server's
    "noon here, eight at night in Shanghai": (situation(NOON, SHANGHAI), SPEAK),
    "three in the afternoon here, eleven in Shanghai": (situation(NOON + 3 * HOUR, SHANGHAI), Gate.QUIET_HOURS),
    "eleven at night here, seven in Shanghai": (situation(NOON + 11 * HOUR, SHANGHAI), SPEAK),
    "noon here, morning in New York": (situation(NOON, NEW_YORK), SPEAK),
    "eleven here, six in New York": (situation(NOON - HOUR, NEW_YORK), Gate.QUIET_HOURS),
    "a zone of three quarters, before seven": (quiet(23, 7, 2026, 3, 5, 6, 59, zone=KATHMANDU), Gate.QUIET_HOURS),
    "a zone of three quarters, at seven": (quiet(23, 7, 2026, 3, 5, 7, zone=KATHMANDU), SPEAK),
    # --- the hour that is left out
    "spring, the second before the jump": (quiet(23, 3, 2026, 3, 8, 1, 59, 59, zone=NEW_YORK), Gate.QUIET_HOURS),
    "spring, a second later it is three": (situation(SPRING, NEW_YORK, quiet_end=3), SPEAK),
    "spring, the hour left out was all there was": (situation(SPRING, NEW_YORK, quiet_start=2, quiet_end=3), SPEAK),
    "spring, seven comes an hour early": (quiet(23, 7, 2026, 3, 8, 7, zone=NEW_YORK), SPEAK),
    "spring, six hours after midnight it is seven": (situation(SPRING_MIDNIGHT + 6 * HOUR, NEW_YORK), SPEAK),
    "the day before it was six": (situation(at(NEW_YORK, 2026, 3, 7, 0) + 6 * HOUR, NEW_YORK), Gate.QUIET_HOURS),
    # --- the hour that comes twice
    "autumn, two o'clock": (quiet(2, 3, 2026, 10, 25, 2, 30, zone=BERLIN), Gate.QUIET_HOURS),
    "autumn, two o'clock again": (quiet(2, 3, 2026, 10, 25, 2, 30, zone=BERLIN, fold=1), Gate.QUIET_HOURS),
    "autumn, three o'clock": (quiet(2, 3, 2026, 10, 25, 3, zone=BERLIN), SPEAK),
    "autumn, seven hours after midnight it is six": (situation(AUTUMN_MIDNIGHT + 7 * HOUR, BERLIN), Gate.QUIET_HOURS),
    "autumn, eight hours after midnight it is seven": (situation(AUTUMN_MIDNIGHT + 8 * HOUR, BERLIN), SPEAK),
    "half an hour comes twice": (quiet(1, 2, 2026, 4, 5, 1, 45, zone=LORD_HOWE, fold=1), Gate.QUIET_HOURS),
    "and is over": (quiet(1, 2, 2026, 4, 5, 2, zone=LORD_HOWE), SPEAK),
    # --- the last two were not answered
    "one unanswered": (situation(**said(30)), SPEAK),
    "two unanswered": (situation(**said(30, 60)), Gate.COLD_USER),
    "two unanswered, long ago": (situation(**said(24 * 300, 24 * 400)), Gate.COLD_USER),
    "two of which one still waits": (situation(**said(5, 60)), Gate.COLD_USER),
    "the first was answered in time": (situation(**said(30, 60, answered=(None, 5.9))), SPEAK),
    "the first was answered in the last second": (situation(**said(30, 60, answered=(None, 6))), SPEAK),
    "the first was answered too late": (situation(**said(30, 60, answered=(None, 6.001))), Gate.COLD_USER),
    "the second was answered in time": (situation(**said(30, 60, answered=(1, 31))), SPEAK),
    "both too late, but something was written since": (situation(**said(30, 60, answered=(20, 50))), SPEAK),
    # --- enough for a rolling day
    "two in a day": (situation(**said(5, 10, answered=(1, 1))), SPEAK),
    "three in a day": (situation(**said(5, 10, 20, answered=(1, 1))), Gate.RATE),
    "the third was a day ago": (situation(**said(5, 10, 24, answered=(1, 1))), SPEAK),
    "the third was a second less than a day ago": (situation(**said(5, 10, 24 - 1 / 3600, answered=(1, 1))), Gate.RATE),
    "her owner wants one": (situation(max_per_24h=1, **said(5, answered=(1,))), Gate.RATE),
    "her owner wants none": (situation(max_per_24h=0), Gate.RATE),
    "not the calendar's day": (situation(MORNING, **said(9, 10, 11, now=MORNING, answered=(1, 1))), Gate.RATE),
    # --- one after the other
    "an hour after the last": (situation(**said(1, answered=(0.5,))), Gate.SPACING),
    "a second less than four hours after the last": (situation(**said(4 - 1 / 3600, answered=(1,))), Gate.SPACING),
    "four hours after the last": (situation(**said(4, answered=(1,))), SPEAK),
    "the clock was set back since": (situation(**said(-3, answered=(1,))), Gate.SPACING),
    # --- a reply is being written
    "she is answering": (situation(turn_in_flight=True), Gate.TURN_IN_FLIGHT),
    "she is answering, and has no reason": (situation(turn_in_flight=True, reasons=()), Gate.TURN_IN_FLIGHT),
    # --- the budget
    "the budget is spent": (situation(budget_spent=True), Gate.COST_CAP),
    "the budget is spent, and there is no reason": (situation(budget_spent=True, reasons=()), Gate.COST_CAP),
    # --- a reason
    "no reason": (situation(reasons=()), Gate.TRIGGER),
    "a long silence": (situation(reasons=(SILENCE,)), SPEAK),
    "she was never written to": (situation(last_user_line_at=None, last_line_at=None), SPEAK),
    # --- the first refusal wins
    "forbidden in the night": (replace(quiet(23, 7, 2026, 3, 6, 3), enabled=False), Gate.ENABLED),
    "in care in the night": (replace(quiet(23, 7, 2026, 3, 6, 3), care_until=NOON + 9 * DAY), Gate.CRISIS_HOLD),
    "night, and cold": (replace(quiet(23, 7, 2026, 3, 6, 3), **said(30, 60)), Gate.QUIET_HOURS),
    "cold, and enough": (situation(**said(5, 10, 15)), Gate.COLD_USER),
    "enough, and too soon": (situation(**said(1, 6, 11, answered=(0.5, 1))), Gate.RATE),
    "too soon, and answering": (situation(turn_in_flight=True, **said(1, answered=(0.5,))), Gate.SPACING),
    "answering, and the budget is spent": (situation(turn_in_flight=True, budget_spent=True), Gate.TURN_IN_FLIGHT),
}  # fmt: skip


@each_row(("frozen", "gate"), TABLE.values(), ids=TABLE)
def test_decisions_name_verdict_and_gate(frozen: Situation, gate: Gate | None) -> None:
    decision = decide(frozen)
    verdicts = {None: Consideration.Verdict.SEND, Gate.TURN_IN_FLIGHT: Consideration.Verdict.DEFER}
    assert (decision.verdict, decision.gate) == (verdicts.get(gate, Consideration.Verdict.REFUSE), gate)


def test_the_table_is_long_enough_and_every_gate_decides_in_it() -> None:
    assert len(TABLE) >= 60
    assert {gate for _, gate in TABLE.values()} == {SPEAK, *Gate}


def test_the_gates_are_asked_in_the_order_in_which_they_are_told() -> None:
    assert list(GATES) == list(Gate)


def test_each_gate_wins_over_all_that_follow() -> None:
    """All of them refuse; one after the other is opened."""
    now = at("UTC", 2026, 3, 6, 3)
    stands = situation(
        now,
        enabled=False,
        care_until=now + HOUR,
        max_per_24h=1,
        turn_in_flight=True,
        budget_spent=True,
        reasons=(),
        **said(1, 5, now=now),
    )
    opened: list[tuple[Gate, dict[str, Any]]] = [
        (Gate.ENABLED, {"enabled": True}),
        (Gate.CRISIS_HOLD, {"care_until": None}),
        (Gate.QUIET_HOURS, {"quiet_start": 7}),
        (Gate.COLD_USER, {"outreaches": (LastMessage(now - HOUR, now - HOUR / 2),)}),
        (Gate.RATE, {"max_per_24h": 9}),
        (Gate.SPACING, {"outreaches": ()}),
        (Gate.TURN_IN_FLIGHT, {"turn_in_flight": False}),
        (Gate.COST_CAP, {"budget_spent": False}),
        (Gate.TRIGGER, {"reasons": (PROMISE,)}),
    ]
    for gate, opening in opened:
        assert decide(stands).gate == gate
        stands = replace(stands, **opening)
    assert decide(stands).speaks


def test_the_best_reason_is_taken_and_kept_where_she_waits() -> None:
    several = (SHOCK, SILENCE)
    assert decide(situation(reasons=several)).reason == SHOCK
    assert decide(situation(reasons=several, turn_in_flight=True)).reason == SHOCK
    assert decide(situation(reasons=several, enabled=False)).reason == SHOCK
    assert decide(situation(reasons=())).reason is None


def test_the_knobs_move_the_edges(settings: Any) -> None:
    settings.KNOBS = {"proactive.spacing_hours": 0, "proactive.answer_hours": 48}
    assert decide(situation(**said(1, answered=(0.5,)))).speaks
    assert decide(situation(**said(30, 60, answered=(None, 40)))).speaks


def test_a_situation_is_frozen_and_can_be_told_as_json() -> None:
    frozen = situation(care_until=NOON, reasons=(PROMISE, SHOCK, SILENCE), **said(30, 60, answered=(2,)))
    with pytest.raises(FrozenInstanceError):
        frozen.enabled = False  # type: ignore[misc]
    facts = json.loads(json.dumps(frozen.facts()))
    assert facts["reasons"][0] == {
        "kind": "promise",
        "key": PROMISE.key,
        "about": str(PROMISE.about),
        "at": "2026-03-05",
    }
    assert facts["outreaches"][0]["answered_at"] == (NOON - 28 * HOUR).isoformat()
    assert (facts["zone"], facts["quiet_start"], facts["quiet_end"]) == ("UTC", 23, 7)


@each_row(("until", "told"), [(NOON + HOUR, (NOON + HOUR).isoformat()), (NOON, None), (None, None)])
def test_a_hold_that_is_over_is_not_told(until: datetime | None, told: str | None) -> None:
    assert situation(care_until=until).facts()["care_until"] == told


@given(st.integers(0, 23), st.integers(0, 23), st.integers(0, 23))
def test_quiet_are_as_many_hours_as_lie_between_start_and_end(start: int, end: int, hour: int) -> None:
    moments = [situation(NOON + timedelta(hours=passed), quiet_start=start, quiet_end=end) for passed in range(24)]
    quiet_ones = {each.local.hour for each in moments if decide(each).gate == Gate.QUIET_HOURS}
    assert len(quiet_ones) == (end - start) % 24
    assert (hour in quiet_ones) == ((hour - start) % 24 < (end - start) % 24)
