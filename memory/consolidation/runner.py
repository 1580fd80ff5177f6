"""The job that consolidates one session, from closing to closed.

    acquire -> gate -> extract (each piece) -> apply -> reconcile -> reflect -> close

An open session whose early consolidation was requested goes through `extract` and `apply` only, and stays open.
"""

import logging
from datetime import datetime
from enum import StrEnum

from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone

from chat.models import Session
from chat.sessions import close as sessions_close
from echovessel.embeddings.errors import EmbeddingUnavailable, ServerUnavailable
from echovessel.jobs import knobs, runner
from echovessel.jobs.lease import Clock, Lease
from echovessel.jobs.retry import Retry, delay_after
from echovessel.language.requests import RequestKind, read_requests
from echovessel.llm import AnswerUnreadable, LLMError, provider_name
from echovessel.outbox import events
from memory.consolidation import (
    apply,
    extraction,
    off_the_record,
    reconciliation,
    reflection,
    replies,
    slow_cycle_requests,
)
from memory.consolidation.gate import is_trivial
from memory.consolidation.imported import is_imported, is_long_past, material_of
from memory.consolidation.messages import messages_of
from memory.consolidation.open_items import may_be_settled
from memory.curation.remember import remember_requested
from memory.entities.clarify import may_be_answered
from memory.erasure import receipts
from memory.models import ConceptNode, ImportJob, ReflectionRun

logger = logging.getLogger(__name__)

Status, WaitingFor = Session.Status, Session.WaitingFor
# Failures with these prefixes are not caused by the stored answers.
BLAMELESS = ("extraction: ", "embedding: ")


class Outcome(StrEnum):
    """The result of one run."""

    CLOSED = "closed"
    TRIVIAL = "trivial"
    DELETED = "deleted"
    FAILED = "failed"
    READ = "read"
    DROPPED = "dropped"
    LATER = runner.LATER
    NOT_MINE = runner.NOT_MINE


def run(session_id: int, clock: Clock = timezone.now) -> Outcome:
    """Run all steps that can be run now. A failure is stored with the session, or waits for its next attempt."""
    lease = acquire(session_id, clock)
    return Outcome(Consolidation(lease).run()) if lease else Outcome.NOT_MINE


def acquire(session_id: int, clock: Clock) -> Lease[Session] | None:
    """A lease on a session that is due for consolidation, or on an open one with a request for early consolidation.
    None if it is neither, is leased by another worker, waits for a retry, or a reply is being written."""
    now, rows = clock(), Session.objects.filter(pk=session_id).select_related("persona__owner")
    free = rows.without_turn_in_flight()
    status = Case(When(status=Status.OPEN, then=F("status")), default=Value(Status.CONSOLIDATING))
    due = free.to_consolidate(now) | free.to_read_early(now)
    return Lease.acquire(rows, due, clock, status=status, waiting_for="")


def requeue_stale(now: datetime) -> int:
    """Enqueue waiting sessions: closing ones, then early consolidations, then imported ones. An import that is running
    or being cancelled takes care of its own sessions."""
    waiting = Session.objects.without_turn_in_flight().order_by("closed_at", "id")
    imported = Q(close_reason=Session.CloseReason.IMPORT)
    being_erased = Q(status=ImportJob.Status.CANCELLED, finished_at=None)
    at_work = ImportJob.objects.filter(Q(status__in=ImportJob.AT_WORK) | being_erased).values("uuid")
    return runner.requeue_stale(
        Session.objects.all(),
        waiting.to_consolidate(now).exclude(imported),
        waiting.to_read_early(now),
        waiting.to_consolidate(now).filter(imported).exclude(import_uuid__in=at_work),
        enqueue=sessions_close.enqueue_consolidation,
    )


def retry(session: Session) -> bool:
    """Let a failed session wait again, with all its attempts; False if it has not failed.

    Answers that were not applied are deleted and asked for again if they may have caused the failure.
    """
    with transaction.atomic():
        failed = Session.objects.select_for_update().filter(pk=session.pk, status=Status.FAILED).first()
        if failed is None:
            return False
        if not failed.failure.startswith(BLAMELESS):
            failed.extractions.filter(applied_at=None).delete()
        replies.delete(failed)
        Session.objects.filter(pk=failed.pk).update(
            status=Status.CLOSING, holder="", lease_until=None, attempts=0, failure="", waiting_for=""
        )
    return True


class Consolidation(runner.Job[Lease[Session]]):
    def __init__(self, lease: Lease[Session]) -> None:
        super().__init__(lease)
        self.session = lease.row
        self.is_early = lease.row.status == Status.OPEN
        self.step = "extraction"

    def run_steps(self) -> Outcome:
        if self.session.off_the_record and not self.is_early:
            return self.delete()
        if self.is_exhausted():
            return self.fail(f"It stopped {knobs.attempts()} times before it was done.")
        try:
            return self.consolidate_early() if self.is_early else self.consolidate()
        except ServerUnavailable:
            raise  # retried until the server is back
        except EmbeddingUnavailable as error:
            return self.fail(f"embedding: {error}")

    def consolidate(self) -> Outcome:
        """Run all steps for a session that has ended."""
        session = self.session
        if not is_imported(session):
            messages = session.messages.select_related("session", "persona__owner")
            remember_requested(messages, self.lease.clock())
        if is_worth_reading(session):
            extraction.read(self.lease)
        elif not session.extractions.exists():
            return self.close(trivial=True)
        self.step = "applying"
        apply.apply(self.lease)
        self.step = "reconciliation"
        reconciliation.reconcile(self.lease)
        self.step = "reflection"
        reflection.reflect(self.lease)
        return self.close(trivial=False)

    def consolidate_early(self) -> Outcome:
        """Extract and apply the messages so far of an open session. Mood, access counts and thoughts follow at its
        close."""
        if not self.session.off_the_record:
            extraction.read(self.lease)
            self.step = "applying"
            apply.apply(self.lease)
        with transaction.atomic():
            self._clear_request(self.lease.leased_row())
            self._release_open()
        return Outcome.READ

    def close(self, *, trivial: bool) -> Outcome:
        session, now = self.session, self.lease.clock()
        with transaction.atomic():
            self.lease.release(
                status=Status.CLOSED, trivial=trivial, attempts=0, failure="", early_consolidation_requested_at=None
            )
            apply.count_access(session, now)
            replies.delete(session)
            publish_boundary(session, trivial=trivial, failed=False)
            if not trivial and not is_long_past(session, now):
                slow_cycle_requests.request_run(session, now)
        return Outcome.TRIVIAL if trivial else Outcome.CLOSED

    def delete(self) -> Outcome:
        """Delete a session off the record, and erase its bytes from the file."""
        persona, now = self.session.persona, self.lease.clock()
        with transaction.atomic():
            self.lease.checkpoint()
            publish_boundary(self.session, trivial=True, failed=False)
            deleted = off_the_record.erase(self.session)
            receipt = receipts.note_erasure(persona, "off_record", deleted, now)
        receipts.finish(receipt, self.lease.clock())
        return Outcome.DELETED

    # --- failures -------------------------------------------------------------------------------------------------
    def handle_provider_error(self, error: LLMError) -> str:
        """Unreadable answers are kept for people to inspect, except those about an open session, which is asked about
        anew at its close."""
        with transaction.atomic():
            outcome = super().handle_provider_error(error)
            if outcome == Outcome.DROPPED and isinstance(error, AnswerUnreadable):
                replies.delete(self.session)
        return outcome

    def next_retry(self, error: Exception) -> Retry | None:
        """Never give up deleting a session off the record."""
        attempts = self.lease.attempts()
        retry = super().next_retry(error)
        return retry or (Retry(delay_after(attempts), attempts) if self.session.off_the_record else None)

    def failure_of(self, error: Exception) -> str:
        return f"{self.step}: {error if isinstance(error, LLMError) else type(error).__name__}"

    def wait(self, retry: Retry, error: Exception) -> Outcome:
        """Publish the reason for waiting, once per pause."""
        now, waiting_for = self.lease.clock(), ""
        if isinstance(error, LLMError):
            waiting_for = WaitingFor.BUDGET if error.code == "budget_exhausted" else WaitingFor.PROVIDER
        status = {} if self.is_early else {"status": Status.CLOSING}
        with transaction.atomic():
            self.lease.release(
                lease_until=now + retry.delay, waiting_for=waiting_for, attempts=retry.attempts, **status
            )
            if not is_imported(self.session):
                sessions_close.publish_waiting(self.session, now)
        return Outcome.LATER

    def fail(self, failure: str) -> Outcome:
        if self.is_early:
            return self.drop_request()
        with transaction.atomic():
            self.lease.release(status=Status.FAILED, failure=failure[: Session._meta.get_field("failure").max_length])
            publish_boundary(self.session, trivial=False, failed=True)
        logger.error("%s could not be consolidated; its reason is stored with it", self.session)
        return Outcome.FAILED

    def drop_request(self) -> Outcome:
        """Give up consolidating an open session early: its close reads all of it. If it was closed meanwhile the
        request stays, so that the gate admits the session."""
        with transaction.atomic():
            self._clear_request(self.lease.leased_row().filter(status=Status.OPEN))
            self._release_open()
        logger.warning("%s could not be consolidated early; its close consolidates it", self.session)
        return Outcome.DROPPED

    def _clear_request(self, sessions: QuerySet[Session]) -> None:
        """Clear the request, unless it was made again meanwhile."""
        sessions.filter(early_consolidation_requested_at=self.session.early_consolidation_requested_at).update(
            early_consolidation_requested_at=None
        )

    def _release_open(self) -> None:
        """Release the session, and enqueue it again if it was closed or requested meanwhile: the job of that moment
        found it leased."""
        self.lease.release(attempts=0)
        session = Session.objects.get(pk=self.session.pk)
        if session.status != Status.OPEN or session.early_consolidation_requested_at:
            sessions_close.enqueue_consolidation(session)


def is_worth_reading(session: Session) -> bool:
    """The gate, on the messages that no answer was applied for yet. Its decision depends on these only, so that a
    repeat continues the first run. Messages that were requested to be remembered pass, and so does prose."""
    last_extraction = session.extractions.filter(again=False).exclude(applied_at=None).last()
    rest = [
        message for message in messages_of(session) if last_extraction is None or message.id > last_extraction.through
    ]
    if is_imported(session):
        return bool(rest) and (material_of(session).is_prose or not is_trivial(rest))
    theirs = [owner_texts.content for owner_texts in rest if owner_texts.by_user]
    requests = (request for content in theirs for request in read_requests(content))
    return bool(rest) and (
        session.early_consolidation_requested_at is not None
        or not is_trivial(rest)
        or may_be_answered(session.persona, theirs)
        or may_be_settled(session.persona, theirs)
        # With a model, even a short correction may change a memory.
        or (provider_name() != "offline" and any(request.kind is RequestKind.CORRECTION for request in requests))
    )


def publish_boundary(session: Session, *, trivial: bool, failed: bool) -> None:
    """Publish that a session has ended, with the results. Call inside a transaction. Imported sessions are not
    published, only their import is."""
    if is_imported(session):
        return
    run_after = ReflectionRun.objects.filter(session=session).first()
    new_events = ConceptNode.objects.recallable().filter(session=session, kind=ConceptNode.Kind.EVENT)
    summary = Session.objects.filter(pk=session.pk).values_list("summary", flat=True).first()
    events.publish(
        session.persona.uuid,
        "chat.session.boundary",
        closed_session_id=str(session.uuid),
        events_count=new_events.count(),
        thoughts_count=run_after.thoughts if run_after else 0,
        trivial=trivial,
        failed=failed,
        summary=summary or "",
    )
