"""The schema of answers to a slow cycle, read as leniently as in `memory.consolidation.answer_schema`.

The docstrings of the answer classes reach the model as descriptions in the JSON schema.
"""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator

from memory.consolidation.answer_schema import Day, Filled, LenientAnswer, OrNone, ReflectedThought, Text, Words

# Models' words for the end of a thread.
ENDED = ("ended", "end", "closed", "done", "finished", "over", "resolved", "completed")
# An expectation may have no day: one that says "soon" is kept.
PerhapsDay = Annotated[Day | None, OrNone]
# Models that were asked for one id sometimes give a list of one.
Id = Annotated[Filled, BeforeValidator(lambda value: value[0] if isinstance(value, list) and value else value)]


class QuestionItem(BaseModel):
    """An open question. `about` are ids of events of the prompt, such as "e3"."""

    text: Filled
    about: Words


class ExpectationItem(BaseModel):
    """An expectation, with its day where there is one."""

    description: Filled
    due: PerhapsDay = None
    filling: Words


class OutcomeItem(BaseModel):
    """The outcome of an open item, with the events of the prompt that show it."""

    of: Id
    outcome: Annotated[
        Literal["fulfilled", "violated"],
        BeforeValidator(lambda value: value.strip().lower() if isinstance(value, str) else value),
    ]
    evidence: Words


class QuestionAnswer(BaseModel):
    """A question of the prompt ("q3"), and the event that answers it."""

    question: Id
    by: Id


class ThreadItem(BaseModel):
    """A story line: the one of the prompt with this id ("t3"), or a new one; its memories are ids of the prompt."""

    id: Annotated[str | None, BeforeValidator(lambda value: value if isinstance(value, str) else None)] = None
    title: Text = ""
    state: Annotated[
        Literal["open", "ended"],
        BeforeValidator(lambda value: "ended" if str(value).strip().lower() in ENDED else "open"),
    ] = "open"
    members: Words


class SlowCycleAnswer(LenientAnswer):
    """The conclusions from new events."""

    lists: ClassVar = {
        "thoughts": ReflectedThought,
        "salient_questions": QuestionItem,
        "expectations": ExpectationItem,
        "outcomes": OutcomeItem,
        "answered_questions": QuestionAnswer,
        "threads": ThreadItem,
    }
    essential: ClassVar = "thoughts"

    thoughts: list[ReflectedThought]
    salient_questions: list[QuestionItem] = []
    expectations: list[ExpectationItem] = []
    outcomes: list[OutcomeItem] = []
    answered_questions: list[QuestionAnswer] = []
    threads: list[ThreadItem] = []


class EntityAnswer(LenientAnswer):
    """The description of an entity, and its events of the prompt. Without a model there is no description."""

    description: Text = ""
    filling: Words
