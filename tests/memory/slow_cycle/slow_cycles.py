"""What the tests of the slow cycle share: a persona who wants to think, and answers as a model would give them."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from memory.models import ConceptNode, SlowCycle, SlowCycleRun
from persona.models import Persona

Remember = Callable[..., ConceptNode]


def wanting(persona: Persona, at: datetime) -> SlowCycle:
    """Her slow cycle, wanted as the end of a talk leaves it."""
    cycle, _made = SlowCycle.objects.update_or_create(persona=persona, defaults={"requested_at": at})
    return cycle


def key(node: ConceptNode) -> str:
    return f"e{node.pk}"


def thought(description: str, *filling: ConceptNode | str, **values: Any) -> dict[str, Any]:
    return {"description": description, "emotional_impact": 2, "subject": "user", "filling": _ids(filling)} | values


def expectation(description: str, due: str | None, *filling: ConceptNode | str) -> dict[str, Any]:
    return {"description": description, "due": due, "filling": _ids(filling)}


def question(text: str, *about: ConceptNode | str) -> dict[str, Any]:
    return {"text": text, "about": _ids(about)}


def outcome(of: ConceptNode | str, how: str, *evidence: ConceptNode | str) -> dict[str, Any]:
    return {"of": _ids([of])[0], "outcome": how, "evidence": _ids(evidence)}


def answer(**lists: Any) -> dict[str, Any]:
    return {"thoughts": []} | lists


def description(text: str, *filling: ConceptNode | str) -> dict[str, Any]:
    return {"description": text, "filling": _ids(filling)}


def last_run() -> SlowCycleRun:
    return SlowCycleRun.objects.latest("id")


def dropped() -> list[tuple[str, str]]:
    """What fell out of the last run, and why."""
    return [(item["kind"], item["dropped"]) for item in last_run().made if "dropped" in item]


def _ids(cited: Sequence[ConceptNode | str]) -> list[str]:
    return [one if isinstance(one, str) else key(one) for one in cited]
