"""API of entities: the questions whether two are the same, with answers and undo; merging, splitting, and naming."""

from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Schema
from pydantic import BeforeValidator, Field

from echovessel.api import pagination
from echovessel.api.bodies import Body
from echovessel.api.pagination import Page
from echovessel.api.problems import ApiError
from echovessel.language.person_names import normalize_name
from memory.entities import merge, rename, split
from memory.entities.merge import LaterMergeStands, LivesOnInAnother
from memory.entities.rename import MAX_DESCRIPTION, MAX_NAME, NameRefused
from memory.entities.split import NotSplit
from memory.models import Entity, MergeProposal
from memory.models.entity import MAX_RELATION
from memory.web.api.memories import EntityOut, own_entities
from memory.web.api.routing import router
from memory.web.forms import strip_text
from memory.web.serializers import serialize_entity, serialize_proposal
from persona.lookup import own_persona
from persona.models import Persona

Answer = Literal["merge", "apart", "undo"]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME, examples=["Blackie"])]
Description = Annotated[
    str, BeforeValidator(strip_text), Field(max_length=MAX_DESCRIPTION, examples=["Ana's black cat."])
]
Relation = Annotated[str, BeforeValidator(strip_text), Field(max_length=MAX_RELATION, examples=["sister"])]
MAX_IN_SPLIT = 500


class PairIn(Body):
    """Two entities that are the same."""

    one: UUID
    other: UUID


class SplitIn(Body):
    """What belongs to the other entity: names as they are spelled, memories by id."""

    names: list[Name] = Field([], max_length=MAX_IN_SPLIT)
    nodes: list[UUID] = Field([], max_length=MAX_IN_SPLIT)


class EntityChange(Body):
    """The fields to change; those left out stay. `aliases` are names to add."""

    canonical_name: Name | None = None
    description: Description | None = None
    relation: Relation | None = Field(None, description="What they are to you; empty for nothing.")
    aliases: list[Name] | None = Field(None, min_length=1, max_length=50)


class ProposalOut(Schema):
    """Two entities, why they may be the same, and the answer: open, merged, kept_apart or undone."""

    id: UUID
    a: UUID
    b: UUID
    score: float
    reasons: list[str] = Field(examples=[["sounds_alike"]])
    status: str = Field(examples=["open"])


@router.get("/{uuid:persona_id}/proposals", response=Page[ProposalOut], summary="Pairs that may be the same")
def list_proposals(
    request: HttpRequest,
    persona_id: UUID,
    params: Query[pagination.PageParams],
    status: MergeProposal.Status | None = None,
) -> Any:
    """Pairs that may be the same, newest first; or those with one answer."""
    proposals = MergeProposal.objects.of(own_persona(request, persona_id)).select_related("a", "b")
    return pagination.page(proposals.filter(status=status) if status else proposals, params, serialize_proposal)


@router.post(
    "/{uuid:persona_id}/proposals/{uuid:proposal_id}/{answer}", response=ProposalOut, summary="Answer a question"
)
def answer_proposal(request: HttpRequest, persona_id: UUID, proposal_id: UUID, answer: Answer) -> dict[str, Any]:
    """Answers the question, or undoes the answer. 409 `decided` if there is nothing to decide or to undo, `later_merge`
    if a later merge has to be undone first."""
    proposals = MergeProposal.objects.of(own_persona(request, persona_id)).select_related("a", "b")
    proposal = get_object_or_404(proposals, uuid=proposal_id)
    try:
        outcome = merge.DECISIONS[answer](proposal, request.user, timezone.now())  # type: ignore[arg-type]
    except LaterMergeStands as error:
        raise ApiError(409, "later_merge", "One of the two was merged again after this.") from error
    if not outcome:
        raise ApiError(409, "decided", "There is nothing left to decide here.")
    return serialize_proposal(proposal)


@router.post("/{uuid:persona_id}/entities/merge", response=ProposalOut, summary="Merge two people or things")
def merge_entities(request: HttpRequest, persona_id: UUID, body: PairIn) -> dict[str, Any]:
    """Merges them, whether or not there was a question; `undo` of the proposal reverts it. 409 `lives_on` if one of the
    two is already merged into another."""
    return serialize_merge(request, *_pair(own_persona(request, persona_id), body))


@router.post("/{uuid:persona_id}/entities/apart", response=ProposalOut, summary="Keep two entities apart")
def keep_entities_apart(request: HttpRequest, persona_id: UUID, body: PairIn) -> dict[str, Any]:
    """Records that they are two; the question is not asked again. 409 `decided` if there is a decision already."""
    first, other = _pair(own_persona(request, persona_id), body)
    proposal = merge.propose(first.persona, first, other, 0.0, [merge.BY_HAND])
    if not merge.keep_apart(proposal, request.user, timezone.now()):  # type: ignore[arg-type]
        raise ApiError(409, "decided", "There is nothing left to decide here.")
    proposal.refresh_from_db()
    return serialize_proposal(proposal)


@router.patch(
    "/{uuid:persona_id}/entities/{uuid:entity_id}", response=EntityOut, summary="Rename or describe an entity"
)
def patch_entity(request: HttpRequest, persona_id: UUID, entity_id: UUID, body: EntityChange) -> dict[str, Any]:
    """Changes the canonical name or the description, or adds names. 409 for a text that cannot be a name of it."""
    entity = _own_entity(own_persona(request, persona_id), entity_id)
    try:
        rename.change(entity, body.canonical_name, body.aliases or (), body.description, body.relation)
    except NameRefused as error:
        raise ApiError(409, error.code, str(error)) from error
    return serialize_entity(_own_entity(entity.persona, entity_id))


@router.post("/{uuid:persona_id}/entities/{uuid:entity_id}/split", response=EntityOut, summary="Split an entity")
def split_entity(request: HttpRequest, persona_id: UUID, entity_id: UUID, body: SplitIn) -> dict[str, Any]:
    """Moves these names and memories to a new entity, which is returned. 409 if it cannot be split like this."""
    entity = _own_entity(own_persona(request, persona_id), entity_id)
    asked_names = {normalize_name(name) for name in body.names}
    names = [alias.pk for alias in entity.aliases.all() if alias.normalized in asked_names]
    mentions = list(entity.mentions.filter(node__uuid__in=body.nodes).values_list("pk", flat=True))
    try:
        return serialize_entity(split.split(entity, names, mentions, request.user, timezone.now()))  # type: ignore[arg-type]
    except NotSplit as error:
        raise ApiError(409, error.code, str(error)) from error


def serialize_merge(request: HttpRequest, first: Entity, other: Entity) -> dict[str, Any]:
    """Merge two entities; returns the decision as in `ProposalOut`."""
    try:
        return serialize_proposal(merge.merge_pair(first, other, request.user, timezone.now()))  # type: ignore[arg-type]
    except LivesOnInAnother as error:
        raise ApiError(409, "lives_on", "One of the two is already merged into another entity.") from error


def _pair(persona: Persona, body: PairIn) -> tuple[Entity, Entity]:
    first, other = _own_entity(persona, body.one), _own_entity(persona, body.other)
    if first == other:
        raise ApiError(422, "invalid", "These two are merged already.")
    return first, other


def _own_entity(persona: Persona, entity_id: UUID) -> Entity:
    return get_object_or_404(own_entities(persona).select_related("persona"), uuid=entity_id)
