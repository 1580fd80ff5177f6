"""Who has a persona's slow cycle in hand (see `memory.claims`)."""

from dataclasses import dataclass, field

from memory import claims
from memory.claims import Clock, free_from_the_dead, seize
from memory.models import SlowCycle, SlowCycleRun
from memory.slow_cycle.given import Given
from persona.models import Persona


@dataclass
class Claim(claims.Claim[SlowCycle]):
    """It is in our hands; once that is known, why to run it and what it is given."""

    reason: str = SlowCycleRun.Reason.RESTED
    given: Given = field(default_factory=Given)

    @property
    def cycle(self) -> SlowCycle:
        return self.row

    @property
    def persona(self) -> Persona:
        return self.cycle.persona

    def forget_wish(self) -> None:
        """Nobody waits for it any more, unless it was wanted again meanwhile. Call in the transaction of `let_go`."""
        as_taken = SlowCycle.objects.filter(pk=self.cycle.pk, wanted_at=self.cycle.wanted_at)
        as_taken.update(wanted_at=None, wanted_by=None)


def take(persona_id: int, clock: Clock) -> Claim | None:
    """The persona's slow cycle in our hands; None where it is not wanted, is held by another, or is in a pause."""
    now, cycle = clock(), SlowCycle.objects.filter(pk=persona_id)
    free_from_the_dead(cycle)
    holder = seize(cycle.waiting(now), now)
    found = cycle.filter(holder=holder).select_related("persona__owner").first() if holder else None
    return Claim(found, clock) if found else None
