"""Stories: conversations of fictional people over several sessions, and what should be remembered of them.

A message is named by its session and its position in it, from 1: "s2.3" is the third message of session s2. `terms`
identify a memory by its words: each term is a list of spellings, and one spelling of every term must occur.
"""

import re
from collections.abc import Container, Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from memory.consolidation.answer_schema import Domain

FOLDER = Path(__file__).parent / "stories"
# The boundaries of Latin words and numbers, and any position next to other characters.
_EDGE = r"(?:(?<![a-z0-9])|(?![a-z0-9]))"
LineId = Annotated[str, Field(pattern=r"^s\d+\.\d+$")]
Lines = Annotated[list[LineId], Field(min_length=1)]
Terms = Annotated[list[Annotated[list[str], Field(min_length=1)]], Field(min_length=1)]


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Session(Part):
    """Messages as (speaker, text); the speaker is "owner" or "persona"."""

    id: Annotated[str, Field(pattern=r"^s\d+$")]
    at: datetime
    lines: Annotated[list[tuple[Literal["owner", "persona"], str]], Field(min_length=2)]

    def turns(self) -> Iterator[list[tuple[int, str, str]]]:
        """For each turn the position, speaker and text of its messages: those of the owner, then the reply."""
        turn: list[tuple[int, str, str]] = []
        for place, (speaker, text) in enumerate(self.lines, start=1):
            if turn and speaker == "owner" and turn[-1][1] == "persona":
                yield turn
                turn = []
            turn.append((place, speaker, text))
        yield turn


class Fact(Part):
    """Something lasting. `whose` is "owner", "persona" or a name; `until` is the message from which on it is over."""

    id: str
    whose: str
    domain: Domain
    says: str
    terms: Terms
    lines: Lines
    until: LineId | None = None


class Peak(Part):
    """An event that must never be missed (seed 001), with the sign of its impact and the least strength."""

    kind: Literal["in passing", "waved away", "cry", "played down"]
    terms: Terms
    lines: Lines
    sign: Literal[-1, 1]
    weight: Annotated[int, Field(ge=1, le=10)]


class Plan(Part):
    """An intention of the owner; `day` is its first and last day, if mentioned."""

    id: str
    says: str
    terms: Terms
    lines: Lines
    day: tuple[date, date] | None = None
    ends_as: Literal["planned", "done", "cancelled", "replaced"]


class Replaced(Part):
    """A fact or plan and the one that replaces it, by their ids."""

    old: str
    new: str


class Wish(Part):
    """A standing wish of the owner for how the persona should behave."""

    line: LineId
    terms: Terms


class Forgotten(Part):
    """A request to forget, with the words that identify the message to be deleted from memory."""

    line: LineId
    terms: Terms


class Person(Part):
    name: str
    relation: str = ""
    aliases: list[str] = []


class Decoy(Part):
    """What must not be remembered as true: a joke, a hypothesis, a film, a guess of the persona."""

    lines: Lines
    terms: Terms
    why: str


class Question(Part):
    """A question asked long after the last session. `lines` are its evidence, `day` is the day it asks for."""

    ask: str
    answer: str
    lines: Lines
    day: date | None = None


class Story(Part):
    """A period of one owner's life, and the truth about it. `noted` are further messages in which somebody says
    something true about their life, which a memory may keep or omit; a memory that rests on no message at all is
    invented."""

    id: str
    language: Literal["en", "zh"]
    persona: str
    owner: str
    timezone: str
    sessions: Annotated[list[Session], Field(min_length=1)]
    facts: list[Fact]
    peaks: list[Peak] = []
    plans: list[Plan] = []
    replaced: list[Replaced] = []
    wishes: list[Wish] = []
    forgotten: list[Forgotten] = []
    people: list[Person] = []
    decoys: list[Decoy] = []
    noted: list[LineId] = []
    questions: list[Question] = []

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        ZoneInfo(self.timezone)
        line_names = {name for name, _speaker, _text in self.lines()}
        parts: tuple[Sequence[Fact | Peak | Plan | Decoy | Question], ...]
        parts = (self.facts, self.peaks, self.plans, self.decoys, self.questions)
        cited_lines = {line_name for part in parts for item in part for line_name in item.lines}
        if missing := (cited_lines | set(self.noted)) - line_names:
            raise ValueError(f"{self.id}: no such line: {', '.join(sorted(missing))}")
        owners = {name for name, speaker, _text in self.lines() if speaker == "owner"}
        if missing := ({wish.line for wish in self.wishes} | {wish.line for wish in self.forgotten}) - owners:
            raise ValueError(f"{self.id}: no line of the owner: {', '.join(sorted(missing))}")
        ids = {fact.id for fact in self.facts} | {plan.id for plan in self.plans}
        if missing := {name for pair in self.replaced for name in (pair.old, pair.new)} - ids:
            raise ValueError(f"{self.id}: no such fact or plan: {', '.join(sorted(missing))}")
        moments = [session.at for session in self.sessions]
        if moments != sorted(moments):
            raise ValueError(f"{self.id}: the sessions are not in the order of their times")
        return self

    def lines(self) -> Iterator[tuple[str, str, str]]:
        """Name, speaker and text of each message, in order."""
        for session in self.sessions:
            for place, (speaker, text) in enumerate(session.lines, start=1):
                yield f"{session.id}.{place}", speaker, text

    def text_of(self, names: Container[str]) -> str:
        """The text of the messages with these names."""
        return " ".join(text for name, _speaker, text in self.lines() if name in names)


def read_stories(folder: Path = FOLDER) -> list[Story]:
    """The stories of a folder, by name. Raises ValueError that names an invalid file, or a folder without stories."""
    stories = []
    for path in sorted(folder.glob("*.json")):
        try:
            stories.append(Story.model_validate_json(path.read_text(encoding="utf-8")))
        except ValidationError as error:
            fault = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, fault["loc"]))
            raise ValueError(f"{path}: {place}: {fault['msg']}") from error
    if not stories:
        raise ValueError(f"{folder} holds no story")
    return stories


def has_terms(text: str, terms: Sequence[Sequence[str]]) -> bool:
    """Whether one spelling of every term occurs in the text, case-insensitive; a number or a Latin word only as a
    whole.

    >>> has_terms("Ana's sister Ruth lives in Basel.", [["sister"], ["Basel", "Basle"]])
    True
    >>> has_terms("She is 31.", [["3"]])
    False
    """
    folded = text.casefold()
    return all(
        any(re.search(f"{_EDGE}{re.escape(spelling.casefold())}{_EDGE}", folded) for spelling in term) for term in terms
    )
