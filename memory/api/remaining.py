"""What remains, to be read: nodes and entities, recall with its x-ray."""

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Schema
from pydantic import AwareDatetime, Field

from memory.api.routing import router
from memory.models import ConceptNode, Entity
from memory.reasons import emptiness
from memory.recall import recall
from persona.lookup import own_persona


class EvidenceOut(Schema):
    message_id: UUID
    role: str
    quote: str
    start: int
    end: int


class NodeOut(Schema):
    id: UUID
    kind: str
    subject: str
    description: str
    emotional_impact: int
    emotion_tags: list[str]
    relational_tags: list[str]
    event_time_start: date | None
    event_time_end: date | None
    source: str
    confidence: float
    status: str
    verification: str
    pinned: bool
    outcome: str
    resolved_at: datetime | None
    mention_count: int
    created_at: datetime


class NodePage(Schema):
    """A page of nodes; `next` is the `before` of the page after it, or null."""

    items: list[NodeOut]
    next: UUID | None


class NodeDetail(NodeOut):
    """A node with the words it came from, and the nodes it was concluded from; `resolved_by` told how it ended."""

    evidence: list[EvidenceOut]
    filling: list[UUID]
    resolved_by: UUID | None


class EntityOut(Schema):
    id: UUID
    canonical_name: str
    kind: str
    description: str
    status: str
    aliases: list[str]


Line = Annotated[str, Field(max_length=20_000)]
Moment = Annotated[AwareDatetime, Field(ge=datetime(1970, 1, 1, tzinfo=UTC), lt=datetime(2200, 1, 1, tzinfo=UTC))]


class RecallIn(Schema):
    """The user's recent lines, oldest first, the last one current. `now` has its zone."""

    turns: list[Line] = Field(min_length=1, max_length=20, examples=[["I got a cat.", "Do you remember her name?"]])
    budget: int = Field(1500, ge=1, le=20_000)
    now: Moment | None = None


class RecallOut(Schema):
    """`empty` says in words why nothing came to mind (else empty); `xray` by name, in `empty_reason`."""

    items: list[dict[str, Any]]
    empty: str
    xray: dict[str, Any]


Kind = Literal["event", "thought", "intention", "expectation"]


@router.get("/{uuid:persona_id}/nodes", response=NodePage, summary="What remains, newest first")
def list_nodes(
    request: HttpRequest,
    persona_id: UUID,
    kind: Kind | None = None,
    before: UUID | None = None,
    limit: int = Query(50, ge=1, le=200),
) -> dict[str, Any]:
    nodes = ConceptNode.objects.of(own_persona(request, persona_id))
    if kind is not None:
        nodes = nodes.filter(kind=kind)
    if before is not None:
        nodes = nodes.before(get_object_or_404(nodes, uuid=before))
    page = list(nodes.newest_first()[: limit + 1])
    return {
        "items": [brief(node) for node in page[:limit]],
        "next": page[limit - 1].uuid if len(page) > limit else None,
    }


@router.get("/{uuid:persona_id}/nodes/{uuid:node_id}", response=NodeDetail, summary="One node with its evidence")
def get_node(request: HttpRequest, persona_id: UUID, node_id: UUID) -> dict[str, Any]:
    return detailed(own_node(request, persona_id, node_id))


def own_node(request: HttpRequest, persona_id: UUID, node_id: UUID) -> ConceptNode:
    """The caller's node of that id; anybody else's does not exist (404)."""
    nodes = ConceptNode.objects.of(own_persona(request, persona_id)).select_related("persona")
    return get_object_or_404(nodes, uuid=node_id)


def detailed(node: ConceptNode) -> dict[str, Any]:
    """A node as `NodeDetail` tells it."""
    evidence = node.evidence.select_related("message")
    return brief(node) | {
        "evidence": [
            {
                "message_id": row.message.uuid,
                "role": row.message.role,
                "quote": row.quote,
                "start": row.start,
                "end": row.end,
            }
            for row in evidence
        ],
        "resolved_by": node.resolved_by.uuid if node.resolved_by else None,
        "filling": list(node.filling.filter(orphaned=False).values_list("child__uuid", flat=True)),
    }


@router.get(
    "/{uuid:persona_id}/entities",
    response=list[EntityOut],
    summary="The people, places and animals that memories are about",
)
def list_entities(
    request: HttpRequest, persona_id: UUID, limit: int = Query(100, ge=1, le=500)
) -> list[dict[str, Any]]:
    found = Entity.objects.filter(persona=own_persona(request, persona_id)).exclude(status=Entity.Status.MERGED)
    return [named(entity) for entity in found.prefetch_related("aliases")[:limit]]


@router.post("/{uuid:persona_id}/recall", response=RecallOut, summary="What these lines bring to mind, and why")
def post_recall(request: HttpRequest, persona_id: UUID, body: RecallIn) -> dict[str, Any]:
    found = recall(
        own_persona(request, persona_id), body.turns, now=body.now or timezone.now(), budget_tokens=body.budget
    )
    return {
        "items": [item.as_json() for item in found.items],
        "empty": emptiness(found.xray.empty_reason),
        "xray": found.xray.as_json(),
    }


def brief(node: ConceptNode) -> dict[str, Any]:
    names = [name for name in NodeOut.model_fields if name != "id"]
    return {"id": node.uuid} | {name: getattr(node, name) for name in names}


def named(entity: Entity) -> dict[str, Any]:
    """An entity as `EntityOut` tells it."""
    return {
        "id": entity.uuid,
        "canonical_name": entity.canonical_name,
        "kind": entity.kind,
        "description": entity.description,
        "status": entity.status,
        "aliases": [alias.text for alias in entity.aliases.all()],
    }
