"""The x-ray of a turn's recall in numbers, for the admin: retrievers, and every candidate with its scores and verdict.

The x-ray holds ids only; the texts shown are the current ones, and none for rows that were forgotten or hidden since.
"""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from chat.models import Message, Turn
from echovessel.admin import excerpt, page_of
from memory.models import ConceptNode
from memory.web.presenters.admin_node import node_address
from memory.web.presenters.recall_reasons import ARMS, LAPS, PARTS, REQUESTED, RULES, describe_empty, describe_left_out


def xray_context(turn: Turn) -> dict[str, Any]:
    """The template's context; empty for a turn without recall."""
    xray: Mapping[str, Any] = turn.xray.get("recollections") or {}
    if not xray:
        return {}
    candidates = xray.get("candidates", [])
    parts = [name for name in PARTS if any(candidate["parts"].get(name) for candidate in candidates)]
    expected = turn.xray.get("expectations", {}).get("matched", [])
    # The excerpt and the page of each node and message that may still be shown, by id.
    uuids = [UUID(item["id"]) for item in (*candidates, *expected)]
    nodes = ConceptNode.objects.of(turn.persona).recallable().filter(uuid__in=uuids)
    messages = Message.objects.filter(persona=turn.persona, uuid__in=uuids, withheld=False)
    texts = {str(node.uuid): {"text": excerpt(node.description), "page": node_address(node)} for node in nodes}
    texts_of_sections = texts | {
        str(message.uuid): {"text": excerpt(message.content), "page": page_of(message)} for message in messages
    }
    query = {name: value for name, value in xray["query"].items() if value is not None}
    return {
        "empty": describe_empty(xray["empty_reason"]),
        "asked": [(REQUESTED.get(name, name), _format_value(value)) for name, value in query.items()],
        "tokens": xray["tokens"],
        "budget": xray["budget"],
        "laps": [(LAPS.get(name, name), ms) for name, ms in xray["elapsed_ms"].items()],
        "arms": [arm | {"label": ARMS.get(arm["name"], arm["name"])} for arm in xray["arms"]],
        "left_aside": describe_left_out(xray),
        "parts": [PARTS[name] for name in parts],
        "expected": [texts_of_sections.get(item["id"], {}) | {"cosine": item["cosine"]} for item in expected],
        "candidates": [
            {
                **texts_of_sections.get(candidate["id"], {}),
                "layer": candidate["layer"],
                "score": candidate["score"],
                "parts": [candidate["parts"].get(name) for name in parts],
                "arms": [ARMS.get(name, name) for name in candidate["arms"]],
                "verdict": RULES.get(candidate["verdict"], candidate["verdict"]),
                "is_chosen": candidate["verdict"] == "chosen",
            }
            for candidate in candidates
        ],
    }


def _format_value(value: Any) -> str:
    """One value of the query: a number or a name, a list of them, or a range of days."""
    if isinstance(value, Mapping):
        return " – ".join(map(str, value.values()))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
