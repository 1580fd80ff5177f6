"""API of forgetting: the preview, and the deletion. It is irreversible; only a receipt remains."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from ninja import Query, Schema
from pydantic import Field

from echovessel.api import pagination
from echovessel.api.pagination import Page
from echovessel.api.problems import ApiError, refused_fields
from memory import forgetting
from memory.forgetting import REVERT_IMPORT, Busy, Choice, InvalidChoice, Kind, Plan, PlanChanged, Target, make_choice
from memory.forgetting.types import MENTION_MODES, DependentMode, MessageMode, OtherMentions
from memory.models import ConceptNode, Receipt
from memory.requests.retold import retold_of, show_retold, withhold_retold
from memory.web.api.routing import router
from memory.web.serializers import serialize_affected, serialize_plan, serialize_receipt
from persona.lookup import own_persona
from persona.models import Persona

Digest = Annotated[str, Query(min_length=1, max_length=200, description="The digest of the plan.")]
What = Literal["nodes", "messages", "sessions", "entities", "imports"]
KIND_OF: dict[str, Kind] = {
    "nodes": "node",
    "messages": "message",
    "sessions": "session",
    "entities": "entity",
    "imports": "import",
}


Ids = list[UUID]
MAX_IDS = 1_000


class AffectedOut(Schema):
    """One thing that forgetting touches; `why` is a code."""

    kind: str = Field(examples=["event"])
    id: UUID | None
    text: str = Field(examples=["Ana got a black cat."])
    why: str = Field(examples=["chosen"])
    may_stay: bool


class MentionOut(Schema):
    """A message that also mentions it; `mode` is what happens to the message, `why` a code."""

    id: UUID
    role: str = Field(examples=["user"])
    text: str = Field(examples=["I still put out seeds for Quetzal."])
    why: Literal["names_it", "rare_word", "same_words"]
    mode: Literal["forget", "withhold", "leave"]


class PlanOut(Schema):
    """What forgetting would do. Its `digest` confirms this plan and no other."""

    digest: str
    mode: str = Field(examples=["cascade"])
    messages: str = Field(examples=["forget"])
    going: list[AffectedOut]
    staying: list[AffectedOut]
    withheld: list[AffectedOut]
    erased: list[AffectedOut]
    elsewhere: list[AffectedOut]
    mentioned: list[MentionOut] = Field(description="Messages that are deleted or withheld are in these lists, too.")
    counts: dict[str, int] = Field(examples=[{"memory_conceptnode": 1}])


class ReceiptOut(Schema):
    """What was forgotten, by ids and counts. While it is pending, the bytes are still being erased."""

    id: UUID
    status: str = Field(examples=["done"])
    at: datetime
    finished_at: datetime | None
    targets: list[Any] = Field(examples=[[["node", "0f4c8f0e-5a3b-4c55-9d0e-1f6f0a7d2b11"]]])
    counts: dict[str, int] = Field(examples=[{"memory_conceptnode": 1}])
    kept_elsewhere: int = Field(description="The number of kept messages that contain the same words.")


class RepliesOut(Schema):
    """Replies that tell of a reverted import. Withheld ones stay in the history and no longer reach a model."""

    count: int
    withheld: bool


class Confirmation(Schema):
    """The plan that is confirmed."""

    confirm: str = Field(default="", max_length=200, description="The digest of the plan that is confirmed.")


class ForgetQuery(Confirmation):
    """What happens to memories concluded from it and to the messages it came from; and the plan that is confirmed."""

    mode: DependentMode = Field(
        default=Choice.dependents,
        description="What happens to memories that were concluded from it. By default they are deleted too; "
        "with `orphan` they stay if they rest on something else as well.",
    )
    messages: MessageMode = Field(
        default=Choice.messages,
        description="What happens to the messages it came from. By default they are deleted too; with "
        "`withhold` they stay in the history and no longer reach a model.",
    )
    mentions: OtherMentions = Field(
        default=Choice.other_mentions,
        description="What happens to messages that also mention it, except those named below. By default as "
        "the plan proposes for each.",
    )
    forget: Ids = Field(default_factory=list, max_length=MAX_IDS, description="Messages to delete as well.")
    withhold: Ids = Field(default_factory=list, max_length=MAX_IDS, description="Messages to withhold.")
    leave: Ids = Field(default_factory=list, max_length=MAX_IDS, description="Messages to leave unchanged.")
    staying: Ids = Field(
        default_factory=list, max_length=MAX_IDS, description="Memories to keep although the mode is `cascade`."
    )

    def choice(self, persona: Persona) -> Choice:
        """The choices for a persona's rows. Raises ApiError for ids that are not the persona's, and for two answers
        about one message."""
        modes = [(key, mode) for mode in MENTION_MODES for key in self._keys_of(mode, persona.messages.all())]
        staying = self._keys_of("staying", ConceptNode.objects.of(persona))
        try:
            return make_choice(self.mode, self.messages, self.mentions, modes, staying)
        except InvalidChoice as error:
            raise refused_fields(f"query.{error.field}") from error

    def _keys_of(self, field: str, rows: QuerySet[Any]) -> list[int]:
        """The keys of the rows that a list of ids names. Raises ApiError if one does not exist."""
        uuids = set(getattr(self, field))
        keys = list(rows.filter(uuid__in=uuids).values_list("pk", flat=True)) if uuids else []
        if len(keys) < len(uuids):
            raise refused_fields(f"query.{field}")
        return keys


@router.get("/{uuid:persona_id}/{what}/{uuid:of}/forget", response=PlanOut, summary="What forgetting it would do")
def plan_forgetting(
    request: HttpRequest, persona_id: UUID, what: What, of: UUID, how: Query[ForgetQuery]
) -> dict[str, Any]:
    """A preview of everything that would be deleted and what would stay, with reasons; its digest confirms it."""
    return _plan_out(_plan(request, persona_id, what, of, how))


@router.get(
    "/{uuid:persona_id}/{what}/{uuid:of}/dependents",
    response=list[AffectedOut],
    summary="The memories that would be deleted with it",
)
def list_dependents(request: HttpRequest, persona_id: UUID, what: What, of: UUID) -> list[dict[str, Any]]:
    """Memories that were concluded from it and rest on nothing else."""
    plan = _plan(request, persona_id, what, of, ForgetQuery())
    kinds = ("event", "fact", "node", "thought", "intention", "expectation", "lesson")
    return [
        serialize_affected(affected)
        for affected in plan.deleted
        if affected.kind in kinds and affected.why not in ("chosen", "request")
    ]


@router.delete("/{uuid:persona_id}/nodes/{uuid:node_id}", response=ReceiptOut, summary="Forget a node, for good")
def forget_node(request: HttpRequest, persona_id: UUID, node_id: UUID, how: Query[ForgetQuery]) -> dict[str, Any]:
    """Forgets a memory. With `confirm`, the digest of a plan, only if nothing else would be deleted than that plan
    says. 409 `plan_changed`, with the current plan, or `busy`: a reply is being written, try again in a moment."""
    return _forget(request, _plan(request, persona_id, "nodes", node_id, how), how)


@router.delete(
    "/{uuid:persona_id}/messages/{uuid:message_id}", response=ReceiptOut, summary="Forget a message, for good"
)
def forget_message(request: HttpRequest, persona_id: UUID, message_id: UUID, how: Query[ForgetQuery]) -> dict[str, Any]:
    """Forgets a message and what was derived from it. `confirm` as for a node."""
    return _forget(request, _plan(request, persona_id, "messages", message_id, how), how)


@router.delete(
    "/{uuid:persona_id}/sessions/{uuid:session_id}", response=ReceiptOut, summary="Forget a session, for good"
)
def forget_session(request: HttpRequest, persona_id: UUID, session_id: UUID, how: Query[ForgetQuery]) -> dict[str, Any]:
    """Forgets a session with all its messages and what was derived from them. `confirm` as for a node."""
    return _forget(request, _plan(request, persona_id, "sessions", session_id, how), how)


@router.delete(
    "/{uuid:persona_id}/entities/{uuid:entity_id}", response=ReceiptOut, summary="Forget an entity, for good"
)
def forget_entity(request: HttpRequest, persona_id: UUID, entity_id: UUID, how: Query[ForgetQuery]) -> dict[str, Any]:
    """Forgets an entity and what was derived from it. `confirm` as for a node."""
    return _forget(request, _plan(request, persona_id, "entities", entity_id, how), how)


@router.delete("/{uuid:persona_id}/imports/{uuid:import_id}", response=ReceiptOut, summary="Forget an import, for good")
def forget_import(request: HttpRequest, persona_id: UUID, import_id: UUID, how: Query[ForgetQuery]) -> dict[str, Any]:
    """Forgets every session and memory of an import and what was derived from them; 404 if nothing was imported. Its
    content is refused from then on, also when the same file is imported again: to import it again with other answers,
    revert the import. `confirm` as for a node."""
    return _forget(request, _plan(request, persona_id, "imports", import_id, how), how)


@router.get(
    "/{uuid:persona_id}/imports/{uuid:import_id}/take-back",
    response=PlanOut,
    summary="What reverting an import would do",
)
def plan_taking_back(request: HttpRequest, persona_id: UUID, import_id: UUID) -> dict[str, Any]:
    """A preview of everything of the import that would be deleted; its digest confirms it."""
    return _plan_out(_plan(request, persona_id, "imports", import_id, REVERT_IMPORT))


@router.post(
    "/{uuid:persona_id}/imports/{uuid:import_id}/take-back",
    response=ReceiptOut,
    summary="Revert an import",
)
def take_back_import(
    request: HttpRequest, persona_id: UUID, import_id: UUID, how: Query[Confirmation]
) -> dict[str, Any]:
    """Reverts an import: every session, message, memory and draft of it is deleted for good, and the same file may be
    imported again, with other answers. Your messages here since then stay, and what you forgot stays forgotten; replies
    that tell of it stay too, and `replies` of the receipt withholds them. 404 if nothing was imported. `confirm` as for
    a node, in the URL: no body is read, and a body that is not empty is refused (422)."""
    if request.POST or (request.content_type == "application/json" and request.body.strip() not in (b"", b"{}")):
        raise refused_fields("body")
    return _forget(request, _plan(request, persona_id, "imports", import_id, REVERT_IMPORT), how)


@router.get("/{uuid:persona_id}/forget", response=PlanOut, summary="What deleting a persona would do")
def plan_forgetting_persona(request: HttpRequest, persona_id: UUID) -> dict[str, Any]:
    """How much would be deleted with the persona, in counts only."""
    return _plan_out(_plan_of_all(request, persona_id))


@router.delete("/{uuid:persona_id}", response=ReceiptOut, summary="Delete a persona, for good")
def forget_persona(request: HttpRequest, persona_id: UUID, confirm: Digest) -> dict[str, Any]:
    """Deletes the persona with every session and every memory, for good. `confirm` has to be the digest of the plan;
    409 `plan_changed` if something else would be deleted by now, `busy` while a reply is being written."""
    return _forget(request, _plan_of_all(request, persona_id), ForgetQuery(confirm=confirm))


@router.get("/{uuid:persona_id}/receipts", response=Page[ReceiptOut], summary="Receipts, newest first")
def list_receipts(request: HttpRequest, persona_id: UUID, params: Query[pagination.PageParams]) -> Any:
    """Receipts hold ids and counts, no texts."""
    return pagination.page(Receipt.objects.filter(persona=own_persona(request, persona_id)), params, serialize_receipt)


@router.get("/{uuid:persona_id}/receipts/{uuid:receipt_id}", response=ReceiptOut, summary="One receipt")
def get_receipt(request: HttpRequest, persona_id: UUID, receipt_id: UUID) -> dict[str, Any]:
    """Poll it while its status is `pending`: the bytes are still being erased."""
    return serialize_receipt(_own_receipt(request, persona_id, receipt_id))


@router.get(
    "/{uuid:persona_id}/receipts/{uuid:receipt_id}/replies",
    response=RepliesOut,
    summary="The replies that tell of a reverted import",
)
def get_replies(request: HttpRequest, persona_id: UUID, receipt_id: UUID) -> dict[str, Any]:
    """404 if no reply tells of it."""
    retold = retold_of(_own_receipt(request, persona_id, receipt_id))
    if retold is None:
        raise Http404
    return {"count": retold.count, "withheld": retold.is_withheld}


@router.post(
    "/{uuid:persona_id}/receipts/{uuid:receipt_id}/replies/{action}",
    response=RepliesOut,
    summary="Withhold the replies that tell of a reverted import, or show them again",
)
def change_replies(
    request: HttpRequest, persona_id: UUID, receipt_id: UUID, action: Literal["withhold", "show"]
) -> dict[str, Any]:
    """A repeat does nothing more. 404 if no reply tells of it."""
    (withhold_retold if action == "withhold" else show_retold)(_own_receipt(request, persona_id, receipt_id))
    return get_replies(request, persona_id, receipt_id)


def _own_receipt(request: HttpRequest, persona_id: UUID, receipt_id: UUID) -> Receipt:
    return get_object_or_404(
        Receipt.objects.select_related("persona"), persona=own_persona(request, persona_id), uuid=receipt_id
    )


def _plan_out(plan: Plan) -> dict[str, Any]:
    """A plan in the shape of `PlanOut`."""
    return serialize_plan(plan) | {"mode": plan.choice.dependents, "messages": plan.choice.messages}


def _forget(request: HttpRequest, plan: Plan, how: Confirmation) -> dict[str, Any]:
    # Refuse unknown parameters before an irreversible action: a misspelled `confirm` would confirm nothing.
    if unknown := sorted(request.GET.keys() - {"persona", *ForgetQuery.model_fields}):
        raise refused_fields(*(f"query.{name}" for name in unknown))
    if how.confirm and not constant_time_compare(how.confirm, plan.digest):
        raise _changed(plan)
    try:
        return serialize_receipt(forgetting.forget(plan, request.user, timezone.now()))  # type: ignore[arg-type]
    except Busy as error:
        raise ApiError(409, "busy", "A reply is being written; try again in a moment.") from error
    except PlanChanged as error:
        raise _changed(error.plan) from error


def _plan(request: HttpRequest, persona_id: UUID, what: What, of: UUID, how: ForgetQuery | Choice) -> Plan:
    persona = own_persona(request, persona_id)
    try:
        target = forgetting.target_of(persona, KIND_OF[what], str(of))
    except LookupError as error:
        raise Http404 from error
    return forgetting.plan([target], how.choice(persona) if isinstance(how, ForgetQuery) else how)


def _plan_of_all(request: HttpRequest, persona_id: UUID) -> Plan:
    return forgetting.plan([Target("persona", own_persona(request, persona_id).pk)])


def _changed(plan: Plan) -> ApiError:
    now = PlanOut(**_plan_out(plan)).model_dump(mode="json")
    return ApiError(
        409,
        "plan_changed",
        "The plan has changed: something else would be forgotten now than what was confirmed.",
        plan=now,
    )
