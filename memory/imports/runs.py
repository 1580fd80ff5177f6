"""Imports as people see them: they begin one with a file, confirm it or cancel it."""

from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import TYPE_CHECKING, cast
from zoneinfo import ZoneInfo

from django.db import transaction
from django.utils.translation import gettext as _

from memory.imports import analysis, archive_files, cancellation, drafts, leases, stored_file, suggestions, summary
from memory.imports.choices import AUTO, KINDS, SIDES, Choices, NotAwaitingConfirmation, WrongChoice, parse_choices
from memory.imports.chunks import NAME_CHARACTERS
from memory.imports.readers import FORMATS, Source
from memory.imports.readers import fields as record_fields
from memory.imports.readers.types import ImportRejected
from memory.models import ImportJob, ImportRun
from persona.companion.zones import machine_zones
from persona.models import Persona

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Status = ImportJob.Status
_NAME_CHARACTERS = 200
# Sessions that are erased while a person waits: at about 15 ms each (2026-11, two cores) a few seconds.
ERASED_AT_ONCE = 200


def begin(owner: "User", persona: Persona | None, source: Source, now: datetime, *, keep: bool) -> ImportJob:
    """Create an import of the file, to be analyzed. With `keep` the file is stored, and `leases.enqueue` hands it to
    the worker; else the caller reads it. Raises ImportRejected for an empty file.

    If the file cannot be stored, nothing is kept. An import whose file is not stored has its digest from the start; so
    one without a digest was interrupted while its file was stored.
    """
    if not source.size:
        raise ImportRejected("empty")
    job = ImportJob.objects.create(
        owner=owner,
        persona=persona,
        file_name=source.name[:_NAME_CHARACTERS],
        file_size=source.size,
        file_digest="" if keep else stored_file.digest_of(source),
        created_at=now,
    )
    if keep:
        try:
            digest = stored_file.keep_file(job, source)
            ImportJob.objects.filter(pk=job.pk).update(file_digest=digest, file_is_here=True)
        except Exception:
            job.delete()
            raise
        job.refresh_from_db()
    return job


def assign_persona(job: ImportJob, persona: Persona) -> None:
    """Set the persona of an import that was begun without one. Raises WrongChoice, and NotAwaitingConfirmation if it
    has one."""
    if persona.owner_id != job.owner_id:
        raise WrongChoice("no_persona", _("Please choose the companion who should remember it."))
    if not ImportJob.objects.filter(pk=job.pk, persona=None).update(persona=persona):
        raise NotAwaitingConfirmation
    job.refresh_from_db()


def confirm(job: ImportJob, choices: Choices, now: datetime, *, reanalyze: bool = False) -> None:
    """Begin to store the file's content as the person chose. If it has to be read in another way than before, or
    `reanalyze` is set, analyze it again first. Raises WrongChoice."""
    if job.status != Status.ASKING:
        raise NotAwaitingConfirmation
    reanalyze = reanalyze or needs_reanalysis(job, choices)
    choices = _with_reading_choices(job, choices)
    _check_reading(job, choices)
    if reanalyze:
        analysis.request_reanalysis(job, choices)
    else:
        # Check that the choices cover everything that was found. Raises WrongChoice.
        if job.persona is None:
            raise WrongChoice("no_persona", _("Please choose the companion who should remember it."))
        names = [speaker["name"] for speaker in job.found.get("speakers", [])]
        if set(choices.roles) - set(names):
            raise WrongChoice("unknown_speaker", _("Nobody with that name speaks in the file."))
        if any(choices.roles.get(name) not in SIDES for name in names):
            raise WrongChoice("roles", _("Please say who each person is."))
        if names and "user" not in choices.roles.values() and not choices.without_owner:
            raise WrongChoice("nobody_is_you", _("Please say which of them is you."))
        if choices.zone not in machine_zones():
            raise WrongChoice("zone", _("Unknown time zone."))
        if len(choices.called) > NAME_CHARACTERS:
            raise WrongChoice("called", _("That name is too long."))
        if choices.limit is not None and choices.limit < 1:
            raise WrongChoice("limit", _("Choose at least one conversation or entry."))
        if job.found.get("undated") and choices.undated is None:
            raise WrongChoice("undated", _("Please choose a day for the messages without a date."))
        if choices.undated and choices.undated > now.astimezone(ZoneInfo(choices.zone)).date():
            raise WrongChoice("undated", _("That day is in the future."))
        begin_writing(job, choices, now)
    if job.file_is_here:
        leases.enqueue(job, now)
        job.refresh_from_db()


def begin_writing(job: ImportJob, choices: Choices, now: datetime) -> None:
    """Begin to store; all rows get the uuid of the run, so that they can be forgotten as a whole."""
    without_sample = {name: value for name, value in job.found.items() if name != "sample"}
    cuts = analysis.cuts_of(without_sample, now)
    stored = choices.as_stored() | {"cuts": asdict(cuts)}
    with transaction.atomic():
        asking = ImportJob.objects.filter(pk=job.pk, status=Status.ASKING)
        if not asking.update(
            status=Status.WRITING,
            choices=stored,
            found=without_sample,
            refusal={},
            confirmed_at=now,
            holder="",
            lease_until=None,
            attempts=0,
        ):
            raise NotAwaitingConfirmation
        ImportRun.objects.create(uuid=job.uuid, persona_id=cast(int, job.persona_id), at=now)
        persona = job.persona
        if persona is not None and not persona.user_name:
            # Memories call the owner by this name.
            persona.user_name = suggestions.name_of_owner(job, choices)
            persona.save(update_fields=["user_name"])
        job.refresh_from_db()
        summary.publish(job)


def cancel(job: ImportJob, now: datetime) -> bool:
    """Stop the import; consolidated sessions are kept. False if it was over. `finished_at` is set when the rest is
    erased; for years of messages a job does that, minute by minute."""
    with transaction.atomic():
        unfinished = ImportJob.objects.filter(pk=job.pk).exclude(status__in=ImportJob.OVER)
        was_cancelled = unfinished.update(status=Status.CANCELLED, holder="", lease_until=None)
        if was_cancelled:
            drafts.delete_replies(job)
        job.refresh_from_db()
        if was_cancelled:
            summary.publish(job)
    if was_cancelled:
        finish_cancelled(job, now, ERASED_AT_ONCE)
    return bool(was_cancelled)


def finish_cancelled(job: ImportJob, now: datetime, limit: int) -> None:
    """Delete the file, and erase about `limit` sessions that were not consolidated. After a kill, the next call
    continues."""
    stored_file.drop_file(job)
    cancellation.erase_unread(job, now, limit)
    if cancellation.has_unerased_sessions(job):
        return
    counts = cancellation.count_remaining(job)
    ImportJob.objects.filter(pk=job.pk).update(finished_at=now, counts=counts, **analysis.without_names(job))
    job.refresh_from_db()
    cancellation.erase_bytes(job)


# --- checks of choices --------------------------------------------------------------------------------------------
def _with_reading_choices(job: ImportJob, choices: Choices) -> Choices:
    """The choices; those about reading the file default to the earlier ones."""
    before = parse_choices(job.choices) if job.choices else Choices()
    day_first = before.day_first if choices.day_first is None else choices.day_first
    return replace(
        choices,
        format=None if choices.format == AUTO else choices.format or before.format,
        mapping=choices.mapping or before.mapping,
        day_first=day_first,
        kind=choices.kind or before.kind,
    )


def needs_reanalysis(job: ImportJob, choices: Choices) -> bool:
    """Whether the file has to be analyzed again before it can be imported with these choices."""
    choices = _with_reading_choices(job, choices)
    before = parse_choices(job.choices) if job.choices else Choices()
    # Confirming the analysis as it is needs no second one.
    return (
        bool(job.found.get("questions"))
        or choices.format not in (before.format, job.format)
        or choices.day_first != before.day_first
        or choices.kind != before.kind
        or choices.mapping not in (None, before.mapping, job.found.get("mapping"))
    )


def _check_reading(job: ImportJob, choices: Choices) -> None:
    """Check that the file can be read as the choices say. Raises WrongChoice."""
    if choices.format is not None and choices.format not in {file_format.name for file_format in FORMATS} | {
        archive_files.NAME
    }:
        raise WrongChoice("format", _("Unknown format."))
    if choices.mapping is not None:
        mapping_fields = {field.name for field in fields(record_fields.Mapping)}
        fit = all(isinstance(value, bool if name == "sure" else str) for name, value in choices.mapping.items())
        if not (set(choices.mapping) <= mapping_fields and fit and choices.mapping.get("text")):
            raise WrongChoice("mapping", _("Please choose at least the field with the text."))
    if choices.mapping is not None and not choices.mapping.get("speaker") and choices.kind != "notes":
        raise WrongChoice("speaker", _("Who wrote this? Please choose a field, or say that all of it is yours."))
    questions = job.found.get("questions", [])
    if "mapping" in questions and not choices.mapping:
        raise WrongChoice("mapping", _("Please choose at least the field with the text."))
    if "day_first" in questions and choices.day_first is None:
        raise WrongChoice("day_first", _("Please say whether the day or the month comes first."))
    if choices.kind not in (None, *KINDS):
        raise WrongChoice("kind", _("Choose either a chat or notes."))
    if "kind" in questions and choices.kind is None:
        raise WrongChoice("kind", _("Please say whether this is a chat of several people, or your own notes."))
