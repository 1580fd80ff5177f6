"""Leases: a row that one worker holds from step to step, until it is released or the lease runs out.

The name of the holder is the fence. Every lease has a name of its own and every step commits only while the row still
has it, so nothing that a worker given up for dead does reaches the database after its successor began.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, Self, TypeVar

from django.db.models import F, Model, Q, QuerySet

from echovessel.jobs import knobs, process_identity

Clock = Callable[[], datetime]
Row = TypeVar("Row", bound=Model)


class LeaseLost(Exception):
    """The lease ran out, or somebody revoked it: the row is no longer ours."""


@dataclass
class Lease(Generic[Row]):
    """A row that we hold, as it was when we acquired it."""

    row: Row
    clock: Clock

    @classmethod
    def acquire(cls, rows: QuerySet[Row], free: QuerySet[Row], clock: Clock, **values: Any) -> Self | None:
        """A lease on the one row of `rows`, stored with these values, if it is one of the `free`; None if it is not.
        A row whose holder is dead is free."""
        reclaim_dead(rows)
        holder = process_identity.new_holder()
        lease = {"holder": holder, "lease_until": expiry(clock()), "attempts": F("attempts") + 1}
        row = rows.filter(holder=holder).first() if free.update(**lease, **values) else None
        return cls(row, clock) if row else None

    def leased_row(self) -> QuerySet[Row]:
        """The row, as long as we hold it."""
        row: Any = self.row
        return type(self.row)._default_manager.filter(pk=row.pk, holder=row.holder)

    def attempts(self) -> int:
        """How often the current step has been tried, this time included. Raises LeaseLost."""
        attempts = self.leased_row().values_list("attempts", flat=True).first()
        if attempts is None:
            raise LeaseLost
        return attempts

    def checkpoint(self) -> None:
        """Note that a step is done: the next one has all its attempts and a whole lease. Call in the transaction that
        stores what the step made, so that it commits only while we hold the row. Raises LeaseLost."""
        self._update(attempts=1, lease_until=expiry(self.clock()))

    def renew(self) -> None:
        """Have a whole lease again in the middle of a step. Raises LeaseLost."""
        self._update(lease_until=expiry(self.clock()))

    def release(self, **values: Any) -> None:
        """Let go of the row and store these values; with `lease_until` nobody acquires it before then. Raises
        LeaseLost."""
        self._update(**{"holder": "", "lease_until": None} | values)

    def _update(self, **values: Any) -> None:
        if not self.leased_row().update(**values):
            raise LeaseLost


def available(now: datetime) -> Q:
    """Rows that nobody holds and that are in no pause."""
    return Q(lease_until=None) | Q(lease_until__lt=now)


def reclaim_dead(rows: QuerySet[Any]) -> int:
    """Free the rows whose holder is known to be dead, without waiting for their leases; returns how many."""
    holders = set(rows.exclude(holder="").order_by().values_list("holder", flat=True))
    dead = [holder for holder in holders if process_identity.is_dead(holder)]
    return rows.filter(holder__in=dead).update(holder="", lease_until=None) if dead else 0


def expiry(now: datetime) -> datetime:
    return now + timedelta(seconds=knobs.lease_seconds())
