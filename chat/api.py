"""API of the conversation (L2): messages, sessions and turns, newest first, page by page; and sending messages."""

import time
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from asgiref.sync import async_to_sync
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Schema, Status
from pydantic import Field

from chat import messages, rate_limit
from chat.models import Message, Session, Turn
from chat.models.message import MAX_CHARACTERS
from chat.serializers import serialize_message, serialize_session, serialize_turn
from chat.sessions import close, off_the_record
from chat.turns import runner, versions
from chat.turns import turn as turns
from chat.turns.versions import VersionRefused
from echovessel.api import pagination
from echovessel.api.bodies import Body
from echovessel.api.pagination import Page
from echovessel.api.problems import ApiError
from echovessel.api.routing import Section
from persona.api import addresses
from persona.lookup import own_persona
from persona.models import Persona

router = Section(addresses, "chat")
CHANNEL = "api"
BY_TIME = ("created_at", "id")


class MessageOut(Schema):
    """A message, word for word. A withheld one no longer reaches a model. `speaker` names a third person whose message
    it is; its role is then "system"."""

    id: UUID
    session_id: UUID
    turn_id: UUID | None
    role: str = Field(examples=["user"])
    speaker: str = Field(examples=[""])
    content: str = Field(examples=["I got a cat."])
    withheld: bool
    created_at: datetime


class SessionOut(Schema):
    """A session, from its first message until it was closed and remembered."""

    id: UUID
    channel: str = Field(examples=["web"])
    status: str = Field(examples=["closed"])
    started_at: datetime
    closed_at: datetime | None
    close_reason: str = Field(examples=["idle"])
    message_count: int = Field(examples=[12])
    summary: str = Field(examples=["Ana told Mira about her new cat."])
    trivial: bool
    failure: str = Field(examples=[""])
    off_the_record: bool


class MessageIn(Body):
    """A message to send. `client_id` is yours to choose: sending the same one again stores nothing twice."""

    content: str = Field(min_length=1, max_length=MAX_CHARACTERS, examples=["Do you remember my cat?"])
    client_id: UUID
    off_the_record: bool = False
    replaces: UUID | None = Field(
        None,
        description="The id of your last message, if this one rewords it: that message is withheld with its reply.",
    )


class SentMessage(Schema):
    """The stored message, and the turn that answers it. `care` is help to show with the message if it speaks of a
    crisis; `ai_notice` says whether it is time to repeat that the persona is an AI."""

    message: MessageOut
    turn_id: UUID | None
    repeated: bool
    care: list[str]
    ai_notice: bool


class TurnOut(Schema):
    """Messages of the owner and the reply to them. `partial` is the text so far of a reply that failed."""

    id: UUID
    session_id: UUID
    status: str = Field(examples=["done"])
    error: str = Field(examples=[""])
    partial: str = Field(examples=[""])
    created_at: datetime
    finished_at: datetime | None
    lines: list[MessageOut]
    reply: MessageOut | None
    original_turn_id: UUID | None = Field(None, description="The turn whose messages this one answers again.")


class TurnXray(Schema):
    """What a reply was made from, section by section: ids and numbers, no text of messages."""

    xray: dict[str, Any]


@router.get("/{uuid:persona_id}/messages", response=Page[MessageOut], summary="Messages, newest first")
def list_messages(request: HttpRequest, persona_id: UUID, page: Query[pagination.PageParams]) -> Any:
    """All messages of both sides, in all channels."""
    return pagination.page(_messages(own_persona(request, persona_id)), page, serialize_message, BY_TIME)


@router.post("/{uuid:persona_id}/messages", response={202: SentMessage}, summary="Send a message")
def post_message(request: HttpRequest, persona_id: UUID, body: MessageIn) -> Any:
    """Stores the message and returns; the reply is written by the same turns as in the page. Poll the turn until it is
    done, or listen to the events. Messages sent in quick succession belong to one turn."""
    persona = own_persona(request, persona_id)
    _admit(persona)
    try:
        received = messages.receive_message(
            persona,
            body.content,
            body.client_id,
            CHANNEL,
            timezone.now(),
            unrecorded=body.off_the_record,
            replaces=body.replaces,
        )
    except VersionRefused as error:
        raise ApiError(409, error.code, "Only your last message can be reworded.") from error
    _nudge(persona)
    # Return the stored message, with the help to show with it.
    message, extras = received.message, messages.as_event(received.message)
    return Status(
        202,
        {
            "message": serialize_message(message),
            "turn_id": message.turn.uuid if message.turn else None,
            "repeated": received.repeated,
            "care": extras.get("care", {}).get("texts", []),
            "ai_notice": "ai_notice" in extras,
        },
    )


@router.get("/{uuid:persona_id}/messages/{uuid:message_id}", response=MessageOut, summary="One message")
def get_message(request: HttpRequest, persona_id: UUID, message_id: UUID) -> dict[str, Any]:
    """A message by its id."""
    return serialize_message(get_object_or_404(_messages(own_persona(request, persona_id)), uuid=message_id))


@router.get("/{uuid:persona_id}/sessions", response=Page[SessionOut], summary="Sessions, newest first")
def list_sessions(
    request: HttpRequest, persona_id: UUID, page: Query[pagination.PageParams], status: Session.Status | None = None
) -> Any:
    """The sessions of all channels, or those of one status."""
    sessions = own_persona(request, persona_id).sessions.all()
    matching_sessions = sessions.filter(status=status) if status else sessions
    return pagination.page(matching_sessions, page, serialize_session, ("started_at", "id"))


@router.get("/{uuid:persona_id}/sessions/{uuid:session_id}", response=SessionOut, summary="One session")
def get_session(request: HttpRequest, persona_id: UUID, session_id: UUID) -> dict[str, Any]:
    """A session by its id, without its messages."""
    return serialize_session(_own_session(request, persona_id, session_id))


@router.get(
    "/{uuid:persona_id}/sessions/{uuid:session_id}/messages",
    response=Page[MessageOut],
    summary="Messages of a session",
)
def list_session_messages(
    request: HttpRequest, persona_id: UUID, session_id: UUID, page: Query[pagination.PageParams]
) -> Any:
    """The session's messages, newest first."""
    session = _own_session(request, persona_id, session_id)
    return pagination.page(_messages(session.persona).filter(session=session), page, serialize_message, BY_TIME)


@router.post("/{uuid:persona_id}/sessions/{uuid:session_id}/close", response=SessionOut, summary="Close a session")
def close_session(request: HttpRequest, persona_id: UUID, session_id: UUID) -> dict[str, Any]:
    """Closes the session: it takes no more messages and is remembered; one off the record is deleted. 409 `not_open` if
    it has ended."""
    session = _own_session(request, persona_id, session_id)
    if not close.close(session, Session.CloseReason.EXPLICIT, timezone.now()):
        raise ApiError(409, "not_open", "This session has ended already.")
    session.refresh_from_db()
    return serialize_session(session)


@router.get("/{uuid:persona_id}/turns/{uuid:turn_id}", response=TurnOut, summary="One turn and its reply")
def get_turn(request: HttpRequest, persona_id: UUID, turn_id: UUID) -> dict[str, Any]:
    """Poll it while its status is `collecting` or `running`."""
    return serialize_turn(_own_turn(request, persona_id, turn_id))


@router.get("/{uuid:persona_id}/turns/{uuid:turn_id}/xray", response=TurnXray, summary="The x-ray of a reply")
def get_turn_xray(request: HttpRequest, persona_id: UUID, turn_id: UUID) -> dict[str, Any]:
    """Everything that was considered for the prompt, with its scores and verdicts."""
    return {"xray": _own_turn(request, persona_id, turn_id).xray}


@router.post("/{uuid:persona_id}/turns/{uuid:turn_id}/{action}", response=TurnOut, summary="Retry or stop a reply")
def steer_turn(
    request: HttpRequest, persona_id: UUID, turn_id: UUID, action: Literal["retry", "stop", "another", "choose"]
) -> dict[str, Any]:
    """`retry` writes a failed reply again; `stop` ends one that is being written here and keeps its text so far.
    `another` answers the last messages again, in a turn of its own, which is returned; the first answer stays until the
    other is chosen. `choose` makes this turn's answer or wording the current one. 409 `not_retryable`, `not_running`,
    `not_last`, `not_open`, `busy`, `withheld`, `enough` or `passed_over` if it is not possible."""
    turn = _own_turn(request, persona_id, turn_id)
    if action in ("another", "choose"):
        _admit(turn.persona)
        try:
            if action == "choose":
                versions.choose(turn.persona, turn.uuid)
            else:
                turn = turns.create_other_answer(turn.persona, turn.uuid)
                _nudge(turn.persona, at_once=True)
        except VersionRefused as error:
            raise ApiError(409, error.code, "Another version is not possible here.") from error
    elif action == "stop":
        if not async_to_sync(_stop)(turn):
            raise ApiError(409, "not_running", "This reply is no longer being written.")
    else:
        _admit(turn.persona)
        if not turns.retry(turn.persona, turn.uuid):
            raise ApiError(409, "not_retryable", "There is nothing to retry here.")
        _nudge(turn.persona, at_once=True)
    turn.refresh_from_db()
    return serialize_turn(turn)


@router.post("/{uuid:persona_id}/off-the-record", response=SessionOut, summary="Begin a session off the record")
def begin_off_the_record(request: HttpRequest, persona_id: UUID) -> dict[str, Any]:
    """Begins a session in the API's channel that is deleted when it ends and of which nothing is remembered; the open
    session of that channel is closed. Close it like any other."""
    return serialize_session(off_the_record.begin(own_persona(request, persona_id), CHANNEL, timezone.now()))


def _messages(persona: Persona) -> Any:
    return Message.objects.filter(persona=persona).select_related("session", "turn")


def _own_session(request: HttpRequest, persona_id: UUID, session_id: UUID) -> Session:
    sessions = own_persona(request, persona_id).sessions.select_related("persona")
    return get_object_or_404(sessions, uuid=session_id)


def _own_turn(request: HttpRequest, persona_id: UUID, turn_id: UUID) -> Turn:
    own = own_persona(request, persona_id).turns.select_related("session", "persona")
    return get_object_or_404(own, uuid=turn_id)


def _admit(persona: Persona) -> None:
    now = time.monotonic()
    if not rate_limit.admit(persona.owner_id, now):
        title = "That was too fast. Wait a moment, then send it again."
        raise ApiError(429, "rate_limited", title, retry_after=rate_limit.lines.wait(persona.owner_id, now))


def _nudge(persona: Persona, *, at_once: bool = False) -> None:
    """Schedule the turn in the server's runner, on the event loop that serves this request."""

    async def nudge() -> None:
        runner.get_runner().nudge(persona.pk, at_once=at_once)

    async_to_sync(nudge)()


async def _stop(turn: Turn) -> bool:
    return runner.get_runner().stop(turn.persona.uuid, turn.uuid)
