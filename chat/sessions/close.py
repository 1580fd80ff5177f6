"""Closing: a session ends when it is idle, when the owner ends it, or when it has grown long. Then memory reads it."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef
from django_q.tasks import async_task

from chat import knobs
from chat.models import Message, Session
from chat.models.session import SessionQuerySet
from echovessel.outbox import events
from persona.models import Persona


def close(session: Session, reason: str, now: datetime) -> bool:
    """Close the session to new messages and hand it to memory; False if it was no longer open.

    A turn that is in flight still finishes in it: memory waits for that.
    """
    with transaction.atomic():
        changed = (
            Session.objects.open()
            .filter(pk=session.pk)
            .update(status=Session.Status.CLOSING, close_reason=reason, closed_at=now)
        )
        if not changed:
            return False
        events.publish(
            session.persona.uuid,
            "chat.session.closing",
            session_id=str(session.uuid),
            reason=reason,
        )
        if session.off_the_record:
            publish_off_the_record(session, on=False)
        publish_waiting(session, now)
        enqueue_consolidation(session)
    return True


def publish_off_the_record(session: Session, *, on: bool) -> None:
    """Publish that the session off the record has begun (`on`) or ended."""
    events.publish(session.persona.uuid, "chat.session.off_the_record", session_id=str(session.uuid), on=on)


def publish_waiting(session: Session, now: datetime) -> None:
    """Publish what the consolidation of the session is waiting for, if anything. Call inside a transaction."""
    sessions = Session.objects.filter(pk=session.pk, lease_until__gt=now).exclude(waiting_for="")
    for reason, until in sessions.values_list("waiting_for", "lease_until"):
        events.publish(
            session.persona.uuid,
            "chat.session.waiting",
            session_id=str(session.uuid),
            reason=reason,
            until=until and until.isoformat(),
        )


def enqueue_consolidation(session: Session) -> None:
    """Enqueue the session's consolidation; the queue holds only its id."""
    async_task(settings.CHAT_CLOSED_TASK, session.pk)


def close_idle(now: datetime, persona: Persona | None = None) -> int:
    """Close the sessions that are idle; return how many. One in which only the persona has written waits: the first
    word and the owner's answer, even on the next day, are to be read together."""
    idle_sessions = Session.objects.idle_since(now - timedelta(minutes=knobs.idle_minutes())).without_turn_in_flight()
    # Leave out sessions that began with a first word and have no message of the owner yet.
    owner_messages = Message.objects.filter(session=OuterRef("pk"), role=Message.Role.USER)
    return _close_all(
        idle_sessions.exclude(
            pk__in=Session.objects.open().filter(turns__spoke_first=True).exclude(Exists(owner_messages))
        ),
        Session.CloseReason.IDLE,
        now,
        persona,
    )


def close_open(now: datetime, persona: Persona | None = None) -> int:
    """Close every open session, idle or not; return how many."""
    return _close_all(Session.objects.open(), Session.CloseReason.SHUTDOWN, now, persona)


def _close_all(sessions: SessionQuerySet, reason: str, now: datetime, persona: Persona | None) -> int:
    if persona is not None:
        sessions = sessions.filter(persona=persona)
    return sum(close(session, reason, now) for session in sessions.select_related("persona"))
