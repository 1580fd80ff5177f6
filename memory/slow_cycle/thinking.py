"""Thinking: the one question of a run, and what of its answer stands."""

from dataclasses import dataclass

from echovessel import llm
from memory.echoes import names_of
from memory.slow_cycle import packing, replies
from memory.slow_cycle.answers import SlowCycleAnswer
from memory.slow_cycle.claims import Claim
from memory.slow_cycle.given import Given
from memory.slow_cycle.sifting import Sifted, sifted


@dataclass(frozen=True)
class Thinking:
    """What stands of the answer, what it took, and the most that the question could have taken."""

    given: Given
    sifted: Sifted
    usage: llm.Usage
    cost: int


def think(claim: Claim, given: Given) -> Thinking:
    """Ask what she makes of what is given, at least one event. Raises LLMError.

    No transaction may be open: the model works in here.
    """
    now, persona = claim.clock(), claim.persona
    request = packing.request(persona, given, now)
    journal = replies.of_thinking(claim, given.through)
    answer = llm.answer_now(request, SlowCycleAnswer, journal=journal)
    today = now.astimezone(persona.zone).date()
    stands = sifted(answer.value, given, today, names_of(persona))
    return Thinking(given, stands, answer.usage, packing.cost(request))
