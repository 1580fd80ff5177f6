"""Packing: the new events, oldest first, as many as fit, beside what she awaits, wonders and thinks already.

A run costs its prompts and the longest answers that they allow, by our estimate. Of what the instructions leave, half
at most is for what is known already; the events have the rest, and at least one of them always fits, so that a run
always gets on.
"""

from collections.abc import Callable, Iterable
from datetime import date, datetime
from typing import Any

from django.db.models import F

from echovessel import llm
from echovessel.llm.prompt_sections import shorten, tokens
from echovessel.llm.prompt_text import Neutral, lines_of, one_line
from memory import knobs
from memory.consolidation import prompt
from memory.consolidation.open_items import KINDS
from memory.consolidation.slow_cycle_requests import fresh_events
from memory.curation import questions
from memory.models import ConceptNode, Question, SlowCycle
from memory.models.node import NodeQuerySet
from memory.recall.lessons import boundaries_of
from memory.slow_cycle import replies
from memory.slow_cycle.inputs import PromptItem, RunInputs
from persona.models import Persona

Kind = ConceptNode.Kind
PROMISE = {Kind.INTENTION: "promise", Kind.EXPECTATION: "expectation"}
MOST_LOOKED_AT = 400  # events; of the shortest ones not many more would fit the largest run


def build_inputs(cycle: SlowCycle, now: datetime) -> RunInputs:
    """All that fits; where a run was asked before and its answer was kept, the events that it was asked about."""
    persona = cycle.persona
    boundaries = boundaries_of(persona)[: knobs.slow_cycle_boundaries()]
    room = knobs.slow_cycle_run_tokens() - cost(request(persona, RunInputs(boundaries=boundaries), now))
    known = _known(persona, room // 2, now)
    left = room - sum(_cost(told.line) for found in known.lists.values() for told in found)
    # --- what there is ------------------------------------------------------------------------------------------------
    fresh = fresh_events(cycle, now)
    asked = list(fresh.filter(pk__lte=replies.thought_through(cycle.persona))[:MOST_LOOKED_AT])
    unread = asked or list(fresh[:MOST_LOOKED_AT])
    events = _fitting(unread, lambda event: shorten(prompt.format_memories(persona, [event]), left - 1), left)
    return RunInputs(events, known.awaited, known.questions, known.thoughts, boundaries)


def cost(request: llm.Request) -> int:
    """The most that a request may cost, by our estimate."""
    return tokens(request.system) + tokens(request.user) + request.max_tokens


def request(persona: Persona, given: RunInputs, now: datetime) -> llm.Request:
    # --- for the provider that has no model to read prose
    # ---------------------------------------------------------------
    return prompt.request(
        persona,
        "slow_cycle",
        tier="medium",
        max_tokens=knobs.slow_cycle_answer_tokens(),
        values={name: lines_of(Neutral(told.line) for told in found) for name, found in given.lists.items()}
        | {
            "today": f"{now.astimezone(persona.zone):%Y-%m-%d %a}",
            "boundaries": lines_of(one_line(f"- {boundary.text}") for boundary in given.boundaries),
        },
        material={
            "now": now.isoformat(),
            "timezone": persona.timezone,
            "events": [_event(told.row) for told in given.events],
            "thoughts": [{"id": f"e{told.row.pk}", "description": told.row.description} for told in given.thoughts],
            "awaited": [
                {
                    "id": f"e{node.pk}",
                    "kind": node.kind,
                    "description": node.description,
                    "due": _iso(node.event_time_end),
                }
                for node, _line in given.awaited
            ],
            "questions": [{"id": f"q{told.row.pk}", "text": told.row.text} for told in given.questions],
        },
    )


def _known(persona: Persona, room: int, now: datetime) -> RunInputs:
    """What she awaits first: it may be settled by what is new."""
    # Open promises and expectations, the next due first, those without a day last.
    still_open = ConceptNode.objects.filter(persona=persona, kind__in=KINDS, outcome=ConceptNode.Outcome.OPEN)
    in_order = still_open.recallable().order_by(F("event_time_end").asc(nulls_last=True), "pk")
    waiting = _fitting(in_order[: knobs.slow_cycle_awaited()], _as_awaited, room)
    room -= sum(_cost(told.line) for told in waiting)
    asked = _fitting(questions.open_questions(persona, now), _as_question, room)
    room -= sum(_cost(told.line) for told in asked)
    thoughts = _fitting(_thoughts(persona), lambda node: prompt.format_memories(persona, [node]), room)
    return RunInputs((), waiting, asked, thoughts)


def _thoughts(persona: Persona) -> NodeQuerySet:
    thoughts = ConceptNode.objects.filter(persona=persona, kind=Kind.THOUGHT).recallable()
    return thoughts.newest_first()[: knobs.slow_cycle_thoughts()]


# --- as it is told ------------------------------------------------------------------------------------------------
def _as_awaited(node: ConceptNode) -> str:
    due = f", due {node.event_time_end}" if node.event_time_end else ""
    return f"[e{node.pk}] ({PROMISE[Kind(node.kind)]}{due}) {one_line(node.description)}"


def _as_question(question: Question) -> str:
    return f"[q{question.pk}] {one_line(question.text)}"


def _fitting(rows: Iterable[Any], tell: Callable[[Any], str], room: int) -> list[PromptItem]:
    """The first rows whose lines fit into so many tokens together."""
    kept: list[PromptItem] = []
    for row in rows:
        line = tell(row)
        room -= _cost(line)
        if room < 0:
            break
        kept.append(PromptItem(row, line))
    return kept


def _cost(line: str) -> int:
    return tokens(line + "\n")


def _event(event: ConceptNode) -> dict[str, Any]:
    days = {"start": _iso(event.event_time_start), "end": _iso(event.event_time_end)}
    return {
        "id": f"e{event.pk}",
        "description": event.description,
        "emotional_impact": event.emotional_impact,
        "relational_tags": event.relational_tags,
        "event_time": days if event.event_time_start else None,
        "told_at": event.created_at.isoformat(),
    }


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
