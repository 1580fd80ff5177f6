"""What consolidation keeps of its own work, so that it can be killed anywhere and repeated without paying twice."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from chat.models import Session
from persona.models import Persona


class Extraction(models.Model):
    """The validated answer of one extraction, stored as it is before anything is made of it."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="extractions")
    chunk = models.PositiveSmallIntegerField(default=0)
    answer = models.JSONField()
    dropped = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    applied_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["session", "chunk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "chunk"], name="extraction_once_per_chunk"),
        ]

    def __str__(self) -> str:
        return f"extraction {self.pk}"


class UnreadableAnswer(models.Model):
    """The words of a model that no answer could be read out of, kept until a retry succeeds."""

    session = models.ForeignKey(Session, models.CASCADE, related_name="unreadable_answers")
    step = models.CharField(max_length=16)
    raw = models.TextField()
    at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["session", "step"]
        constraints = [
            models.UniqueConstraint(fields=["session", "step"], name="unreadable_once_per_step"),
        ]

    def __str__(self) -> str:
        return f"unreadable answer {self.pk}"


class ReflectionRunQuerySet(models.QuerySet["ReflectionRun"]):
    def that_reflected(self) -> "ReflectionRunQuerySet":
        """Those that asked the model, as against those that a gate refused."""
        return self.filter(reason__in=[ReflectionRun.Reason.SHOCK, ReflectionRun.Reason.TIMER])

    def since(self, moment: datetime) -> "ReflectionRunQuerySet":
        return self.filter(at__gt=moment)


class ReflectionRun(models.Model):
    """One decision about reflecting after a session: what the gate said, and what came of it."""

    class Reason(models.TextChoices):
        SHOCK = "shock", _("a shock")
        TIMER = "timer", _("a day has passed")
        HARD_GATE = "hard_gate", _("too many in 24 hours")
        NOT_DUE = "not_due", _("not due yet")
        NOTHING_NEW = "nothing_new", _("nothing new")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="reflection_runs")
    session = models.OneToOneField(Session, models.SET_NULL, null=True, related_name="reflection_run")
    reason = models.CharField(max_length=12, choices=Reason)
    thoughts = models.PositiveSmallIntegerField(default=0)
    dropped = models.PositiveSmallIntegerField(default=0)
    at = models.DateTimeField()

    objects = ReflectionRunQuerySet.as_manager()

    class Meta:
        ordering = ["-at", "-id"]
        indexes = [models.Index(fields=["persona", "-at"], name="reflection_run_by_time")]
        constraints = [
            models.CheckConstraint(
                condition=Q(reason__in=["shock", "timer", "hard_gate", "not_due", "nothing_new"]),
                name="reflection_reason_known",
            ),
        ]

    def __str__(self) -> str:
        return f"reflection run {self.pk}"
