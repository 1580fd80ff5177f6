"""Receiving messages: stored before any model sees them, each frame once."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F

from chat import knobs, search
from chat.care import flags
from chat.models import Message, Session, Turn
from chat.sessions import off_the_record
from chat.turns import versions
from echovessel.db.compiled_queries import Query, Update, insert
from echovessel.llm.prompts import tokens
from echovessel.outbox import events
from persona.models import Persona

LITTLE = timedelta(hours=2)
PAGE_CHANNEL = "web"

_stored_as: Query[Message] = Query(
    lambda persona, client_id: Message.objects.filter(persona=persona, client_id=client_id)[:1]
)
_open: Query[Session] = Query(
    lambda persona, channel: (
        Session.objects.open().filter(persona=persona, channel=channel).select_related("persona")[:1]
    )
)
# Without the x-ray, 20 KB that nobody reads here.
_newest_turn: Query[Turn] = Query(
    lambda session: Turn.objects.filter(session=session, original=None).defer("xray").order_by("-id")[:1]
)
_count = Update(
    lambda session, tokens, at: (
        Session.objects.filter(pk=session),
        {"message_count": F("message_count") + 1, "token_count": F("token_count") + tokens, "last_message_at": at},
    )
)


@dataclass(frozen=True)
class StoredMessage:
    """A received message, and whether it was stored before."""

    message: Message
    repeated: bool


@dataclass(frozen=True)
class MessageExtras:
    """Additions that the page shows with an owner's message: help in a crisis, and the notice that the persona is an
    AI."""

    help: tuple[str, ...]
    ai_notice: bool


def receive_message(
    persona: Persona,
    content: str,
    client_id: UUID | None,
    channel: str,
    now: datetime,
    *,
    unrecorded: bool = False,
    replaces: UUID | None = None,
) -> StoredMessage:
    """Store one message of the owner in the open session and its collecting turn, and publish it.

    A `client_id` seen before stores nothing and returns the stored message. A message meant to be `unrecorded` never
    gets into a session on the record, even if the session off the record ended while it was written. `replaces` is the
    owner's last message, which this one rewords: it is withheld with its reply. Raises VersionRefused if it is not the
    last.
    """
    is_cry = flags.is_crisis_message(persona, content, channel, unrecorded=unrecorded)
    with transaction.atomic():  # messages queue up here: it takes the write lock when it begins
        if client_id and (stored_message := _stored_as(persona.pk, client_id)):
            return StoredMessage(stored_message[0], repeated=True)
        session = off_the_record.begin(persona, channel, now) if unrecorded else open_session(persona, channel, now)
        replaced = versions.last_message(persona, session, replaces) if replaces else None
        turn = next(iter(_newest_turn(session.pk)), None)
        if turn is None or turn.status != Turn.Status.COLLECTING:
            # A message never joins an older turn that is retried.
            turn = Turn(session=session, persona_id=session.persona_id)
            insert(turn)
        ai_notice = flags.is_notice_due_in(session, now)
        message = add_message(session, Message.Role.USER, content, now, turn=turn, client_id=client_id)
        if replaced is not None:
            versions.replace(replaced, turn)
        publish_user_message(
            message, MessageExtras(flags.handle_crisis_message(message, now) if is_cry else (), ai_notice)
        )
    return StoredMessage(message, repeated=False)


def add_message(
    session: Session,
    role: str,
    content: str,
    now: datetime,
    *,
    turn: Turn | None = None,
    client_id: UUID | None = None,
    withheld: bool = False,
) -> Message:
    """Store and index one message, and count it in its session. Call inside a transaction."""
    # `now`, but not before the last message: if the clock was set back by a little, the order of messages stays. If it
    # was set back far, it was wrong before and is trusted from now on.
    last = session.last_message_at
    now = last if now < last <= now + LITTLE else now
    message = Message(
        session=session,
        persona=session.persona,
        turn=turn,
        role=role,
        content=content,
        client_id=client_id,
        token_count=tokens(content),
        day=now.astimezone(session.persona.zone).date(),
        created_at=now,
        withheld=withheld,
    )
    insert(message)
    search.index([message])
    _count(session.pk, message.token_count, now)
    return message


def publish_user_message(message: Message, extras: MessageExtras) -> None:
    events.publish(message.persona.uuid, "chat.message.user_appended", **_as_event(message, extras))


def as_event(message: Message) -> dict[str, Any]:
    """The event data of an owner's message that was stored before, as the stream sent it."""
    ai_notice = bool(flags.ids_with_notice([message], is_whole=False))
    return _as_event(message, MessageExtras(flags.help_of_message(message), ai_notice))


def _as_event(message: Message, extras: MessageExtras) -> dict[str, Any]:
    care_data: dict[str, Any] = {"care": {"texts": list(extras.help)}} if extras.help else {}
    if extras.ai_notice:
        care_data["ai_notice"] = True
    return care_data | {
        "message_id": str(message.uuid),
        "client_id": str(message.client_id) if message.client_id else None,
        "turn_id": str(message.turn.uuid) if message.turn else None,
        "session_id": str(message.session.uuid),
        "user_id": message.persona.owner_id,
        "content": message.content,
        "created_at": message.created_at.isoformat(),
        "source_channel_id": message.session.channel,
        "off_the_record": message.session.off_the_record,
    }


def open_session(persona: Persona, channel: str, now: datetime) -> Session:
    """The open session; a new one if none is open. Call inside a transaction."""
    for session in _open(persona.pk, channel):
        return session
    session = Session.objects.create(persona=persona, channel=channel, started_at=now, last_message_at=now)
    events.publish(
        persona.uuid,
        "chat.session.boundary",
        new_session_id=str(session.uuid),
        started_at=now.isoformat(),
    )
    return session


def is_long(session: Session) -> bool:
    """Whether a session is so long that it is closed and remembered. One off the record never is."""
    return not session.off_the_record and (
        session.message_count >= knobs.longest_session_messages()
        or session.token_count >= knobs.longest_session_tokens()
    )
