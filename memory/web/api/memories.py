"""API to read memories: nodes and entities, and recall with its x-ray."""

from datetime import UTC, date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Schema
from pydantic import AwareDatetime, Field

from chat.api import MessageOut
from chat.models import Message
from chat.serializers import serialize_message
from echovessel.api import pagination
from echovessel.api.bodies import Body
from echovessel.api.pagination import Page
from echovessel.api.problems import ApiError
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.language.feelings import FEELINGS
from memory.models import ConceptNode, Entity
from memory.recall import recall
from memory.web import search
from memory.web.api.routing import router
from memory.web.forms import Day
from memory.web.presenters.recall_reasons import describe_empty
from memory.web.search import Filters
from memory.web.serializers import serialize_entity, serialize_entity_detail, serialize_node, serialize_node_detail
from persona.lookup import own_persona
from persona.models import Persona

Kind = Literal["event", "fact", "thought", "intention", "expectation", "lesson"]


class EvidenceOut(Schema):
    """A quote from a message that a memory came from: `content[start:end]`."""

    message_id: UUID
    role: str = Field(examples=["user"])
    quote: str = Field(examples=["I got a cat."])
    start: int
    end: int


class NodeOut(Schema):
    """A memory: what happened (an event), what holds (a fact), what the persona thought, promised or expected because
    of it, or how you want the persona to be with you (a lesson)."""

    id: UUID
    kind: str = Field(examples=["event"])
    subject: str = Field(examples=["user"])
    description: str = Field(examples=["Ana got a black cat."])
    emotional_impact: int = Field(examples=[4])
    emotion_tags: list[str] = Field(examples=[["joy"]])
    relational_tags: list[str] = Field(examples=[[]])
    event_time_start: date | None
    event_time_end: date | None
    source: str = Field(examples=["extraction"])
    confidence: float
    status: str = Field(examples=["active"])
    verification: str = Field(examples=["unverified"])
    pinned: bool
    outcome: str = Field(examples=["open"])
    resolved_at: datetime | None
    mention_count: int
    created_at: datetime
    domain: str = Field(description="Of a fact: what it is about.", examples=[""])
    since: str = Field(description="Of a fact: 2024, 2024-spring, 2024-05 or 2024-05-03.", examples=[""])
    until: str = Field(description="Of a fact, as `since`.", examples=[""])
    plan_state: str = Field(description="Of a plan: planned, done or cancelled.", examples=[""])
    scope: str = Field(description="Of a lesson: always, topic, feeling, person or name.", examples=[""])
    condition: str = Field(description="Of a lesson: which topic, feeling, person or name.", examples=[""])
    is_boundary: bool = Field(description="Of a lesson: it asks to leave something alone.")


class NodeDetail(NodeOut):
    """A node with its quotes, and the nodes it was concluded from; `resolved_by` is the memory that shows how it
    ended."""

    evidence: list[EvidenceOut]
    filling: list[UUID]
    resolved_by: UUID | None
    forgotten_before: bool = Field(description="It had been forgotten, and you have mentioned it again since.")


class NodeFilters(Schema):
    """Filters of memories; those left out filter nothing. Days are those that a memory is about."""

    kind: Kind | None = None
    entity: UUID | None = Field(default=None, description="The entity that it mentions.")
    tag: str | None = Field(default=None, max_length=40)
    feeling: str | None = Field(
        default=None, max_length=40, description=f"One of {', '.join(FEELINGS)}; or an emotion tag."
    )
    status: ConceptNode.Status | None = None
    verification: ConceptNode.Verification | None = None
    outcome: ConceptNode.Outcome | None = None
    weight: Literal["heavy", "glad", "sad", "light"] | None = None
    pinned: bool = Field(default=False, description="Pinned ones only.")
    since: Day | None = None
    until: Day | None = None


class EntityOut(Schema):
    """A person, place or thing with a name."""

    id: UUID
    canonical_name: str = Field(examples=["小黑"])
    kind: str = Field(examples=["pet"])
    relation: str = Field(examples=["sister"])
    description: str = Field(examples=["Ana's black cat."])
    status: str = Field(examples=["confirmed"])
    aliases: list[str] = Field(examples=[["小黑", "Blackie"]])


class EntityDetail(EntityOut):
    """An entity with its latest memory, open items (promises, expectations, plans) and story lines."""

    last_heard: NodeOut | None
    still_open: list[NodeOut]
    story_lines: list[UUID]


Line = Annotated[str, Field(max_length=20_000)]
Moment = Annotated[AwareDatetime, Field(ge=datetime(1970, 1, 1, tzinfo=UTC), lt=datetime(2200, 1, 1, tzinfo=UTC))]


class RecallIn(Body):
    """The owner's recent messages, oldest first; the last one is the current one. `now` has a time zone."""

    turns: list[Line] = Field(min_length=1, max_length=20, examples=[["I got a cat.", "Do you remember her name?"]])
    budget: int = Field(1500, ge=1, le=20_000)
    now: Moment | None = None


class RecallOut(Schema):
    """`empty` is a sentence that says why nothing was recalled (otherwise empty); `xray` has the code in
    `empty_reason`."""

    items: list[dict[str, Any]]
    empty: str = Field(examples=[""])
    xray: dict[str, Any]


class SearchIn(Body):
    """A search. The words are sent in the body, so that no URL and no log contains them.

    `how`: "words" finds them anywhere in a memory, in any case; "meaning" returns the nearest memories first, on one
    page only.
    """

    text: str = Field(min_length=1, max_length=200, pattern=r"\S", examples=["cat"])
    how: Literal["words", "meaning"] = "words"


class LinesIn(Body):
    """The words to search for."""

    text: str = Field(min_length=1, max_length=200, pattern=r"\S", examples=["cat"])


@router.get("/{uuid:persona_id}/nodes", response=Page[NodeOut], summary="Memories, newest first")
def list_nodes(
    request: HttpRequest, persona_id: UUID, params: Query[pagination.PageParams], filters: Query[NodeFilters]
) -> dict[str, Any]:
    """Events and facts (L3) and what was concluded from them (L4), in every state; hidden ones too."""
    return nodes_page(own_persona(request, persona_id), params, filters)


@router.post("/{uuid:persona_id}/nodes/search", response=Page[NodeOut], summary="Search memories")
def search_nodes(
    request: HttpRequest,
    persona_id: UUID,
    params: Query[pagination.PageParams],
    filters: Query[NodeFilters],
    body: SearchIn,
) -> dict[str, Any]:
    """Searches by words or by meaning, among the memories that match the filters. 503 if no embedding is possible."""
    persona = own_persona(request, persona_id)
    if body.how == "words":
        return nodes_page(persona, params, filters, body.text)
    try:
        nodes = search.search_by_meaning(persona, body.text, _filters(persona, filters), params.limit)
    except EmbeddingUnavailable as error:
        raise embedding_unavailable() from error
    return pagination.cut_page(nodes, False, serialize_node)


@router.post("/{uuid:persona_id}/messages/search", response=Page[MessageOut], summary="Search messages")
def search_messages(
    request: HttpRequest, persona_id: UUID, params: Query[pagination.PageParams], body: LinesIn
) -> dict[str, Any]:
    """Messages that contain the words, anywhere and in any case, newest first; withheld ones too."""
    return lines_page(own_persona(request, persona_id), params, body.text)


@router.get("/{uuid:persona_id}/nodes/{uuid:node_id}", response=NodeDetail, summary="One node with its evidence")
def get_node(request: HttpRequest, persona_id: UUID, node_id: UUID) -> dict[str, Any]:
    """A memory, its quotes, and the memories it was concluded from."""
    return serialize_node_detail(own_node(request, persona_id, node_id))


def own_node(request: HttpRequest, persona_id: UUID, node_id: UUID) -> ConceptNode:
    """The caller's node with that id; 404 for anybody else's."""
    nodes = ConceptNode.objects.of(own_persona(request, persona_id)).select_related("persona")
    return get_object_or_404(nodes, uuid=node_id)


def nodes_page(persona: Persona, params: pagination.PageParams, filters: NodeFilters, text: str = "") -> dict[str, Any]:
    """A page of a persona's memories that match the filters and contain `text`."""
    nodes = ConceptNode.objects.of(persona)
    last = get_object_or_404(nodes, uuid=params.before) if params.before else None
    results = search.search_by_words(persona, text, _filters(persona, filters), last, params.limit)
    return pagination.cut_page(results.rows, results.has_more, serialize_node)


def lines_page(persona: Persona, params: pagination.PageParams, text: str) -> dict[str, Any]:
    """A page of the messages that contain `text`."""
    last = get_object_or_404(Message, persona=persona, uuid=params.before) if params.before else None
    results = search.search_messages(persona, text, last, params.limit)
    return pagination.cut_page(results.rows, results.has_more, serialize_message)


@router.get(
    "/{uuid:persona_id}/entities",
    response=Page[EntityOut],
    summary="The people, places and animals that memories are about",
)
def list_entities(
    request: HttpRequest, persona_id: UUID, params: Query[pagination.PageParams], kind: Entity.Kind | None = None
) -> Any:
    """People, places and things that memories are about (L5), newest first; without those merged into another one."""
    entities = own_entities(own_persona(request, persona_id))
    return pagination.page(entities.filter(kind=kind) if kind else entities, params, serialize_entity)


@router.get("/{uuid:persona_id}/entities/{uuid:entity_id}", response=EntityDetail, summary="One entity")
def get_entity(request: HttpRequest, persona_id: UUID, entity_id: UUID) -> dict[str, Any]:
    """One entity; find its memories with the filter `entity` of the nodes."""
    return serialize_entity_detail(get_object_or_404(own_entities(own_persona(request, persona_id)), uuid=entity_id))


@router.post("/{uuid:persona_id}/recall", response=RecallOut, summary="What these messages recall, and why")
def post_recall(request: HttpRequest, persona_id: UUID, body: RecallIn) -> dict[str, Any]:
    """Recalls as a turn would. Nothing is stored, and no model but the embedding model is used."""
    recalled = recall(
        own_persona(request, persona_id), body.turns, now=body.now or timezone.now(), budget_tokens=body.budget
    )
    return {
        "items": [item.as_json() for item in recalled.items],
        "empty": describe_empty(recalled.xray.empty_reason),
        "xray": recalled.xray.as_json(),
    }


def own_entities(persona: Persona) -> Any:
    """The persona's entities, without those merged into another one."""
    return persona.entities.exclude(status=Entity.Status.MERGED).prefetch_related("aliases")


def embedding_unavailable() -> ApiError:
    """The error if the embedding model is unavailable."""
    return ApiError(503, "unavailable", "No embedding is possible right now; try again later.")


def _filters(persona: Persona, filters: NodeFilters) -> Filters:
    entity = get_object_or_404(persona.entities, uuid=filters.entity) if filters.entity else None
    names = ("kind", "tag", "feeling", "status", "verification", "outcome", "weight")
    return Filters(
        entity=entity.pk if entity else None,
        pinned=filters.pinned,
        since=filters.since,
        until=filters.until,
        **{name: getattr(filters, name) or "" for name in names},
    )
