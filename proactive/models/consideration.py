"""Considerations: decisions about speaking first, with the gate that refused and the facts."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import NO_WORDS
from persona.models import Persona
from proactive.models.outreach import Outreach, Trigger


class Gate(models.TextChoices):
    """Gates that can refuse, in the order in which they are asked; the first refusal decides."""

    ENABLED = "enabled", _("not allowed")
    CRISIS_HOLD = "crisis_hold", _("a crisis came up")
    QUIET_HOURS = "quiet_hours", _("quiet hours")
    COLD_USER = "cold_user", _("the last two were not answered")
    RATE = "rate", _("daily limit reached")
    SPACING = "spacing", _("too soon after the last")
    TURN_IN_FLIGHT = "turn_in_flight", _("a reply is being written")
    COST_CAP = "cost_cap", _("the budget is used up")
    TRIGGER = "trigger", _("no reason to write")


class Consideration(models.Model):
    """One row for equal decisions of a day: `times` counts them.

    `day` is the owner's local day. `facts` are those of the last decision, as
    `proactive.policy.situation.Situation.facts` gives them: times, counts and names of ours, no words of people.
    """

    class Verdict(models.TextChoices):
        SEND = "send", _("write")
        REFUSE = "refuse", _("hold back")
        DEFER = "defer", _("wait")

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="considerations", verbose_name=_("persona"))
    day = models.DateField(_("day"), help_text=_("in the owner's time zone"))
    verdict = models.CharField(_("verdict"), max_length=8, choices=Verdict)
    gate = models.CharField(_("gate"), max_length=16, choices=Gate, blank=True)
    trigger = models.CharField(_("trigger"), max_length=12, choices=Trigger, blank=True)
    trigger_key = models.CharField(_("reason"), max_length=120, blank=True)
    facts = models.JSONField(_("facts"), default=dict)
    outreach = models.ForeignKey(
        Outreach, models.SET_NULL, null=True, blank=True, related_name="considerations", verbose_name=_("outreach")
    )
    first_at = models.DateTimeField(_("first at"))
    at = models.DateTimeField(_("last at"))
    times = models.PositiveIntegerField(_("times"), default=1)
    text_columns = {"trigger_key": NO_WORDS, "facts": NO_WORDS}

    class Meta:
        verbose_name = _("consideration")
        verbose_name_plural = _("considerations")
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["persona", "-day", "-id"], name="consideration_by_day"),
            models.Index(fields=["-at", "-id"], name="consideration_newest"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(verdict__in=["send", "refuse", "defer"]), name="consideration_verdict_known"
            ),
            models.CheckConstraint(
                condition=Q(verdict="send", gate="") | (~Q(verdict="send") & ~Q(gate="")),
                name="consideration_refused_by_a_gate",
            ),
        ]

    def __str__(self) -> str:
        return f"consideration {self.pk}"
