"""Who has an import in hand (see `memory.claims`)."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django_q.tasks import async_task

from memory import claims
from memory.claims import Clock, free_from_the_dead, seize
from memory.models import ImportJob
from memory.models.importing import ImportJobQuerySet
from persona.models import Persona

# An import in the queue is in nobody's hands, and yet it does not wait: nobody queues it a second time meanwhile.
QUEUED = "queued"
LONGEST_IN_QUEUE = timedelta(minutes=10)


@dataclass
class Claim(claims.Claim[ImportJob]):
    """An import in our hands; when people were told last how far it is."""

    told_at: datetime | None = None

    @property
    def job(self) -> ImportJob:
        return self.row

    @property
    def persona(self) -> Persona:
        """Whose memory it goes into: known from the moment somebody has confirmed it."""
        if self.job.persona is None:
            raise ValueError("nobody has said yet of whom the file tells")
        return self.job.persona

    def keep(self) -> None:
        """Still at it, though nothing was gained: a whole lease again. Raises Lost."""
        if not self.mine().update(lease_until=claims.lease_from(self.clock())):
            raise claims.Lost


def take(job_id: int, clock: Clock, *, reads_itself: bool = False) -> Claim | None:
    """The import in our hands; None where it waits for a person, is over, is held by another, or is in a pause. Who
    `reads_itself` has the file, and takes one whose file is not kept here too."""
    now, job = clock(), ImportJob.objects.filter(pk=job_id)
    free_from_the_dead(job)
    holder = seize(_free(job.at_work(), now) if reads_itself else job.waiting(now) | _queued(job), now)
    found = job.filter(holder=holder).select_related("owner", "persona__owner").first() if holder else None
    return Claim(found, clock) if found else None


def _free(jobs: ImportJobQuerySet, now: datetime) -> ImportJobQuerySet:
    return jobs.filter(Q(lease_until=None) | Q(lease_until__lt=now) | Q(holder=QUEUED))


def _queued(jobs: ImportJobQuerySet) -> ImportJobQuerySet:
    here = ~Q(status__in=ImportJob.NEEDS_FILE) | Q(file_is_here=True)
    return jobs.at_work().filter(here, holder=QUEUED)


def hand_over(job: ImportJob, now: datetime) -> None:
    """Ask the job worker to go on with the import, which is in nobody's hands, or in those of somebody whose lease has
    run out: of another host nobody knows whether they are dead. The id is all that crosses the queue."""
    with transaction.atomic():
        free = Q(holder="") | Q(holder=QUEUED) | Q(lease_until__lt=now)
        nobodys = ImportJob.objects.filter(free, pk=job.pk).at_work()
        if nobodys.update(holder=QUEUED, lease_until=now + LONGEST_IN_QUEUE):
            async_task("memory.tasks.import_file", job.pk)
