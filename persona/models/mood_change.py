"""L6 over time: past moods, for the timeline."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from echovessel.db.public_id import PublicId
from echovessel.db.text_columns import DELETE_ROW, TextColumn
from persona.models.persona import Persona

MAX_MOOD = 40
MAX_SIGNAL = 80


class MoodChange(PublicId):
    """One change of a persona's mood, and the session that caused it."""

    persona = models.ForeignKey(Persona, models.CASCADE, related_name="mood_changes", verbose_name=_("persona"))
    mood = models.CharField(_("mood"), max_length=MAX_MOOD)
    energy = models.SmallIntegerField(_("energy"))
    last_user_signal = models.CharField(_("last user signal"), max_length=MAX_SIGNAL, null=True, blank=True)
    session_uuid = models.UUIDField(_("session uuid"), null=True, editable=False)
    at = models.DateTimeField(_("at"))
    text_columns = {
        "mood": TextColumn(DELETE_ROW, found_by="words", archived=True),
        "last_user_signal": TextColumn(DELETE_ROW, found_by="words", archived=True),
    }

    class Meta:
        verbose_name = _("L6 change of mood")
        verbose_name_plural = _("L6 changes of mood")
        ordering = ["-at", "-id"]
        indexes = [
            models.Index(fields=["persona", "-at"], name="mood_change_by_time"),
            models.Index(fields=["session_uuid"], name="mood_change_of_session"),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(energy__gte=0, energy__lte=10), name="mood_energy_0_to_10"),
        ]

    def __str__(self) -> str:
        return f"mood {self.pk}"
