"""Running: one import, from step to step.

    look, then wait for a person; write -> remember -> draft

Every step commits on its own, only while the import is still in the hands that began it, and sees by itself what is
done already: whoever is killed anywhere is followed by one that goes on behind it and doubles nothing. After a slice
of time the import goes to the end of the queue, so that nobody waits for it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django_q.tasks import queue_size

from echovessel import discreet
from echovessel.embedding import EmbeddingUnavailable
from echovessel.llm import LLMError
from memory import knobs
from memory.claims import Clock, Lost, free_from_the_dead
from memory.importers import Source
from memory.importers import read as read_file
from memory.importers.types import Found, ImportRejected
from memory.importing import (
    archives,
    cancelling,
    claims,
    drafting,
    jobs,
    looking,
    remembering,
    stored_file,
    storing,
    telling,
    unread,
)
from memory.importing.choices import chosen
from memory.importing.chunking import Chunk, Cuts, chunked
from memory.importing.claims import Claim, hand_over
from memory.models import ImportJob, ImportRun
from memory.patience import Again, named, once_more

logger = logging.getLogger(__name__)

Status = ImportJob.Status
Progress = Callable[[float], None]
# Of files that are being handed over nothing is heard for so long only where whoever did it has died.
ABANDONED_AFTER = timedelta(hours=1)
# Talks of cancelled imports that the job of the minute erases: others wait for it meanwhile.
ERASED_IN_A_MINUTE = 1_000
A_LONG_TIME = timedelta(days=3_650).total_seconds()

__all__ = ["Outcome", "hand_over", "run", "sweep"]


class Outcome(StrEnum):
    """What one run made of an import."""

    ASKS = "asks"
    GOES_ON = "goes_on"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    LATER = "later"
    NOT_MINE = "not_mine"


@dataclass
class _Run:
    """An import in our hands, and how long it may stay there: from the beginning of a slice on."""

    claim: Claim
    slice_seconds: float | None
    progress: Progress
    source: Source | None
    began_at: datetime
    through: str

    @property
    def job(self) -> ImportJob:
        return self.claim.job

    @property
    def until(self) -> datetime:
        seconds = A_LONG_TIME if self.slice_seconds is None else self.slice_seconds
        return self.began_at + timedelta(seconds=seconds)

    def is_over(self) -> bool:
        return self.claim.clock() >= self.until

    @contextmanager
    def file(self) -> Iterator[Source]:
        if self.source is not None:
            yield self.source
            return
        with stored_file.opened(self.job) as source:
            yield source


def run(
    job_id: int,
    clock: Clock = timezone.now,
    *,
    slice_seconds: float | None = None,
    progress: Progress = lambda part: None,
    source: Source | None = None,
    through: str = Status.DRAFTING,
) -> Outcome:
    """Take the import as far as it goes, within the slice where there is one. `source` is the file, where it is not
    kept; after the step `through` it is handed on.

    Never raises for what goes wrong with the import: that is told by its row, or waits for its next try. Raises only
    where the database itself cannot be written; the lease then runs out.
    """
    claim = claims.take(job_id, clock, reads_itself=source is not None)
    if claim is None:
        return Outcome.NOT_MINE
    try:
        return _carried_on(_Run(claim, slice_seconds, progress, source, clock(), through))
    except Lost:
        return Outcome.NOT_MINE


def sweep(now: datetime) -> int:
    """Queue the imports that wait: whose pause is over, or whose worker is gone; returns how many. What was cancelled,
    or given up while it was handed over, is taken away."""
    free_from_the_dead(ImportJob.objects.at_work())
    room = max(0, knobs.queue_room() - queue_size())
    waiting = list(ImportJob.objects.waiting(now).order_by("id")[:room])
    for job in waiting:
        hand_over(job, now)
    _tidy(now)  # after it: what cannot be taken away holds up nobody
    return len(waiting)


def _tidy(now: datetime) -> None:
    _finish_cancelled(now)
    _drop_files()
    _cancel_unanswered(now)
    _forget_broken_off(now)


def _finish_cancelled(now: datetime) -> None:
    for job in ImportJob.objects.filter(status=Status.CANCELLED, finished_at=None):
        jobs.finish_cancelled(job, now, ERASED_IN_A_MINUTE)


def _drop_files() -> None:
    needless = ImportJob.objects.exclude(status__in=[*ImportJob.NEEDS_FILE, Status.ASKING]).exclude(pieces=None)
    for job in needless.distinct():
        stored_file.drop(job)
        cancelling.erase_bytes(job)


def _cancel_unanswered(now: datetime) -> None:
    unanswered = ImportJob.objects.filter(status=Status.ASKING)
    for job in unanswered.filter(created_at__lt=now - timedelta(days=knobs.import_answer_days())):
        jobs.cancel(job, now)


def _forget_broken_off(now: datetime) -> None:
    """Whoever had the file is gone, while it was handed over or looked through from where it stands."""
    begun = ImportJob.objects.filter(status=Status.LOOKING, file_is_here=False, created_at__lt=now - ABANDONED_AFTER)
    begun.filter(Q(lease_until=None) | Q(lease_until__lt=now)).delete()


# --- the steps ----------------------------------------------------------------------------------------------------
def _carried_on(run: _Run) -> Outcome:
    """What became of it; where something went wrong, what was made of that. Raises Lost."""
    try:
        if run.claim.tries() > knobs.attempts() and run.job.status != Status.REMEMBERING:
            return _fail(run.claim, "stopped")  # of the talks that it remembers each has tries of its own
        return _stepped_through(run)
    except Lost:
        raise
    except ImportRejected as error:
        return _fail(run.claim, f"rejected: {error.code}")
    except Exception as error:  # noqa: BLE001 - the edge of the job: nothing may leave an import that nobody sees
        return _stumble(run.claim, error)


def _stepped_through(run: _Run) -> Outcome:
    if run.job.status == Status.LOOKING:
        return _look(run)
    if run.job.status == Status.WRITING and (not _write(run) or run.through == Status.WRITING):
        return _hand_on(run.claim)
    if run.job.status == Status.REMEMBERING and not _remember(run):
        return _hand_on(run.claim)
    if run.job.status == Status.DRAFTING and run.job.format != archives.NAME:
        drafting.draft(run.claim)
    return _finish(run.claim)


def _look(run: _Run) -> Outcome:
    with run.file() as source:
        looking.look_through(run.claim, source)
    if run.job.status == Status.ASKING:
        return Outcome.ASKS
    stored_file.drop(run.job)
    cancelling.erase_bytes(run.job)
    return Outcome.REFUSED


def _write(run: _Run) -> bool:
    """Store what was not stored yet; whether that is all. The slice begins with the first that is stored: what stands
    before it has to be gone through again."""
    with run.file() as source:
        if run.job.format == archives.NAME:
            return _take_in_archive(run, source)
        chunks = _chunks(run, source)
        for _done in islice(chunks, run.job.gone_through):
            pass
        run.began_at = run.claim.clock()
        for some in storing.together(chunks):
            storing.store(run.claim, some)
            run.progress(telling.progress(run.job))
            if run.is_over():
                return False
    _go_on(run.claim, Status.REMEMBERING, file_is_here=False, found=run.job.found | {"sample": []})
    stored_file.drop(run.job)
    cancelling.erase_bytes(run.job)
    return True


def _chunks(run: _Run, source: Source) -> Iterator[Chunk]:
    job = run.job
    choices, alive = chosen(job.choices), looking.Keeping(run.claim)
    found = read_file(source, looking.format_of(source, choices, job.format), looking.options_of(source, choices))

    def kept() -> Iterator[Found]:
        for one in found:
            alive()
            yield one

    return chunked(kept(), job.format, choices, Cuts(**job.choices["cuts"]))


def _take_in_archive(run: _Run, source: Source) -> bool:
    """An archive brings what was remembered: there is nothing to read in it."""
    job = run.job

    def heard(part: float) -> None:
        run.claim.keep()  # each time: who cancels it does not wait till a lease is half over
        telling.note_part(run.claim, part)
        run.progress(telling.progress(job))

    taken = archives.take_in(run.claim.persona, ImportRun.objects.get(uuid=job.uuid), source, run.claim.clock(), heard)
    _go_on(run.claim, Status.DRAFTING, file_is_here=False, counts=taken.counts(job.found["counts"]))
    stored_file.drop(job)
    return True


def _remember(run: _Run) -> bool:
    """Whether nothing is left to be remembered."""
    if not remembering.remember(run.claim, run.until):
        return False
    _go_on(run.claim, Status.DRAFTING)
    return True


def _go_on(claim: Claim, status: str, **values: object) -> None:
    with transaction.atomic():
        claim.forward()
        claim.mine().update(status=status, **values)
        claim.job.refresh_from_db()
        telling.publish(claim.job)


# --- how a run ends -----------------------------------------------------------------------------------------------
def _hand_on(claim: Claim) -> Outcome:
    """Others come first, and then it goes on; where all of it is in a pause, when the first pause is over."""
    until = unread.waits_until(claim.job, claim.clock()) if claim.job.status == Status.REMEMBERING else None
    with transaction.atomic():
        claim.let_go(attempts=0, lease_until=until)
        telling.publish(claim.job)
        if until is None:
            hand_over(claim.job, claim.clock())
    return Outcome.LATER if until else Outcome.GOES_ON


def _finish(claim: Claim, failure: str = "") -> Outcome:
    """Done; of an import that added nothing, nothing is kept but its counts."""
    _end(claim, Status.DONE, failure)
    return Outcome.DONE


def _fail(claim: Claim, failure: str) -> Outcome:
    """Given up, visibly. What is stored stays; talks that were not read yet are read like any others. Drafts are an
    extra: without them it is done."""
    logger.error("import %s failed: %s", claim.job.pk, failure)
    if claim.job.status == Status.DRAFTING:
        return _finish(claim, f"drafting: {failure}")
    _end(claim, Status.FAILED, failure)
    return Outcome.FAILED


def _end(claim: Claim, status: str, failure: str) -> None:
    job = claim.job
    counts = cancelling.counts_of_what_stayed(job) if status == Status.FAILED else job.counts
    with transaction.atomic():
        claim.let_go(
            status=status,
            counts=counts,
            failure=failure[: ImportJob._meta.get_field("failure").max_length],
            finished_at=claim.clock(),
            attempts=0,
            **looking.without_names(job),
        )
        drafting.forget(job)
        job.refresh_from_db()
        _note_run(job)
        telling.publish(job)
    stored_file.drop(job)
    cancelling.erase_bytes(job)


def _note_run(job: ImportJob) -> None:
    """The counts of what it added; of an import that added nothing there is nothing to forget."""
    added = {name: count for name, count in job.counts.items() if count and name not in telling.NOT_ADDED}
    brought = ImportRun.objects.filter(uuid=job.uuid)
    if added:
        brought.update(counts=added)
    else:
        brought.delete()


# --- what goes wrong ----------------------------------------------------------------------------------------------
def _stumble(claim: Claim, error: Exception) -> Outcome:
    """Wait for a fault that may pass; give up, visibly, for one that will not, or that came too often. The log tells
    its type and place, not its message: that may hold words of people."""
    if isinstance(error, LLMError):
        logger.warning("import %s: %s", claim.job.pk, error.code)
    else:
        logger.error("import %s: %s", claim.job.pk, discreet.told(error))
    if again := once_more(error, claim.tries()):
        return _wait(claim, again)
    return _fail(claim, "embedding" if isinstance(error, EmbeddingUnavailable) else named(error))


def _wait(claim: Claim, again: Again) -> Outcome:
    with transaction.atomic():
        claim.let_go(lease_until=claim.clock() + again.pause, attempts=again.tries)
        telling.publish(claim.job)
    return Outcome.LATER
