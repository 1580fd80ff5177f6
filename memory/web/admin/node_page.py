"""What the desk's page of a memory shows beside its own words: where it comes from, what it led to, when it served."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Q, QuerySet, Subquery

from chat.models import Message, Turn
from echovessel.admin import page_of
from memory.models import ConceptNode, Filling
from memory.store.retold import forgotten_before

MOST = 20
LATEST_TURNS, MOST_TURNS = 200, 5


@dataclass(frozen=True)
class PageText:
    """A line that a memory came from: what of it is quoted, and the lines around it."""

    line: Message
    before: Message | None
    after: Message | None
    head: str
    quote: str
    tail: str


@dataclass(frozen=True)
class LinkedNode:
    """Another memory and its page; without one, something that was forgotten."""

    node: ConceptNode | None
    address: str


def node_context(node: ConceptNode) -> dict[str, Any]:
    """What the template needs, in a constant number of statements."""
    return {
        "evidence": evidence_in_place(node),
        "forgotten_before": bool(forgotten_before([node])),
        "rests_on": [_linked(edge.child) for edge in _edges(node.filling, "child")],
        "led_to": [_linked(edge.parent) for edge in _edges(node.fills, "parent")],
        "later": _linked(node.superseded_by) if node.superseded_by else None,
        "told_by": _linked(node.resolved_by) if node.resolved_by else None,
        "settled": [_linked(one) for one in node.resolves.order_by("-id")[:MOST]],
        "earlier": [_linked(one) for one in node.supersedes.order_by("-id")[:MOST]],
        "entities": [(entity, page_of(entity)) for entity in node.entities.order_by("canonical_name", "id")[:MOST]],
        "versions": node.versions.select_related("edited_by").order_by("-version")[:MOST],
        "turns": [(turn, page_of(turn)) for turn in turns_that_recalled(node)],
        "most": MOST,
        "latest_turns": LATEST_TURNS,
    }


def evidence_in_place(node: ConceptNode) -> list[PageText]:
    """The first lines it came from, each between those before and after it."""
    found = list(
        node.evidence.select_related("message")
        .annotate(before=_beside("-"), after=_beside(""))
        .order_by("message__created_at", "message_id", "start")[:MOST]
    )
    around = Message.objects.in_bulk({key for one in found for key in (one.before, one.after) if key})
    return [_told(one, around) for one in found]


def turns_that_recalled(node: ConceptNode) -> list[Turn]:
    """The newest of the latest turns into which it was recalled."""
    latest = Turn.objects.filter(persona=node.persona_id).order_by("-id").values("pk")[:LATEST_TURNS]
    named = Turn.objects.filter(pk__in=latest, xray__recollections__chosen__icontains=str(node.uuid))
    return list(named.defer("xray", "partial", "usage").order_by("-id")[:MOST_TURNS])


def _beside(direction: str) -> Subquery:
    """The key of the line before ("-") or after the line of an evidence, in its talk."""
    at, key = OuterRef("message__created_at"), OuterRef("message_id")
    beyond = Q(created_at__lt=at) | Q(created_at=at, id__lt=key)
    if not direction:
        beyond = Q(created_at__gt=at) | Q(created_at=at, id__gt=key)
    lines = Message.objects.filter(beyond, session=OuterRef("message__session"))
    return Subquery(lines.order_by(f"{direction}created_at", f"{direction}id").values("pk")[:1])


def _told(evidence: Any, around: Mapping[int, Message]) -> PageText:
    line, content = evidence.message, evidence.message.content
    return PageText(
        line=line,
        before=around.get(evidence.before),
        after=around.get(evidence.after),
        head=content[: evidence.start],
        quote=content[evidence.start : evidence.end],
        tail=content[evidence.end :],
    )


def _edges(edges: Any, other: str) -> QuerySet[Filling]:
    return edges.select_related(other).order_by("id")[:MOST]


def _linked(node: ConceptNode | None) -> LinkedNode:
    return LinkedNode(node, address(node) if node else "")


def address(node: ConceptNode) -> str:
    """The page of a node, which is that of its kind."""
    return page_of(node, node.kind)
