"""Whether a persona may speak first, and within which limits. Off until the owner turns it on."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from persona.models import Persona


class ReachingOut(models.Model):
    """The owner's settings for one persona. The knobs decide what the owner leaves open."""

    persona = models.OneToOneField(
        Persona, models.CASCADE, primary_key=True, related_name="reaching_out", verbose_name=_("persona")
    )
    enabled = models.BooleanField(_("may write first"), default=False)
    quiet_start = models.PositiveSmallIntegerField(_("quiet from"), null=True, blank=True)
    quiet_end = models.PositiveSmallIntegerField(_("quiet until"), null=True, blank=True)
    max_per_24h = models.PositiveSmallIntegerField(_("messages in 24 hours, at most"), null=True, blank=True)
    push = models.BooleanField(_("also as a notification"), default=False)
    changed_at = models.DateTimeField(_("changed at"), null=True, blank=True)

    class Meta:
        verbose_name = _("reaching out")
        verbose_name_plural = _("reaching out")
        constraints = [
            models.CheckConstraint(
                condition=Q(quiet_start=None) | Q(quiet_start__lte=23), name="reaching_out_quiet_start_is_an_hour"
            ),
            models.CheckConstraint(
                condition=Q(quiet_end=None) | Q(quiet_end__lte=23), name="reaching_out_quiet_end_is_an_hour"
            ),
        ]

    def __str__(self) -> str:
        return f"reaching out of persona {self.persona_id}"
