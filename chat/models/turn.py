"""Turns: a burst of user messages and the reply to it."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.models.session import Session
from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import CLEAR, NO_WORDS, TextColumn
from persona.models import Persona


class TurnQuerySet(models.QuerySet["Turn"]):
    def collecting(self) -> "TurnQuerySet":
        return self.filter(status=Turn.Status.COLLECTING)

    def running(self) -> "TurnQuerySet":
        return self.filter(status=Turn.Status.RUNNING)

    def in_flight(self) -> "TurnQuerySet":
        """Turns that wait for a reply, or are being answered."""
        return self.filter(status__in=[Turn.Status.COLLECTING, Turn.Status.RUNNING])


class Turn(PublicId):
    """One burst and its reply. Turns of one persona are strictly serial: the database admits one running."""

    class Status(models.TextChoices):
        COLLECTING = "collecting", _("collecting messages")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")
        STOPPED = "stopped", _("stopped")

    session = models.ForeignKey(Session, models.CASCADE, related_name="turns", verbose_name=_("session"))
    persona = models.ForeignKey(Persona, models.CASCADE, related_name="turns", verbose_name=_("persona"))
    status = models.CharField(_("status"), max_length=16, choices=Status, default=Status.COLLECTING)
    # The turn whose messages this turn answers once more. Its own only message is that answer.
    original = models.ForeignKey(
        "self", models.SET_NULL, null=True, editable=False, related_name="other_answers", db_index=False
    )
    spoke_first = models.BooleanField(
        _("the persona spoke first"), default=False, help_text=_("a turn without messages of the user")
    )
    is_cut = models.BooleanField(_("cut"), default=False, help_text=_("the reply reached the length limit"))
    error = models.CharField(_("error"), max_length=40, blank=True)
    partial = models.TextField(_("partial reply"), blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    first_token_at = models.DateTimeField(_("first token at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("finished at"), null=True, blank=True)
    holder = models.CharField(_("lease holder"), max_length=120, blank=True)
    lease_until = models.DateTimeField(_("lease expires at"), null=True, blank=True)
    usage = models.JSONField(_("usage"), default=dict, blank=True)
    xray = models.JSONField(_("xray"), default=dict, blank=True)
    text_columns = {
        "partial": TextColumn(CLEAR, found_by="restatement", archived=True),
        "xray": TextColumn(CLEAR, cleared={}),
        "error": NO_WORDS,
        "holder": NO_WORDS,
        "usage": NO_WORDS,
    }

    objects = TurnQuerySet.as_manager()

    class Meta:
        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["status", "lease_until"], name="turn_by_lease"),
            models.Index(fields=["original"], condition=Q(original__isnull=False), name="turn_other_answers"),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["persona"], condition=Q(status="running"), name="turn_one_running_per_persona"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["collecting", "running", "done", "failed", "stopped"]),
                name="turn_status_known",
            ),
        ]

    def __str__(self) -> str:
        return f"turn {self.pk}"
