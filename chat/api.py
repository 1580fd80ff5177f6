"""API of what was said (L2): messages and sessions, newest first, page by page."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Schema

from chat.models import Message, Session
from persona.lookup import own_persona

router = Router()


class MessageOut(Schema):
    id: UUID
    session_id: UUID
    turn_id: UUID | None
    role: str
    content: str
    created_at: datetime


class MessagePage(Schema):
    """A page of messages; `next` is the `before` of the page after it, or null."""

    items: list[MessageOut]
    next: UUID | None


class SessionOut(Schema):
    id: UUID
    status: str
    started_at: datetime
    closed_at: datetime | None
    close_reason: str
    message_count: int
    summary: str
    trivial: bool
    failure: str


@router.get("/{uuid:persona_id}/messages", response=MessagePage, summary="What was said, newest first")
def list_messages(
    request: HttpRequest,
    persona_id: UUID,
    before: UUID | None = None,
    limit: int = Query(50, ge=1, le=200),
) -> dict[str, Any]:
    persona = own_persona(request, persona_id)
    found = Message.objects.filter(persona=persona)
    if before is not None:
        found = found.before(get_object_or_404(found, uuid=before))
    page = list(found.select_related("session", "turn").order_by("-created_at", "-id")[: limit + 1])
    items = [_message(message) for message in page[:limit]]
    return {"items": items, "next": items[-1]["id"] if len(page) > limit else None}


@router.get("/{uuid:persona_id}/sessions", response=list[SessionOut], summary="The latest talks, newest first")
def list_sessions(request: HttpRequest, persona_id: UUID, limit: int = Query(50, ge=1, le=200)) -> list[dict[str, Any]]:
    sessions = Session.objects.filter(persona=own_persona(request, persona_id))[:limit]
    names = [name for name in SessionOut.model_fields if name != "id"]
    return [{"id": session.uuid} | {name: getattr(session, name) for name in names} for session in sessions]


def _message(message: Message) -> dict[str, Any]:
    return {
        "id": message.uuid,
        "session_id": message.session.uuid,
        "turn_id": message.turn.uuid if message.turn else None,
        "role": message.role,
        "content": message.content,
        "created_at": message.created_at,
    }
