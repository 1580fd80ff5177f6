"""The inputs of a run: the new events, oldest first, as many as fit, with open items, questions and thoughts.

A run costs its prompts and the longest answers that they allow, by our estimate. Of the tokens that the instructions
leave, at most half is for known items; the events get the rest, and at least one of them always fits, so that every run
advances.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, NamedTuple

from django.db.models import F

from echovessel import llm
from echovessel.llm.prompts import Neutral, lines_of, one_line, shorten, tokens
from memory import knobs
from memory.consolidation import prompt
from memory.consolidation.open_items import KINDS
from memory.consolidation.slow_cycle_requests import fresh_events
from memory.curation import questions
from memory.curation.threads import retitle
from memory.models import ConceptNode, SlowCycle
from memory.recall.lessons import Boundary, boundaries_of
from memory.slow_cycle import replies
from memory.slow_cycle.thread_inputs import format_thread, read_matters
from memory.slow_cycle.thread_rules import Proposal
from persona.models import Persona

Kind = ConceptNode.Kind
LISTS = ("events", "awaited", "questions", "thoughts", "threads", "earlier")
PROMISE = {Kind.INTENTION: "promise", Kind.EXPECTATION: "expectation"}
MAX_EVENTS_READ = 400  # even of the shortest events hardly more fit into the largest run


class PromptItem(NamedTuple):
    """A row, and its line in the prompt."""

    row: Any
    line: str


@dataclass(frozen=True)
class RunInputs:
    """The inputs of a run. Events may continue `threads` or go with `earlier` memories; `by_rule` are the rules'
    proposals. `boundaries` are subjects that the owner wants left alone."""

    events: Sequence[PromptItem] = ()
    awaited: Sequence[PromptItem] = ()
    questions: Sequence[PromptItem] = ()
    thoughts: Sequence[PromptItem] = ()
    threads: Sequence[PromptItem] = ()
    earlier: Sequence[PromptItem] = ()
    by_rule: Sequence[Proposal] = ()
    boundaries: Sequence[Boundary] = ()

    @property
    def lists(self) -> dict[str, Sequence[PromptItem]]:
        return {name: getattr(self, name) for name in LISTS}

    @property
    def through(self) -> int:
        """The key of the last event."""
        return int(self.events[-1].row.pk)

    @property
    def words(self) -> list[str]:
        """All lines of the prompt."""
        return [item.line for items in self.lists.values() for item in items]

    def keys(self) -> dict[str, list[int]]:
        """The keys of all rows, for the record of the run."""
        return {name: [item.row.pk for item in items] for name, items in self.lists.items()}


def build_inputs(cycle: SlowCycle, now: datetime) -> RunInputs:
    """All inputs that fit; if an earlier prompt has a stored reply, the events of that prompt."""
    persona = cycle.persona
    boundaries = boundaries_of(persona)[: knobs.slow_cycle_boundaries()]
    tokens_left = knobs.slow_cycle_run_tokens() - cost(request(persona, RunInputs(boundaries=boundaries), now))
    known_inputs = _read_open_items(persona, tokens_left // 2, now)
    tokens_left -= sum(map(_cost, known_inputs.words))
    fresh = fresh_events(cycle, now)
    prompted = list(fresh.filter(pk__lte=replies.thought_through(persona))[:MAX_EVENTS_READ])
    unread = prompted or list(fresh[:MAX_EVENTS_READ])
    matters = read_matters(persona, unread, now)
    threads = _fitting(matters.threads, format_thread, tokens_left // 8)
    earlier = _fitting(matters.earlier, lambda node: prompt.format_memories(persona, [node]), tokens_left // 4)
    tokens_left -= sum(_cost(item.line) for item in (*threads, *earlier))
    events = _fitting(
        unread, lambda event: shorten(prompt.format_memories(persona, [event]), tokens_left - 1), tokens_left
    )
    by_rule = matters.propose(*([item.row.pk for item in items] for items in (events, earlier, threads)))
    return replace(
        known_inputs, events=events, threads=threads, earlier=earlier, by_rule=by_rule, boundaries=boundaries
    )


def cost(request: llm.Request) -> int:
    """The most that a request may cost, by our estimate."""
    return tokens(request.system) + tokens(request.user) + request.max_tokens


def request(persona: Persona, inputs: RunInputs, now: datetime) -> llm.Request:
    """The request of a run; its `material` serves the provider without a model."""
    return prompt.request(
        persona,
        "slow_cycle",
        tier="medium",
        max_tokens=knobs.slow_cycle_answer_tokens(),
        values={name: lines_of(Neutral(item.line) for item in items) for name, items in inputs.lists.items()}
        | {
            "today": f"{now.astimezone(persona.zone):%Y-%m-%d %a}",
            "boundaries": lines_of(one_line(f"- {boundary.text}") for boundary in inputs.boundaries),
        },
        material={
            "now": now.isoformat(),
            "timezone": persona.timezone,
            "events": [
                {
                    "id": f"e{event.pk}",
                    "description": event.description,
                    "emotional_impact": event.emotional_impact,
                    "relational_tags": event.relational_tags,
                    "event_time": {"start": _iso(event.event_time_start), "end": _iso(event.event_time_end)}
                    if event.event_time_start
                    else None,
                    "told_at": event.created_at.isoformat(),
                }
                for event, _line in inputs.events
            ],
            "thoughts": [{"id": f"e{node.pk}", "description": node.description} for node, _line in inputs.thoughts],
            "awaited": [
                {
                    "id": f"e{node.pk}",
                    "kind": node.kind,
                    "description": node.description,
                    "due": _iso(node.event_time_end),
                }
                for node, _line in inputs.awaited
            ],
            "questions": [{"id": f"q{question.pk}", "text": question.text} for question, _line in inputs.questions],
            "threads": [{"id": f"t{thread.pk}", "title": thread.title} for thread, _line in inputs.threads],
            "earlier": [{"id": f"e{node.pk}", "description": node.description} for node, _line in inputs.earlier],
            "threads_by_rule": [
                {
                    "id": f"t{proposal.thread}" if proposal.thread else None,
                    "title": retitle(persona, proposal.texts),
                    "state": proposal.state,
                    "members": [f"e{key}" for key in proposal.members],
                }
                for proposal in inputs.by_rule
            ],
        },
    )


def _read_open_items(persona: Persona, room: int, now: datetime) -> RunInputs:
    """Open items first: new events may settle them."""

    def format_open_item(node: ConceptNode) -> str:
        due = f", due {node.event_time_end}" if node.event_time_end else ""
        return f"[e{node.pk}] ({PROMISE[Kind(node.kind)]}{due}) {one_line(node.description)}"

    # Open promises and expectations, the next due first, those without a day last.
    open_items = ConceptNode.objects.filter(persona=persona, kind__in=KINDS, outcome=ConceptNode.Outcome.OPEN)
    in_order = open_items.recallable().order_by(F("event_time_end").asc(nulls_last=True), "pk")
    awaited = _fitting(in_order[: knobs.slow_cycle_awaited()], format_open_item, room)
    room -= sum(_cost(item.line) for item in awaited)
    unanswered = _fitting(questions.open_questions(persona, now), lambda row: f"[q{row.pk}] {one_line(row.text)}", room)
    room -= sum(_cost(item.line) for item in unanswered)
    newest = ConceptNode.objects.filter(persona=persona, kind=Kind.THOUGHT).recallable().newest_first()
    thoughts = _fitting(
        newest[: knobs.slow_cycle_thoughts()], lambda node: prompt.format_memories(persona, [node]), room
    )
    return RunInputs(awaited=awaited, questions=unanswered, thoughts=thoughts)


def _fitting(rows: Iterable[Any], format_row: Callable[[Any], str], room: int) -> list[PromptItem]:
    """The first rows whose lines fit into `room` tokens together."""
    items: list[PromptItem] = []
    for row in rows:
        row_text = format_row(row)
        room -= _cost(row_text)
        if room < 0:
            break
        items.append(PromptItem(row, row_text))
    return items


def _cost(row_text: str) -> int:
    return tokens(row_text + "\n")


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
