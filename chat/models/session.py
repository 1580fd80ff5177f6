"""Sessions: from the first message until the conversation rests and has been remembered."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import CLEAR, NO_WORDS, TextColumn
from echovessel.jobs.lease import available
from persona.models import Persona


class SessionQuerySet(models.QuerySet["Session"]):
    def open(self) -> "SessionQuerySet":
        return self.filter(status=Session.Status.OPEN)

    def idle_since(self, moment: datetime) -> "SessionQuerySet":
        """Open sessions without a message after `moment`."""
        return self.open().filter(last_message_at__lte=moment)

    def without_turn_in_flight(self) -> "SessionQuerySet":
        """Sessions whose messages have all been answered, or whose replies have failed."""
        return self.exclude(turns__status__in=["collecting", "running"])

    def to_consolidate(self, now: datetime) -> "SessionQuerySet":
        """Closing sessions, and those whose worker has let its lease expire."""
        unfinished = Q(status__in=[Session.Status.CLOSING, Session.Status.CONSOLIDATING])
        return self.filter(unfinished).unclaimed(now)

    def to_read_early(self, now: datetime) -> "SessionQuerySet":
        """Open sessions that somebody asked to remember already."""
        return self.open().filter(early_consolidation_requested_at__isnull=False).unclaimed(now)

    def unclaimed(self, now: datetime) -> "SessionQuerySet":
        """Sessions without a lease, or whose lease or pause has expired."""
        return self.filter(available(now))


class Session(PublicId):
    """One conversation. At most one is open per persona and channel."""

    class Status(models.TextChoices):
        OPEN = "open", _("open")
        CLOSING = "closing", _("closing")
        CONSOLIDATING = "consolidating", _("consolidating")
        CLOSED = "closed", _("closed")
        FAILED = "failed", _("failed")

    class CloseReason(models.TextChoices):
        IDLE = "idle", _("idle")
        EXPLICIT = "explicit", _("by the user")
        LENGTH = "length", _("length")
        SHUTDOWN = "shutdown", _("shutdown")
        IMPORT = "import", _("import")

    class WaitingFor(models.TextChoices):
        PROVIDER = "provider", _("the model to answer again")
        BUDGET = "budget", _("tomorrow's budget")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="sessions", verbose_name=_("persona"))
    channel = models.CharField(_("channel"), max_length=40, default="web")
    status = models.CharField(_("status"), max_length=16, choices=Status, default=Status.OPEN)
    started_at = models.DateTimeField(_("started at"), default=timezone.now)
    last_message_at = models.DateTimeField(_("last message at"), default=timezone.now)
    closed_at = models.DateTimeField(_("closed at"), null=True, blank=True)
    close_reason = models.CharField(_("close reason"), max_length=16, choices=CloseReason, blank=True)
    message_count = models.PositiveIntegerField(_("message count"), default=0)
    token_count = models.PositiveIntegerField(_("token count"), default=0)
    trivial = models.BooleanField(_("trivial"), default=False)
    summary = models.CharField(_("summary"), max_length=400, blank=True)
    failure = models.CharField(_("failure"), max_length=400, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0, help_text=_("since the last completed step"))
    holder = models.CharField(_("lease holder"), max_length=120, blank=True, editable=False)
    lease_until = models.DateTimeField(_("lease expires at"), null=True, blank=True)
    waiting_for = models.CharField(_("waiting for"), max_length=12, choices=WaitingFor, blank=True)
    early_consolidation_requested_at = models.DateTimeField(
        _("early consolidation requested at"), null=True, blank=True
    )
    off_the_record = models.BooleanField(_("off the record"), default=False)
    import_uuid = models.UUIDField(_("import"), null=True, editable=False)
    text_columns = {
        "summary": TextColumn(CLEAR, found_by="words", archived=True),
        "failure": TextColumn(CLEAR, archived=True),
        "channel": NO_WORDS,
        "holder": NO_WORDS,
    }

    objects = SessionQuerySet.as_manager()

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        ordering = ["-started_at", "-id"]
        indexes = [
            models.Index(fields=["persona", "-started_at"], name="session_by_time"),
            models.Index(fields=["status", "last_message_at"], name="session_waiting"),
            models.Index(fields=["status", "-id"], name="session_newest_of_status"),
            models.Index(fields=["import_uuid"], condition=~Q(import_uuid=None), name="session_by_import"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["persona", "channel"], condition=Q(status="open"), name="session_one_open_per_channel"
            ),
            models.UniqueConstraint(fields=["persona", "external_id"], name="session_external_id_once"),
            models.CheckConstraint(
                condition=Q(status__in=["open", "closing", "consolidating", "closed", "failed"]),
                name="session_status_known",
            ),
            models.CheckConstraint(
                condition=Q(waiting_for__in=["", "provider", "budget"]), name="session_waiting_for_known"
            ),
        ]

    def __str__(self) -> str:
        return f"session {self.pk}"
