"""Rules for the fields of a memory that a person edits: one set for page, admin and API.

Pages and the admin use `CorrectionForm`, the API its pydantic types (`Description`, `Impact`, …) below. Both normalize
their input in the same way before they check it, so that the same input is refused, or stored, everywhere:

    description       one line of 1 to 2,000 characters, spaces collapsed, nothing that was forgotten for good
    emotional impact  a whole number from -10 to 10
    feelings          at most four, each of at most 40 characters
    tags              at most three of the closed vocabulary
    days              none, one day, or the first and the last one
    since, until      of a fact: a year, a season, a month or a day
"""

import re
from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator, BeforeValidator, Field

from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.language.coarse_dates import parse_coarse_date
from memory.curation.correct import Correction, InvalidMemory, WordsForgotten
from memory.models import ConceptNode
from memory.models.node import (
    MAX_DESCRIPTION,
    MAX_EMOTION_TAG_LENGTH,
    MAX_EMOTION_TAGS,
    MAX_IMPACT,
    MAX_RELATIONAL_TAGS,
    RELATIONAL_TAGS,
    RelationalTag,
)
from memory.store import tombstones
from memory.store.deduplication import DateRange
from memory.store.writing import in_one_line, normalize_relational_tag

# Time zones and windows around a day need one more day before and after it.
FIRST_DAY, LAST_DAY = date(1, 1, 2), date(9999, 12, 30)
TAG_LABELS = {
    "identity-bearing": _("identity"),
    "unresolved": _("unresolved"),
    "vulnerability": _("vulnerability"),
    "turning-point": _("turning point"),
    "correction": _("correction"),
    "commitment": _("commitment"),
}
FEELING_LABELS = {
    "sad": _("sad"),
    "anxious": _("anxious"),
    "angry": _("angry"),
    "stressed": _("stressed"),
    "tired": _("tired"),
    "lonely": _("lonely"),
    "ashamed": _("ashamed"),
    "happy": _("happy"),
    "unwell": _("unwell"),
    "hurt": _("hurt"),
}
FORGOTTEN = _("These words were deleted for good and cannot be used again.")
REFUSALS: dict[type[Exception], Any] = {
    WordsForgotten: FORGOTTEN,
    EmbeddingUnavailable: _("This cannot be changed right now. Nothing is lost; please try again later."),
    ConceptNode.DoesNotExist: _("It has been forgotten in the meantime."),
    InvalidMemory: _("A memory or wish cannot say this."),
}
_COMMAS = re.compile("[,，、]")


def explain_refusal(error: Exception) -> str:
    """The reason why a correction was refused, for people; `error` is one of REFUSALS."""
    return next(str(words) for kind, words in REFUSALS.items() if isinstance(error, kind))


def split_feelings(texts: Iterable[str]) -> list[str]:
    """The feelings in comma-separated texts, each on one line.

    >>> split_feelings(["joy， hope", "calm"])
    ['joy', 'hope', 'calm']
    """
    feelings = (in_one_line(feeling) for text in texts for feeling in _COMMAS.split(text))
    return [feeling for feeling in feelings if feeling]


def day_range(first: date | None, last: date | None) -> DateRange | None:
    """The range from the first to the last day; if only one is given, that day."""
    first, last = first or last, last or first
    return (first, last) if first and last else None


# --- for the API ------------------------------------------------------------------------------------------------------
def strip_text(value: Any) -> Any:
    """A text without surrounding spaces; anything else unchanged."""
    return value.strip() if isinstance(value, str) else value


def tidy_text(value: Any) -> Any:
    """A text on one line; anything else unchanged."""
    return in_one_line(value) if isinstance(value, str) else value


Description = Annotated[
    str,
    BeforeValidator(tidy_text),
    Field(min_length=1, max_length=MAX_DESCRIPTION, pattern=r"\S", examples=["Ana got a black cat."]),
]
Impact = Annotated[int, Field(ge=-MAX_IMPACT, le=MAX_IMPACT, examples=[4])]
EmotionTags = Annotated[
    list[Annotated[str, Field(max_length=MAX_EMOTION_TAG_LENGTH)]],
    BeforeValidator(
        lambda value: (
            split_feelings(value) if isinstance(value, list) and all(isinstance(text, str) for text in value) else value
        )
    ),
    Field(max_length=MAX_EMOTION_TAGS, examples=[["joy"]]),
]
RelationalTags = Annotated[
    list[
        Annotated[
            RelationalTag, BeforeValidator(lambda tag: normalize_relational_tag(tag) if isinstance(tag, str) else tag)
        ]
    ],
    Field(max_length=MAX_RELATIONAL_TAGS, examples=[["commitment"]]),
]
Day = Annotated[date, Field(ge=FIRST_DAY, le=LAST_DAY)]
EventTime = Annotated[
    Day | tuple[Day | None, Day | None],
    Field(description="One day, or the first and the last one.", examples=[["2026-01-03", "2026-01-05"]]),
    AfterValidator(lambda days: day_range(days, days) if isinstance(days, date) else day_range(*days)),
]


def read_coarse_date(text: str) -> str:
    """The coarse date that a person wrote, or "". Raises ValueError."""
    code = parse_coarse_date(text)
    if text.strip() and not code:
        raise ValueError("it is not a date such as 2024, 2024-spring, 2024-05 or 2024-05-03")
    return code


CoarseDate = Annotated[str, Field(max_length=40), AfterValidator(read_coarse_date)]


# --- for pages and the admin ------------------------------------------------------------------------------------------
class DescriptionField(forms.CharField):
    """Text on one line."""

    def to_python(self, value: Any) -> str:
        return in_one_line(super().to_python(value) or "")


class FeelingsField(forms.CharField):
    """Feelings separated by commas."""

    def to_python(self, value: Any) -> Any:
        return split_feelings([super().to_python(value) or ""])

    def validate(self, value: Any) -> None:
        if len(value) > MAX_EMOTION_TAGS:
            raise ValidationError(_("At most four feelings."))
        if any(len(feeling) > MAX_EMOTION_TAG_LENGTH for feeling in value):
            raise ValidationError(_("A feeling has at most 40 characters."))

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(map(str, value)) if isinstance(value, list) else value


class TagsField(forms.MultipleChoiceField):
    """At most three tags of the closed vocabulary."""

    def to_python(self, value: Any) -> list[str]:
        return list(map(normalize_relational_tag, super().to_python(value)))

    def validate(self, value: Any) -> None:
        super().validate(value)
        if len(value) > MAX_RELATIONAL_TAGS:
            raise ValidationError(_("At most three tags."))


class DayField(forms.DateField):
    """A day that leaves room for time zones on both sides."""

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value and not FIRST_DAY <= value <= LAST_DAY:
            raise ValidationError(self.error_messages["invalid"], code="invalid")


class CorrectionForm(forms.ModelForm):
    """Corrections of a memory. The values go to `curation.correct`, not into the instance."""

    description = DescriptionField(
        label=_("memory"), max_length=MAX_DESCRIPTION, widget=forms.Textarea(attrs={"rows": 4, "cols": 80})
    )
    emotional_impact = forms.IntegerField(label=_("impact"), min_value=-MAX_IMPACT, max_value=MAX_IMPACT)
    emotion_tags = FeelingsField(label=_("feelings"), required=False, help_text=_("separated by commas"))
    event_time_start = DayField(label=_("first day"), required=False)
    event_time_end = DayField(label=_("last day"), required=False)
    relational_tags = TagsField(
        label=_("tags"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        choices=[(tag, TAG_LABELS[tag]) for tag in RELATIONAL_TAGS],
    )

    class Meta:
        model = ConceptNode
        fields = (
            "description",
            "emotional_impact",
            "emotion_tags",
            "event_time_start",
            "event_time_end",
            "relational_tags",
        )

    def clean_description(self) -> str:
        text = str(self.cleaned_data["description"])
        if text != self.instance.description and tombstones.refuses(self.instance.persona, [text]):
            raise ValidationError(FORGOTTEN)
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        cleaned["days"] = days = day_range(cleaned.get("event_time_start"), cleaned.get("event_time_end"))
        if days and days[1] < days[0]:
            self.add_error("event_time_end", _("It cannot end before it begins."))
        return cleaned

    def _post_clean(self) -> None:
        """Leave the instance unchanged."""

    def correction(self) -> Correction:
        """The values of the valid form as a correction."""
        cleaned = self.cleaned_data
        names = ("description", "emotional_impact", "emotion_tags", "relational_tags")
        return Correction(**{name: cleaned[name] for name in names}, event_time=cleaned["days"])


class CoarseDateField(forms.CharField):
    """A year, a season, a month or a day."""

    def to_python(self, value: Any) -> str:
        text = super().to_python(value) or ""
        code = parse_coarse_date(text)
        if text.strip() and not code:
            raise ValidationError(_("Write a year, a month or a day, such as 2024, May 2024 or 3 May 2024."))
        return code


class FactForm(CorrectionForm):
    """Corrections of a fact: a domain and times instead of days, feelings and impact."""

    emotional_impact = emotion_tags = event_time_start = event_time_end = relational_tags = None  # type: ignore[assignment]
    domain = forms.ChoiceField(label=_("about"), choices=ConceptNode.Domain.choices)
    since = CoarseDateField(label=_("since"), max_length=40, required=False)
    until = CoarseDateField(label=_("until"), max_length=40, required=False)
    plan_state = forms.ChoiceField(
        label=_("state of the plan"), choices=[("", _("no plan")), *ConceptNode.PlanState.choices], required=False
    )

    class Meta:
        model = ConceptNode
        fields = ("description", "domain", "since", "until", "plan_state")

    def correction(self) -> Correction:
        """The values of the valid form as a correction."""
        return Correction(**{name: self.cleaned_data[name] for name in self.Meta.fields})


def correction_form(node: ConceptNode, data: Any = None, **options: Any) -> CorrectionForm:
    """The correction form for the kind of this memory."""
    form = FactForm if node.kind == ConceptNode.Kind.FACT else CorrectionForm
    return form(data, instance=node, **options)
