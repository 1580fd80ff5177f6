"""Off the record: a session that is deleted when it ends, and of which nothing is remembered.

Off the record is a property of the session, which is therefore created immediately: every page sees it, a reload keeps
it, and it ends like any other session, by the owner or by being idle.
"""

from datetime import datetime

from django.db import transaction

from chat.models import Session
from chat.sessions import close
from echovessel.outbox import events
from persona.models import Persona


def begin(persona: Persona, channel: str, now: datetime) -> Session:
    """The open session off the record; if there is none, close the open session and create one."""
    with transaction.atomic():
        Persona.objects.select_for_update().get(pk=persona.pk)  # messages of one persona queue for this lock, too
        open_one = persona.sessions.open().filter(channel=channel).select_related("persona").first()
        if open_one is not None and open_one.off_the_record:
            return open_one
        if open_one is not None:
            close.close(open_one, Session.CloseReason.EXPLICIT, now)
        session = Session.objects.create(
            persona=persona, channel=channel, started_at=now, last_message_at=now, off_the_record=True
        )
        events.publish(
            persona.uuid, "chat.session.boundary", new_session_id=str(session.uuid), started_at=now.isoformat()
        )
        close.publish_off_the_record(session, on=True)
    return session


def end(persona: Persona, channel: str, now: datetime) -> bool:
    """Close the open session off the record, which deletes it; False if there is none."""
    session = persona.sessions.open().filter(channel=channel, off_the_record=True).select_related("persona").first()
    return session is not None and close.close(session, Session.CloseReason.EXPLICIT, now)
