"""Imports of files: what was found in a file, what the owner chose, and how far the import is."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.models import Session
from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import CLEAR, DELETE_ROW, NO_WORDS, TextColumn
from echovessel.jobs.lease import available
from persona.models import Persona

# Keys of `ImportJob.found` and `.choices` whose values hold neither words nor people's names.
FOUND_WITHOUT_WORDS = ("counts", "skipped", "first_day", "last_day", "undated", "tokens", "sessions", "chunks")
CHOSEN_WITHOUT_WORDS = ("day_first", "zone", "undated", "limit")


class ImportJobQuerySet(models.QuerySet["ImportJob"]):
    def at_work(self) -> "ImportJobQuerySet":
        """Imports that continue without a person."""
        return self.filter(status__in=ImportJob.AT_WORK)

    def with_their_file(self) -> "ImportJobQuerySet":
        """Imports that need no file, or whose file is stored. The others wait for the command that reads their file."""
        return self.filter(~Q(status__in=ImportJob.NEEDS_FILE) | Q(file_is_here=True))

    def waiting(self, now: datetime) -> "ImportJobQuerySet":
        """Imports that continue without a person, that no worker holds and that are not waiting for a retry."""
        return self.at_work().with_their_file().filter(available(now))


class ImportJob(PublicId):
    """The import of one file into memory.

        looking -> asking -> writing -> remembering -> drafting -> done
           |          |          any of them -> cancelled, failed
           refused (the file cannot be read)

    `found` is the analysis of the file (`memory.imports.analysis`), `choices` the owner's decisions about it, `counts`
    the results. `gone_through` counts the chunks that were imported: a repeat continues after them.
    """

    class Status(models.TextChoices):
        LOOKING = "looking", _("being checked")
        ASKING = "asking", _("waiting for your answer")
        WRITING = "writing", _("being stored")
        REMEMBERING = "remembering", _("being remembered")
        DRAFTING = "drafting", _("being summarised")
        DONE = "done", _("done")
        CANCELLED = "cancelled", _("cancelled")
        REFUSED = "refused", _("could not be read")
        FAILED = "failed", _("failed")

    AT_WORK = ("looking", "writing", "remembering", "drafting")
    NEEDS_FILE = ("looking", "writing")
    OVER = ("done", "cancelled", "refused", "failed")

    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="import_jobs", verbose_name=_("owner")
    )
    persona = models.ForeignKey(
        Persona,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="import_jobs",
        verbose_name=_("persona"),
        help_text=_("empty until the companion is known: an import may create one"),
    )
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.LOOKING)
    file_name = models.CharField(_("file"), max_length=200)
    file_size = models.PositiveBigIntegerField(_("size"))
    file_digest = models.CharField(_("hash of the file"), max_length=64, blank=True)
    file_is_here = models.BooleanField(_("path of the file"), default=False)
    format = models.CharField(_("format"), max_length=40, blank=True)
    found = models.JSONField(_("found"), default=dict)
    choices = models.JSONField(_("choices"), default=dict)
    counts = models.JSONField(_("counts"), default=dict)
    gone_through = models.PositiveIntegerField(_("parts read"), default=0)
    refusal = models.JSONField(_("reason for refusal"), default=dict)
    failure = models.CharField(_("failure"), max_length=200, blank=True)
    holder = models.CharField(_("lease holder"), max_length=120, blank=True, editable=False)
    lease_until = models.DateTimeField(_("lease expires at"), null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0, help_text=_("since the last completed step"))
    created_at = models.DateTimeField(_("created at"))
    confirmed_at = models.DateTimeField(_("confirmed at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    text_columns = {
        "file_name": TextColumn(CLEAR, found_by="words"),
        "refusal": TextColumn(CLEAR, found_by="words", wordless_keys=("code", "read_as")),
        "found": TextColumn(DELETE_ROW, wordless_keys=FOUND_WITHOUT_WORDS),
        "choices": TextColumn(DELETE_ROW, wordless_keys=CHOSEN_WITHOUT_WORDS),
        "file_digest": NO_WORDS,
        "format": NO_WORDS,
        "counts": NO_WORDS,
        "failure": NO_WORDS,
        "holder": NO_WORDS,
    }

    objects = ImportJobQuerySet.as_manager()

    class Meta:
        verbose_name = _("import of a file")
        verbose_name_plural = _("imports of files")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["persona", "-id"], name="import_job_newest"),
            models.Index(
                fields=["lease_until"],
                condition=Q(status__in=["looking", "writing", "remembering", "drafting"]),
                name="import_job_waiting",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    status__in=[
                        "looking",
                        "asking",
                        "writing",
                        "remembering",
                        "drafting",
                        "done",
                        "cancelled",
                        "refused",
                        "failed",
                    ]
                ),
                name="import_job_status_known",
            ),
        ]

    def __str__(self) -> str:
        return f"import job {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.status in self.OVER


class ImportPiece(models.Model):
    """A part of an uploaded file, kept in the database as long as it is needed: there it is as safe, as secret and as
    easily forgotten as all other data."""

    job = models.ForeignKey(ImportJob, models.CASCADE, related_name="pieces", verbose_name=_("import of a file"))
    number = models.PositiveIntegerField(_("number"))
    content = models.BinaryField(_("content"))
    text_columns = {"content": TextColumn(DELETE_ROW)}

    class Meta:
        constraints = [models.UniqueConstraint(fields=["job", "number"], name="import_piece_once")]

    def __str__(self) -> str:
        return f"piece {self.number} of import job {self.job_id}"


class ImportChunk(models.Model):
    """What one transaction imports: a session, or a part of a long one; an entry; a card. A chunk is imported once per
    persona, however often its file is imported."""

    class Kind(models.TextChoices):
        TALK = "talk", _("session")
        PROSE = "prose", _("prose")
        NOTES = "notes", _("notes")  # cards, lorebooks and memories of other systems: no messages

    job = models.ForeignKey(ImportJob, models.CASCADE, related_name="chunks", verbose_name=_("import of a file"))
    persona = models.ForeignKey(Persona, models.CASCADE, related_name="+", verbose_name=_("persona"))
    number = models.PositiveIntegerField(_("number"))
    digest = models.CharField(_("digest"), max_length=64)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    dated = models.BooleanField(_("dated"), default=True, help_text=_("whether the file has its date"))
    session = models.OneToOneField(
        Session, models.SET_NULL, null=True, blank=True, related_name="import_chunk", verbose_name=_("session")
    )
    text_columns = {"digest": NO_WORDS}

    class Meta:
        verbose_name = _("part of an import")
        verbose_name_plural = _("parts of imports")
        ordering = ["job", "number"]
        constraints = [
            models.UniqueConstraint(fields=["persona", "digest"], name="import_chunk_once"),
            models.UniqueConstraint(fields=["job", "number"], name="import_chunk_in_order"),
            models.CheckConstraint(condition=Q(kind__in=["talk", "prose", "notes"]), name="import_chunk_kind_known"),
        ]

    def __str__(self) -> str:
        return f"chunk {self.number} of import job {self.job_id}"
