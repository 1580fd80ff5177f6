"""Who or what somebody is, by rule: the shape of the answer of an entity's description."""

from collections.abc import Mapping, Sequence
from typing import Any

from echovessel.llm.offline.asking import is_question
from echovessel.llm.offline.text import CJK, as_sentence, clipped

MOST_CHARACTERS = 400
MOST_EVENTS = 3


def described(material: Mapping[str, Any]) -> dict[str, Any]:
    """What is told of them first, for who is met is introduced, then what weighs most, as far as there is room.

    The shape of `material` is in the package's docstring.
    """
    named = [event for event in material["events"] if material["name"] in event["description"]]
    telling = [event for event in named if not is_question(event["description"])]
    weightiest = sorted(telling[1:], key=lambda event: -abs(event["emotional_impact"]))
    kept = _fitting([*telling[:1], *weightiest[: MOST_EVENTS - 1]])
    told = [event for event in telling if event in kept]
    return {"description": _joined(told), "filling": [event["id"] for event in told]}


def _fitting(events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    kept: list[Mapping[str, Any]] = []
    for event in events:
        if not kept or len(_joined([*kept, event])) < MOST_CHARACTERS:
            kept.append(event)
    return kept


def _joined(events: Sequence[Mapping[str, Any]]) -> str:
    ended = [as_sentence(event["description"].strip()) for event in events]
    text = "".join(one if CJK.search(one) else f" {one}" for one in ended).strip()
    return clipped(text, MOST_CHARACTERS)
