"""Cancelling an import: consolidated sessions are kept, and can be forgotten as a whole; the rest is erased. Importing
the same file again continues with the rest."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from chat.models import Message, Session
from chat.models.session import SessionQuerySet
from memory.consolidation import off_the_record, replies
from memory.erasure import receipts
from memory.forgetting.types import CANCELLED_IMPORT
from memory.imports import archive_files
from memory.imports.chunks import PART
from memory.imports.store import JOURNAL
from memory.imports.unread import UNREAD, sessions_of
from memory.models import ConceptNode, Entity, ImportChunk, ImportJob, ImportRun, Receipt, Tombstone
from persona.models import CoreDraft, Persona

BATCH_SIZE = 5
Status = Session.Status
IMPORTED_MODELS = (Session, Message, ConceptNode, Entity, CoreDraft)


def erase_unread(job: ImportJob, now: datetime, limit: int | None = None) -> int:
    """Erase the import's sessions of which nothing is remembered, about `limit` of them if that is given, with their
    import records; returns how many. A session that was consolidated in part is closed.

    A worker that holds one of them writes nothing afterwards; after a kill, the next call continues. No transaction may
    be open.
    """
    erased = tried = 0
    while (limit is None or tried < limit) and (sessions := list(_unremembered_sessions(job)[:BATCH_SIZE])):
        with transaction.atomic():
            deleted_rows = [counts for session in sessions if (counts := erase_or_close(session))]
            if deleted_rows and job.persona is not None:
                # One receipt for the whole import, until its bytes are erased.
                receipt = _pending_receipt(job, job.persona) or receipts.note_erasure(
                    job.persona, CANCELLED_IMPORT, {}, now
                )
                counts = sum(map(Counter, deleted_rows), Counter(receipt.counts))
                Receipt.objects.filter(pk=receipt.pk).update(
                    counts=dict(counts), targets=[[CANCELLED_IMPORT, str(job.uuid)]]
                )
        erased += len(deleted_rows)
        tried += len(sessions)
    if not has_unerased_sessions(job):
        # If nothing of the import is kept, its run is deleted. Then the bytes are erased.
        if not any(model._default_manager.filter(import_uuid=job.uuid).exists() for model in IMPORTED_MODELS):
            ImportRun.objects.filter(uuid=job.uuid).delete()
        pending = _pending_receipt(job, job.persona) if job.persona else None
        if pending is not None:
            receipts.finish(pending, now)
    return erased


def erase_bytes(job: ImportJob) -> None:
    """Erase the bytes of content that was read from the file but not stored, also in the write-ahead log, if something
    was forgotten before, or the file was refused or cancelled. The sample of its messages must be empty by then."""
    was_refused = bool(job.counts.get("refused"))
    is_refused_or_cancelled = job.status in (ImportJob.Status.REFUSED, ImportJob.Status.CANCELLED)
    if was_refused or is_refused_or_cancelled or Tombstone.objects.filter(persona__owner=job.owner_id).exists():
        receipts.erase_refused(was_refused=was_refused)


def has_unerased_sessions(job: ImportJob) -> bool:
    """Whether sessions of the import are still to be erased."""
    return _unremembered_sessions(job).exists()


def count_remaining(job: ImportJob) -> dict[str, int]:
    """The counts of the import, with the numbers of its remaining sessions and messages. Archives are counted by the
    rows that are stored, because their counts are set only at the end."""
    if job.format == archive_files.NAME and job.persona is not None:
        return dict(archive_files.imported_through(job.persona, job.uuid))
    messages = Message.objects.filter(import_uuid=job.uuid).exclude(external_id__contains=PART)
    remaining_counts = {
        "talks": Session.objects.filter(import_uuid=job.uuid).count(),
        "lines": messages.exclude(session__channel=JOURNAL).count(),
        "entries": messages.filter(session__channel=JOURNAL).count(),
    }
    return {name: remaining_counts.get(name, count) for name, count in job.counts.items()}


def _unremembered_sessions(job: ImportJob) -> SessionQuerySet:
    waiting = sessions_of(job).filter(status__in=[*UNREAD, Status.FAILED])
    return waiting.exclude(status=Status.FAILED, extractions__applied_at__isnull=False)


def erase_or_close(session: Session) -> Mapping[str, int]:
    """Erase the session and return the deleted rows by table; if a part of it is remembered, only close it."""
    if not session.extractions.exclude(applied_at=None).exists():
        ImportChunk.objects.filter(session=session).delete()
        return off_the_record.erase(session)
    replies.delete(session)
    session.extractions.filter(applied_at=None).delete()
    Session.objects.filter(pk=session.pk).update(status=Status.CLOSED, holder="", lease_until=None, waiting_for="")
    return {}


def _pending_receipt(job: ImportJob, persona: Persona) -> Receipt | None:
    pending = Receipt.objects.filter(persona=persona, status=Receipt.Status.PENDING)
    return next((receipt for receipt in pending if receipt.targets == [[CANCELLED_IMPORT, str(job.uuid)]]), None)
