"""Outreaches: one message that a persona writes first, from the decision to its delivery."""

import uuid
from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import NO_WORDS
from echovessel.jobs.lease import available
from persona.models import Persona


class Trigger(models.TextChoices):
    """Why a persona might speak first."""

    PROMISE = "promise", _("a promise of the persona is due")
    SHOCK = "shock", _("something serious happened")
    EXPECTATION = "expectation", _("an expectation is due")
    SILENCE = "silence", _("a long silence")


class OutreachQuerySet(models.QuerySet["Outreach"]):
    def delivered(self) -> "OutreachQuerySet":
        return self.filter(status=Outreach.Status.DELIVERED)

    def waiting(self, now: datetime) -> "OutreachQuerySet":
        """Outreaches that are still to be written or delivered, not leased and not waiting for a retry."""
        return self.filter(status=Outreach.Status.WANTED).filter(available(now))


class Outreach(models.Model):
    """It contains no words: before delivery they are in a `ModelReply`, afterwards in the message.

    `trigger_key` identifies the reason, so that a reason makes one outreach only. `about_uuid` is the memory it is
    about, `turn_uuid` the turn of the message; both may have been forgotten since.
    """

    class Status(models.TextChoices):
        WANTED = "wanted", _("being sent")
        DELIVERED = "delivered", _("sent")
        DROPPED = "dropped", _("dropped")
        FAILED = "failed", _("failed")

    uuid = models.UUIDField(_("id"), default=uuid.uuid4, unique=True, editable=False)
    persona = models.ForeignKey(Persona, models.CASCADE, related_name="outreaches", verbose_name=_("persona"))
    trigger = models.CharField(_("trigger"), max_length=12, choices=Trigger)
    trigger_key = models.CharField(_("reason"), max_length=120)
    about_uuid = models.UUIDField(_("about"), null=True, blank=True)
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.WANTED)
    reason = models.CharField(_("why it was dropped"), max_length=40, blank=True)
    wanted_at = models.DateTimeField(_("decided at"))
    delivered_at = models.DateTimeField(_("sent at"), null=True, blank=True)
    turn_uuid = models.UUIDField(_("turn"), null=True, blank=True)
    pushed_at = models.DateTimeField(_("pushed at"), null=True, blank=True)
    holder = models.CharField(_("lease holder"), max_length=120, blank=True, editable=False)
    lease_until = models.DateTimeField(_("lease expires at"), null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    text_columns = {"trigger_key": NO_WORDS, "reason": NO_WORDS, "holder": NO_WORDS}

    objects = OutreachQuerySet.as_manager()

    class Meta:
        verbose_name = _("outreach")
        verbose_name_plural = _("outreaches")
        ordering = ["-wanted_at", "-id"]
        indexes = [
            models.Index(fields=["persona", "-delivered_at"], name="outreach_by_time"),
            models.Index(fields=["lease_until"], condition=Q(status="wanted"), name="outreach_waiting"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["persona", "trigger_key"], name="outreach_once_for_a_reason"),
            models.UniqueConstraint(
                fields=["persona"], condition=Q(status="wanted"), name="outreach_one_on_its_way_per_persona"
            ),
            models.CheckConstraint(
                condition=Q(trigger__in=["promise", "shock", "expectation", "silence"]), name="outreach_trigger_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["wanted", "delivered", "dropped", "failed"]), name="outreach_status_known"
            ),
            models.CheckConstraint(
                condition=Q(status="delivered", delivered_at__isnull=False) | ~Q(status="delivered"),
                name="outreach_delivered_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return f"outreach {self.pk}"
