"""Requests: somebody asks that what was said so far be remembered while the session is still open."""

from datetime import datetime

from django.db import transaction

from chat.models import Session
from chat.sessions import close


def request_early_consolidation(session: Session, now: datetime) -> bool:
    """Have what was said so far consolidated now; False if the session is no longer open, for then all of it is
    consolidated anyway, or is off the record."""
    with transaction.atomic():
        requested = (
            Session.objects.open()
            .filter(pk=session.pk, off_the_record=False)
            .update(early_consolidation_requested_at=now)
        )
        if requested:
            close.enqueue_consolidation(session)
    return bool(requested)
