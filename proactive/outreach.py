"""Outreach: one first word from the decision to the line in the talk.

    claim -> write (asked for once, and kept) -> deliver (said, published, stamped) -> notice

Each step commits on its own, only while the outreach is in the hands that began it. Whoever is killed anywhere is known
to be dead, or leaves a lease that runs out; the next one pays for nothing twice and says nothing twice.
"""

import logging
from datetime import datetime, timedelta
from enum import StrEnum

from django.db import transaction
from django.utils import timezone
from django_q.tasks import async_task, queue_size

from echovessel import discreet
from echovessel.embedding import EmbeddingUnavailable
from echovessel.llm import LLMError
from memory import knobs as memory_knobs
from memory.claims import Clock, Lost, free_from_the_dead
from memory.patience import once_more
from proactive import claims, keeping, knobs, occasion, push
from proactive.claims import Claim
from proactive.considering import JOB
from proactive.delivering import Deferred, HeldBack, ask_the_gates, deliver
from proactive.models import Outreach
from proactive.models.consideration import Gate
from proactive.writing import Unfit, write

logger = logging.getLogger(__name__)

Status = Outreach.Status


class Outcome(StrEnum):
    """What one run made of an outreach."""

    DELIVERED = "delivered"
    DROPPED = "dropped"
    FAILED = "failed"
    LATER = "later"
    NOT_MINE = "not_mine"


def carry_out(outreach_id: int, clock: Clock = timezone.now) -> str:
    """Take an outreach as far as it goes; returns what became of it. Never raises, except where the database itself
    cannot be written; the lease then runs out."""
    claim = claims.take(outreach_id, clock)
    if claim is None:
        return Outcome.NOT_MINE
    try:
        outcome = _carried_on(claim)
    except Lost:
        return Outcome.NOT_MINE
    if outcome == Outcome.DELIVERED:
        push.notify(claim.outreach, claim.clock())
    return outcome


def sweep(now: datetime) -> int:
    """Queue those that wait: whose pause is over, or whose worker is gone; returns how many."""
    free_from_the_dead(Outreach.objects.filter(status=Status.WANTED))
    room = max(0, memory_knobs.queue_room() - queue_size())
    waiting = list(Outreach.objects.waiting(now).order_by("wanted_at").values_list("pk", flat=True)[:room])
    for pk in waiting:
        async_task(JOB, pk)
    return len(waiting)


def _carried_on(claim: Claim) -> Outcome:
    """What became of it; where something went wrong, what was made of that. Raises Lost."""
    try:
        if claim.outreach.attempts > memory_knobs.attempts():
            return _fail(claim, "stopped_too_often")
        return _say(claim)
    except Lost:
        raise
    except Deferred as deferred:
        return _defer(claim, timedelta() if deferred.at_once else timedelta(seconds=knobs.defer_seconds()))
    except HeldBack as held:
        return _drop(claim, held.gate)
    except occasion.Gone:
        return _drop(claim, Gate.TRIGGER)
    except Unfit as error:
        return _fail(claim, error.code)
    except EmbeddingUnavailable:
        return _fail(claim, "embedding")
    except LLMError as error:
        return _give_back(claim, error)
    except Exception as error:  # noqa: BLE001 - the edge of the job: nothing may leave an outreach that nobody sees
        return _stumble(claim, error)


def _say(claim: Claim) -> Outcome:
    """Written and said, where the gates, which are asked before and after the model, still let it pass. Words that were
    kept for longer than a talk rests belong to another moment."""
    ask_the_gates(claim)
    keeping.forget_before(claim.outreach, claim.clock() - timedelta(minutes=knobs.rest_minutes()))
    deliver(claim, write(claim, occasion.of(claim.outreach)))
    return Outcome.DELIVERED


# --- what goes wrong ------------------------------------------------------------------------------------------------
def _give_back(claim: Claim, error: LLMError) -> Outcome:
    """Wait for a fault that may pass; give up for one that will not, or that came too often. A spent budget is one of
    the gates."""
    logger.warning("outreach %s: %s", claim.outreach.pk, error.code)
    if error.code == "budget_exhausted":
        return _drop(claim, Gate.COST_CAP)
    return _patiently(claim, error, error.code)


def _stumble(claim: Claim, error: Exception) -> Outcome:
    """Wait after a fault that nobody foresaw; give up when it came too often."""
    logger.error("outreach %s: %s", claim.outreach.pk, discreet.told(error))
    return _patiently(claim, error, type(error).__name__)


def _patiently(claim: Claim, error: Exception, reason: str) -> Outcome:
    again = once_more(error, claim.tries())
    return _fail(claim, reason) if again is None else _wait(claim, again.pause, attempts=again.tries)


def _defer(claim: Claim, pause: timedelta) -> Outcome:
    """It is nobody's fault, and costs no try."""
    return _wait(claim, pause, attempts=0)


def _wait(claim: Claim, pause: timedelta, *, attempts: int) -> Outcome:
    claim.let_go(lease_until=claim.clock() + pause if pause else None, attempts=attempts)
    return Outcome.LATER


def _drop(claim: Claim, gate: str) -> Outcome:
    _end(claim, Status.DROPPED, gate)
    return Outcome.DROPPED


def _fail(claim: Claim, reason: str) -> Outcome:
    _end(claim, Status.FAILED, reason)
    logger.error("outreach %s was given up: %s", claim.outreach.pk, reason)
    return Outcome.FAILED


def _end(claim: Claim, status: str, reason: str) -> None:
    """Nothing is said, and nothing is left of what was written."""
    with transaction.atomic():
        claim.let_go(status=status, reason=reason[: Outreach._meta.get_field("reason").max_length], attempts=0)
        keeping.forget(claim.outreach)
