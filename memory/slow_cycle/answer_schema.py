"""The shape of what a model says between talks, read as leniently as `memory.consolidation.answer_schema` reads."""

from datetime import date
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, TypeAdapter, ValidationError, WithJsonSchema

from memory.consolidation.answer_schema import Day, Filled, LenientAnswer, ReflectedThought, Text, Words

_DAY: TypeAdapter[date] = TypeAdapter(Day)


def _day_or_none(value: Any) -> date | None:
    """A day, where it is one: an expectation may have none, and one that says "soon" is not lost for it."""
    try:
        return _DAY.validate_python(value)
    except ValidationError:
        return None


def _first(value: Any) -> Any:
    """Models that were asked for one id sometimes give a list of one."""
    return value[0] if isinstance(value, list) and value else value


PerhapsDay = Annotated[
    date | None,
    BeforeValidator(_day_or_none),
    WithJsonSchema({"anyOf": [{"type": "string", "description": "YYYY-MM-DD"}, {"type": "null"}]}),
]
Id = Annotated[Filled, BeforeValidator(_first)]


class QuestionItem(BaseModel):
    """Something to wonder about. `about` are ids of given events, such as "e3"."""

    text: Filled
    about: Words


class ExpectationItem(BaseModel):
    """What may come, with its day where there is one."""

    description: Filled
    due: PerhapsDay = None
    filling: Words


class OutcomeItem(BaseModel):
    """How something ended that was awaited, by given events that say so."""

    of: Id
    outcome: Annotated[
        Literal["fulfilled", "violated"],
        BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value),
    ]
    evidence: Words


class QuestionAnswer(BaseModel):
    """A given question ("q3"), and the given event that answers it."""

    question: Id
    by: Id


class SlowCycleAnswer(LenientAnswer):
    """What she makes of what is new."""

    lists: ClassVar = {
        "thoughts": ReflectedThought,
        "salient_questions": QuestionItem,
        "expectations": ExpectationItem,
        "outcomes": OutcomeItem,
        "answered_questions": QuestionAnswer,
    }
    essential: ClassVar = "thoughts"

    thoughts: list[ReflectedThought]
    salient_questions: list[QuestionItem] = []
    expectations: list[ExpectationItem] = []
    outcomes: list[OutcomeItem] = []
    answered_questions: list[QuestionAnswer] = []


class EntityAnswer(LenientAnswer):
    """Who somebody is, and the given events that say so. Without a model there is no description."""

    description: Text = ""
    filling: Words
