"""What is worth remembering of what somebody brought, by rule: talks as talks are, and of prose more of each entry,
with the day of the entry for what happened on it."""

import re
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from echovessel.llm.offline.dates import local_day
from echovessel.llm.offline.extraction import Statement, extracted, worth_keeping
from echovessel.llm.offline.reflection import reflected

MOST_OF_A_PASSAGE = 2
MOST_OF_A_TEXT = 12
LEAST_IMPACT_OF_A_THOUGHT = 2

PAST = re.compile(
    r"\b(?!named\b|called\b|need\b|feed\b)(?:[a-z]{2,}ed|was|were|had|went|came|got|saw|met|told|said|made|took|left|"
    r"found|lost|felt|fell|gave|bought|broke|began|ran|ate|drank|slept|wrote|won|woke|spoke|quit|heard)\b|了|过",
    re.I,
)
LASTING = re.compile(
    r"\b(?:am|is|are|i'm|he's|she's|it's|have|has|like|likes|love|loves|hate|hates|live|lives|work|works)\b", re.I
)


def imported(material: Mapping[str, Any]) -> dict[str, Any]:
    """The answer for what was brought, a talk or prose (the shape of `material` is in the package's docstring)."""
    if not material.get("prose"):
        return extracted(material)
    answer = extracted(material, of_each_passage)
    for event in answer["events"]:
        event["event_time"] = event["event_time"] or _day_of_entry(event, material)
    return answer | {"thoughts": _thoughts(answer["events"], material["user_name"])}


def of_each_passage(told: Sequence[Statement]) -> list[Statement]:
    """The weightiest of each passage, and of all the weightiest."""
    passages = [list(passage) for _, passage in groupby(told, lambda one: one.line_id)]
    return worth_keeping(
        [one for passage in passages for one in worth_keeping(passage, MOST_OF_A_PASSAGE)], MOST_OF_A_TEXT
    )


def _day_of_entry(event: Mapping[str, Any], material: Mapping[str, Any]) -> dict[str, str] | None:
    """The day of its entry for what happened; none for what holds for long, or where the day is not known."""
    cited = event["evidence"][0]
    if not material.get("dated", True) or not PAST.search(cited["quote"]) or LASTING.search(cited["quote"]):
        return None
    at = next(line["at"] for line in material["lines"] if line["id"] == cited["message_id"])
    day = local_day(at, material["timezone"]).isoformat()
    return {"start": day, "end": day}


def _thoughts(events: Sequence[Mapping[str, Any]], user_name: str) -> list[dict[str, Any]]:
    """One impression, where something weighed enough to leave one."""
    given = [
        {"id": str(at), "description": event["description"], "emotional_impact": event["emotional_impact"]}
        for at, event in enumerate(events)
    ]
    if not any(abs(event["emotional_impact"]) >= LEAST_IMPACT_OF_A_THOUGHT for event in given):
        return []
    thoughts = reflected({"events": given, "user_name": user_name})["thoughts"]
    return [thought | {"filling": [int(cited) for cited in thought["filling"]]} for thought in thoughts]
