"""Off the record: the talk is deleted at its close with every trace of its words, and nothing is made of it."""

from django.db.models import Q

from chat.models import Session
from echovessel.outbox.models import OutboxEvent


def erase(session: Session) -> None:
    """Delete the session with its messages, turns and their events in the stream. Call inside a transaction.

    Text index rows go with their messages, by triggers. The event that tells of its end is kept: it has no words.
    """
    turns = [str(uuid) for uuid in session.turns.values_list("uuid", flat=True)]
    words = Q(data__session_id=str(session.uuid)) | Q(data__turn_id__in=turns)
    OutboxEvent.objects.filter(words, stream=session.persona.uuid).delete()
    session.delete()
