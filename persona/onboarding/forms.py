"""Forms of the first run and of onboarding."""

from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from persona.companion.zones import ZoneField, listed_zones
from persona.models import Persona
from persona.models.core_block import MAX_CHARACTERS


class FirstOwnerForm(UserCreationForm):
    """The account of the first owner, who also administers the installation."""

    class Meta(UserCreationForm.Meta):
        model = User
        fields = ("username",)

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit=False)
        user.is_staff = user.is_superuser = True
        if commit:
            user.save()
        return user


def _block(label: Any, help_text: Any = "") -> forms.CharField:
    return forms.CharField(
        label=label,
        help_text=help_text,
        max_length=MAX_CHARACTERS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 6}),
    )


class PersonaStep(forms.Form):
    """Step 1: who the persona is."""

    name = forms.CharField(label=_("Name"), max_length=80)
    persona = _block(_("Who are they?"), _("Character, background, what they care about."))


class YouStep(forms.Form):
    """Step 2: who the owner is."""

    user_name = forms.CharField(label=_("What should they call you?"), max_length=80)
    user = _block(_("What should they always know about you?"))
    timezone = ZoneField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.zones = listed_zones(timezone.now())


class StyleStep(forms.Form):
    """Step 3: how the persona speaks."""

    style = _block(_("How should they speak?"))
    language = forms.ChoiceField(
        label=_("Which language do you mostly speak together?"), choices=Persona.Language.choices
    )


STEPS: tuple[type[forms.Form], ...] = (PersonaStep, YouStep, StyleStep)
