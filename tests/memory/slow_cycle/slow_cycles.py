"""Shared helpers for tests of the slow cycle: a requested cycle, and answers of a model."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from memory.models import ConceptNode, SlowCycle, SlowCycleRun
from persona.models import Persona

Remember = Callable[..., ConceptNode]


def request_cycle(persona: Persona, at: datetime) -> SlowCycle:
    """The persona's slow cycle, requested as at the end of a session."""
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


def dropped_items() -> list[tuple[str, str]]:
    """The kinds of items that the last run dropped, and the reasons."""
    return [(item["kind"], item["dropped"]) for item in last_run().made if "dropped" in item]


def _ids(references: Sequence[ConceptNode | str]) -> list[str]:
    return [reference if isinstance(reference, str) else key(reference) for reference in references]
