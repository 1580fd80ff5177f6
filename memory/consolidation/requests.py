"""Early consolidation: a request to remember an open session's messages so far."""

from datetime import datetime

from django.db import transaction

from chat.models import Session
from chat.sessions import close


def request_early_consolidation(session: Session, now: datetime) -> bool:
    """Request that the messages so far are consolidated now. False if the session is off the record, or no longer open
    and consolidated anyway."""
    with transaction.atomic():
        requested = (
            Session.objects.open()
            .filter(pk=session.pk, off_the_record=False)
            .update(early_consolidation_requested_at=now)
        )
        if requested:
            close.enqueue_consolidation(session)
    return bool(requested)
