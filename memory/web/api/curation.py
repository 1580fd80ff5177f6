"""API for curating memories: add, correct, hide and confirm them; and trace where they came from."""

from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Schema, Status
from pydantic import BeforeValidator, Field

from chat.models import Message
from echovessel.api.bodies import Body
from echovessel.api.problems import ApiError, refused_fields
from echovessel.embeddings.embedding import EmbeddingUnavailable
from memory.consolidation import open_items
from memory.curation import add, remember
from memory.curation import correct as curation_correct
from memory.curation.actions import NODE_ACTIONS, Action
from memory.curation.add import Addition, MissingEvidence
from memory.curation.correct import Correction, InvalidMemory, WordsForgotten
from memory.curation.lessons import MAX_WISH, Wish, add_lesson
from memory.curation.remember import NotRemembered
from memory.models import ConceptNode
from memory.models.node import MAX_CONDITION
from memory.web.api.memories import EvidenceOut, NodeDetail, NodeOut, embedding_unavailable, own_node
from memory.web.api.routing import router
from memory.web.forms import CoarseDate, Description, EmotionTags, EventTime, Impact, RelationalTags, tidy_text
from memory.web.serializers import serialize_node, serialize_node_detail, serialize_trace
from persona.lookup import own_persona

MAX_GROUNDS = 20
MAX_VERSIONS = 2**31  # the largest version number that the database can compare with
Condition = Annotated[str, BeforeValidator(tidy_text), Field(max_length=MAX_CONDITION, examples=["I'm sad"])]


class NodeIn(Body):
    """A memory to add, and its sources: an event or a fact rests on messages (`messages`), any other kind on messages
    or on memories (`grounds`)."""

    kind: Literal["event", "fact", "thought", "intention", "expectation"] = "event"
    description: Description
    subject: ConceptNode.Subject = ConceptNode.Subject.USER
    emotional_impact: Impact = 0
    emotion_tags: EmotionTags = []
    relational_tags: RelationalTags = []
    event_time: EventTime | None = None
    domain: ConceptNode.Domain | Literal[""] = Field(default="", description="For facts only.", examples=[""])
    messages: list[UUID] = Field([], max_length=MAX_GROUNDS, examples=[["0f4c8f0e-5a3b-4c55-9d0e-1f6f0a7d2b11"]])
    grounds: list[UUID] = Field([], max_length=MAX_GROUNDS, examples=[[]])


class Added(Schema):
    """The memory that holds it now. `outcome`: new, or repeated or reinforced if it was known already."""

    node: NodeDetail
    outcome: Literal["new", "repeated", "reinforced"]


class CorrectionIn(Body):
    """The fields to change; those left out stay. Null for `event_time` removes the day."""

    description: Description | None = None
    emotional_impact: Impact | None = None
    emotion_tags: EmotionTags | None = None
    relational_tags: RelationalTags | None = None
    event_time: EventTime | None = None
    scope: ConceptNode.Scope | None = Field(default=None, description="For lessons only.", examples=[None])
    condition: Condition | None = Field(default=None, description="For lessons only.", examples=[None])
    is_boundary: bool | None = Field(default=None, description="For lessons only.", examples=[None])
    domain: ConceptNode.Domain | None = Field(default=None, description="For facts only.", examples=[None])
    since: CoarseDate | None = Field(default=None, description="For facts only.", examples=[None])
    until: CoarseDate | None = Field(default=None, description="For facts only.", examples=[None])
    plan_state: ConceptNode.PlanState | Literal[""] | None = Field(
        default=None, description="For plans only.", examples=[None]
    )


class LessonIn(Body):
    """How the persona should be with you, and when: `condition` is the feeling, topic, person or name."""

    text: Description = Field(max_length=MAX_WISH, examples=["Just listen."])
    scope: ConceptNode.Scope = ConceptNode.Scope.ALWAYS
    condition: Condition = ""
    is_boundary: bool = False


class VersionOut(Schema):
    """An earlier wording of a node, before a correction."""

    version: int
    description: str
    event_time_start: date | None
    event_time_end: date | None
    edited_at: datetime


class Trace(Schema):
    """A node, its sources and the memories concluded from it. `lost_grounds` counts sources that were forgotten."""

    node: NodeOut
    evidence: list[EvidenceOut]
    grounds: list[NodeOut]
    lost_grounds: int
    above: list[NodeOut]
    earlier: list[NodeOut]
    versions: list[VersionOut]


@router.post("/{uuid:persona_id}/nodes", response={201: Added}, summary="Add a memory")
def post_node(request: HttpRequest, persona_id: UUID, body: NodeIn) -> Any:
    """Adds a memory through the gate that every memory passes: what is known already is not doubled. 409 `forgotten`
    for words that were forgotten for good, `off_the_record` and `withheld` for messages that must not be remembered;
    422 `without_ground`."""
    persona = own_persona(request, persona_id)
    fields = body.model_dump(exclude={"messages", "grounds"})
    messages = _rows_with_ids(Message.objects.filter(persona=persona).select_related("session"), body.messages)
    grounds = _rows_with_ids(ConceptNode.objects.of(persona), body.grounds)
    try:
        node = add.add(persona, Addition(**fields, lines=messages, grounds=grounds), timezone.now())
    except NotRemembered as error:
        raise ApiError(409, error.code, str(error)) from error
    except MissingEvidence as error:
        raise ApiError(422, "without_ground", "A memory needs a source: give messages or memories.") from error
    except InvalidMemory as error:
        raise refused_fields(f"body.body.{error.field}") from error
    except EmbeddingUnavailable as error:
        raise embedding_unavailable() from error
    assert node.node is not None  # what is refused was raised
    return Status(201, {"node": serialize_node_detail(_reload(node.node)), "outcome": node.outcome})


@router.post("/{uuid:persona_id}/lessons", response={201: NodeDetail}, summary="Add a lesson")
def post_lesson(request: HttpRequest, persona_id: UUID, body: LessonIn) -> Any:
    """Adds a standing wish, which every prompt carries from now on. 422 for a text that cannot be a wish: it cannot
    override the guardrails. 409 `forgotten` as for a node."""
    persona = own_persona(request, persona_id)
    try:
        lesson = add_lesson(
            persona, Wish(body.text, body.scope.value, body.condition, body.is_boundary), timezone.now()
        )
    except NotRemembered as error:
        raise ApiError(409, error.code, str(error)) from error
    except InvalidMemory as error:
        raise refused_fields(f"body.body.{'condition' if error.field == 'condition' else 'text'}") from error
    except EmbeddingUnavailable as error:
        raise embedding_unavailable() from error
    return Status(201, serialize_node_detail(_reload(lesson)))


@router.post(
    "/{uuid:persona_id}/messages/{uuid:message_id}/remember", response=NodeDetail, summary="Remember a message"
)
def remember_line(request: HttpRequest, persona_id: UUID, message_id: UUID) -> dict[str, Any]:
    """The memory of this message's own words, created if it does not exist. 409 `off_the_record`, `withheld`, `empty`
    or `forgotten` if the message must not be remembered."""
    messages = Message.objects.filter(persona=own_persona(request, persona_id))
    message = get_object_or_404(messages.select_related("session", "persona__owner"), uuid=message_id)
    try:
        return serialize_node_detail(_reload(remember.remember(message, timezone.now())))
    except NotRemembered as error:
        raise ApiError(409, error.code, str(error)) from error
    except EmbeddingUnavailable as error:
        raise embedding_unavailable() from error


@router.patch("/{uuid:persona_id}/nodes/{uuid:node_id}", response=NodeDetail, summary="Correct a node")
def correct_node(request: HttpRequest, persona_id: UUID, node_id: UUID, body: CorrectionIn) -> dict[str, Any]:
    """Stores a new version; the old one is kept until the node is forgotten. 409 for words that were forgotten for
    good."""
    node = own_node(request, persona_id, node_id)
    change = Correction(**body.model_dump(exclude_unset=True))
    corrected = _apply_correction(
        lambda: curation_correct.correct(node, change, request.user, timezone.now())  # type: ignore[arg-type]
    )
    return serialize_node_detail(corrected)


@router.post(
    "/{uuid:persona_id}/nodes/{uuid:node_id}/versions/{int:version}/restore",
    response=NodeDetail,
    summary="Restore an earlier wording of a node",
)
def restore_node(request: HttpRequest, persona_id: UUID, node_id: UUID, version: int) -> dict[str, Any]:
    """Restores one of its versions; the current wording becomes a version. 409 `forgotten` as for a correction."""
    node = own_node(request, persona_id, node_id)
    past = get_object_or_404(node.versions, version=min(version, MAX_VERSIONS))
    restored = _apply_correction(
        lambda: curation_correct.restore(node, past, request.user, timezone.now())  # type: ignore[arg-type]
    )
    return serialize_node_detail(restored)


def _apply_correction(correct: Callable[[], ConceptNode]) -> ConceptNode:
    try:
        return correct()
    except WordsForgotten as error:
        raise ApiError(409, "forgotten", "These words were forgotten for good.") from error
    except InvalidMemory as error:
        raise refused_fields(f"body.body.{error.field}") from error
    except EmbeddingUnavailable as error:
        raise embedding_unavailable() from error
    except ConceptNode.DoesNotExist as error:
        raise Http404 from error


@router.get(
    "/{uuid:persona_id}/nodes/{uuid:node_id}/trace", response=Trace, summary="A node with its sources and conclusions"
)
def trace_node(request: HttpRequest, persona_id: UUID, node_id: UUID) -> dict[str, Any]:
    """The quotes it came from, the memories it rests on, those that rest on it, and its earlier versions."""
    return serialize_trace(own_node(request, persona_id, node_id))


class OutcomeIn(Body):
    """How it ended, and the memory that shows it; `open` reopens it."""

    outcome: Literal["open", "fulfilled", "violated"]
    by: UUID | None = None


@router.post(
    "/{uuid:persona_id}/nodes/{uuid:node_id}/outcome",
    response=NodeDetail,
    summary="Settle a promise or an expectation",
)
def settle_node(request: HttpRequest, persona_id: UUID, node_id: UUID, body: OutcomeIn) -> dict[str, Any]:
    """Settles a promise or an expectation. Repeating the same outcome does nothing; 409 for another one: reopen it
    first."""
    node = own_node(request, persona_id, node_id)
    if node.kind not in open_items.KINDS or body.by == node.uuid:
        raise ApiError(422, "invalid", "Only a promise or an expectation can be settled, and only by another memory.")
    if body.outcome == ConceptNode.Outcome.OPEN:
        open_items.reopen(node, timezone.now())
    else:
        others = ConceptNode.objects.of(node.persona)
        by = get_object_or_404(others, uuid=body.by) if body.by else None
        open_items.settle(node, body.outcome, by, timezone.now())
    node.refresh_from_db()
    if node.outcome != body.outcome:
        raise ApiError(409, "settled", "It has another outcome already; reopen it first.", outcome=node.outcome)
    return serialize_node_detail(node)


# Registered after the other routes below a node, because it would match them as well.
@router.post("/{uuid:persona_id}/nodes/{uuid:node_id}/{action}", response=NodeOut, summary="Hide, show, confirm, …")
def curate_node(request: HttpRequest, persona_id: UUID, node_id: UUID, action: Action) -> dict[str, Any]:
    """Repeating an action does nothing. A hidden node is listed and never recalled; `let_in` releases a node that was
    quarantined for lack of evidence."""
    node = own_node(request, persona_id, node_id)
    NODE_ACTIONS[action](node)
    return serialize_node(_reload(node))


def _reload(node: ConceptNode) -> ConceptNode:
    """The node as it is stored now. 404 if it was forgotten meanwhile."""
    return get_object_or_404(ConceptNode.objects.select_related("persona"), pk=node.pk)


def _rows_with_ids(rows: Any, ids: Sequence[UUID]) -> list[Any]:
    """The rows with these ids, in their order. 404 if one of them does not exist."""
    rows_by_uuid = {row.uuid: row for row in rows.filter(uuid__in=ids)}
    if len(rows_by_uuid) < len(set(ids)):
        raise Http404
    return [rows_by_uuid[row_id] for row_id in dict.fromkeys(ids)]
