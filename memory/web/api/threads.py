"""API of story lines: the memories of one matter with its state; their owner renames, ends, corrects and dissolves
them."""

from datetime import date, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Schema
from pydantic import Field

from echovessel.api.bodies import Body
from echovessel.api.problems import ApiError, refused_fields
from memory.curation import threads
from memory.curation.threads import MEMBER_ACTIONS, THREAD_ACTIONS, TitleRefused
from memory.models import Thread
from memory.models.thread import MAX_TITLE
from memory.web.api.memories import own_node
from memory.web.api.routing import router
from memory.web.serializers import serialize_thread
from persona.lookup import own_persona
from persona.models import Persona

ThreadAction = Literal["end", "reopen", "dissolve", "restore"]
MemberAction = Literal["take_out", "put_back"]
Title = Annotated[str, Field(min_length=1, max_length=MAX_TITLE, pattern=r"\S", examples=["The flat in Basel"])]


class MemberOut(Schema):
    """A memory of a story line."""

    id: UUID
    description: str = Field(examples=["Ana saw a flat in Basel."])
    day: date


class ThreadOut(Schema):
    """A story line: its memories, newest first. Its state is open or ended."""

    id: UUID
    title: str = Field(examples=["The flat in Basel"])
    state: str = Field(examples=["open"])
    created_at: datetime
    dissolved_at: datetime | None
    nodes: list[MemberOut]


class TitleIn(Body):
    """The new title."""

    title: Title


@router.get("/{uuid:persona_id}/threads", response=list[ThreadOut], summary="Story lines, newest first")
def list_threads(request: HttpRequest, persona_id: UUID, state: Thread.State | None = None) -> list[dict[str, Any]]:
    """What continues over weeks, each with its memories; without dissolved ones."""
    persona = own_persona(request, persona_id)
    return [serialize_thread(thread) for thread in threads.newest_first(persona) if state in (None, thread.state)]


@router.patch("/{uuid:persona_id}/threads/{uuid:thread_id}", response=ThreadOut, summary="Rename a story line")
def patch_thread(request: HttpRequest, persona_id: UUID, thread_id: UUID, body: TitleIn) -> dict[str, Any]:
    """Sets another title, which is never changed automatically from then on."""
    thread = _own_thread(own_persona(request, persona_id), thread_id)
    try:
        threads.rename(thread, body.title)
    except TitleRefused as error:  # for a title of invisible characters only
        raise refused_fields("title") from error
    return serialize_thread(_own_thread(thread.persona, thread_id))


@router.post("/{uuid:persona_id}/threads/{uuid:thread_id}/{action}", response=ThreadOut, summary="Change a story line")
def post_thread_action(request: HttpRequest, persona_id: UUID, thread_id: UUID, action: ThreadAction) -> dict[str, Any]:
    """Ends, resumes, dissolves or restores it; its memories stay. 409 `unchanged` if it is in that state already."""
    thread = _own_thread(own_persona(request, persona_id), thread_id)
    if not THREAD_ACTIONS[action](thread, timezone.now()):
        raise ApiError(409, "unchanged", "It is in that state already.")
    return serialize_thread(_own_thread(thread.persona, thread_id))


@router.post(
    "/{uuid:persona_id}/threads/{uuid:thread_id}/nodes/{uuid:node_id}/{action}",
    response=ThreadOut,
    summary="Take a memory out of a story line",
)
def post_member_action(
    request: HttpRequest, persona_id: UUID, thread_id: UUID, node_id: UUID, action: MemberAction
) -> dict[str, Any]:
    """Takes a memory out of a story line, or puts it back. The memory itself stays. 409 `unchanged` if it is so
    already, or if the memory is in another story line."""
    node = own_node(request, persona_id, node_id)
    thread = _own_thread(node.persona, thread_id)
    if not MEMBER_ACTIONS[action](thread, node, timezone.now()):
        raise ApiError(409, "unchanged", "It is in that state already.")
    return serialize_thread(_own_thread(thread.persona, thread_id))


def _own_thread(persona: Persona, thread_id: UUID) -> Thread:
    return get_object_or_404(threads.with_members(persona.threads.all()), uuid=thread_id)
