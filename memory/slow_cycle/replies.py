"""Model replies to a slow cycle, stored until a run has used them.

A step is named by the last event it was asked about: the stored reply answers exactly these events, and later ones are
asked about in the next run. Each reply is a checkpoint.
"""

from collections.abc import Sequence

from django.db.models import Q, QuerySet

from echovessel.jobs.lease import Lease, LeasedReplyStore
from memory.models import ModelReply, SlowCycle
from persona.models import Persona

THINKING = "slow_cycle:"
DESCRIBING = "entity:"


def of_thinking(lease: Lease[SlowCycle], through: int) -> LeasedReplyStore:
    return _of(lease, f"{THINKING}{through}")


def of_describing(lease: Lease[SlowCycle], entity_id: int, through: int) -> LeasedReplyStore:
    return _of(lease, f"{DESCRIBING}{entity_id}:{through}")


def thought_through(persona: Persona) -> int:
    """The last event of an unfinished run's prompt; 0 if there is none."""
    return max((int(step.removeprefix(THINKING)) for step in _steps(persona, THINKING)), default=0)


def described_through(persona: Persona) -> dict[int, int]:
    """The entities that an unfinished run asked about, in its order, each with the last event in its prompt."""
    pairs = (step.removeprefix(DESCRIBING).split(":") for step in _steps(persona, DESCRIBING))
    return {int(entity_id): int(through) for entity_id, through in pairs}


def delete(persona: Persona) -> None:
    """Call in the transaction that uses them or gives the run up."""
    _rows(persona).filter(Q(step__startswith=THINKING) | Q(step__startswith=DESCRIBING)).delete()


def _of(lease: Lease[SlowCycle], step: str) -> LeasedReplyStore:
    persona_id = lease.row.persona_id
    return LeasedReplyStore(
        lease, ModelReply.objects, is_checkpoint=True, persona_id=persona_id, session=None, step=step
    )


def _steps(persona: Persona, prefix: str) -> Sequence[str]:
    return list(_rows(persona).filter(step__startswith=prefix).order_by("id").values_list("step", flat=True))


def _rows(persona: Persona) -> QuerySet[ModelReply]:
    return ModelReply.objects.filter(persona=persona, session=None)
