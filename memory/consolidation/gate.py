"""The gates of consolidation: is a session worth reading, is it time to reflect. Pure (seed 000 B and C)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from echovessel.language.corrections import takes_back
from memory import knobs
from memory.consolidation.asked_for import told_beside_requests
from memory.consolidation.messages import PromptMessage
from memory.consolidation.self_statements import tells_something
from memory.curation.strong_emotion import has_strong_emotion
from memory.models import ReflectionRun

Reason = ReflectionRun.Reason


def is_trivial(lines: Sequence[PromptMessage]) -> bool:
    """Few lines **and** few tokens **and** nothing strong in what the user said, nor anything told of themselves or put
    right."""
    if len(lines) >= knobs.trivial_message_count():
        return False
    if sum(line.tokens for line in lines) >= knobs.trivial_token_count():
        return False
    theirs = [line.content for line in lines if line.by_user]
    statements = map(told_beside_requests, theirs)
    return not has_strong_emotion(theirs) and not any(tells_something(text) or takes_back(text) for text in statements)


@dataclass(frozen=True)
class Reflections:
    """What the reflection gate decides by. Impacts are of the events this session brought or told again."""

    runs_in_24h: int
    last_run_at: datetime | None
    fresh_impacts: Sequence[int]
    events_since: int


def decide(facts: Reflections, now: datetime) -> str:
    """Why to reflect now (`shock`, `timer`), or why not (`hard_gate`, `not_due`, `nothing_new`), in this order:
    the hard gate, a shock, the timer. Without any event there is nothing to reflect on."""
    if facts.runs_in_24h >= knobs.reflection_hard_gate_24h():
        return Reason.HARD_GATE
    if any(abs(impact) >= knobs.shock_impact() for impact in facts.fresh_impacts):
        return Reason.SHOCK
    if facts.last_run_at and now - facts.last_run_at <= timedelta(hours=knobs.reflection_timer_hours()):
        return Reason.NOT_DUE
    return Reason.TIMER if facts.events_since else Reason.NOTHING_NEW


def asks_the_model(reason: str) -> bool:
    """Whether a decision means to reflect."""
    return reason in (Reason.SHOCK, Reason.TIMER)
