"""What a model said between talks, kept from the moment it is paid for until a run has made something of it.

A step is named by the last event that it was asked about: the kept reply answers exactly these, and what came later is
asked about next.
"""

from collections.abc import Sequence

from django.db.models import QuerySet

from memory.models import ModelReply
from memory.replies import RepliesOfManySteps
from memory.slow_cycle.claims import Claim
from persona.models import Persona

THINKING = "slow_cycle:"
DESCRIBING = "entity:"


def of_thinking(claim: Claim, through: int) -> RepliesOfManySteps:
    return RepliesOfManySteps(claim, f"{THINKING}{through}", persona_id=claim.persona.pk)


def of_describing(claim: Claim, entity_id: int, through: int) -> RepliesOfManySteps:
    return RepliesOfManySteps(claim, f"{DESCRIBING}{entity_id}:{through}", persona_id=claim.persona.pk)


def thought_through(persona: Persona) -> int:
    """The last event of a run that was asked and not finished; 0 where there is none."""
    return max((int(step.removeprefix(THINKING)) for step in _steps(persona, THINKING)), default=0)


def described_through(persona: Persona) -> dict[int, int]:
    """Of each entity about which was asked in such a run, in that order, the last event that was given."""
    pairs = (step.removeprefix(DESCRIBING).split(":") for step in _steps(persona, DESCRIBING))
    return {int(entity_id): int(through) for entity_id, through in pairs}


def forget(persona: Persona) -> None:
    """Delete what was kept. Call in the transaction that makes something of it, or gives it up."""
    _kept(persona).delete()


def _steps(persona: Persona, beginning: str) -> Sequence[str]:
    return list(_of(persona).filter(step__startswith=beginning).order_by("id").values_list("step", flat=True))


def _kept(persona: Persona) -> QuerySet[ModelReply]:
    kept = _of(persona)
    return kept.filter(step__startswith=THINKING) | kept.filter(step__startswith=DESCRIBING)


def _of(persona: Persona) -> QuerySet[ModelReply]:
    return ModelReply.objects.filter(persona=persona, session=None)
