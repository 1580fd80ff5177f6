"""Intermediate results of consolidation, so that it can be killed anywhere and repeated without paying twice."""

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Max, Q
from django.utils.translation import gettext_lazy as _

from chat.models import Session
from echovessel.db.text_columns import CLEAR, DELETE_ROW, NO_WORDS, TextColumn
from persona.models import Persona

# The answer of an extraction without results (`memory.consolidation.answer_schema.ExtractionAnswer`).
NOTHING_READ: dict[str, Any] = {
    "events": [],
    "facts": [],
    "open_loops": [],
    "mentioned_entities": [],
    "requests": None,
    "entity_clarification": None,
    "session_mood_signal": None,
    "session_summary": "",
    "crisis_messages": [],
    "self_check_notes": "",
}


class Extraction(models.Model):
    """The validated answer of one extraction, stored before it is applied.

    `through` is the key of the last message it read. Later extractions of the session start after it, except those that
    read a closed session `again` for facts.
    """

    session = models.ForeignKey(Session, models.CASCADE, related_name="extractions", verbose_name=_("session"))
    chunk = models.PositiveSmallIntegerField(_("chunk"), default=0)
    through = models.PositiveBigIntegerField(_("read up to"))
    again = models.BooleanField(_("read again for facts"), default=False)
    answer = models.JSONField(_("answer"))
    dropped = models.PositiveSmallIntegerField(_("dropped"), default=0)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    applied_at = models.DateTimeField(_("stored at"), null=True, blank=True)
    text_columns = {"answer": TextColumn(CLEAR, found_by="words", cleared=NOTHING_READ)}

    class Meta:
        verbose_name = _("extraction")
        verbose_name_plural = _("extractions")
        ordering = ["session", "chunk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "chunk"], name="extraction_once_per_chunk"),
        ]

    def __str__(self) -> str:
        return f"extraction {self.pk}"

    def after(self) -> int:
        """The key of the last message that was read before; 0 for the first extraction of a session, and for the first
        chunk of one that is read again."""
        earlier = Extraction.objects.filter(session=self.session_id, chunk__lt=self.chunk, again=self.again)
        return earlier.aggregate(last=Max("through"))["last"] or 0


class ModelReply(models.Model):
    """A model's reply, word for word, stored from the moment it is paid for until a step has used it.

    A repeated step reads it here and does not ask the model. A reply that no step can use stays for people to see,
    until a retry by a person asks the model again.

    Between sessions `session` is empty: the step names its subject, once per persona.
    """

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="model_replies", verbose_name=_("persona"))
    session = models.ForeignKey(
        Session, models.CASCADE, null=True, blank=True, related_name="model_replies", verbose_name=_("session")
    )
    step = models.CharField(_("step"), max_length=24)
    number = models.PositiveSmallIntegerField(_("number"))
    text = models.TextField(_("text"))
    whole = models.BooleanField(_("complete"), default=True)
    usage = models.JSONField(_("usage"), default=dict)
    at = models.DateTimeField(_("at"), auto_now_add=True)
    text_columns = {"text": TextColumn(DELETE_ROW), "step": NO_WORDS, "usage": NO_WORDS}

    class Meta:
        ordering = ["session", "step", "number"]
        verbose_name_plural = _("model replies")
        constraints = [
            models.UniqueConstraint(fields=["session", "step", "number"], name="model_reply_once"),
            models.UniqueConstraint(
                fields=["persona", "step", "number"], condition=Q(session=None), name="model_reply_once_between_talks"
            ),
        ]

    def __str__(self) -> str:
        return f"model reply {self.pk}"


class ReflectionRunQuerySet(models.QuerySet["ReflectionRun"]):
    def that_reflected(self) -> "ReflectionRunQuerySet":
        """Runs that asked the model; the others were refused by a gate."""
        return self.filter(reason__in=[ReflectionRun.Reason.SHOCK, ReflectionRun.Reason.TIMER])

    def since(self, moment: datetime) -> "ReflectionRunQuerySet":
        return self.filter(at__gt=moment)


class ReflectionRun(models.Model):
    """One decision about reflecting after a session: the gate's reason and the results."""

    class Reason(models.TextChoices):
        SHOCK = "shock", _("a shock")
        TIMER = "timer", _("a day has passed since the last one")
        HARD_GATE = "hard_gate", _("too many in 24 hours")
        NOT_DUE = "not_due", _("not due yet")
        NOTHING_NEW = "nothing_new", _("nothing new")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="reflection_runs", verbose_name=_("persona"))
    session = models.OneToOneField(
        Session, models.SET_NULL, null=True, related_name="reflection_run", verbose_name=_("session")
    )
    reason = models.CharField(_("reason"), max_length=12, choices=Reason)
    thoughts = models.PositiveSmallIntegerField(_("thoughts"), default=0)
    dropped = models.PositiveSmallIntegerField(_("dropped"), default=0)
    at = models.DateTimeField(_("at"))

    objects = ReflectionRunQuerySet.as_manager()

    class Meta:
        verbose_name = _("reflection")
        verbose_name_plural = _("reflections")
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
