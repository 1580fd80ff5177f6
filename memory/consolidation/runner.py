"""The runner: one session from closing to closed, step by step.

    claim -> gate -> extract (each piece) -> apply -> reflect -> close

An open session of which an early reading was asked goes through `extract` and `apply` alone, and stays open.

Every step commits on its own, only while the session is still in the hands that began it, and sees by itself what is
done already. Whoever is killed anywhere is known to be dead, or leaves a lease that runs out; the next one takes up the
session, pays for no answer twice and doubles nothing.
"""

import logging
from enum import StrEnum

from django.db import transaction
from django.utils import timezone

from chat import closing
from chat.models import Session
from chat.models.session import SessionQuerySet
from echovessel import discreet
from echovessel.embedding import EmbeddingUnavailable
from echovessel.llm import AnswerUnreadable, LLMError
from echovessel.outbox import events
from memory import knobs, slow_cycle
from memory.awaited import may_be_settled
from memory.claims import Clock, Lost
from memory.consolidation import applying, claims, extraction, off_record, reflection, replies
from memory.consolidation.claims import Claim
from memory.consolidation.elsewhere import is_from_elsewhere, is_past, material_of
from memory.consolidation.gate import is_trivial
from memory.consolidation.lines import lines_of
from memory.entities.clarifying import may_be_answered
from memory.forgetting import finishing
from memory.models import ConceptNode, ReflectionRun
from memory.patience import Again, once_more, pause_after
from memory.remembering import remember_what_was_asked

logger = logging.getLogger(__name__)

Status, WaitingFor = Session.Status, Session.WaitingFor
# What fails of these does not fail of the answers that are stored already.
BLAMELESS = ("extraction: ", "embedding: ")


class Outcome(StrEnum):
    """What one run made of a session."""

    CLOSED = "closed"
    TRIVIAL = "trivial"
    DELETED = "deleted"
    FAILED = "failed"
    READ = "read"
    DROPPED = "dropped"
    LATER = "later"
    NOT_MINE = "not_mine"


def run(session_id: int, clock: Clock = timezone.now) -> Outcome:
    """Take the session as far as it goes. Never raises: a fault is stored with the session, or waits for its next try.

    Raises only where the database itself cannot be written; the lease then runs out.
    """
    claim = claims.take(session_id, clock)
    if claim is None:
        return Outcome.NOT_MINE
    try:
        return _carried_on(claim)
    except Lost:
        return Outcome.NOT_MINE


def _carried_on(claim: Claim) -> Outcome:
    """What became of the session; where something went wrong, what was made of that. Raises Lost."""
    try:
        if claim.session.off_the_record and not claim.is_early:
            return _delete(claim)
        if claim.session.attempts > knobs.attempts():
            return _give_up(claim, f"It stopped {knobs.attempts()} times before it was done.")
        return _read_early(claim) if claim.is_early else _consolidate(claim)
    except Lost:
        raise
    except EmbeddingUnavailable as error:
        return _give_up(claim, f"embedding: {error}")
    except AnswerUnreadable as error:
        return _find_unreadable(claim, error)
    except LLMError as error:
        return _give_back(claim, error)
    except Exception as error:  # noqa: BLE001 - the edge of the job: nothing may leave a session that nobody sees
        return _stumble(claim, error)


def retry(session: Session) -> bool:
    """Let a failed session wait anew, with all its attempts; False when it has not failed.

    Answers of which nothing was made yet are asked for again where they may be what it failed of.
    """
    with transaction.atomic():
        failed = Session.objects.select_for_update().filter(pk=session.pk, status=Status.FAILED).first()
        if failed is None:
            return False
        if not failed.failure.startswith(BLAMELESS):
            failed.extractions.filter(applied_at=None).delete()
        replies.forget(failed)
        anew = Session.objects.filter(pk=failed.pk)
        anew.update(status=Status.CLOSING, holder="", lease_until=None, attempts=0, failure="", waiting_for="")
    return True


# --- the two ways -------------------------------------------------------------------------------------------------
def _consolidate(claim: Claim) -> Outcome:
    """All of a talk that has ended."""
    session = claim.session
    if not is_from_elsewhere(session):
        remember_what_was_asked(session.messages.select_related("session", "persona__owner"), claim.clock())
    if is_worth_reading(session):
        extraction.read(claim)
    elif not session.extractions.exists():
        return _close(claim, trivial=True)
    _apply(claim)
    claim.step = "reflection"
    reflection.reflect(claim)
    return _close(claim, trivial=False)


def _read_early(claim: Claim) -> Outcome:
    """What was said so far of a talk that goes on. Its end, its access counts and its thoughts come with its close."""
    if not claim.session.off_the_record:
        extraction.read(claim)
        _apply(claim)
    with transaction.atomic():
        _forget_request(claim.mine(), claim.session)
        _let_go_of_open(claim)
    return Outcome.READ


def _apply(claim: Claim) -> None:
    claim.step = "applying"
    applying.apply(claim)


def is_worth_reading(session: Session) -> bool:
    """The gate, on the lines of which nothing was made yet. It judges the same lines however often it is asked, so that
    a repeat reads on where the first run began to; and lines that somebody asked to have remembered pass it, and what
    somebody has written down."""
    done = session.extractions.exclude(applied_at=None).last()
    rest = [line for line in lines_of(session) if done is None or line.id > done.through]
    if is_from_elsewhere(session):
        return bool(rest) and (material_of(session).is_prose or not is_trivial(rest))
    theirs = [line.content for line in rest if line.by_user]
    return bool(rest) and (
        session.reading_asked_at is not None
        or not is_trivial(rest)
        or may_be_answered(session.persona, theirs)
        or may_be_settled(session.persona, theirs)
    )


# --- how it ends --------------------------------------------------------------------------------------------------
def _close(claim: Claim, *, trivial: bool) -> Outcome:
    """Closed, and told with what came of it."""
    with transaction.atomic():
        claim.let_go(status=Status.CLOSED, trivial=trivial, attempts=0, failure="", reading_asked_at=None)
        applying.count_access(claim.session, claim.clock())
        replies.forget(claim.session)
        publish_boundary(claim.session, trivial=trivial, failed=False)
        if not trivial and not is_past(claim.session, claim.clock()):
            slow_cycle.want(claim.session, claim.clock())
    return Outcome.TRIVIAL if trivial else Outcome.CLOSED


def _delete(claim: Claim) -> Outcome:
    """A talk off the record leaves nothing, and no byte in the file."""
    persona = claim.session.persona
    with transaction.atomic():
        claim.forward()
        publish_boundary(claim.session, trivial=True, failed=False)
        gone = off_record.erase(claim.session)
        receipt = finishing.note_erasure(persona, "off_record", gone, claim.clock())
    finishing.finish(receipt, claim.clock())
    return Outcome.DELETED


# --- what goes wrong ----------------------------------------------------------------------------------------------
def _find_unreadable(claim: Claim, error: AnswerUnreadable) -> Outcome:
    """Give up, and keep the model's words for people to see. A talk that goes on is asked about anew at its close."""
    logger.warning("session %s: %s, unreadable", claim.session.pk, claim.step)
    with transaction.atomic():
        outcome = _give_up(claim, f"{claim.step}: {error}")
        if outcome == Outcome.DROPPED:
            replies.forget(claim.session)
    return outcome


def _give_back(claim: Claim, error: LLMError) -> Outcome:
    """Wait for the model, or for the budget; give up, visibly, where that will not help."""
    logger.warning("session %s: %s, %s", claim.session.pk, claim.step, error.code)
    again = once_more(error, claim.tries())
    if again is None:
        return _give_up(claim, f"{claim.step}: {error}")
    budget = error.code == "budget_exhausted"
    return _wait(claim, again, WaitingFor.BUDGET if budget else WaitingFor.PROVIDER)


def _stumble(claim: Claim, error: Exception) -> Outcome:
    """Wait after a fault that nobody foresaw; give up, visibly, when it came too often, but never on deleting a talk
    off the record. The log tells where it was and of which type, not its message: that may hold words of people."""
    logger.error("session %s: %s, %s", claim.session.pk, claim.step, discreet.told(error))
    tries = claim.tries()
    again = once_more(error, tries)
    if again is None and not claim.session.off_the_record:
        return _give_up(claim, f"{claim.step}: {type(error).__name__}")
    return _wait(claim, again or Again(pause_after(tries), tries), "")


def _wait(claim: Claim, again: Again, waiting_for: str) -> Outcome:
    """Back to those that wait, after a pause; said once, where there is somebody to wait for."""
    until = claim.clock() + again.pause
    status = {} if claim.is_early else {"status": Status.CLOSING}
    with transaction.atomic():
        claim.let_go(lease_until=until, waiting_for=waiting_for, attempts=again.tries, **status)
        if not is_from_elsewhere(claim.session):
            closing.tell_whether_waiting(claim.session, claim.clock())
    return Outcome.LATER


def _give_up(claim: Claim, reason: str) -> Outcome:
    return _drop_request(claim) if claim.is_early else _fail(claim, reason)


def _drop_request(claim: Claim) -> Outcome:
    """Read no more of a talk that goes on: its close will read all of it. Where it was closed meanwhile the request
    stands, so that the gate lets it pass."""
    with transaction.atomic():
        _forget_request(claim.mine().open(), claim.session)
        _let_go_of_open(claim)
    logger.warning("session %s could not be read early; it will be at its close", claim.session.pk)
    return Outcome.DROPPED


def _fail(claim: Claim, reason: str) -> Outcome:
    with transaction.atomic():
        failure = reason[: Session._meta.get_field("failure").max_length]
        claim.let_go(status=Status.FAILED, failure=failure)
        publish_boundary(claim.session, trivial=False, failed=True)
    logger.error("session %s could not be remembered; its reason is stored with it", claim.session.pk)
    return Outcome.FAILED


def _forget_request(held: SessionQuerySet, as_taken: Session) -> None:
    """The request for an early reading is answered, if nobody has asked again meanwhile."""
    held.filter(reading_asked_at=as_taken.reading_asked_at).update(reading_asked_at=None)


def _let_go_of_open(claim: Claim) -> None:
    """Out of our hands. Who closed it meanwhile, or asked again, found it held: the next job is theirs."""
    claim.let_go(attempts=0)
    session = Session.objects.get(pk=claim.session.pk)
    if session.status != Status.OPEN or session.reading_asked_at:
        closing.hand_over(session)


# --- what is told -------------------------------------------------------------------------------------------------
def publish_boundary(session: Session, *, trivial: bool, failed: bool) -> None:
    """Tell the stream that a talk has ended, and what came of it. Call inside a transaction. What was brought ended
    long ago: its import is told of, not each of its talks."""
    if is_from_elsewhere(session):
        return
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
