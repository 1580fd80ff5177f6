"""Who has a session in hand (see `memory.claims`)."""

from dataclasses import dataclass

from chat.models import Session
from chat.models.session import SessionQuerySet
from memory import claims
from memory.claims import Clock, free_from_the_dead, seize

Status = Session.Status


@dataclass
class Claim(claims.Claim[Session]):
    """A session in our hands. `step` is what is being done with it."""

    step: str = "extraction"

    @property
    def session(self) -> Session:
        return self.row

    def mine(self) -> SessionQuerySet:
        """The row, as long as it is ours."""
        return Session.objects.filter(pk=self.row.pk, holder=self.row.holder)

    @property
    def is_early(self) -> bool:
        """Whether the talk was still going on when it was taken up."""
        return self.session.status == Status.OPEN


def take(session_id: int, clock: Clock) -> Claim | None:
    """The session in our hands: one that is to be consolidated, or an open one of which an early reading was asked.

    None when it is neither, is held by another, is in a pause, or a reply is still to come.
    """
    now = clock()
    session = Session.objects.filter(pk=session_id)
    free_from_the_dead(session)
    free = session.without_turn_in_flight()
    holder = seize(free.to_consolidate(now), now, status=Status.CONSOLIDATING, waiting_for="")
    holder = holder or seize(free.to_read_early(now), now, waiting_for="")
    found = session.filter(holder=holder).select_related("persona__owner").first() if holder else None
    return Claim(found, clock) if found else None
