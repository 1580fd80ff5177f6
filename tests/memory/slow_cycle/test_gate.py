"""The gate of the slow cycle: the table of all cases."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.slow_cycle.gate import Decision, Facts, Refusal, decide
from tests.table import each_row

NOW = datetime(2026, 3, 5, 23, 50, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 6, tzinfo=UTC)
QUIET = Facts(
    new_events=1,
    heaviest=3,
    has_correction=False,
    last_run_at=NOW - timedelta(hours=2),
    runs_today=0,
    tokens_in_today=0,
    tokens_out_today=0,
)
LATELY = NOW - timedelta(minutes=29, seconds=59)


def ago(**amount: float) -> datetime:
    return NOW - timedelta(**amount)


@each_row(
    ("facts", "reason", "refusal", "again_at"),
    [
        ({}, "rested", None, None),
        ({"last_run_at": None}, "first", None, None),
        ({"last_run_at": ago(minutes=30)}, "rested", None, None),
        ({"last_run_at": LATELY}, "", "cool_down", LATELY + timedelta(minutes=30)),
        ({"last_run_at": NOW}, "", "cool_down", NOW + timedelta(minutes=30)),
        ({"last_run_at": NOW + timedelta(days=300)}, "rested", None, None),  # the clock was set back
        ({"last_run_at": LATELY, "heaviest": 7}, "", "cool_down", LATELY + timedelta(minutes=30)),
        ({"last_run_at": LATELY, "heaviest": 8}, "shock", None, None),
        ({"heaviest": 10}, "shock", None, None),
        ({"last_run_at": LATELY, "has_correction": True}, "correction", None, None),
        ({"last_run_at": LATELY, "heaviest": 9, "has_correction": True}, "shock", None, None),
        ({"last_run_at": None, "heaviest": 9}, "first", None, None),
        ({"new_events": 0}, "", "nothing_new", None),
        ({"new_events": 0, "runs_today": 36, "tokens_in_today": 150_000}, "", "nothing_new", None),
        ({"runs_today": 35}, "rested", None, None),
        ({"runs_today": 36}, "", "daily_cap", MIDNIGHT),
        ({"runs_today": 36, "heaviest": 10}, "", "daily_cap", MIDNIGHT),
        ({"runs_today": 36, "last_run_at": LATELY}, "", "daily_cap", MIDNIGHT),
        ({"tokens_in_today": 142_000}, "rested", None, None),
        ({"tokens_in_today": 142_001}, "", "token_wall", MIDNIGHT),
        ({"tokens_in_today": 142_001, "has_correction": True}, "", "token_wall", MIDNIGHT),
        ({"tokens_out_today": 27_300}, "rested", None, None),
        ({"tokens_out_today": 27_301}, "", "token_wall", MIDNIGHT),
        ({"tokens_in_today": 200_000, "last_run_at": None}, "", "token_wall", MIDNIGHT),
    ],
)
def test_the_gate(facts: Any, reason: str, refusal: Any, again_at: Any) -> None:
    assert decide(replace(QUIET, **facts), NOW) == Decision(reason, refusal, again_at)


def test_a_cap_of_none_lets_her_think_nothing(settings: Any) -> None:
    settings.KNOBS = {"slow_cycle.runs_per_day": 0}
    assert decide(QUIET, NOW) == Decision("", Refusal.DAILY_CAP, MIDNIGHT)
