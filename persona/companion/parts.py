"""The parts of the companion's page, each a form that is saved by itself.

A form carries a digest of the stored values it was shown with. If somebody stored other values since, in another tab or
by the API, saving stops and shows both, so that no change is lost silently.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from persona.companion.editing import edit_persona
from persona.companion.zones import ZoneField
from persona.models import Persona
from persona.models.core_block import MAX_CHARACTERS, Label, plain_line_breaks
from persona.models.persona import clean_name

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MAX_NAME = 80
# Structured facts that the page shows; the API may store others, and they stay.
FACTS = {
    "gender": _("Gender"),
    "birth_date": _("Birthday"),
    "nationality": _("Nationality"),
    "location": _("Where they live"),
    "occupation": _("What they do"),
}


class ChangedMeanwhile(Exception):
    """Other values were stored since the form was shown."""


class NameField(forms.CharField):
    """A name in one line, without invisible characters."""

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_NAME, **options)

    def to_python(self, value: Any) -> str:
        return clean_name(super().to_python(value) or "")


class BlockField(forms.CharField):
    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=MAX_CHARACTERS, required=False, widget=forms.Textarea, **options)

    def to_python(self, value: Any) -> str:
        return plain_line_breaks(super().to_python(value) or "")


class PartForm(forms.Form):
    """A part of the page. `columns`: fields of the persona; `label`: its core block."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    part: ClassVar[str]
    columns: ClassVar[tuple[str, ...]] = ()
    label: ClassVar[str] = ""
    facts: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, persona: Persona, data: Any = None) -> None:
        stored_values = self.stored_values(persona)
        self.key = persona.pk
        super().__init__(data, initial=stored_values | {"seen": digest(stored_values)}, auto_id=f"{self.part}_%s")

    @classmethod
    def stored_values(cls, persona: Persona) -> dict[str, str]:
        """The stored values of this part."""
        values = {name: str(getattr(persona, name)) for name in cls.columns}
        facts = {name: str(persona.facts.get(name) or "") for name in cls.facts}
        if cls.label:
            values[cls.label] = plain_line_breaks(persona.core_blocks.get(label=cls.label).content)
        return values | facts

    @classmethod
    def earlier_values(cls, persona: Persona, version: int) -> dict[str, str]:
        """The stored values, with the text of that version of the core block. Raises ObjectDoesNotExist."""
        block = persona.core_blocks.get(label=cls.label)
        return cls.stored_values(persona) | {cls.label: block.versions.get(version=version).content}

    def save(self, editor: "User") -> None:
        """Store the input. Raises ChangedMeanwhile, and ValidationError for values that cannot be stored."""
        typed_values = {name: value for name, value in self.cleaned_data.items() if name != "seen"}
        with transaction.atomic():
            persona = Persona.objects.get(pk=self.key)
            stored_values = self.stored_values(persona)
            if self.cleaned_data["seen"] != digest(stored_values) and typed_values != stored_values:
                raise ChangedMeanwhile
            values: dict[str, Any] = {name: typed_values[name] for name in self.columns}
            if self.facts:
                changed = {name: typed_values[name] for name in self.facts if typed_values[name] != stored_values[name]}
                facts = persona.facts | changed
                values["facts"] = {name: value for name, value in facts.items() if value or name not in changed}
            edit_persona(persona, values, {self.label: typed_values[self.label]} if self.label else {}, editor)


class LookPart(PartForm):
    """Name and colour of the companion."""

    part = "look"
    columns = ("name", "colour")
    name = NameField(label=_("Name"))
    colour = forms.ChoiceField(label=_("Colour"), choices=Persona.Colour.choices, widget=forms.RadioSelect)


class PersonaPart(PartForm):
    """Who the companion is."""

    part = label = Label.PERSONA.value
    facts = FACTS
    persona = BlockField(label=_("Character, background, what they care about"))

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        for name, words in FACTS.items():
            self.fields[name] = forms.CharField(label=words, max_length=200, required=False)


class UserPart(PartForm):
    """Who the owner is."""

    part = label = Label.USER.value
    columns = ("user_name",)
    user_name = NameField(label=_("What they call you"), required=False)
    user = BlockField(label=_("What they should always know about you"))


class StylePart(PartForm):
    """How to speak, and in which language."""

    part = label = Label.STYLE.value
    columns = ("language",)
    style = BlockField(label=_("Tone, length, habits"))
    language = forms.ChoiceField(label=_("The language you mostly speak together"), choices=Persona.Language.choices)


class ZonePart(PartForm):
    """The time zone, in which the owner's days begin."""

    part = "zone"
    columns = ("timezone",)
    timezone = ZoneField()


PARTS: Mapping[str, type[PartForm]] = {
    form.part: form for form in (LookPart, PersonaPart, UserPart, StylePart, ZonePart)
}


def digest(stored_values: Mapping[str, str]) -> str:
    return sha256(json.dumps(stored_values, sort_keys=True).encode()).hexdigest()[:32]
