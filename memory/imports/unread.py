"""The sessions of an import that are not consolidated yet."""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Count, Q

from chat.models import Session
from chat.models.session import SessionQuerySet
from memory.models import ImportJob

Status = Session.Status
UNREAD = (Status.CLOSING, Status.CONSOLIDATING)


def sessions_of(job: ImportJob) -> SessionQuerySet:
    """All sessions of the import, the oldest first."""
    sessions: SessionQuerySet = Session.objects.filter(import_uuid=job.uuid, close_reason=Session.CloseReason.IMPORT)
    return sessions.order_by("started_at", "id")


def unread_sessions(job: ImportJob) -> SessionQuerySet:
    """The sessions that are not completely consolidated, oldest first."""
    return sessions_of(job).filter(status__in=UNREAD)


def next_of(job: ImportJob) -> Session | None:
    """The session to consolidate next; those that another worker holds come last."""
    return unread_sessions(job).filter(holder="").first() or unread_sessions(job).first()


def waits_until(job: ImportJob, now: datetime) -> datetime | None:
    """When the next session can be consolidated; None if it can be now, or none is left."""
    session = next_of(job)
    return session.lease_until if session and session.lease_until and session.lease_until >= now else None


def count_sessions(job: ImportJob) -> Mapping[str, int]:
    """The numbers of consolidated, failed and remaining sessions."""
    return sessions_of(job).aggregate(
        remembered=Count("pk", filter=Q(status=Status.CLOSED)),
        failed=Count("pk", filter=Q(status=Status.FAILED)),
        unread=Count("pk", filter=Q(status__in=UNREAD)),
    )
