"""The runner: one session from closing to closed, step by step.

    claim -> gate -> extract (each chunk) -> apply -> reflect -> close

Every step commits on its own and sees by itself what is done already. Whoever is killed anywhere leaves a lease that
runs out; the next one takes up the session, pays for no answer twice and doubles nothing.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from chat.models import Session
from chat.models.session import SessionQuerySet
from echovessel import discreet
from echovessel.embedding import EmbeddingUnavailable
from echovessel.llm import AnswerUnreadable, LLMError
from echovessel.outbox import events
from memory import knobs
from memory.consolidation import applying, extraction, off_record, reflection
from memory.consolidation.gate import is_trivial
from memory.consolidation.lines import lines_of
from memory.models import ConceptNode, Extraction, ReflectionRun, UnreadableAnswer

logger = logging.getLogger(__name__)

# Attempts are counted on through a retry by hand, each round of them from the next full hundred, so that a worker of an
# earlier round never holds the number of a later one.
ROUND = 100

Clock = Callable[[], datetime]
Status = Session.Status


class Outcome(StrEnum):
    """What one run made of a session."""

    CLOSED = "closed"
    TRIVIAL = "trivial"
    DELETED = "deleted"
    FAILED = "failed"
    LATER = "later"
    NOT_MINE = "not_mine"


class Lost(Exception):
    """The lease ran out and somebody else has the session now."""


@dataclass(frozen=True)
class Claim:
    """A session in our hands; `attempt` is the fence against whoever held it before."""

    session: Session
    attempt: int
    clock: Clock

    @property
    def tries(self) -> int:
        """Which try this is since the session closed or was retried by hand, from 1."""
        return self.attempt % ROUND

    def renew(self) -> None:
        """Hold on for another lease. Raises Lost."""
        if not self.mine().update(lease_until=_lease_from(self.clock())):
            raise Lost

    def mine(self) -> SessionQuerySet:
        """The row, as long as it is ours."""
        return Session.objects.filter(pk=self.session.pk, status=Status.CONSOLIDATING, attempts=self.attempt)


def run(session_id: int, clock: Clock = timezone.now) -> Outcome:
    """Take the session as far as it goes. Never raises: a fault is stored with the session, or waits for its next try.

    Raises only where the database itself cannot be written; the lease then runs out.
    """
    claim = claimed(session_id, clock)
    if claim is None:
        return Outcome.NOT_MINE
    step = "extraction"
    try:
        if claim.session.off_the_record:
            return _delete(claim)
        if claim.tries > knobs.attempts():
            return _fail(claim, f"It stopped {knobs.attempts()} times before it was done.")
        if is_trivial(lines_of(claim.session)):
            return _close(claim, trivial=True)
        extract(claim)
        applying.apply(claim.session, clock())
        step = "reflection"
        claim.renew()
        reflection.reflect(claim.session, clock())
        return _close(claim, trivial=False)
    except Lost:
        return Outcome.NOT_MINE
    except EmbeddingUnavailable as error:
        return _fail(claim, str(error))
    except LLMError as error:
        return _give_back(claim, step, error)
    except Exception as error:  # noqa: BLE001 - the edge of the job: nothing may leave a session that nobody sees
        return _stumble(claim, step, error)


def claimed(session_id: int, clock: Clock) -> Claim | None:
    """The session in our hands; None when it is not waiting, is held by another, or a reply is still to come."""
    now = clock()
    waiting = Session.objects.to_consolidate(now).without_turn_in_flight().filter(pk=session_id)
    if not waiting.update(status=Status.CONSOLIDATING, lease_until=_lease_from(now), attempts=F("attempts") + 1):
        return None
    session = Session.objects.select_related("persona__owner").get(pk=session_id)
    return Claim(session, session.attempts, clock)


def retry(session: Session) -> bool:
    """Let a failed session wait anew, with all its attempts; False when it has not failed.

    Answers of which nothing was made yet are asked for again: they may be what it failed of.
    """
    with transaction.atomic():
        failed = Session.objects.filter(pk=session.pk, status=Status.FAILED)
        next_round = (F("attempts") / ROUND + 1) * ROUND
        if not failed.update(status=Status.CLOSING, attempts=next_round, lease_until=None, failure=""):
            return False
        Extraction.objects.filter(session=session, applied_at=None).delete()
    return True


def extract(claim: Claim) -> None:
    """Ask about every chunk that was not asked about yet."""
    asked = set(claim.session.extractions.values_list("chunk", flat=True))
    for number, chunk in enumerate(extraction.chunks_of(lines_of(claim.session))):
        claim.renew()
        if number not in asked:
            extraction.extract(claim.session, number, chunk, claim.clock())
    claim.renew()


def pause_after(attempt: int, asked_for: float | None = None) -> timedelta:
    """How long to wait after the failure of the `attempt`-th try (from 1): four times longer each time, bounded,
    and never shorter than the server asked for."""
    seconds = min(knobs.backoff_longest_seconds(), knobs.backoff_seconds() * 4 ** (attempt - 1))
    return timedelta(seconds=max(seconds, asked_for or 0))


def _close(claim: Claim, *, trivial: bool) -> Outcome:
    """Closed, and told with what came of it."""
    with transaction.atomic():
        if not claim.mine().update(status=Status.CLOSED, trivial=trivial, lease_until=None, failure=""):
            raise Lost
        if trivial:
            applying.count_access(claim.session, claim.clock())
        UnreadableAnswer.objects.filter(session=claim.session).delete()
        publish_boundary(claim.session, trivial=trivial, failed=False)
    return Outcome.TRIVIAL if trivial else Outcome.CLOSED


def _delete(claim: Claim) -> Outcome:
    """A talk off the record leaves nothing."""
    with transaction.atomic():
        if not claim.mine().exists():
            raise Lost
        publish_boundary(claim.session, trivial=True, failed=False)
        off_record.erase(claim.session)
    return Outcome.DELETED


def _give_back(claim: Claim, step: str, error: LLMError) -> Outcome:
    """Wait for a fault that may pass; fail, visibly, for one that will not, or that came too often."""
    logger.warning("session %s: %s, %s", claim.session.pk, step, error.code)
    if isinstance(error, AnswerUnreadable):
        _keep_unreadable(claim.session, step, error.raw)
    if error.permanent or claim.tries >= knobs.attempts():
        return _fail(claim, f"{step}: {error}")
    return _wait(claim, error.retry_after)


def _stumble(claim: Claim, step: str, error: Exception) -> Outcome:
    """Wait after a fault that nobody foresaw; fail, visibly, when it came too often. The log tells where it was and of
    which type, not its message: that may hold words of people."""
    name = type(error).__name__
    logger.error("session %s: %s, %s", claim.session.pk, step, discreet.told(error))
    if claim.tries >= knobs.attempts():
        return _fail(claim, f"{step}: {name}")
    return _wait(claim)


def _wait(claim: Claim, asked_for: float | None = None) -> Outcome:
    """Back to those that wait, after a pause."""
    until = claim.clock() + pause_after(claim.tries, asked_for)
    if not claim.mine().update(status=Status.CLOSING, lease_until=until):
        return Outcome.NOT_MINE
    return Outcome.LATER


def _fail(claim: Claim, reason: str) -> Outcome:
    with transaction.atomic():
        failure = reason[: Session._meta.get_field("failure").max_length]
        if not claim.mine().update(status=Status.FAILED, failure=failure, lease_until=None):
            return Outcome.NOT_MINE
        publish_boundary(claim.session, trivial=False, failed=True)
    logger.error("session %s could not be remembered; its reason is stored with it", claim.session.pk)
    return Outcome.FAILED


def _keep_unreadable(session: Session, step: str, raw: str) -> None:
    """Keep the model's own words, as far as a database can store them, for people to read and for a retry to make
    obsolete."""
    UnreadableAnswer.objects.update_or_create(
        session=session, step=step, defaults={"raw": raw.encode("utf-8", "ignore").decode()}
    )


def publish_boundary(session: Session, *, trivial: bool, failed: bool) -> None:
    """Tell the stream that a talk has ended, and what came of it. Call inside a transaction."""
    run_after = ReflectionRun.objects.filter(session=session).first()
    summary = Session.objects.filter(pk=session.pk).values_list("summary", flat=True).first()
    events.publish(
        session.persona.uuid,
        "chat.session.boundary",
        closed_session_id=str(session.uuid),
        events_count=_new_events(session),
        thoughts_count=run_after.thoughts if run_after else 0,
        trivial=trivial,
        failed=failed,
        summary=summary or "",
    )


def _new_events(session: Session) -> int:
    return ConceptNode.objects.recallable().filter(session=session, kind=ConceptNode.Kind.EVENT).count()


def _lease_from(now: datetime) -> datetime:
    return now + timedelta(seconds=knobs.lease_seconds())
