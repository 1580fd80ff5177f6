"""The representation of an import in page, API and command, and its events on the stream."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext as _

from echovessel.outbox import events
from memory.imports import archive_files, suggestions, unread
from memory.imports.choices import Choices
from memory.imports.cost import Estimate, estimate
from memory.imports.leases import ImportLease
from memory.imports.readers import format_named
from memory.imports.readers.types import ImportRejected
from memory.models import ImportJob
from persona.models import CoreDraft

Status = ImportJob.Status
_SELDOM = timedelta(seconds=1)
# The progress at the beginning and at the end of each step.
_SHARE = {Status.WRITING: (0.0, 0.2), Status.REMEMBERING: (0.2, 0.95), Status.DRAFTING: (0.95, 1.0)}
_SHARE_OF_ARCHIVES = {**_SHARE, Status.WRITING: (0.0, 0.95)}
# Counts of content that the import did not add.
NOT_ADDED = ("known", "refused", "left_out")


def summarize(job: ImportJob) -> dict[str, Any]:
    """The import as plain values; sentences are in the current language."""
    # The estimated cost; None once the import is over.
    cost: Estimate | None = None if job.is_over or job.found.get("tokens") is None else estimate(job)
    # The owner's name for memories: a suggestion until the import is confirmed, afterwards as the persona knows it.
    if job.status != Status.ASKING:
        owner_name = job.persona.user_name if job.persona else ""
    else:
        owner_name = suggestions.name_of_owner(job, suggestions.suggest_choices(job))
    return {
        "id": str(job.uuid),
        "persona_id": str(job.persona.uuid) if job.persona else None,
        "status": job.status,
        "format": job.format,
        "label": label(job),
        "file_name": job.file_name,
        "file_size": job.file_size,
        "found": job.found,
        "choices": choices_of(job),
        "counts": counts(job),
        "estimate": asdict(cost) if cost else None,
        "called": owner_name,
        "progress": progress(job),
        "refusal": _refusal(job),
        "where": job.refusal.get("where", ""),
        "failure": job.failure,
        "waits_until": job.lease_until.isoformat()
        if (job.status in ImportJob.AT_WORK and not job.holder) and job.lease_until
        else None,
        "created_at": job.created_at.isoformat(),
        "confirmed_at": job.confirmed_at.isoformat() if job.confirmed_at else None,
        "finished_at": job.finished_at.isoformat() if job.finished_at else None,
    }


def choices_of(job: ImportJob) -> dict[str, Any]:
    """The person's choices as JSON; {} before there are any."""
    return {name: value for name, value in job.choices.items() if name in Choices.__dataclass_fields__}


def counts(job: ImportJob) -> dict[str, int]:
    """The counts of imported content so far, with the numbers of consolidated, failed and waiting sessions."""
    if job.confirmed_at is None:
        return {}
    drafts = CoreDraft.objects.filter(import_uuid=job.uuid).count()
    return (
        job.counts | {"drafts": drafts} | ({} if job.format == archive_files.NAME else dict(unread.count_sessions(job)))
    )


def progress(job: ImportJob) -> float:
    """The share that is done, 0…1."""
    if job.status == Status.DONE:
        return 1.0
    shares = _SHARE_OF_ARCHIVES if job.format == archive_files.NAME else _SHARE
    begin, end = shares.get(Status(job.status), (0.0, 0.0))
    # The share of the current step that is done.
    if job.status == Status.WRITING:
        part = min(1.0, job.gone_through / max(1, job.found.get("chunks", 0)))
    elif job.status == Status.REMEMBERING:
        session_counts = unread.count_sessions(job)
        done_count = session_counts.get("remembered", 0) + session_counts.get("failed", 0)
        part = done_count / max(1, done_count + session_counts.get("unread", 0))
    else:
        part = 0.0
    return round(begin + (end - begin) * part, 4)


def label(job: ImportJob) -> str:
    """The name of the format, for people."""
    return label_of(job.format)


def label_of(name: str) -> str:
    """The name of a format for people; "" for none."""
    if name == archive_files.NAME:
        return str(archive_files.LABEL)
    try:
        return str(format_named(name).label)
    except KeyError:
        return ""


def publish(job: ImportJob) -> None:
    """Publish the state on the persona's stream. Call in the transaction that changes it."""
    if job.persona is not None:
        events.publish(
            job.persona.uuid,
            "memory.import.updated",
            import_id=str(job.uuid),
            status=job.status,
            counts=job.counts,
            progress=progress(job),
        )


def publish_progress(lease: ImportLease) -> None:
    """Publish the progress, at most once a second."""
    now: datetime = lease.clock()
    if lease.published_at is None or now - lease.published_at >= _SELDOM:
        lease.published_at = now
        publish(lease.row)


def note_part(lease: ImportLease, part: float) -> None:
    """Store how much of an archive is read (0…1); after a kill it does not decrease."""
    job = lease.row
    job.gone_through = max(job.gone_through, round(part * job.found.get("chunks", 0)))
    lease.leased_row().update(gone_through=job.gone_through)
    publish_progress(lease)


def _refusal(job: ImportJob) -> str:
    if not job.refusal:
        return ""
    facts = {name: str(value) for name, value in job.refusal.get("facts", {}).items()}
    try:
        return ImportRejected(job.refusal["code"], "", **facts).reason
    except KeyError:
        return _("The file could not be read.")
