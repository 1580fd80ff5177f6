"""The x-ray of a turn's recall in numbers, for the desk: arms, every candidate with its parts and what became of it.

The x-ray holds ids only; the words beside them are those that are stored now. What was forgotten or hidden since has
none.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from django.urls import reverse

from chat.models import Message, Turn
from echovessel.admin import excerpt
from memory.models import ConceptNode
from memory.web.presenters.recall_reasons import ARMS, ASKED, LAPS, PARTS, RULES, describe_empty, describe_left_out
from persona.models import Persona


def xray_context(turn: Turn) -> dict[str, Any]:
    """What the template of the sheet needs; empty for a turn that recalled nothing at all."""
    seen: Mapping[str, Any] = turn.xray.get("recollections") or {}
    if not seen:
        return {}
    candidates = seen.get("candidates", [])
    parts = [name for name in PARTS if any(one["parts"].get(name) for one in candidates)]
    expected = turn.xray.get("expectations", {}).get("matched", [])
    stored = _stored(turn.persona, [one["id"] for one in (*candidates, *expected)])
    return {
        "empty": describe_empty(seen["empty_reason"]),
        "asked": [(ASKED.get(name, name), _told(value)) for name, value in seen["query"].items() if value is not None],
        "tokens": seen["tokens"],
        "budget": seen["budget"],
        "laps": [(LAPS.get(name, name), ms) for name, ms in seen["elapsed_ms"].items()],
        "arms": [arm | {"label": ARMS.get(arm["name"], arm["name"])} for arm in seen["arms"]],
        "left_aside": describe_left_out(seen),
        "parts": [PARTS[name] for name in parts],
        "expected": [stored.get(one["id"], {}) | {"cosine": one["cosine"]} for one in expected],
        "candidates": [_row(one, parts, stored.get(one["id"], {})) for one in candidates],
    }


def _told(value: Any) -> str:
    """One thing about the query: a number or a name, a list of them, or days from one to another."""
    if isinstance(value, Mapping):
        return " – ".join(map(str, value.values()))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _row(one: Mapping[str, Any], parts: Sequence[str], stored: Mapping[str, str]) -> dict[str, Any]:
    return {
        **stored,
        "layer": one["layer"],
        "score": one["score"],
        "parts": [one["parts"].get(name) for name in parts],
        "arms": [ARMS.get(name, name) for name in one["arms"]],
        "verdict": RULES.get(one["verdict"], one["verdict"]),
        "is_chosen": one["verdict"] == "chosen",
    }


def _stored(persona: Persona, ids: Iterable[str]) -> dict[str, dict[str, str]]:
    """The beginning and the page of each candidate that may still be shown, by id."""
    uuids = [UUID(one) for one in ids]
    nodes = ConceptNode.objects.of(persona).recallable().filter(uuid__in=uuids)
    lines = Message.objects.filter(persona=persona, uuid__in=uuids, withheld=False)
    found = {str(node.uuid): {"text": excerpt(node.description), "page": _page(node)} for node in nodes}
    return found | {
        str(line.uuid): {"text": excerpt(line.content), "page": reverse("admin:chat_message_change", args=[line.pk])}
        for line in lines
    }


def _page(node: ConceptNode) -> str:
    return reverse(f"admin:memory_{node.kind}_change", args=[node.pk])
