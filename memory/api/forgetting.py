"""Forgetting: what would go, and having it gone. Irreversible; a receipt is what is left of it."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from ninja import Query, Schema

from echovessel.problems import Refused, answers
from memory import forgetting
from memory.api.routing import router
from memory.forgetting import Affected, Busy, Choice, Kind, Plan, PlanChanged
from memory.models import Receipt
from persona.lookup import own_persona

What = Literal["nodes", "messages", "sessions", "entities"]
KIND_OF: dict[str, Kind] = {"nodes": "node", "messages": "message", "sessions": "session", "entities": "entity"}
MOST_RECEIPTS = 200


class AffectedOut(Schema):
    """One thing that forgetting touches; `why` is a code."""

    kind: str
    id: UUID | None
    text: str
    why: str
    may_stay: bool


class PlanOut(Schema):
    """What forgetting would do. `digest` confirms this plan, and no other."""

    digest: str
    mode: str
    messages: str
    going: list[AffectedOut]
    staying: list[AffectedOut]
    withheld: list[AffectedOut]
    erased: list[AffectedOut]
    elsewhere: list[AffectedOut]
    counts: dict[str, int]


class ReceiptOut(Schema):
    """What was forgotten, by ids and counts. Pending: its bytes are still being erased."""

    id: UUID
    status: str
    at: datetime
    finished_at: datetime | None
    targets: list[Any]
    counts: dict[str, int]


class How(Schema):
    """What becomes of what was concluded from it, and of the lines it came from; and which plan is confirmed."""

    mode: Literal["cascade", "orphan"] = "cascade"
    messages: Literal["forget", "withhold"] = "forget"
    confirm: str = ""


@router.get(
    "/{uuid:persona_id}/{what}/{uuid:of}/forget", response=answers(PlanOut), summary="What forgetting it would do"
)
def plan_forgetting(request: HttpRequest, persona_id: UUID, what: What, of: UUID, how: Query[How]) -> dict[str, Any]:
    return planned(_plan(request, persona_id, what, of, how))


@router.get(
    "/{uuid:persona_id}/{what}/{uuid:of}/dependents",
    response=answers(list[AffectedOut]),
    summary="The memories that would go with it",
)
def list_dependents(request: HttpRequest, persona_id: UUID, what: What, of: UUID) -> list[dict[str, Any]]:
    plan = _plan(request, persona_id, what, of, How())
    kinds = ("event", "node", "thought", "intention", "expectation")
    return list(_told(one for one in plan.going if one.kind in kinds and one.why != "chosen"))


@router.delete(
    "/{uuid:persona_id}/nodes/{uuid:node_id}", response=answers(ReceiptOut), summary="Forget a node, for good"
)
def forget_node(request: HttpRequest, persona_id: UUID, node_id: UUID, how: Query[How]) -> dict[str, Any]:
    """With `confirm`, the digest of a plan, only if nothing else would go than what it says. 409: `plan_changed`, with
    the plan as it is now, or `busy`: a reply is being written, try again in a moment."""
    return _forget(request, _plan(request, persona_id, "nodes", node_id, how), how)


@router.delete(
    "/{uuid:persona_id}/messages/{uuid:message_id}", response=answers(ReceiptOut), summary="Forget a line, for good"
)
def forget_message(request: HttpRequest, persona_id: UUID, message_id: UUID, how: Query[How]) -> dict[str, Any]:
    return _forget(request, _plan(request, persona_id, "messages", message_id, how), how)


@router.delete(
    "/{uuid:persona_id}/sessions/{uuid:session_id}", response=answers(ReceiptOut), summary="Forget a talk, for good"
)
def forget_session(request: HttpRequest, persona_id: UUID, session_id: UUID, how: Query[How]) -> dict[str, Any]:
    return _forget(request, _plan(request, persona_id, "sessions", session_id, how), how)


@router.delete(
    "/{uuid:persona_id}/entities/{uuid:entity_id}", response=answers(ReceiptOut), summary="Forget whom it is about"
)
def forget_entity(request: HttpRequest, persona_id: UUID, entity_id: UUID, how: Query[How]) -> dict[str, Any]:
    return _forget(request, _plan(request, persona_id, "entities", entity_id, how), how)


@router.get(
    "/{uuid:persona_id}/receipts", response=answers(list[ReceiptOut]), summary="What was forgotten, newest first"
)
def list_receipts(request: HttpRequest, persona_id: UUID) -> list[dict[str, Any]]:
    found = Receipt.objects.filter(persona=own_persona(request, persona_id))[:MOST_RECEIPTS]
    return [received(receipt) for receipt in found]


@router.get("/{uuid:persona_id}/receipts/{uuid:receipt_id}", response=answers(ReceiptOut), summary="One receipt")
def get_receipt(request: HttpRequest, persona_id: UUID, receipt_id: UUID) -> dict[str, Any]:
    persona = own_persona(request, persona_id)
    return received(get_object_or_404(Receipt, persona=persona, uuid=receipt_id))


def planned(plan: Plan) -> dict[str, Any]:
    """A plan as `PlanOut` tells it."""
    sections = ("going", "staying", "withheld", "erased", "elsewhere")
    return {
        "digest": plan.digest,
        "mode": plan.choice.dependents,
        "messages": plan.choice.messages,
        "counts": dict(plan.counts),
    } | {name: list(_told(getattr(plan, name))) for name in sections}


def received(receipt: Receipt) -> dict[str, Any]:
    """A receipt as `ReceiptOut` tells it."""
    names = ("status", "at", "finished_at", "targets", "counts")
    return {"id": receipt.uuid} | {name: getattr(receipt, name) for name in names}


def _forget(request: HttpRequest, plan: Plan, how: How) -> dict[str, Any]:
    if how.confirm and not constant_time_compare(how.confirm, plan.digest):
        raise _changed(plan)
    try:
        return received(forgetting.forget(plan, request.user, timezone.now()))  # type: ignore[arg-type]
    except Busy as error:
        raise Refused(409, "busy", "A reply is being written; try again in a moment.") from error
    except PlanChanged as error:
        raise _changed(error.plan) from error


def _plan(request: HttpRequest, persona_id: UUID, what: What, of: UUID, how: How) -> Plan:
    persona = own_persona(request, persona_id)
    try:
        target = forgetting.target_of(persona, KIND_OF[what], str(of))
    except LookupError as error:
        raise Http404 from error
    return forgetting.plan([target], Choice(dependents=how.mode, messages=how.messages))


def _told(affected: Iterable[Affected]) -> Iterable[dict[str, Any]]:
    for one in affected:
        yield {"kind": one.kind, "id": one.uuid, "text": one.text, "why": one.why, "may_stay": one.may_stay}


def _changed(plan: Plan) -> Refused:
    now = PlanOut(**planned(plan)).model_dump(mode="json")
    return Refused(409, "plan_changed", "Something else would be forgotten now than what was confirmed.", plan=now)
