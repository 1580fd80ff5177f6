"""The owner's settings: whether the companion may speak first, its quiet hours, and how often at most."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from proactive import knobs
from proactive.models import ReachingOut
from proactive.policy.situation import bounds_of

HOURS = [(hour, f"{hour:02}:00") for hour in range(24)]


class ReachingOutForm(forms.ModelForm):
    """Shows the values in force. A value that equals the installation's default is stored as null and follows that
    default."""

    quiet_start = forms.TypedChoiceField(coerce=int, choices=HOURS, label=_("Quiet from"))
    quiet_end = forms.TypedChoiceField(coerce=int, choices=HOURS, label=_("until"))
    max_per_24h = forms.TypedChoiceField(coerce=int, label=_("Messages in 24 hours, at most"))

    class Meta:
        model = ReachingOut
        fields = ("enabled", "quiet_start", "quiet_end", "max_per_24h", "push")

    def __init__(self, data: Any, allowed: ReachingOut) -> None:
        in_force = bounds_of(allowed)
        initial = {name: getattr(in_force, name) for name in ("quiet_start", "quiet_end", "max_per_24h")}
        super().__init__(data, instance=allowed, initial=initial, auto_id="reaching_out_%s")
        limit = knobs.max_per_24h()
        self.fields["max_per_24h"].choices = [(n, str(n)) for n in range(min(1, limit), limit + 1)]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        own = {
            "quiet_start": knobs.quiet_hours_start(),
            "quiet_end": knobs.quiet_hours_end(),
            "max_per_24h": knobs.max_per_24h(),
        }
        return cleaned | {name: None for name, value in own.items() if cleaned.get(name) == value}
