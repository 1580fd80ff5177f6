"""A session: one talk, from the first line until it rests and has been remembered."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from echovessel.identity import PublicId
from persona.models import Persona


class SessionQuerySet(models.QuerySet["Session"]):
    def open(self) -> "SessionQuerySet":
        return self.filter(status=Session.Status.OPEN)

    def idle_since(self, moment: datetime) -> "SessionQuerySet":
        """Open ones in which nothing was said after `moment`."""
        return self.open().filter(last_message_at__lte=moment)

    def without_turn_in_flight(self) -> "SessionQuerySet":
        """Those whose every line has been answered, or has failed to be."""
        return self.exclude(turns__status__in=["collecting", "running"])

    def to_consolidate(self, now: datetime) -> "SessionQuerySet":
        """Closing ones, and those whose worker has let its lease run out."""
        lapsed = Q(status=Session.Status.CONSOLIDATING, lease_until__lt=now)
        waiting = Q(status=Session.Status.CLOSING) & (Q(lease_until=None) | Q(lease_until__lt=now))
        return self.filter(waiting | lapsed)


class Session(PublicId):
    """One talk. At most one is open per persona and channel."""

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

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="sessions")
    channel = models.CharField(max_length=40, default="web")
    status = models.CharField(max_length=16, choices=Status, default=Status.OPEN)
    started_at = models.DateTimeField(default=timezone.now)
    last_message_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True)
    close_reason = models.CharField(max_length=16, choices=CloseReason, blank=True)
    message_count = models.PositiveIntegerField(default=0)
    token_count = models.PositiveIntegerField(default=0)
    trivial = models.BooleanField(default=False)
    summary = models.CharField(max_length=400, blank=True)
    failure = models.CharField(max_length=400, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    off_the_record = models.BooleanField(default=False)

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ["-started_at", "-id"]
        indexes = [
            models.Index(fields=["persona", "-started_at"], name="session_by_time"),
            models.Index(fields=["status", "last_message_at"], name="session_waiting"),
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
        ]

    def __str__(self) -> str:
        return f"session {self.pk}"
