"""What a person hands over, and what she says about it: the forms of an import."""

import zoneinfo
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from memory.importers import FORMATS
from memory.importers.lines import role_named
from memory.importing import Choices
from memory.importing.choices import AUTO, SIDES
from memory.models import ImportJob
from persona.forms import PersonaStep, StyleStep, YouStep

PARTS = {
    "text": _("What was said"),
    "speaker": _("Who said it"),
    "at": _("When"),
    "clock": _("The time of day, where it stands apart"),
    "title": _("Title"),
    "source_id": _("Id"),
    "talk": _("Which talk it belongs to"),
}
# The button that has the file looked through once more, read as was said.
AGAIN = "again"
_DAYS = [("", _("as the file itself shows")), ("day", _("day first: 31/12")), ("month", _("month first: 12/31"))]
_KINDS = [("", _("as the file itself shows")), ("chat", _("a chat of several people")), ("notes", _("my own notes"))]
_DAY_FIRST = {"day": True, "month": False}
_LONGEST_PATH = 200


class HandedOver(forms.Form):
    """A file."""

    file = forms.FileField(allow_empty_file=True, error_messages={"required": _("Please choose a file.")})


@dataclass(frozen=True)
class Asked:
    """One speaker, and the field that says who that is."""

    name: str
    lines: int
    field: forms.BoundField

    @property
    def is_named(self) -> bool:
        """Whether the name is one that somebody goes by, and no label like "assistant"."""
        return not role_named(self.name)


class Answers(forms.Form):
    """What the file leaves open: who is who, and how it is to be read."""

    format = forms.ChoiceField(required=False)
    day_first = forms.ChoiceField(required=False, choices=_DAYS)
    kind = forms.ChoiceField(required=False, choices=_KINDS)
    zone = forms.ChoiceField()
    undated = forms.DateField(required=False)
    limit = forms.IntegerField(required=False, min_value=1, max_value=10_000_000)

    def __init__(self, data: Any, job: ImportJob, likely: Choices) -> None:
        super().__init__(data, auto_id="answer_%s", initial=_initial(likely))
        self.found: Mapping[str, Any] = job.found
        self._choose_from(
            "format", [(AUTO, _("what it was recognised as")), *((one.name, one.label) for one in FORMATS)]
        )
        self._choose_from("zone", [(name, name.replace("_", " ")) for name in sorted(zoneinfo.available_timezones())])
        self.fields["day_first"].required = "day_first" in self.questions
        self.fields["kind"].required = "kind" in self.questions
        for number, speaker in enumerate(self._speakers()):
            self.fields[f"role_{number}"] = forms.ChoiceField(
                choices=[(side, side) for side in SIDES],
                initial=likely.roles.get(speaker["name"]) or None,
                error_messages={"required": _("Please say who that is.")},
            )
        for part in PARTS if self.found.get("mapping") is not None else ():
            self.fields[f"map_{part}"] = self._part(part, (likely.mapping or self.found["mapping"]).get(part, ""))

    @property
    def questions(self) -> list[str]:
        """What has to be answered before the file can be gone through."""
        return list(self.found.get("questions", []))

    @property
    def is_read_again(self) -> bool:
        """Whether it is only to be looked through once more."""
        return AGAIN in self.data

    @property
    def speakers(self) -> list[Asked]:
        return [
            Asked(speaker["name"], speaker["lines"], self[f"role_{number}"])
            for number, speaker in enumerate(self._speakers())
        ]

    @property
    def parts(self) -> list[tuple[Any, forms.BoundField]]:
        """The fields of the mapping, with what they hold."""
        return [(PARTS[name.removeprefix("map_")], self[name]) for name in self.fields if name.startswith("map_")]

    def choices(self) -> Choices:
        """What was answered. The form is valid."""
        cleaned = self.cleaned_data
        return Choices(
            roles={one["name"]: cleaned[f"role_{number}"] for number, one in enumerate(self._speakers())},
            day_first=_DAY_FIRST.get(cleaned["day_first"]),
            mapping=self._mapping(),
            format=cleaned["format"] or None,
            zone=cleaned["zone"],
            undated=cleaned["undated"],
            limit=cleaned["limit"],
            kind=cleaned["kind"] or None,
        )

    def _speakers(self) -> list[Mapping[str, Any]]:
        """Nobody while it is only asked how to read the file."""
        return [] if self.questions or self.is_read_again else list(self.found.get("speakers", []))

    def _mapping(self) -> dict[str, Any] | None:
        if self.found.get("mapping") is None:
            return None
        said = {name.removeprefix("map_"): self.cleaned_data[name] for name in self.fields if name.startswith("map_")}
        return {**self.found["mapping"], **said}

    def _part(self, part: str, value: str) -> forms.Field:
        """A choice among the fields of the file, where they are known."""
        known = list(self.found.get("fields", []))
        if not known:
            return forms.CharField(required=part == "text", max_length=_LONGEST_PATH, initial=value)
        choices = [("", "–"), *((path, path) for path in dict.fromkeys([*known, *([value] if value else [])]))]
        return forms.ChoiceField(required=part == "text", choices=choices, initial=value)

    def _choose_from(self, name: str, choices: Any) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = choices


def _initial(likely: Choices) -> dict[str, Any]:
    order = {True: "day", False: "month"}
    return {
        "format": likely.format or AUTO,
        "day_first": "" if likely.day_first is None else order[likely.day_first],
        "zone": likely.zone,
        "undated": likely.undated,
        "limit": likely.limit,
        "kind": likely.kind or "",
    }


class Names(forms.Form):
    """Who begins with the file: what a companion needs that no file says."""

    name = PersonaStep.base_fields["name"]
    user_name = YouStep.base_fields["user_name"]
    language = StyleStep.base_fields["language"]

    def __init__(self, data: Any, initial: dict[str, Any]) -> None:
        super().__init__(data, auto_id="named_%s", initial=initial)


def named_in(form: Answers) -> Iterator[tuple[str, str]]:
    """The names by which the file itself calls the two sides; labels like "assistant" are none."""
    for asked in form.speakers:
        if asked.field.initial in ("user", "persona") and asked.is_named:
            yield asked.field.initial, asked.name
