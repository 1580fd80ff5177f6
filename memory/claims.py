"""Who has a row in hand: taken by one worker, kept from step to step, free again for the next.

The name of the holder is the fence. Every claim has a name of its own, every step commits only while the row still
bears it, and so nothing of a worker that was given up for dead reaches the database after its successor began.

The row is of a model with `holder`, `lease_until` and `attempts`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

from django.db.models import F, Model, QuerySet

from echovessel import holders
from memory import knobs

Clock = Callable[[], datetime]
Row = TypeVar("Row", bound=Model)


class Lost(Exception):
    """The lease ran out, or a person stepped in, and the row is not ours any more."""


@dataclass
class Claim(Generic[Row]):
    """A row in our hands, as it was when it was taken."""

    row: Row
    clock: Clock

    def mine(self) -> QuerySet[Row]:
        """The row, as long as it is ours."""
        row: Any = self.row
        return type(self.row)._default_manager.filter(pk=row.pk, holder=row.holder)

    def tries(self) -> int:
        """How often the step at hand has been tried, this time included. Raises Lost."""
        tries = self.mine().values_list("attempts", flat=True).first()
        if tries is None:
            raise Lost
        return tries

    def forward(self) -> None:
        """Note that something was gained that no repeat has to do again: what follows has all its tries, and a whole
        lease. Call in the transaction that stores it, which commits only while the row is ours. Raises Lost."""
        if not self.mine().update(attempts=1, lease_until=lease_from(self.clock())):
            raise Lost

    def let_go(self, **values: Any) -> None:
        """Give the row out of our hands with these values, until `lease_until` to nobody. Raises Lost."""
        if not self.mine().update(**{"holder": "", "lease_until": None} | values):
            raise Lost


def seize(free: QuerySet[Any], now: datetime, **values: Any) -> str:
    """Take a row that nobody holds, with these values; returns the name of the claim, "" where there is none."""
    holder = holders.one_claim()
    seized = free.update(holder=holder, lease_until=lease_from(now), attempts=F("attempts") + 1, **values)
    return holder if seized else ""


def free_from_the_dead(held_by_somebody: QuerySet[Any]) -> int:
    """Free those whose holder is known to be gone, without waiting for their leases; returns how many."""
    held = set(held_by_somebody.exclude(holder="").values_list("holder", flat=True))
    gone = [holder for holder in held if holders.is_dead(holder)]
    return held_by_somebody.filter(holder__in=gone).update(holder="", lease_until=None) if gone else 0


def lease_from(now: datetime) -> datetime:
    return now + timedelta(seconds=knobs.lease_seconds())
