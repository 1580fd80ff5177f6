"""Leases on imports, and the queue of imports that wait for a worker."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django_q.tasks import async_task

from echovessel.jobs.lease import Clock, Lease, available
from memory.models import ImportJob
from persona.models import Persona

# The holder of a queued import: no worker holds it, but it is not enqueued a second time meanwhile.
QUEUED = "queued"
MAX_TIME_IN_QUEUE = timedelta(minutes=10)


@dataclass
class ImportLease(Lease[ImportJob]):
    """A lease on an import, with the time at which its progress was last published."""

    published_at: datetime | None = None

    @property
    def persona(self) -> Persona:
        """The persona that gets the memories: known once the import is confirmed."""
        if self.row.persona is None:
            raise ValueError("the persona of the import is not known yet")
        return self.row.persona


def acquire(job_id: int, clock: Clock, *, has_file: bool = False) -> ImportLease | None:
    """A lease on the import; None if it waits for a person or a retry, is over, or is held by another worker. A caller
    that `has_file` may also acquire one whose file is not stored."""
    now, rows = clock(), ImportJob.objects.filter(pk=job_id).select_related("owner", "persona__owner")
    free = rows.at_work().filter(available(now) | Q(holder=QUEUED))
    return ImportLease.acquire(rows, free if has_file else free.with_their_file(), clock)


def enqueue(job: ImportJob, now: datetime) -> None:
    """Enqueue the import for the worker, if nobody holds it or the lease has expired: whether a holder on another host
    is dead cannot be known."""
    with transaction.atomic():
        free = Q(holder="") | Q(holder=QUEUED) | Q(lease_until__lt=now)
        if (
            ImportJob.objects.at_work()
            .filter(free, pk=job.pk)
            .update(holder=QUEUED, lease_until=now + MAX_TIME_IN_QUEUE)
        ):
            async_task("memory.tasks.import_file", job.pk)
