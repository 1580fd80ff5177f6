"""Whether two are one: the questions, the answers, and taking an answer back; and making two of one."""

from typing import Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Schema

from echovessel.problems import Refused, answers
from memory.api.remaining import EntityOut, named
from memory.api.routing import router
from memory.entities import merging, splitting
from memory.entities.merging import LaterMergeStands, LivesOnInAnother
from memory.entities.names import normalized
from memory.entities.splitting import NotSplit
from memory.models import Entity, MergeProposal
from persona.lookup import own_persona
from persona.models import Persona

Answer = Literal["merge", "apart", "undo"]
ANSWERS: dict[str, merging.Decision] = {"merge": merging.merge, "apart": merging.keep_apart, "undo": merging.undo}
MOST = 500


class PairIn(Schema):
    """Two entities that are one."""

    one: UUID
    other: UUID


class SplitIn(Schema):
    """What belongs to the other one: names as they are spelled, memories by id."""

    names: list[str] = []
    nodes: list[UUID] = []


class ProposalOut(Schema):
    """A pair, why it may be one, and what was answered: open, merged, kept_apart or undone."""

    id: UUID
    a: UUID
    b: UUID
    score: float
    reasons: list[str]
    status: str


@router.get(
    "/{uuid:persona_id}/proposals", response=answers(list[ProposalOut]), summary="Pairs that are or were in question"
)
def list_proposals(request: HttpRequest, persona_id: UUID) -> list[dict[str, Any]]:
    found = MergeProposal.objects.of(own_persona(request, persona_id)).select_related("a", "b")
    return [_told(proposal) for proposal in found[:MOST]]


@router.post(
    "/{uuid:persona_id}/proposals/{uuid:proposal_id}/{answer}", response=answers(ProposalOut), summary="Answer one"
)
def answer_proposal(request: HttpRequest, persona_id: UUID, proposal_id: UUID, answer: Answer) -> dict[str, Any]:
    """409 `decided` where there is nothing to decide or to take back, `later_merge` where a later merge stands."""
    proposals = MergeProposal.objects.of(own_persona(request, persona_id)).select_related("a", "b")
    proposal = get_object_or_404(proposals, uuid=proposal_id)
    try:
        done = ANSWERS[answer](proposal, request.user, timezone.now())  # type: ignore[arg-type]
    except LaterMergeStands as error:
        raise Refused(409, "later_merge", "One of the two was merged again after this.") from error
    if not done:
        raise Refused(409, "decided", "There is nothing to decide here any more.")
    return _told(proposal)


@router.post("/{uuid:persona_id}/entities/merge", response=answers(ProposalOut), summary="Make two one")
def merge_entities(request: HttpRequest, persona_id: UUID, body: PairIn) -> dict[str, Any]:
    persona = own_persona(request, persona_id)
    one, other = _own(persona, body.one), _own(persona, body.other)
    if one == other:
        raise Refused(422, "invalid", "These are one already.")
    try:
        return _told(merging.merge_pair(one, other, request.user, timezone.now()))  # type: ignore[arg-type]
    except LivesOnInAnother as error:
        raise Refused(409, "lives_on", "One of the two lives on in another one.") from error


@router.post(
    "/{uuid:persona_id}/entities/{uuid:entity_id}/split", response=answers(EntityOut), summary="Make two of one"
)
def split_entity(request: HttpRequest, persona_id: UUID, entity_id: UUID, body: SplitIn) -> dict[str, Any]:
    """The new one. 409 where it cannot be split so."""
    entity = _own(own_persona(request, persona_id), entity_id)
    wanted = {normalized(name) for name in body.names}
    names = [alias.pk for alias in entity.aliases.all() if alias.normalized in wanted]
    mentions = list(entity.mentions.filter(node__uuid__in=body.nodes).values_list("pk", flat=True))
    try:
        return named(splitting.split(entity, names, mentions, request.user, timezone.now()))  # type: ignore[arg-type]
    except NotSplit as error:
        raise Refused(409, error.code, str(error)) from error


def _own(persona: Persona, entity_id: UUID) -> Entity:
    return get_object_or_404(persona.entities.exclude(status=Entity.Status.MERGED), uuid=entity_id)


def _told(proposal: MergeProposal) -> dict[str, Any]:
    names = ("score", "reasons", "status")
    return {"id": proposal.uuid, "a": proposal.a.uuid, "b": proposal.b.uuid} | {
        name: getattr(proposal, name) for name in names
    }
