"""What of an answer stands: every item rests on what was given, item by item. Pure.

An id that was not given is dropped; an item of which nothing is left to rest on, or that comes too late, is dropped
and told of in the account of the run; never the whole answer with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from memory.consolidation import prompt
from memory.consolidation.evidence_checks import grounds
from memory.consolidation.reflection import note_tone
from memory.models import ConceptNode, Question
from memory.slow_cycle.answer_schema import SlowCycleAnswer
from memory.slow_cycle.inputs import RunInputs
from memory.store.writing import Draft, tidy_description

MOST_THOUGHTS, MOST_EXPECTATIONS, MOST_QUESTIONS = 3, 2, 3
Kind, Source = ConceptNode.Kind, ConceptNode.Source
Account = dict[str, Any]


@dataclass(frozen=True)
class NewQuestion:
    """A question, and the events that it rests on."""

    text: str
    about: Sequence[ConceptNode]


@dataclass(frozen=True)
class SettledItem:
    """How something ended that was awaited, and the events that say so."""

    node: ConceptNode
    outcome: str
    evidence: Sequence[ConceptNode]


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question, and the event that answers it."""

    question: Question
    by: ConceptNode


@dataclass(frozen=True)
class ValidAnswer:
    """What stands of an answer, and an account of what does not."""

    drafts: Sequence[Draft] = ()
    questions: Sequence[NewQuestion] = ()
    outcomes: Sequence[SettledItem] = ()
    answered: Sequence[AnsweredQuestion] = ()
    dropped: Sequence[Account] = ()


@dataclass
class _Validator:
    """What was given by its keys, and what fell through."""

    events: Mapping[int, ConceptNode]
    awaited: Mapping[int, ConceptNode]
    questions: Mapping[int, Question]
    names: frozenset[str]
    dropped: list[Account] = field(default_factory=list)

    def cited(self, ids: Iterable[str]) -> list[ConceptNode]:
        """The given events among these ids, each once."""
        keys = dict.fromkeys(prompt.node_id(one) for one in ids)
        return [self.events[key] for key in keys if key is not None and key in self.events]

    def grounds(self, ids: Iterable[str], text: str) -> list[ConceptNode]:
        """What `text`, which cites these ids, rests on."""
        return grounds(self.cited(ids), text, self.events.values(), self.names)

    def drop(self, kind: str, why: str) -> None:
        self.dropped.append({"kind": kind, "dropped": why})

    def first(self, items: Sequence[Any], most: int, kind: str) -> Sequence[Any]:
        """At most so many of them."""
        for _ in items[most:]:
            self.drop(kind, "too_many")
        return items[:most]


def validate_answer(answer: SlowCycleAnswer, given: RunInputs, today: date, names: frozenset[str]) -> ValidAnswer:
    """What stands of the answer to a run that was `given` this. `today` is the day where the owner lives, `names` are
    the words of the names of the two."""
    events, waiting, questions = (
        {told.row.pk: told.row for told in found} for found in (given.events, given.awaited, given.questions)
    )
    sieve = _Validator(events, waiting, questions, names)
    for _ in range(answer.dropped):
        sieve.drop("item", "unreadable")
    return ValidAnswer(
        [*_thoughts(answer, sieve), *_expectations(answer, sieve, today)],
        _questions(answer, sieve),
        _outcomes(answer, sieve),
        _answered(answer, sieve),
        sieve.dropped,
    )


def _thoughts(answer: SlowCycleAnswer, sieve: _Validator) -> list[Draft]:
    found = []
    for thought in answer.thoughts:
        if filling := sieve.grounds(thought.filling, thought.description):
            note_tone(thought, "between talks")
            found.append(
                Draft(
                    kind=Kind.THOUGHT,
                    description=tidy_description(thought.description),
                    source=Source.SLOW_CYCLE,
                    subject=thought.subject,
                    emotional_impact=thought.emotional_impact,
                    filling=filling,
                )
            )
        else:
            sieve.drop("thought", "no_ground")
    return list(sieve.first(found, MOST_THOUGHTS, "thought"))


def _expectations(answer: SlowCycleAnswer, sieve: _Validator, today: date) -> list[Draft]:
    found = []
    for stated in answer.expectations:
        filling = sieve.grounds(stated.filling, stated.description)
        if not filling:
            sieve.drop("expectation", "no_ground")
        elif stated.due is not None and stated.due < today:
            sieve.drop("expectation", "past_due")
        else:
            found.append(
                Draft(
                    kind=Kind.EXPECTATION,
                    description=tidy_description(stated.description),
                    source=Source.SLOW_CYCLE,
                    event_time=(stated.due, stated.due) if stated.due else None,
                    filling=filling,
                )
            )
    return list(sieve.first(found, MOST_EXPECTATIONS, "expectation"))


def _questions(answer: SlowCycleAnswer, sieve: _Validator) -> list[NewQuestion]:
    found = []
    for question in answer.salient_questions:
        if about := sieve.grounds(question.about, question.text):
            found.append(NewQuestion(question.text, about))
        else:
            sieve.drop("question", "no_ground")
    return list(sieve.first(found, MOST_QUESTIONS, "question"))


def _outcomes(answer: SlowCycleAnswer, sieve: _Validator) -> list[SettledItem]:
    """One for each that was awaited; of two the first counts."""
    found: dict[int, SettledItem] = {}
    for said in answer.outcomes:
        node = sieve.awaited.get(prompt.node_id(said.of) or 0)
        evidence = sieve.cited(said.evidence)
        if node is None or node.pk in found:
            sieve.drop("outcome", "unknown" if node is None else "said_twice")
        elif not evidence:
            sieve.drop("outcome", "no_ground")
        else:
            found[node.pk] = SettledItem(node, said.outcome, evidence)
    return list(found.values())


def _answered(answer: SlowCycleAnswer, sieve: _Validator) -> list[AnsweredQuestion]:
    found = []
    for said in answer.answered_questions:
        question = sieve.questions.get(prompt.question_id(said.question) or 0)
        by = sieve.cited([said.by])
        if question is None:
            sieve.drop("answer", "unknown")
        elif not by:
            sieve.drop("answer", "no_ground")
        else:
            found.append(AnsweredQuestion(question, by[0]))
    return found
