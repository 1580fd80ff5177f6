"""The runner: one row from the moment it is leased to its outcome, whatever goes wrong on the way."""

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

# Outcomes that every job has: the row waits for its next attempt; it was not ours, or is no longer.
LATER, NOT_MINE = "later", "not_mine"

Leased = TypeVar("Leased", bound=Lease[Any])


class Job(ABC, Generic[Leased]):
    """One run of one row. A definition says what its steps are and what a failure means to its row."""

    def __init__(self, lease: Leased) -> None:
        self.lease = lease

    def run(self) -> str:
        """Take the row as far as it goes; returns the outcome. Raises only if the database itself cannot be written;
        the lease then runs out."""
        try:
            try:
                return self.run_steps()
            except LeaseLost:
                raise
            except LLMError as error:
                return self.handle_provider_error(error)
            except Exception as error:  # noqa: BLE001 - the edge of the job: no row may be left where nobody sees it
                return self.handle_unexpected_error(error)
        except LeaseLost:
            return NOT_MINE

    @abstractmethod
    def run_steps(self) -> str:
        """Do what is not done yet, step by step; returns the outcome."""

    @abstractmethod
    def fail(self, failure: str) -> str:
        """Give the row up where people see it; returns the outcome."""

    def wait(self, retry: Retry, error: Exception) -> str:
        """Release the row until its next attempt."""
        self.lease.release(lease_until=self.lease.clock() + retry.delay, attempts=retry.attempts)
        return LATER

    def is_exhausted(self) -> bool:
        """Whether the current step stopped its worker as often as it may: it left no error that could be handled."""
        return self.lease.attempts() > knobs.attempts()

    def handle_provider_error(self, error: LLMError) -> str:
        logger.warning("%s: %s", self.lease.row, error_code(error))
        return self.retry_or_fail(error)

    def handle_unexpected_error(self, error: Exception) -> str:
        """The log has the type and place of the error, not its message, which may hold text of people."""
        logger.error("%s: %s", self.lease.row, redaction.format_exception(error))
        return self.retry_or_fail(error)

    def retry_or_fail(self, error: Exception) -> str:
        retry = self.next_retry(error)
        return self.fail(self.failure_of(error)) if retry is None else self.wait(retry, error)

    def next_retry(self, error: Exception) -> Retry | None:
        return next_retry(error, self.lease.attempts())

    def failure_of(self, error: Exception) -> str:
        """What is stored with the row that is given up."""
        return error_code(error)


def requeue_stale(leased: QuerySet[Any], *waiting: QuerySet[Any], enqueue: Callable[[Any], object]) -> int:
    """Enqueue the rows that wait, whose pause is over or whose worker is dead, in the order of `waiting`; returns how
    many. `leased` are the rows that a dead worker may hold.

    It fills the queue up to a limit only, so that a slow worker is not buried in repetitions. Where nothing waits it
    costs two small queries.
    """
    reclaim_dead(leased)
    found: list[Any] = []
    for rows in waiting:
        found += rows[: knobs.queue_room() - len(found)]
    room = max(0, knobs.queue_room() - queue_size()) if found else 0
    for row in found[:room]:
        enqueue(row)
    return len(found[:room])
