"""Who has a session in hand: taken by one worker, kept from step to step, free again for the next.

The name of the holder is the fence. Every claim has a name of its own, every step commits only while the session still
bears it, and so nothing of a worker that was given up for dead reaches the database after its successor began.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from chat.models import Session
from chat.models.session import SessionQuerySet
from echovessel import holders
from memory import knobs

Clock = Callable[[], datetime]
Status = Session.Status


class Lost(Exception):
    """The lease ran out, or a person stepped in, and the session is not ours any more."""


@dataclass
class Claim:
    """A session in our hands. `step` is what is being done with it."""

    session: Session
    holder: str
    clock: Clock
    step: str = "extraction"

    @property
    def is_early(self) -> bool:
        """Whether the talk was still going on when it was taken up."""
        return self.session.status == Status.OPEN

    def mine(self) -> SessionQuerySet:
        """The row, as long as it is ours."""
        return Session.objects.filter(pk=self.session.pk, holder=self.holder)

    def tries(self) -> int:
        """How often the step at hand has been tried, this time included. Raises Lost."""
        tries = self.mine().values_list("attempts", flat=True).first()
        if tries is None:
            raise Lost
        return tries

    def forward(self) -> None:
        """Note that a step is done: the next one has all its tries, and a whole lease. Call in the transaction of the
        step, which commits only while the session is ours. Raises Lost."""
        if not self.mine().update(attempts=1, lease_until=lease_from(self.clock())):
            raise Lost

    def let_go(self, **values: Any) -> None:
        """Give the session out of our hands with these values, until `lease_until` to nobody. Raises Lost."""
        if not self.mine().update(**{"holder": "", "lease_until": None} | values):
            raise Lost


def take(session_id: int, clock: Clock) -> Claim | None:
    """The session in our hands: one that is to be consolidated, or an open one of which an early reading was asked.

    None when it is neither, is held by another, is in a pause, or a reply is still to come.
    """
    now = clock()
    session = Session.objects.filter(pk=session_id)
    free_from_the_dead(session)
    free = session.without_turn_in_flight()
    claimed: dict[str, Any] = {
        "holder": holders.one_claim(),
        "lease_until": lease_from(now),
        "attempts": F("attempts") + 1,
        "waiting_for": "",
    }
    if not (
        free.to_consolidate(now).update(status=Status.CONSOLIDATING, **claimed)
        or free.to_read_early(now).update(**claimed)
    ):
        return None
    found = session.filter(holder=claimed["holder"]).select_related("persona__owner").first()
    return Claim(found, found.holder, clock) if found else None


def free_from_the_dead(sessions: SessionQuerySet) -> int:
    """Free those whose holder is known to be gone, without waiting for their leases; returns how many."""
    held = set(sessions.exclude(holder="").values_list("holder", flat=True))
    gone = [holder for holder in held if holders.is_dead(holder)]
    return sessions.filter(holder__in=gone).update(holder="", lease_until=None) if gone else 0


def lease_from(now: datetime) -> datetime:
    return now + timedelta(seconds=knobs.lease_seconds())
