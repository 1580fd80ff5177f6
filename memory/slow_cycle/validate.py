"""Validate an answer: every item must rest on nodes of the prompt. Pure.

An id that was not in the prompt is dropped. An item without ground, or one that is overdue, is dropped and noted in the
record of the run; the rest of the answer is kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, TypeVar

from memory.consolidation import prompt
from memory.consolidation.evidence_checks import grounds
from memory.consolidation.reflection import note_tone
from memory.curation.threads import MIN_MEMBERS, tidy_title
from memory.models import ConceptNode, Question, Thread
from memory.slow_cycle.answer_schema import SlowCycleAnswer
from memory.slow_cycle.context import RunInputs
from memory.store.writing import Draft, tidy_description

MAX_THOUGHTS, MAX_EXPECTATIONS, MAX_QUESTIONS, MAX_THREADS = 3, 2, 3, 4
Kind, Source = ConceptNode.Kind, ConceptNode.Source
Account = dict[str, Any]
Item = TypeVar("Item")


@dataclass(frozen=True)
class NewQuestion:
    """A question, and the events that it rests on."""

    text: str
    about: Sequence[ConceptNode]


@dataclass(frozen=True)
class SettledItem:
    """The outcome of an open item, and the events that show it."""

    node: ConceptNode
    outcome: str
    evidence: Sequence[ConceptNode]


@dataclass(frozen=True)
class AnsweredQuestion:
    """A question, and the event that answers it."""

    question: Question
    by: ConceptNode


@dataclass(frozen=True)
class ThreadPart:
    """Memories that begin a thread, or continue `thread`."""

    thread: Thread | None
    title: str
    state: str
    nodes: Sequence[ConceptNode]


@dataclass(frozen=True)
class ValidAnswer:
    """The valid items of an answer, and a record of the others."""

    drafts: Sequence[Draft] = ()
    questions: Sequence[NewQuestion] = ()
    outcomes: Sequence[SettledItem] = ()
    answered: Sequence[AnsweredQuestion] = ()
    threads: Sequence[ThreadPart] = ()
    dropped: Sequence[Account] = ()


def validate_answer(answer: SlowCycleAnswer, inputs: RunInputs, today: date, names: frozenset[str]) -> ValidAnswer:
    """The valid items of the answer to a prompt with `inputs`. `today` is the date in the owner's zone, `names` are the
    words of the names of owner and persona."""
    events, awaited, questions = (
        {item.row.pk: item.row for item in items} for items in (inputs.events, inputs.awaited, inputs.questions)
    )
    earlier = {item.row.pk: item.row for item in inputs.earlier}
    threads = {item.row.pk: item.row for item in inputs.threads}
    validator = _Validator(events, awaited, questions, earlier, threads, names)
    for _ in range(answer.dropped):
        validator.drop("item", "unreadable")
    return ValidAnswer(
        [*validator.thoughts(answer), *validator.expectations(answer, today)],
        validator.new_questions(answer),
        validator.outcomes(answer),
        validator.answered(answer),
        validator.thread_parts(answer),
        validator.dropped,
    )


@dataclass
class _Validator:
    """The rows of the prompt by their keys, and the items that were dropped."""

    events: Mapping[int, ConceptNode]
    awaited: Mapping[int, ConceptNode]
    questions: Mapping[int, Question]
    earlier: Mapping[int, ConceptNode]
    threads: Mapping[int, Thread]
    names: frozenset[str]
    dropped: list[Account] = field(default_factory=list)

    def thoughts(self, answer: SlowCycleAnswer) -> Sequence[Draft]:
        drafts = []
        for thought in answer.thoughts:
            if filling := self.grounds("thought", thought.filling, thought.description):
                note_tone(thought, "between sessions")
                drafts.append(
                    Draft(
                        kind=Kind.THOUGHT,
                        description=tidy_description(thought.description),
                        source=Source.SLOW_CYCLE,
                        subject=thought.subject,
                        emotional_impact=thought.emotional_impact,
                        filling=filling,
                    )
                )
        return self.first(drafts, MAX_THOUGHTS, "thought")

    def expectations(self, answer: SlowCycleAnswer, today: date) -> Sequence[Draft]:
        drafts = []
        for expectation in answer.expectations:
            filling = self.grounds("expectation", expectation.filling, expectation.description)
            if filling and expectation.due is not None and expectation.due < today:
                self.drop("expectation", "past_due")
            elif filling:
                drafts.append(
                    Draft(
                        kind=Kind.EXPECTATION,
                        description=tidy_description(expectation.description),
                        source=Source.SLOW_CYCLE,
                        event_time=(expectation.due, expectation.due) if expectation.due else None,
                        filling=filling,
                    )
                )
        return self.first(drafts, MAX_EXPECTATIONS, "expectation")

    def new_questions(self, answer: SlowCycleAnswer) -> Sequence[NewQuestion]:
        questions = []
        for question in answer.salient_questions:
            if about := self.grounds("question", question.about, question.text):
                questions.append(NewQuestion(question.text, about))
        return self.first(questions, MAX_QUESTIONS, "question")

    def outcomes(self, answer: SlowCycleAnswer) -> Sequence[SettledItem]:
        """One for each open item; of two the first counts."""
        settled: dict[int, SettledItem] = {}
        for item in answer.outcomes:
            node, evidence = self.awaited.get(prompt.node_id(item.of) or 0), self.cited(item.evidence)
            if node is None or node.pk in settled:
                self.drop("outcome", "unknown" if node is None else "said_twice")
            elif not evidence:
                self.drop("outcome", "no_ground")
            else:
                settled[node.pk] = SettledItem(node, item.outcome, evidence)
        return list(settled.values())

    def answered(self, answer: SlowCycleAnswer) -> Sequence[AnsweredQuestion]:
        answered = []
        for item in answer.answered_questions:
            question, by = self.questions.get(prompt.question_id(item.question) or 0), self.cited([item.by])
            if question is None or not by:
                self.drop("answer", "unknown" if question is None else "no_ground")
            else:
                answered.append(AnsweredQuestion(question, by[0]))
        return answered

    def thread_parts(self, answer: SlowCycleAnswer) -> Sequence[ThreadPart]:
        """Thread parts with at least one new event; each memory belongs to the first part that names it."""
        parts: list[ThreadPart] = []
        free = {**self.earlier, **self.events}
        for item in answer.threads:
            key = prompt.thread_id(item.id) if item.id else None
            thread, title = self.threads.get(key or 0), tidy_title(item.title)
            keys = [pk for pk in dict.fromkeys(map(prompt.node_id, item.members)) if pk in free]
            if item.id and thread is None:
                self.drop("thread", "unknown")
            elif not any(pk in self.events for pk in keys) or (thread is None and len(keys) < MIN_MEMBERS):
                self.drop("thread", "no_ground")
            elif thread is None and not title:
                self.drop("thread", "untitled")
            else:
                parts.append(ThreadPart(thread, title, item.state, [free.pop(pk) for pk in keys if pk is not None]))
        return self.first(parts, MAX_THREADS, "thread")

    def cited(self, ids: Iterable[str]) -> list[ConceptNode]:
        """The events of the prompt among these ids, each once."""
        keys = dict.fromkeys(prompt.node_id(reference) for reference in ids)
        return [self.events[key] for key in keys if key is not None and key in self.events]

    def grounds(self, kind: str, ids: Iterable[str], text: str) -> list[ConceptNode]:
        """The events that `text`, which cites these ids, rests on; without any the item is dropped."""
        events = grounds(self.cited(ids), text, self.events.values(), self.names)
        if not events:
            self.drop(kind, "no_ground")
        return events

    def first(self, items: Sequence[Item], limit: int, kind: str) -> Sequence[Item]:
        for _ in items[limit:]:
            self.drop(kind, "too_many")
        return items[:limit]

    def drop(self, kind: str, why: str) -> None:
        self.dropped.append({"kind": kind, "dropped": why})
