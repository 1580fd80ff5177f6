"""Running: one persona's slow cycle, from being wanted to what came of it.

    claim -> gate -> think -> describe -> store

Only the last writes anything that stays, all at once and only while the cycle is still in the hands that began it.
Replies of models are kept until then: who is killed anywhere is followed by one that pays for nothing twice. Where a
run fails nothing is lost: its events are new to the next one, after the next talk. No talk ever waits for it.
"""

import logging
from enum import StrEnum

from django.db import transaction
from django.utils import timezone

from echovessel import discreet
from echovessel.llm import LLMError
from memory import knobs
from memory.claims import Clock, Lost
from memory.models import SlowCycleRun
from memory.patience import Again, named, once_more
from memory.slow_cycle import claims, replies
from memory.slow_cycle.claims import Claim
from memory.slow_cycle.describing import describe
from memory.slow_cycle.facts import facts_of
from memory.slow_cycle.gate import Decision, decide
from memory.slow_cycle.packing import packed
from memory.slow_cycle.storing import store
from memory.slow_cycle.thinking import think

logger = logging.getLogger(__name__)

# Faults that lie with the words: a model that refuses the same events again and again is not asked for ever.
OF_THE_WORDS = ("content_refused", "unreadable")
MOST_FAILURES_OF_THE_WORDS = 3


class Outcome(StrEnum):
    """What one try made of it."""

    DONE = "done"
    NOT_NOW = "not_now"
    FAILED = "failed"
    LATER = "later"
    NOT_MINE = "not_mine"


def run(persona_id: int, clock: Clock = timezone.now) -> Outcome:
    """Have the persona think about what is new, if the gate allows it. Never raises: a fault is told by a row, or waits
    for its next try.

    Raises only where the database itself cannot be written; the lease then runs out.
    """
    claim = claims.take(persona_id, clock)
    if claim is None:
        return Outcome.NOT_MINE
    try:
        return _carried_on(claim)
    except Lost:
        return Outcome.NOT_MINE


def _carried_on(claim: Claim) -> Outcome:
    """What became of it; where something went wrong, what was made of that. Raises Lost."""
    try:
        decision = decide(facts_of(claim.cycle, claim.clock()), claim.clock())
        claim.reason = decision.reason or claim.reason
        if claim.tries() > knobs.attempts():
            return _fail(claim, "stopped")
        if decision.refusal is not None:
            return _rest(claim, decision)
        return _run(claim)
    except Lost:
        raise
    except Exception as error:  # noqa: BLE001 - the edge of the job: nothing may leave a cycle that nobody sees
        return _stumble(claim, error)


def _run(claim: Claim) -> Outcome:
    claim.given = packed(claim.cycle, claim.clock())
    thinking = think(claim, claim.given)
    described = describe(claim, knobs.slow_cycle_run_tokens() - thinking.cost)
    store(claim, thinking, described)
    return Outcome.DONE


def _rest(claim: Claim, decision: Decision) -> Outcome:
    """Ask again when what refuses has passed; where nothing is new, when something is. Being refused is no try."""
    with transaction.atomic():
        claim.let_go(lease_until=decision.again_at, attempts=claim.tries() - 1)
        if decision.again_at is None:
            replies.forget(claim.persona)
            claim.forget_wish()
    return Outcome.NOT_NOW


# --- what goes wrong ----------------------------------------------------------------------------------------------
def _stumble(claim: Claim, error: Exception) -> Outcome:
    """Wait for a fault that may pass; give up, visibly, for one that will not, or that came too often. The log tells
    its type and place, not its message: that may hold words of people."""
    if isinstance(error, LLMError):
        logger.warning("slow cycle of persona %s: %s", claim.persona.pk, error.code)
    else:
        logger.error("slow cycle of persona %s: %s", claim.persona.pk, discreet.told(error))
    again = once_more(error, claim.tries())
    return _fail(claim, named(error)) if again is None else _wait(claim, again)


def _wait(claim: Claim, again: Again) -> Outcome:
    claim.let_go(lease_until=claim.clock() + again.pause, attempts=again.tries)
    return Outcome.LATER


def _fail(claim: Claim, failure: str) -> Outcome:
    """Give up until the next talk. What was given stays new, but for events that a model refused again and again."""
    through, made = claim.cycle.through, []
    if claim.given.events and _failed_too_often(claim, failure):
        through, made = claim.given.through, [{"kind": "events", "dropped": failure}]
    with transaction.atomic():
        claim.let_go(through=through, attempts=0)
        claim.forget_wish()
        replies.forget(claim.persona)
        SlowCycleRun.objects.create(
            persona=claim.persona,
            session=claim.cycle.wanted_by,
            reason=claim.reason,
            outcome=SlowCycleRun.Outcome.FAILED,
            failure=failure,
            given=claim.given.keys(),
            made=made,
            through=through,
            at=claim.clock(),
        )
    logger.error("slow cycle of persona %s failed: %s", claim.persona.pk, failure)
    return Outcome.FAILED


def _failed_too_often(claim: Claim, failure: str) -> bool:
    """Whether models have refused these events, or said nothing readable of them, as often as they may."""
    runs = SlowCycleRun.objects.filter(persona=claim.persona, outcome=SlowCycleRun.Outcome.FAILED)
    before = runs.filter(through=claim.cycle.through, failure__in=OF_THE_WORDS).count()
    return failure in OF_THE_WORDS and before + 1 >= MOST_FAILURES_OF_THE_WORDS
