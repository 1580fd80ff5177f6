"""The main request of a run, and the valid items of its answer."""

from dataclasses import dataclass

from echovessel import llm
from echovessel.jobs.lease import Lease
from memory.curation.restatements import names_of
from memory.models import SlowCycle
from memory.slow_cycle import context, replies
from memory.slow_cycle.answer_schema import SlowCycleAnswer
from memory.slow_cycle.context import RunInputs
from memory.slow_cycle.validate import ValidAnswer, validate_answer


@dataclass(frozen=True)
class Thinking:
    """The inputs, the valid items, the tokens used, and the most that the request could have used."""

    inputs: RunInputs
    valid: ValidAnswer
    usage: llm.Usage
    cost: int


def think(lease: Lease[SlowCycle], inputs: RunInputs) -> Thinking:
    """Ask for conclusions from the inputs, at least one event. Raises LLMError.

    No transaction may be open: the model works in here.
    """
    now, persona = lease.clock(), lease.row.persona
    request = context.request(persona, inputs, now)
    answer = llm.answer_now(request, SlowCycleAnswer, replies=replies.of_thinking(lease, inputs.through))
    today = now.astimezone(persona.zone).date()
    valid = validate_answer(answer.value, inputs, today, names_of(persona))
    return Thinking(inputs, valid, answer.usage, context.cost(request))
