"""Why a reply was what it was: the x-ray of its recall in plain words, with the words each memory came from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from chat.models import Message, Turn
from echovessel.language import human_dates
from memory.models import ConceptNode, Evidence
from memory.web.presenters.recall_reasons import ARMS, describe_left_out
from persona.models import Persona

MOST_QUOTES = 3


@dataclass(frozen=True)
class Quote:
    """Words that a memory came from."""

    speaker: str
    quote: str
    at: str


@dataclass(frozen=True)
class Reminder:
    """One thing the reply was reminded of."""

    layer: str
    kind_label: str
    text: str
    when: str
    speaker: str
    score: float
    parts: list[tuple[str, float]]
    words: list[Quote]


def explain_reply(turn: Turn) -> dict[str, Any]:
    """What the page shows of a turn's recall. What was forgotten or hidden since is left out, and counted."""
    seen: dict[str, Any] = turn.xray.get("recollections") or {}
    chosen = seen.get("chosen", [])
    items = list(_reminders(turn.persona, chosen))
    return {
        "items": items,
        "expected": list(_expected(turn.persona, turn.xray.get("expectations", {}).get("matched", []))),
        "gone": len(chosen) - len(items),
        "empty": "" if items else _emptiness(seen),
        "arms": [
            {
                "label": ARMS.get(arm["name"], arm["name"]),
                "found": arm["found"],
                "ms": arm["ms"],
                "skipped": arm.get("skipped", ""),
            }
            for arm in seen.get("arms", [])
        ],
        "left_aside": describe_left_out(seen),
        "tokens": seen.get("tokens", 0),
        "budget": seen.get("budget", 0),
    }


def _emptiness(seen: Mapping[str, Any]) -> str:
    """Why there is nothing to show, as the persona says it."""
    if seen.get("chosen"):
        return _("What I remembered then has been forgotten or hidden since.")
    reasons = {
        "nothing_stored": _("I had no memories yet, so I answered from this conversation alone."),
        "everything_filtered": _(
            "I searched my memory, but nothing was close enough to what you said. I answered from this "
            "conversation alone."
        ),
        "nothing_asked": _("Your message had no words to search for, so I answered from this conversation alone."),
    }
    return reasons.get(seen.get("empty_reason", ""), _("There is no record of what I remembered here."))


def _reminders(persona: Persona, chosen: list[dict[str, Any]]) -> Iterable[Reminder]:
    uuids = [UUID(item["id"]) for item in chosen]
    nodes = {node.uuid: node for node in ConceptNode.objects.of(persona).recallable().filter(uuid__in=uuids)}
    said = {line.uuid: line for line in Message.objects.filter(persona=persona, uuid__in=uuids, withheld=False)}
    quotes = _quotes(persona, nodes.values())
    for item in chosen:
        if node := nodes.get(UUID(item["id"])):
            yield _of_node(persona, node, item, quotes.get(node.pk, []))
        elif line := said.get(UUID(item["id"])):
            yield _of_line(persona, line, item)


def _expected(persona: Persona, matched: list[dict[str, Any]]) -> Iterable[tuple[str, str, float]]:
    """What she expected that the line may have been about: its words, its day and the cosine, as far as it is there."""
    uuids = [UUID(one["id"]) for one in matched]
    nodes = {node.uuid: node for node in ConceptNode.objects.of(persona).recallable().filter(uuid__in=uuids)}
    for one in matched:
        if node := nodes.get(UUID(one["id"])):
            when = _told(persona, node.event_time_end) if node.event_time_end else ""
            yield node.description, when, one["cosine"]


def _of_node(persona: Persona, node: ConceptNode, item: dict[str, Any], quotes: list[Quote]) -> Reminder:
    day = node.event_time_start or node.created_at.astimezone(persona.zone).date()
    label = _("A memory") if node.kind == ConceptNode.Kind.EVENT else _("A thought of mine")
    return Reminder(
        layer=item["layer"],
        kind_label=label,
        text=node.description,
        when=_told(persona, day),
        speaker="",
        score=item["score"],
        parts=_parts(item),
        words=quotes[:MOST_QUOTES],
    )


def _of_line(persona: Persona, line: Message, item: dict[str, Any]) -> Reminder:
    return Reminder(
        layer=item["layer"],
        kind_label=_("From a conversation"),
        text=line.content,
        when=_told(persona, line.created_at.astimezone(persona.zone).date()),
        speaker=line.role,
        score=item["score"],
        parts=_parts(item),
        words=[],
    )


def _quotes(persona: Persona, nodes: Iterable[ConceptNode]) -> dict[int, list[Quote]]:
    found: dict[int, list[Quote]] = {}
    rows = Evidence.objects.filter(node__in=list(nodes), message__withheld=False).select_related("message")
    for row in rows.order_by("message__created_at", "start"):
        at = _told(persona, row.message.created_at.astimezone(persona.zone).date())
        found.setdefault(row.node_id, []).append(Quote(row.message.role, row.quote, at))
    return found


def _told(persona: Persona, day: date) -> str:
    today = timezone.now().astimezone(persona.zone).date()
    return human_dates.humanize_date(day, today, "zh" if (get_language() or "").startswith("zh") else "en")


def _parts(item: dict[str, Any]) -> list[tuple[str, float]]:
    """The parts of a score that counted, in words."""
    labels = {
        "recency": _("how recent it is"),
        "relevance": _("how close it is to what you said"),
        "impact": _("how much it matters"),
        "relational": _("how much it says about us"),
        "anchor": _("it is about somebody you mentioned"),
        "penalty": _("how uncertain it is"),
    }
    return [(labels.get(name, name), value) for name, value in item["parts"].items() if value]
