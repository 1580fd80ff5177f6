"""The job that imports one file, step by step.

    analyze, then wait for a person; write -> remember -> draft

After its slice of time the import goes to the end of the queue, so that other jobs need not wait for it.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from enum import StrEnum
from itertools import islice

from django.db import transaction
from django.utils import timezone

from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.jobs import runner
from echovessel.jobs.lease import Clock, available
from echovessel.jobs.retry import Retry, error_code
from memory import knobs
from memory.imports import (
    analysis,
    archive_files,
    cancellation,
    consolidate,
    drafts,
    leases,
    runs,
    store,
    stored_file,
    summary,
    unread,
)
from memory.imports.choices import parse_choices
from memory.imports.chunks import Cuts, chunk_file
from memory.imports.leases import ImportLease
from memory.imports.readers import Source
from memory.imports.readers import read as read_file
from memory.imports.readers.types import ImportRejected, ReaderItem
from memory.models import ImportJob, ImportRun

logger = logging.getLogger(__name__)

Status = ImportJob.Status
Progress = Callable[[float], None]
# An upload without a stored file after this time is abandoned: its process has died.
ABANDONED_AFTER = timedelta(hours=1)
# Sessions of cancelled imports that one run of the minute's job erases: other jobs wait meanwhile.
ERASED_IN_A_MINUTE = 1_000
MAX_SLICE = timedelta(days=3_650)


class Outcome(StrEnum):
    """The result of one run of an import."""

    ASKS = "asks"
    GOES_ON = "goes_on"
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    LATER = runner.LATER
    NOT_MINE = runner.NOT_MINE


def run(
    job_id: int,
    clock: Clock = timezone.now,
    *,
    slice_seconds: float | None = None,
    progress: Progress = lambda part: None,
    source: Source | None = None,
    through: str = Status.DRAFTING,
) -> Outcome:
    """Run the import as far as possible, within the slice if there is one. `source` is the file, if it is not stored;
    after the step `through` the import is enqueued for the worker. A failure is stored on the row."""
    lease = leases.acquire(job_id, clock, has_file=source is not None)
    if lease is None:
        return Outcome.NOT_MINE
    length = MAX_SLICE if slice_seconds is None else timedelta(seconds=slice_seconds)
    return Outcome(FileImport(lease, length, progress, source, through).run())


def requeue_stale(now: datetime) -> int:
    """Enqueue waiting imports; returns how many. Erase cancelled imports and abandoned uploads, and cancel imports that
    nobody confirmed in time."""
    waiting = ImportJob.objects.waiting(now).order_by("id")
    enqueued = runner.requeue_stale(ImportJob.objects.at_work(), waiting, enqueue=lambda job: leases.enqueue(job, now))
    # Last, so that a failing deletion does not hold up the queue.
    for job in ImportJob.objects.filter(status=Status.CANCELLED, finished_at=None):
        runs.finish_cancelled(job, now, ERASED_IN_A_MINUTE)
    jobs_with_needless_file = ImportJob.objects.exclude(status__in=[*ImportJob.NEEDS_FILE, Status.ASKING]).exclude(
        pieces=None
    )
    for job in jobs_with_needless_file.distinct():
        stored_file.drop_file(job)
        cancellation.erase_bytes(job)
    unanswered = ImportJob.objects.filter(status=Status.ASKING)
    for job in unanswered.filter(created_at__lt=now - timedelta(days=knobs.import_answer_days())):
        runs.cancel(job, now)
    # A worker or command died while it uploaded or read the file.
    abandoned = ImportJob.objects.filter(
        status=Status.LOOKING, file_is_here=False, created_at__lt=now - ABANDONED_AFTER
    )
    abandoned.filter(available(now)).delete()
    return enqueued


class FileImport(runner.Job[ImportLease]):
    def __init__(
        self, lease: ImportLease, slice_length: timedelta, progress: Progress, source: Source | None, through: str
    ) -> None:
        super().__init__(lease)
        self.row = lease.row
        self.slice_length, self.progress, self.source, self.through = slice_length, progress, source, through
        self.began_at = lease.clock()

    def run_steps(self) -> Outcome:
        row = self.row
        if self.is_exhausted() and row.status != Status.REMEMBERING:  # there each session has its own attempts
            return self.fail("stopped")
        try:
            if row.status == Status.LOOKING:
                return self.analyze()
            if row.status == Status.WRITING and (not self.write() or self.through == Status.WRITING):
                return self.enqueue_next_slice()
            if row.status == Status.REMEMBERING:
                if not consolidate.remember(self.lease, self.slice_end):
                    return self.enqueue_next_slice()
                self.advance(Status.DRAFTING)
            if row.status == Status.DRAFTING and row.format != archive_files.NAME:
                drafts.draft(self.lease)
        except ImportRejected as error:
            return self.fail(f"rejected: {error.code}")
        return self.finish()

    @property
    def slice_end(self) -> datetime:
        return self.began_at + self.slice_length

    def file(self) -> AbstractContextManager[Source]:
        return nullcontext(self.source) if self.source is not None else stored_file.open_file(self.row)

    # --- the steps ------------------------------------------------------------------------------------------------
    def analyze(self) -> Outcome:
        with self.file() as source:
            analysis.analyze_file(self.lease, source)
        if self.row.status == Status.ASKING:
            return Outcome.ASKS
        stored_file.drop_file(self.row)
        cancellation.erase_bytes(self.row)
        return Outcome.REFUSED

    def write(self) -> bool:
        """Store the remaining chunks; returns whether all are stored. The slice begins with the first chunk to store,
        because the chunks before it have to be read again."""
        with self.file() as source:
            if self.row.format == archive_files.NAME:
                self.take_in_archive(source)
                return True
            choices, renew = parse_choices(self.row.choices), analysis.LeaseRenewer(self.lease)
            options = analysis.options_of(source, choices)

            def read_items() -> Iterator[ReaderItem]:
                for item in read_file(source, analysis.format_of(source, choices, self.row.format), options):
                    renew()
                    yield item

            chunks = chunk_file(read_items(), self.row.format, choices, Cuts(**self.row.choices["cuts"]))
            for _done in islice(chunks, self.row.gone_through):
                pass
            self.began_at = self.lease.clock()
            for batch in store.group_chunks(chunks):
                store.store(self.lease, batch)
                self.progress(summary.progress(self.row))
                if self.lease.clock() >= self.slice_end:
                    return False
        self.advance(Status.REMEMBERING, file_is_here=False, found=self.row.found | {"sample": []})
        stored_file.drop_file(self.row)
        cancellation.erase_bytes(self.row)
        return True

    def take_in_archive(self, source: Source) -> None:
        """Import an archive: it contains memories, so nothing is consolidated."""

        def report(part: float) -> None:
            self.lease.renew()  # each time, so that cancelling does not wait until half a lease is over
            summary.note_part(self.lease, part)
            self.progress(summary.progress(self.row))

        import_run = ImportRun.objects.get(uuid=self.row.uuid)
        imported = archive_files.import_file(self.lease.persona, import_run, source, self.lease.clock(), report)
        self.advance(Status.DRAFTING, file_is_here=False, counts=imported.counts(self.row.found["counts"]))
        stored_file.drop_file(self.row)

    def advance(self, status: str, **values: object) -> None:
        with transaction.atomic():
            self.lease.checkpoint()
            self.lease.leased_row().update(status=status, **values)
            self._publish()

    # --- ends of a run --------------------------------------------------------------------------------------------
    def enqueue_next_slice(self) -> Outcome:
        """Continue after other jobs; if every session has to wait, when the first wait is over."""
        now = self.lease.clock()
        until = unread.waits_until(self.row, now) if self.row.status == Status.REMEMBERING else None
        with transaction.atomic():
            self.lease.release(attempts=0, lease_until=until)
            summary.publish(self.row)
            if until is None:
                leases.enqueue(self.row, now)
        return Outcome.LATER if until else Outcome.GOES_ON

    def finish(self, failure: str = "") -> Outcome:
        self._end(Status.DONE, failure, self.row.counts)
        return Outcome.DONE

    def wait(self, retry: Retry, error: Exception) -> str:
        with transaction.atomic():
            outcome = super().wait(retry, error)
            summary.publish(self.row)
        return outcome

    def failure_of(self, error: Exception) -> str:
        return "embedding" if isinstance(error, EmbeddingUnavailable) else error_code(error)

    def fail(self, failure: str) -> Outcome:
        """Stored content is kept, and its sessions are consolidated like any others. Drafts are optional: without them
        the import is done."""
        logger.error("%s failed: %s", self.row, failure)
        if self.row.status == Status.DRAFTING:
            return self.finish(f"drafting: {failure}")
        self._end(Status.FAILED, failure, cancellation.count_remaining(self.row))
        return Outcome.FAILED

    def _end(self, status: str, failure: str, counts: dict[str, int]) -> None:
        """End the import. If it added nothing, its run is deleted, and only its counts are kept."""
        with transaction.atomic():
            self.lease.release(
                status=status,
                counts=counts,
                failure=failure[: ImportJob._meta.get_field("failure").max_length],
                finished_at=self.lease.clock(),
                attempts=0,
                **analysis.without_names(self.row),
            )
            drafts.delete_replies(self.row)
            self._publish()
            added = {name: count for name, count in counts.items() if count and name not in summary.NOT_ADDED}
            import_run = ImportRun.objects.filter(uuid=self.row.uuid)
            import_run.update(counts=added) if added else import_run.delete()
        stored_file.drop_file(self.row)
        cancellation.erase_bytes(self.row)

    def _publish(self) -> None:
        self.row.refresh_from_db()
        summary.publish(self.row)
