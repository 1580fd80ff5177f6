"""Off the record: at its close the session is deleted with every trace of its text, and no memory is made of it."""

from django.apps import apps
from django.db.models import Q

from chat.models import Session
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent


def erase(session: Session) -> dict[str, int]:
    """Delete the session with its messages, turns and stream events, and publish that pages must do the same; returns
    the number of deleted rows by table. Call inside a transaction.

    Triggers delete the text index rows of the messages. The events that announce the session's end stay: they contain
    no words.
    """
    turns = [str(uuid) for uuid in session.turns.values_list("uuid", flat=True)]
    words = Q(data__session_id=str(session.uuid)) | Q(data__turn_id__in=turns)
    _, deleted_events = OutboxEvent.objects.filter(words, stream=session.persona.uuid).delete()
    _, deleted_rows = session.delete()
    events.publish(session.persona.uuid, "chat.session.erased", session_id=str(session.uuid))
    return {apps.get_model(label)._meta.db_table: count for label, count in (deleted_events | deleted_rows).items()}
