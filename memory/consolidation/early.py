"""Early reading: what was said so far is remembered while the talk still goes on, because somebody asked for it."""

from datetime import datetime

from django.db import transaction

from chat import closing
from chat.models import Session


def ask(session: Session, now: datetime) -> bool:
    """Ask that what was said so far be remembered already; False where the talk is not open any more, for then all of
    it is read anyway, or is off the record."""
    with transaction.atomic():
        asked = Session.objects.open().filter(pk=session.pk, off_the_record=False).update(reading_asked_at=now)
        if asked:
            closing.hand_over(session)
    return bool(asked)
