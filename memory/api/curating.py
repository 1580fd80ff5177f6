"""What a person says of a memory: correct it, hide it, confirm it; and where it stands among the others."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Schema
from pydantic import Field

from echovessel.embedding import EmbeddingUnavailable
from echovessel.problems import Refused, answers
from memory import awaited, correcting
from memory.api.remaining import EvidenceOut, NodeDetail, NodeOut, brief, detailed, own_node
from memory.api.routing import router
from memory.correcting import Correction, Forgotten
from memory.models import ConceptNode
from memory.models.node import MAX_DESCRIPTION, MAX_EMOTION_TAGS, MAX_IMPACT, MAX_RELATIONAL_TAGS
from memory.pages.node import DEEDS, traced


class CorrectionIn(Schema):
    """What is to be otherwise; what is left out stays. Both days are given, or null for no day."""

    description: str | None = Field(None, min_length=1, max_length=MAX_DESCRIPTION)
    emotional_impact: int | None = Field(None, ge=-MAX_IMPACT, le=MAX_IMPACT)
    emotion_tags: list[Annotated[str, Field(max_length=40)]] | None = Field(None, max_length=MAX_EMOTION_TAGS)
    relational_tags: list[Annotated[str, Field(max_length=40)]] | None = Field(None, max_length=MAX_RELATIONAL_TAGS)
    event_time: tuple[date, date] | None = None


class VersionOut(Schema):
    """What a node said until it was corrected."""

    version: int
    description: str
    event_time_start: date | None
    event_time_end: date | None
    edited_at: datetime


class Trace(Schema):
    """A node, what it came from and what was made of it. `lost_grounds` counts those that were forgotten."""

    node: NodeOut
    evidence: list[EvidenceOut]
    grounds: list[NodeOut]
    lost_grounds: int
    above: list[NodeOut]
    earlier: list[NodeOut]
    versions: list[VersionOut]


@router.patch("/{uuid:persona_id}/nodes/{uuid:node_id}", response=answers(NodeDetail), summary="Correct a node")
def correct_node(request: HttpRequest, persona_id: UUID, node_id: UUID, body: CorrectionIn) -> dict[str, Any]:
    """A new version; the old one is kept until the node is forgotten. 409 for words that were forgotten for good."""
    node = own_node(request, persona_id, node_id)
    change = Correction(**body.model_dump(exclude_unset=True))
    try:
        return detailed(correcting.correct(node, change, request.user, timezone.now()))  # type: ignore[arg-type]
    except Forgotten as error:
        raise Refused(409, "forgotten", "These words were forgotten for good.") from error
    except ValueError as error:
        raise Refused(422, "invalid", "This is no correction: see the description and the days.") from error
    except EmbeddingUnavailable as error:
        raise Refused(503, "unavailable", "Nothing can be embedded just now; try again later.") from error


@router.get(
    "/{uuid:persona_id}/nodes/{uuid:node_id}/trace", response=answers(Trace), summary="A node, traced both ways"
)
def trace_node(request: HttpRequest, persona_id: UUID, node_id: UUID) -> dict[str, Any]:
    node = own_node(request, persona_id, node_id)
    found = traced(node)
    names: Sequence[str] = ("grounds", "above", "earlier")
    return {
        "node": brief(node),
        "evidence": detailed(node)["evidence"],
        "lost_grounds": found["lost_grounds"],
        "versions": found["versions"],
    } | {name: [brief(other) for other in found[name]] for name in names}


class OutcomeIn(Schema):
    """How it ended, and the memory that told it; `open` awaits it again."""

    outcome: Literal["open", "fulfilled", "violated"]
    by: UUID | None = None


@router.post(
    "/{uuid:persona_id}/nodes/{uuid:node_id}/outcome",
    response=answers(NodeDetail),
    summary="Say how a promise or an expectation ended",
)
def settle_node(request: HttpRequest, persona_id: UUID, node_id: UUID, body: OutcomeIn) -> dict[str, Any]:
    """Where it ended so already it does nothing. 409 where it ended otherwise: open it again first."""
    node = own_node(request, persona_id, node_id)
    if node.kind not in awaited.KINDS or body.by == node.uuid:
        raise Refused(422, "invalid", "A promise or an expectation is settled, and by another memory.")
    if body.outcome == ConceptNode.Outcome.OPEN:
        awaited.reopen(node, timezone.now())
    else:
        others = ConceptNode.objects.of(node.persona)
        by = get_object_or_404(others, uuid=body.by) if body.by else None
        awaited.settle(node, body.outcome, by, timezone.now())
    node.refresh_from_db()
    if node.outcome != body.outcome:
        raise Refused(409, "settled", "It ended otherwise; open it again first.", outcome=node.outcome)
    return detailed(node)


# After the other addresses below a node, for it would stand for them as well.
@router.post(
    "/{uuid:persona_id}/nodes/{uuid:node_id}/{deed}", response=answers(NodeOut), summary="Hide, show, confirm, …"
)
def curate_node(request: HttpRequest, persona_id: UUID, node_id: UUID, deed: str) -> dict[str, Any]:
    """One of hide, show, confirm, dispute, pin, unpin, archive, unarchive, let_in; where there is nothing to do it
    does nothing."""
    node = own_node(request, persona_id, node_id)
    if deed not in DEEDS:
        raise Http404
    DEEDS[deed](node)
    node.refresh_from_db()
    return brief(node)
