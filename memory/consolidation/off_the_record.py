"""Off the record: the talk is deleted at its close with every trace of its words, and nothing is made of it."""

from django.apps import apps
from django.db.models import Q

from chat.models import Session
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent


def erase(session: Session) -> dict[str, int]:
    """Delete the session with its messages, turns and their events in the stream, and tell the pages to do the same;
    returns how many rows went, by table. Call inside a transaction.

    Text index rows go with their messages, by triggers. The events that tell of its end are kept: they have no words.
    """
    turns = [str(uuid) for uuid in session.turns.values_list("uuid", flat=True)]
    words = Q(data__session_id=str(session.uuid)) | Q(data__turn_id__in=turns)
    _, deleted_events = OutboxEvent.objects.filter(words, stream=session.persona.uuid).delete()
    _, deleted_rows = session.delete()
    events.publish(session.persona.uuid, "chat.session.erased", session_id=str(session.uuid))
    return {apps.get_model(label)._meta.db_table: count for label, count in (deleted_events | deleted_rows).items()}
