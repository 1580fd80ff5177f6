"""Forms of an import: the upload, and the choices of who is who."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from memory.imports import Choices, archive_files, suggestions
from memory.imports.choices import AUTO, SIDES
from memory.imports.readers import FORMATS
from memory.imports.readers.lines import role_named
from memory.imports.readers.types import Kind
from memory.imports.runs import needs_reanalysis
from memory.models import ImportJob
from persona.companion.zones import ZoneField, listed_zones
from persona.onboarding.creation import language_of
from persona.onboarding.forms import PersonaStep, StyleStep, YouStep

PARTS = {
    "text": _("Text"),
    "speaker": _("Sender"),
    "at": _("When"),
    "clock": _("Time of day, if in a field of its own"),
    "title": _("Title"),
    "source_id": _("Id"),
    "talk": _("Conversation"),
}
# The value of the speaker field if there is no other speaker.
OWN_TEXT = "*mine*"
# The button that analyzes the file again with these answers.
REANALYZE = "again"
_DAYS = [("", _("as in the file")), ("day", _("day first: 31/12")), ("month", _("month first: 12/31"))]
_KINDS = [("", _("as in the file")), ("chat", _("a chat of several people")), ("notes", _("my own notes"))]
_DAY_FIRST = {"day": True, "month": False}
_LONGEST_PATH = 200


class UploadForm(forms.Form):
    """A file."""

    file = forms.FileField(allow_empty_file=True, error_messages={"required": _("Please choose a file.")})


@dataclass(frozen=True)
class QuestionForm:
    """One speaker, and the field for their role."""

    name: str
    lines: int
    field: forms.BoundField

    @property
    def is_named(self) -> bool:
        """Whether the speaker has a name, not a label like "assistant"."""
        return not role_named(self.name)


class Answers(forms.Form):
    """The choices that the file leaves open: roles, and how to read it."""

    format = forms.ChoiceField(required=False)
    day_first = forms.ChoiceField(required=False, choices=_DAYS)
    kind = forms.ChoiceField(required=False, choices=_KINDS)
    zone = ZoneField()
    undated = forms.DateField(required=False)
    limit = forms.IntegerField(required=False, min_value=1, max_value=10_000_000)
    called = forms.CharField(required=False, max_length=80, strip=True)
    without_owner = forms.BooleanField(required=False)

    def __init__(self, data: Any, job: ImportJob, likely: Choices) -> None:
        order = {None: "", True: "day", False: "month"}[likely.day_first]
        initial = {name: getattr(likely, name) for name in ("zone", "undated", "limit", "called", "without_owner")}
        initial |= {"format": likely.format or AUTO, "day_first": order, "kind": likely.kind or ""}
        super().__init__(data, auto_id="answer_%s", initial=initial)
        self.job = job
        self.findings: Mapping[str, Any] = job.found
        formats = [(AUTO, _("as recognised")), *((file_format.name, file_format.label) for file_format in FORMATS)]
        cast(forms.ChoiceField, self.fields["format"]).choices = formats
        self.zones = listed_zones(timezone.now())
        is_nameless = job.persona is not None and not job.persona.user_name
        self.asks_name = is_nameless and not self.questions and job.format != archive_files.NAME
        self.fields["day_first"].required = "day_first" in self.questions
        self.fields["kind"].required = "kind" in self.questions
        for number, speaker in enumerate(self._speakers()):
            self.fields[f"role_{number}"] = forms.ChoiceField(
                choices=[(side, side) for side in SIDES],
                initial=likely.roles.get(speaker["name"]) or ("other" if self.between_people else None),
                error_messages={"required": _("Please say who that is.")},
            )
        field_names = list(self.findings.get("fields", []))
        for part in PARTS if self.findings.get("mapping") is not None else ():
            # Offer the fields of the file as choices, if they are known.
            value = (likely.mapping or self.findings["mapping"]).get(part, "")
            choices = [("", "–"), *((path, path) for path in dict.fromkeys([*field_names, *filter(None, [value])]))]
            self.fields[f"map_{part}"] = (
                forms.ChoiceField(required=part == "text", choices=choices, initial=value)
                if field_names
                else forms.CharField(required=part == "text", max_length=_LONGEST_PATH, initial=value)
            )
        if "map_speaker" in self.fields:
            self._require_speaker_field(is_notes=likely.kind == "notes")

    @property
    def questions(self) -> list[str]:
        """The questions that must be answered before the file can be read."""
        return list(self.findings.get("questions", []))

    @property
    def between_people(self) -> bool:
        """Whether human beings talk with each other in the file, so that by default none of them is the persona."""
        return bool(self.findings.get("between_people"))

    @property
    def may_lack_owner(self) -> bool:
        """Whether the page offers "none of the speakers is the owner": if that is possible, or is not answered yet."""
        return self.between_people or len(self.speakers) == 1 or self.is_bound

    @property
    def is_reanalysis(self) -> bool:
        """Whether the file is only to be analyzed once more."""
        return REANALYZE in self.data

    @property
    def speakers(self) -> list[QuestionForm]:
        return [
            QuestionForm(speaker["name"], speaker["lines"], self[f"role_{number}"])
            for number, speaker in enumerate(self._speakers())
        ]

    @property
    def parts(self) -> list[tuple[Any, forms.BoundField]]:
        """The fields of the mapping, with their labels."""
        return [(PARTS[name.removeprefix("map_")], self[name]) for name in self.fields if name.startswith("map_")]

    def clean(self) -> dict[str, Any]:
        """One speaker has to be the owner, unless that is denied; and the owner's name is required if neither the
        persona nor the file has it."""
        cleaned = self.cleaned_data
        if self.errors or self.is_reanalysis or needs_reanalysis(self.job, self.choices()):
            return cleaned
        if self.speakers and "user" not in self.choices().roles.values() and not cleaned["without_owner"]:
            self.add_error(None, _("Please say which of them is you, or that none of them is."))
        if self.asks_name and not suggestions.name_of_owner(self.job, self.choices()):
            self.add_error("called", _("Please enter your name."))
        return cleaned

    def choices(self) -> Choices:
        """The answers as choices. The form is valid."""
        cleaned = self.cleaned_data
        mapping = self.findings.get("mapping")
        if mapping is not None:
            fields = {name.removeprefix("map_"): cleaned[name] for name in self.fields if name.startswith("map_")}
            mapping = {**mapping, **fields, "speaker": fields["speaker"].replace(OWN_TEXT, "")}
        kind: Kind | None = cleaned["kind"] or None if "kind" in cleaned else None
        if (speaker := cleaned.get("map_speaker")) is not None:  # the field of the speaker decides
            kind = "notes" if speaker == OWN_TEXT else "chat"
        return Choices(
            roles={speaker["name"]: cleaned[f"role_{number}"] for number, speaker in enumerate(self._speakers())},
            day_first=_DAY_FIRST.get(cleaned["day_first"]),
            mapping=mapping,
            format=cleaned["format"] or None,
            zone=cleaned["zone"],
            undated=cleaned["undated"],
            limit=cleaned["limit"],
            kind=kind,
            called=cleaned["called"],
            without_owner=cleaned["without_owner"],
        )

    def _speakers(self) -> list[Mapping[str, Any]]:
        """The speakers; none while the page only asks how to read the file."""
        return [] if self.questions or self.is_reanalysis else list(self.findings.get("speakers", []))

    def _require_speaker_field(self, *, is_notes: bool) -> None:
        """Require a field for the speaker, or the answer that there is nobody else: otherwise other people's words
        would be taken for the owner's."""
        field = self.fields["map_speaker"]
        if not isinstance(field, forms.ChoiceField):
            return
        fields = [(path, path) for path, _label in cast(list[tuple[str, str]], field.choices) if path]
        field.choices = [("", _("please choose")), *fields, (OWN_TEXT, _("nobody else: all of it is mine"))]
        field.required = True
        field.error_messages["required"] = _("Who wrote this? Please choose a field, or say that all of it is yours.")
        field.initial = field.initial or (OWN_TEXT if is_notes else "")
        del self.fields["kind"]


class Names(forms.Form):
    """Names and language of a new companion that begins with a file."""

    name = PersonaStep.base_fields["name"]
    user_name = YouStep.base_fields["user_name"]
    language = StyleStep.base_fields["language"]

    def __init__(self, data: Any, answers: Answers) -> None:
        """Suggest the names in the file, and the language of its first messages."""
        sides = dict(names_in(answers))
        card_name = answers.findings.get("named", "")  # from a character card
        initial = {"name": sides.get("persona") or card_name, "user_name": sides.get("user", "")}
        if language := answers.findings.get("language"):
            initial["language"] = language
        elif beginning := " ".join(message["text"] for message in answers.findings.get("sample", [])):
            initial["language"] = language_of(beginning)
        super().__init__(data, auto_id="named_%s", initial=initial)


def names_in(form: Answers) -> Iterator[tuple[str, str]]:
    """The owner's and the persona's names in the file itself, without labels like "assistant"."""
    for question in form.speakers:
        if question.field.initial in ("user", "persona") and question.is_named:
            yield question.field.initial, question.name
