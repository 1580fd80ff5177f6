"""Additions to the admin's page of a memory: its evidence, its conclusions, and the turns that recalled it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from chat.models import Message, Turn
from echovessel.admin import page_of
from memory.models import ConceptNode
from memory.store.writing import forgotten_before

MAX_SHOWN = 20
# How many of the newest turns are searched, and how many of the matches are shown.
SEARCHED_TURNS, MAX_TURNS = 200, 5


@dataclass(frozen=True)
class QuotedMessage:
    """A message that is evidence of a memory: the quote in it, and the messages around it."""

    message: Message
    before: Message | None
    after: Message | None
    head: str
    quote: str
    tail: str


@dataclass(frozen=True)
class LinkedNode:
    """Another memory and its page; a forgotten one has neither."""

    node: ConceptNode | None
    address: str


def node_context(node: ConceptNode) -> dict[str, Any]:
    """The template's context, in a constant number of statements."""
    filling = node.filling.select_related("child").order_by("id")[:MAX_SHOWN]
    fills = node.fills.select_related("parent").order_by("id")[:MAX_SHOWN]
    entities = node.entities.order_by("canonical_name", "id")[:MAX_SHOWN]
    return {
        "evidence": quoted_messages(node),
        "forgotten_before": bool(forgotten_before([node])),
        "rests_on": _link_nodes(edge.child for edge in filling),
        "led_to": _link_nodes(edge.parent for edge in fills),
        "superseded_by": next(iter(_link_nodes(filter(None, [node.superseded_by]))), None),
        "resolved_by": next(iter(_link_nodes(filter(None, [node.resolved_by]))), None),
        "settled": _link_nodes(node.resolves.order_by("-id")[:MAX_SHOWN]),
        "earlier": _link_nodes(node.supersedes.order_by("-id")[:MAX_SHOWN]),
        "entities": [(entity, page_of(entity)) for entity in entities],
        "versions": node.versions.select_related("edited_by").order_by("-version")[:MAX_SHOWN],
        "turns": [(turn, page_of(turn)) for turn in turns_that_recalled(node)],
        "searched_turns": SEARCHED_TURNS,
    }


def quoted_messages(node: ConceptNode) -> list[QuotedMessage]:
    """The first messages of its evidence, each with those before and after it."""
    at, key = OuterRef("message__created_at"), OuterRef("message_id")
    in_session = Message.objects.filter(session=OuterRef("message__session")).values("pk")
    earlier = in_session.filter(Q(created_at__lt=at) | Q(created_at=at, id__lt=key)).order_by("-created_at", "-id")
    later = in_session.filter(Q(created_at__gt=at) | Q(created_at=at, id__gt=key)).order_by("created_at", "id")
    evidence = list(
        node.evidence.select_related("message")
        .annotate(before=Subquery(earlier[:1]), after=Subquery(later[:1]))
        .order_by("message__created_at", "message_id", "start")[:MAX_SHOWN]
    )
    around = Message.objects.in_bulk({pk for row in evidence for pk in (row.before, row.after) if pk})
    return [
        QuotedMessage(
            message=row.message,
            before=around.get(row.before),
            after=around.get(row.after),
            head=row.message.content[: row.start],
            quote=row.message.content[row.start : row.end],
            tail=row.message.content[row.end :],
        )
        for row in evidence
    ]


def turns_that_recalled(node: ConceptNode) -> list[Turn]:
    """The newest of the latest turns that recalled it."""
    latest = Turn.objects.filter(persona=node.persona_id).order_by("-id").values("pk")[:SEARCHED_TURNS]
    recalling = Turn.objects.filter(pk__in=latest, xray__recollections__chosen__icontains=str(node.uuid))
    return list(recalling.defer("xray", "partial", "usage").order_by("-id")[:MAX_TURNS])


def node_address(node: ConceptNode) -> str:
    """The admin's page of a node, by its kind."""
    return page_of(node, node.kind)


def _link_nodes(nodes: Iterable[ConceptNode | None]) -> list[LinkedNode]:
    return [LinkedNode(node, node_address(node) if node else "") for node in nodes]
