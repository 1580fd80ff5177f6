"""Whether a persona may run a slow cycle now, why, and if not, when to ask again. Pure.

The daily limits come first and hold without exception; the rest between runs is skipped for urgent events.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from echovessel.llm.ledger import next_day
from memory import knobs
from memory.models import SlowCycleRun

Reason = SlowCycleRun.Reason


class Refusal(StrEnum):
    """Why not now."""

    NOTHING_NEW = "nothing_new"
    DAILY_CAP = "daily_cap"
    TOKEN_WALL = "token_wall"
    COOL_DOWN = "cool_down"


@dataclass(frozen=True)
class Facts:
    """The number of new events, the greatest impact among them (0 … 10), and whether one is a correction; the time of
    the last run, and the cost so far today (a day of UTC)."""

    new_events: int
    heaviest: int
    has_correction: bool
    last_run_at: datetime | None
    runs_today: int
    tokens_in_today: int
    tokens_out_today: int


@dataclass(frozen=True)
class Decision:
    """The reason to run now; or the refusal, and when it is over (None: when there is something new)."""

    reason: str = ""
    refusal: Refusal | None = None
    again_at: datetime | None = None


def decide(facts: Facts, now: datetime) -> Decision:
    """The first rule that applies decides."""
    if not facts.new_events:
        return Decision(refusal=Refusal.NOTHING_NEW)
    if facts.runs_today >= knobs.slow_cycle_runs_per_day():
        return Decision(refusal=Refusal.DAILY_CAP, again_at=next_day(now))
    most_out = knobs.slow_cycle_answer_tokens() + knobs.slow_cycle_entities() * knobs.slow_cycle_entity_tokens()
    if (
        facts.tokens_in_today + knobs.slow_cycle_run_tokens() > knobs.slow_cycle_tokens_in_per_day()
        or facts.tokens_out_today + most_out > knobs.slow_cycle_tokens_out_per_day()
    ):
        return Decision(refusal=Refusal.TOKEN_WALL, again_at=next_day(now))
    if facts.last_run_at is None:
        return Decision(Reason.FIRST)
    if facts.heaviest >= knobs.shock_impact():
        return Decision(Reason.SHOCK)
    if facts.has_correction:
        return Decision(Reason.CORRECTION)
    # A run in the future was made before the clock was set back: it is ignored.
    cool_down = timedelta(minutes=knobs.slow_cycle_rest_minutes())
    if timedelta(0) <= now - facts.last_run_at < cool_down:
        return Decision(refusal=Refusal.COOL_DOWN, again_at=facts.last_run_at + cool_down)
    return Decision(Reason.RESTED)
