"""The job of one outreach, from the decision to the message.

acquire -> write (asked for once, and stored) -> deliver (stored as a message, published, stamped) -> notify
"""

import logging
from datetime import datetime, timedelta
from enum import StrEnum

from django.db import transaction
from django.utils import timezone
from django_q.tasks import async_task

from echovessel.embeddings.errors import EmbeddingUnavailable, ServerUnavailable
from echovessel.jobs import runner
from echovessel.jobs.lease import Clock, Lease
from echovessel.llm import LLMError
from proactive import knobs
from proactive.models import Outreach
from proactive.models.consideration import Gate
from proactive.outreach import replies
from proactive.outreach.deliver import Deferred, GateRefusal, ask_the_gates, deliver
from proactive.outreach.write import UnfitFirstWord, write
from proactive.policy import outreach_context
from proactive.push import notify

logger = logging.getLogger(__name__)

Status = Outreach.Status


class Outcome(StrEnum):
    """The result of one run."""

    DELIVERED = "delivered"
    DROPPED = "dropped"
    FAILED = "failed"
    LATER = runner.LATER
    NOT_MINE = runner.NOT_MINE


def run(outreach_id: int, clock: Clock = timezone.now) -> Outcome:
    """Run all steps that can be run now; a failure is stored on the row."""
    lease = acquire(outreach_id, clock)
    if lease is None:
        return Outcome.NOT_MINE
    outcome = Outcome(OutreachJob(lease).run())
    if outcome == Outcome.DELIVERED:
        notify.notify(lease.row, clock())
    return outcome


def acquire(outreach_id: int, clock: Clock) -> Lease[Outreach] | None:
    """A lease on an outreach; None if it is not pending, is leased by another worker, or waits for a retry."""
    rows = Outreach.objects.filter(pk=outreach_id).select_related("persona__owner")
    return Lease.acquire(rows, rows.waiting(clock()), clock)


def requeue_stale(now: datetime) -> int:
    """Enqueue waiting outreaches; returns how many."""
    waiting = Outreach.objects.waiting(now).order_by("wanted_at")
    return runner.requeue_stale(Outreach.objects.filter(status=Status.WANTED), waiting, enqueue=enqueue)


def enqueue(outreach: Outreach) -> None:
    async_task("proactive.tasks.reach_out", outreach.pk)


class OutreachJob(runner.Job[Lease[Outreach]]):
    def run_steps(self) -> str:
        """The gates are asked before and after the model."""
        if self.is_exhausted():
            return self.fail("stopped_too_often")
        outreach, now = self.lease.row, self.lease.clock()
        try:
            ask_the_gates(self.lease)
            # A reply older than the rest between sessions was written for another moment.
            replies.delete_before(outreach, now - timedelta(minutes=knobs.rest_minutes()))
            deliver(self.lease, write(self.lease, outreach_context.of(outreach)))
        except Deferred as deferred:  # no failure: it costs no attempt
            pause = timedelta() if deferred.immediately else timedelta(seconds=knobs.defer_seconds())
            self.lease.release(lease_until=self.lease.clock() + pause if pause else None, attempts=0)
            return Outcome.LATER
        except GateRefusal as held:
            return self.drop(held.gate)
        except outreach_context.ReasonExpired:
            return self.drop(Gate.TRIGGER)
        except UnfitFirstWord as error:
            return self.fail(error.code)
        except ServerUnavailable:
            raise  # retried until the server is back
        except EmbeddingUnavailable:
            return self.fail("embedding")
        return Outcome.DELIVERED

    def handle_provider_error(self, error: LLMError) -> str:
        """A spent budget drops the outreach, as the gate of costs would."""
        if error.code == "budget_exhausted":
            return self.drop(Gate.COST_CAP)
        return super().handle_provider_error(error)

    def failure_of(self, error: Exception) -> str:
        return error.code if isinstance(error, LLMError) else type(error).__name__

    def drop(self, gate: str) -> Outcome:
        self._end(Status.DROPPED, gate)
        return Outcome.DROPPED

    def fail(self, failure: str) -> Outcome:
        self._end(Status.FAILED, failure)
        logger.error("%s was given up: %s", self.lease.row, failure)
        return Outcome.FAILED

    def _end(self, status: str, reason: str) -> None:
        """End without a message, and delete the replies that were written for it."""
        with transaction.atomic():
            reason = reason[: Outreach._meta.get_field("reason").max_length]
            self.lease.release(status=status, reason=reason, attempts=0)
            replies.delete(self.lease.row)
