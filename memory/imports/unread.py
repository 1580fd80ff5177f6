"""Which talks of an import are not remembered yet, and how many of them are."""

from collections.abc import Mapping
from datetime import datetime

from django.db.models import Count, Q

from chat.models import Session
from chat.models.session import SessionQuerySet
from memory.models import ImportJob

Status = Session.Status
UNREAD = (Status.CLOSING, Status.CONSOLIDATING)


def sessions_of(job: ImportJob) -> SessionQuerySet:
    """All talks that it brought, the oldest first."""
    found: SessionQuerySet = Session.objects.filter(import_uuid=job.uuid, close_reason=Session.CloseReason.IMPORT)
    return found.order_by("started_at", "id")


def unread(job: ImportJob) -> SessionQuerySet:
    """Those that nobody has read to their end, the oldest first."""
    return sessions_of(job).filter(status__in=UNREAD)


def next_of(job: ImportJob) -> Session | None:
    """The one to be read next: those that somebody else has in hand come last."""
    return unread(job).filter(holder="").first() or unread(job).first()


def waits_until(job: ImportJob, now: datetime) -> datetime | None:
    """When the next one can be read; None where it can be now, or where none is left."""
    found = next_of(job)
    return found.lease_until if found and found.lease_until and found.lease_until >= now else None


def counted(job: ImportJob) -> Mapping[str, int]:
    """How many are remembered, how many could not be, and how many are still to be read."""
    return sessions_of(job).aggregate(
        remembered=Count("pk", filter=Q(status=Status.CLOSED)),
        failed=Count("pk", filter=Q(status=Status.FAILED)),
        unread=Count("pk", filter=Q(status__in=UNREAD)),
    )
