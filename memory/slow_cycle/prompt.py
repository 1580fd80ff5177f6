"""Thinking: the one question of a run, and what of its answer stands."""

from dataclasses import dataclass

from echovessel import llm
from echovessel.jobs.lease import Lease
from memory.curation.restatements import names_of
from memory.models import SlowCycle
from memory.slow_cycle import context, replies
from memory.slow_cycle.answer_schema import SlowCycleAnswer
from memory.slow_cycle.inputs import RunInputs
from memory.slow_cycle.validate import ValidAnswer, validate_answer


@dataclass(frozen=True)
class Thinking:
    """What stands of the answer, what it took, and the most that the question could have taken."""

    given: RunInputs
    sifted: ValidAnswer
    usage: llm.Usage
    cost: int


def think(lease: Lease[SlowCycle], given: RunInputs) -> Thinking:
    """Ask what she makes of what is given, at least one event. Raises LLMError.

    No transaction may be open: the model works in here.
    """
    now, persona = lease.clock(), lease.row.persona
    request = context.request(persona, given, now)
    answer = llm.answer_now(request, SlowCycleAnswer, replies=replies.of_thinking(lease, given.through))
    today = now.astimezone(persona.zone).date()
    stands = validate_answer(answer.value, given, today, names_of(persona))
    return Thinking(given, stands, answer.usage, context.cost(request))
