"""Who has an outreach in hand (see `memory.claims`)."""

from dataclasses import dataclass

from memory import claims
from memory.claims import Clock, free_from_the_dead, seize
from persona.models import Persona
from proactive.models import Outreach


@dataclass
class Claim(claims.Claim[Outreach]):
    """An outreach in our hands."""

    @property
    def outreach(self) -> Outreach:
        return self.row

    @property
    def persona(self) -> Persona:
        return self.outreach.persona


def take(outreach_id: int, clock: Clock) -> Claim | None:
    """The outreach in our hands; None where it is not on its way, is held by another, or is in a pause."""
    now, outreach = clock(), Outreach.objects.filter(pk=outreach_id)
    free_from_the_dead(outreach)
    holder = seize(outreach.waiting(now), now)
    found = outreach.filter(holder=holder).select_related("persona__owner").first() if holder else None
    return Claim(found, clock) if found else None
