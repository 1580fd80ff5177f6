"""What a prompt says from memory: who was named, what comes to mind, and the few things that are always there."""

from collections.abc import Callable, Iterable
from datetime import datetime

from django.db.models import F

from chat import knobs as chat_knobs
from echovessel.context import ContextRequest, Section, fenced, tokens, unfenced
from memory import knobs
from memory.human_dates import told
from memory.models import ConceptNode, Entity
from memory.models.node import NodeQuerySet
from memory.recall import recall
from memory.recall.candidates import entities_named
from memory.recall.scoring import recency
from persona.headings import headed
from persona.models import Persona

FENCE_TOKENS = 12


def entities(request: ContextRequest) -> Section | None:
    """What is known of the people and things that the recent lines name, where a description was written."""
    persona: Persona = request.persona
    named = Entity.objects.filter(id__in=entities_named(persona, request.turns)).exclude(description="")
    parts, left = [], request.budget
    for entity in named.order_by("id"):
        body = fenced("memory", entity.description)
        part = headed(persona.language, "entity", body, name=unfenced(entity.canonical_name))
        left -= tokens(part)
        if left < 0:
            break
        parts.append(part)
    return Section("entities", "system", "\n\n".join(parts)) if parts else None


def recollections(request: ContextRequest) -> Section | None:
    """What the recent lines bring to mind, best first, with its whole account (x-ray)."""
    persona: Persona = request.persona
    found = recall(
        persona,
        request.turns,
        now=request.now,
        budget_tokens=max(0, min(request.budget - FENCE_TOKENS, chat_knobs.recall_tokens())),
        window=[*request.window, *request.burst],
    )
    text = headed(persona.language, "recollections", fenced("memory", "\n".join(item.text for item in found.items)))
    return Section(
        "recollections",
        "user",
        text if found.items else "",
        xray=found.xray.as_json(),
        material={
            "recollections": [{"text": item.said, "layer": item.layer, "speaker": item.speaker} for item in found.items]
        },
        shows=[str(item.uuid) for item in found.items],
    )


def about_them(request: ContextRequest) -> Section | None:
    """Impressions of the user that are always there: by recency and weight, not by what was said."""
    nodes = _active(request).filter(kind=ConceptNode.Kind.THOUGHT, subject=ConceptNode.Subject.USER)
    recent = nodes.newest_first()[: knobs.force_loaded_pool()]
    best = sorted(recent, key=lambda node: (-_presence(node, request.now), -node.id))
    return _list(request, "about_them", best[: knobs.thoughts_about_them()], _plain)


def about_yourself(request: ContextRequest) -> Section | None:
    """How the persona has come to see herself, newest first."""
    nodes = _active(request).filter(kind=ConceptNode.Kind.THOUGHT, subject=ConceptNode.Subject.PERSONA)
    return _list(request, "about_yourself", nodes.newest_first()[: knobs.thoughts_about_yourself()], _plain)


def promises(request: ContextRequest) -> Section | None:
    """Open promises of the persona, the one due first at the top."""
    return _list(request, "promises", _open(request, ConceptNode.Kind.INTENTION), _due)


def expectations(request: ContextRequest) -> Section | None:
    """What may come, the one due first at the top."""
    return _list(request, "expectations", _open(request, ConceptNode.Kind.EXPECTATION), _due)


def _active(request: ContextRequest) -> NodeQuerySet:
    """Nodes that may be recalled and do not stand in this prompt yet."""
    return ConceptNode.objects.of(request.persona).recallable().exclude(uuid__in=request.shown)


def _open(request: ContextRequest, kind: str) -> NodeQuerySet:
    nodes = _active(request).filter(kind=kind, outcome=ConceptNode.Outcome.OPEN)
    return nodes.order_by(F("event_time_end").asc(nulls_last=True), "id")[: knobs.open_ends()]


def _presence(node: ConceptNode, now: datetime) -> float:
    days = (now - node.created_at).total_seconds() / 86_400
    return recency(days, knobs.recency_half_life_days()) * (0.2 + abs(node.emotional_impact) / 10)


def _list(
    request: ContextRequest,
    heading: str,
    nodes: Iterable[ConceptNode],
    worded: Callable[[ContextRequest, ConceptNode], str],
) -> Section | None:
    """The nodes as lines, as many as the budget holds."""
    left = request.budget - FENCE_TOKENS
    lines: list[str] = []
    shown: list[str] = []
    for node in nodes:
        line = worded(request, node)
        left -= tokens(line) + 1
        if left < 0:
            break
        lines.append(line)
        shown.append(str(node.uuid))
    if not lines:
        return None
    text = headed(request.persona.language, heading, fenced("memory", "\n".join(lines)))
    return Section(heading, "user", text, xray={"nodes": shown}, shows=shown)


def _plain(request: ContextRequest, node: ConceptNode) -> str:
    return f"- {' '.join(node.description.split())}"


def _due(request: ContextRequest, node: ConceptNode) -> str:
    if node.event_time_end is None:
        return _plain(request, node)
    persona: Persona = request.persona
    today = request.now.astimezone(persona.zone).date()
    return f"{_plain(request, node)} ({told(node.event_time_end, today, persona.language)})"
