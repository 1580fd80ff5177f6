"""The runner: takes one leased row to its outcome, whatever fails on the way."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from django.db.models import QuerySet
from django_q.tasks import queue_size

from echovessel.jobs import knobs
from echovessel.jobs.lease import Lease, LeaseLost, reclaim_dead
from echovessel.jobs.retry import Retry, error_code, next_retry
from echovessel.llm import LLMError
from echovessel.process import redaction

logger = logging.getLogger(__name__)

# Outcomes of every job: the row waits for its next attempt; the row is not or no longer ours.
LATER, NOT_MINE = "later", "not_mine"

Leased = TypeVar("Leased", bound=Lease[Any])


class Job(ABC, Generic[Leased]):
    """One run of one row. A definition provides the steps and the effect of a failure on its row."""

    def __init__(self, lease: Leased) -> None:
        self.lease = lease

    def run(self) -> str:
        """Run the row as far as possible and return the outcome. Raises only if the database cannot be written; the
        lease then expires."""
        try:
            try:
                return self.run_steps()
            except LeaseLost:
                raise
            except LLMError as error:
                return self.handle_provider_error(error)
            except Exception as error:  # noqa: BLE001 - the edge of the job: no row may fail unnoticed
                return self.handle_unexpected_error(error)
        except LeaseLost:
            return NOT_MINE

    @abstractmethod
    def run_steps(self) -> str:
        """Do the remaining work step by step, and return the outcome."""

    @abstractmethod
    def fail(self, failure: str) -> str:
        """Mark the row as failed where people see it, and return the outcome."""

    def wait(self, retry: Retry, error: Exception) -> str:
        """Release the row until its next attempt."""
        self.lease.release(lease_until=self.lease.clock() + retry.delay, attempts=retry.attempts)
        return LATER

    def is_exhausted(self) -> bool:
        """Whether the current step used up its attempts by killing its worker, so that no error could be handled."""
        return self.lease.attempts() > knobs.attempts()

    def handle_provider_error(self, error: LLMError) -> str:
        logger.warning("%s: %s", self.lease.row, error_code(error))
        return self.retry_or_fail(error)

    def handle_unexpected_error(self, error: Exception) -> str:
        """Log the type and place of the error, not its message, which may contain text of people."""
        logger.error("%s: %s", self.lease.row, redaction.format_exception(error))
        return self.retry_or_fail(error)

    def retry_or_fail(self, error: Exception) -> str:
        retry = self.next_retry(error)
        return self.fail(self.failure_of(error)) if retry is None else self.wait(retry, error)

    def next_retry(self, error: Exception) -> Retry | None:
        return next_retry(error, self.lease.attempts())

    def failure_of(self, error: Exception) -> str:
        """The failure that is stored with the row."""
        return error_code(error)


def requeue_stale(leased: QuerySet[Any], *waiting: QuerySet[Any], enqueue: Callable[[Any], object]) -> int:
    """Enqueue waiting rows that may run again, in the order of `waiting`, and return their number. `leased` are the
    rows that a dead worker may hold.

    The queue is only filled up to a limit, so that a slow worker is not flooded with repetitions. If nothing waits,
    this costs two small queries.
    """
    reclaim_dead(leased)
    stale_rows: list[Any] = []
    for rows in waiting:
        stale_rows += rows[: knobs.queue_room() - len(stale_rows)]
    room = max(0, knobs.queue_room() - queue_size()) if stale_rows else 0
    for row in stale_rows[:room]:
        enqueue(row)
    return len(stale_rows[:room])
