"""The slow cycle: its state per persona, its runs with their inputs and results, and the persona's open questions."""

from datetime import datetime

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from chat.models import Session
from echovessel.db.text_columns import DELETE_ROW, NO_WORDS, TextColumn
from echovessel.jobs.lease import available
from memory.models.node import ConceptNode
from persona.models import Persona

MAX_QUESTION = 400


class SlowCycleQuerySet(models.QuerySet["SlowCycle"]):
    def waiting(self, now: datetime) -> "SlowCycleQuerySet":
        """Requested slow cycles that no worker holds and that are not waiting for a retry."""
        return self.filter(requested_at__isnull=False).filter(available(now))


class SlowCycle(models.Model):
    """The state of the slow cycle of one persona. `through` is the key of the last event that a run has read; the next
    run starts after it. Keys are used in place of times: zones, daylight saving and a clock that is set back do not
    affect them."""

    persona = models.OneToOneField(
        Persona, models.CASCADE, primary_key=True, related_name="slow_cycle", verbose_name=_("persona")
    )
    through = models.PositiveBigIntegerField(_("read up to"), default=0)
    requested_at = models.DateTimeField(_("requested at"), null=True, blank=True)
    requested_by = models.ForeignKey(
        Session, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("requested by session")
    )
    holder = models.CharField(_("lease holder"), max_length=120, blank=True, editable=False)
    lease_until = models.DateTimeField(_("lease expires at"), null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    text_columns = {"holder": NO_WORDS}

    objects = SlowCycleQuerySet.as_manager()

    class Meta:
        verbose_name = _("slow cycle")
        verbose_name_plural = _("slow cycles")
        indexes = [
            models.Index(fields=["lease_until"], condition=~Q(requested_at=None), name="slow_cycle_waiting"),
        ]

    def __str__(self) -> str:
        return f"slow cycle of persona {self.persona_id}"


class SlowCycleRunQuerySet(models.QuerySet["SlowCycleRun"]):
    def since(self, moment: datetime) -> "SlowCycleRunQuerySet":
        return self.filter(at__gte=moment)


class SlowCycleRun(models.Model):
    """One run: its reason, its inputs, and the outcome for each item of its answer. It holds keys only: the words stand
    in the rows that were made, and are deleted with them."""

    class Reason(models.TextChoices):
        FIRST = "first", _("first run")
        RESTED = "rested", _("enough time has passed")
        SHOCK = "shock", _("a shock")
        CORRECTION = "correction", _("a correction")

    class Outcome(models.TextChoices):
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="slow_cycle_runs", verbose_name=_("persona"))
    session = models.ForeignKey(
        Session, models.SET_NULL, null=True, blank=True, related_name="slow_cycle_runs", verbose_name=_("session")
    )
    reason = models.CharField(_("reason"), max_length=12, choices=Reason)
    outcome = models.CharField(_("outcome"), max_length=8, choices=Outcome)
    failure = models.CharField(_("failure"), max_length=200, blank=True)
    given = models.JSONField(_("inputs"), default=dict)
    made = models.JSONField(_("results"), default=list)
    through = models.PositiveBigIntegerField(_("read up to"), default=0)
    tokens_in = models.PositiveIntegerField(_("tokens in"), default=0)
    tokens_out = models.PositiveIntegerField(_("tokens out"), default=0)
    dropped = models.PositiveSmallIntegerField(_("dropped"), default=0)
    at = models.DateTimeField(_("at"))
    text_columns = {"failure": NO_WORDS, "given": NO_WORDS, "made": NO_WORDS}

    objects = SlowCycleRunQuerySet.as_manager()

    class Meta:
        verbose_name = _("slow cycle run")
        verbose_name_plural = _("slow cycle runs")
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["persona", "-at"], name="slow_cycle_run_by_time"),
            models.Index(fields=["-at", "-id"], name="slow_cycle_run_newest"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(reason__in=["first", "rested", "shock", "correction"]), name="slow_cycle_reason_known"
            ),
            models.CheckConstraint(condition=Q(outcome__in=["done", "failed"]), name="slow_cycle_outcome_known"),
        ]

    def __str__(self) -> str:
        return f"slow cycle run {self.pk}"


class QuestionQuerySet(models.QuerySet["Question"]):
    def open(self) -> "QuestionQuerySet":
        return self.filter(status=Question.Status.OPEN)


class Question(models.Model):
    """Something the persona wonders about between conversations. Every run returns to it until it is answered or too
    old. It rests on memories (`grounds`), and is deleted with any of them."""

    class Status(models.TextChoices):
        OPEN = "open", pgettext_lazy("question", "open")
        ANSWERED = "answered", _("answered")
        DROPPED = "dropped", _("dropped")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="questions", verbose_name=_("persona"))
    text = models.CharField(_("question"), max_length=MAX_QUESTION)
    content_hash = models.CharField(_("content hash"), max_length=64, editable=False)
    status = models.CharField(_("status"), max_length=8, choices=Status, default=Status.OPEN)
    run = models.ForeignKey(
        SlowCycleRun, models.SET_NULL, null=True, blank=True, related_name="questions", verbose_name=_("run")
    )
    grounds = models.ManyToManyField(ConceptNode, through="QuestionGround", related_name="questions")
    asked_at = models.DateTimeField(_("asked at"))
    settled_at = models.DateTimeField(_("settled at"), null=True, blank=True)
    hinted_at = models.DateTimeField(
        _("hinted at"), null=True, blank=True, help_text=_("when a prompt last asked to find out")
    )
    answered_by = models.ForeignKey(
        ConceptNode, models.SET_NULL, null=True, blank=True, related_name="answers", verbose_name=_("answered by")
    )
    text_columns = {
        "text": TextColumn(DELETE_ROW, found_by="restatement", archived=True),
        "content_hash": TextColumn(DELETE_ROW),
    }

    objects = QuestionQuerySet.as_manager()

    class Meta:
        verbose_name = _("question")
        verbose_name_plural = _("questions")
        ordering = ["-asked_at", "-id"]
        indexes = [models.Index(fields=["persona", "status", "-asked_at"], name="question_by_status")]
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="question_not_empty"),
            models.CheckConstraint(
                condition=Q(status__in=["open", "answered", "dropped"]), name="question_status_known"
            ),
            models.UniqueConstraint(
                fields=["persona", "content_hash"], condition=Q(status="open"), name="question_open_once"
            ),
        ]

    def __str__(self) -> str:
        return f"question {self.pk}"


class QuestionGround(models.Model):
    """A memory that a question rests on."""

    question = models.ForeignKey(Question, models.CASCADE, related_name="rests_on", verbose_name=_("question"))
    node = models.ForeignKey(ConceptNode, models.CASCADE, related_name="+", verbose_name=_("memory"))

    class Meta:
        constraints = [models.UniqueConstraint(fields=["question", "node"], name="question_ground_once")]

    def __str__(self) -> str:
        return f"ground {self.pk} of question {self.question_id}"
