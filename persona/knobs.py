"""Knobs of the persona."""

from django.utils.translation import gettext_lazy as _

from echovessel.knobs import whole

mood_decay_hours = whole(
    "persona.mood_decay_hours",
    12,
    low=1,
    high=240,
    unit=_("hours"),
    why=_("A long silence must not open the next conversation under a stale mood."),
    source="seed 001 §7",
)
