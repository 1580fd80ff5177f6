"""A run of the slow cycle for the admin: its inputs and results, by the rows that it refers to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from echovessel.admin import excerpt, page_of
from memory.models import ConceptNode, Entity, Question, SlowCycleRun, Thread
from memory.web.presenters.admin_node import node_address

MAX_EXCERPT = 300
MADE = {
    "thought": _("thought"),
    "expectation": _("expectation"),
    "question": _("question"),
    "outcome": _("outcome"),
    "answer": _("answer to a question"),
    "description": _("description"),
    "thread": _("story line"),
    "events": _("events"),
    "item": _("something else"),
}
BECAME = {
    "new": _("new"),
    "repeated": _("already known"),
    "reinforced": _("already known, in other words"),
    "fulfilled": _("fulfilled"),
    "violated": _("violated"),
}
DROPPED = {
    "no_ground": _("dropped: none of its sources exists any longer"),
    "too_many": _("dropped: too many"),
    "past_due": _("dropped: its day has passed"),
    "unknown": _("dropped: not about any of the inputs"),
    "said_twice": _("dropped: duplicate"),
    "unreadable": _("dropped: unreadable"),
    "asked_before": _("dropped: already an open question"),
    "not_open": _("dropped: already settled"),
    "forgotten": _("dropped: forgotten"),
    "changed": _("dropped: corrected in the meantime"),
    "untitled": _("dropped: without a title"),
    "left_alone": _("dropped: you asked to leave it alone"),
}
GIVEN = {
    "events": _("new events"),
    "awaited": _("open items"),
    "questions": _("questions"),
    "thoughts": _("thoughts"),
    "entities": _("people to describe"),
    "threads": _("story lines"),
    "earlier": _("earlier memories"),
}
# Tables of the keys in inputs and results; all other keys are memories.
TABLES = {
    "questions": "question",
    "question": "question",
    "answer": "question",
    "entities": "entity",
    "description": "entity",
    "threads": "thread",
    "thread": "thread",
}


@dataclass(frozen=True)
class ShownRow:
    """A row that a run refers to: its text and its page; both empty if it is gone."""

    text: str
    address: str


@dataclass(frozen=True)
class MadeRow:
    """One result of a run, its outcome, and the sources that it cites."""

    kind: Any
    became: Any
    what: ShownRow | None
    by: Sequence[ShownRow]


Rows = Mapping[str, Mapping[int, Any]]  # by table and key


def run_context(run: SlowCycleRun) -> dict[str, Any]:
    """The context of a run's page, in a constant number of statements."""
    inputs = {name: run.given.get(name, []) for name in GIVEN}
    keys: dict[str, set[int]] = {"node": {key for item in run.made for key in item.get("by", ())}}
    for name, of_table in inputs.items():
        keys.setdefault(TABLES.get(name, "node"), set()).update(of_table)
    for item in run.made:
        if "id" in item:
            keys.setdefault(TABLES.get(item["kind"], "node"), set()).add(item["id"])
    rows: Rows = {
        "node": ConceptNode.objects.in_bulk(keys["node"]),
        "question": Question.objects.in_bulk(keys.get("question", ())),
        "entity": Entity.objects.in_bulk(keys.get("entity", ())),
        "thread": Thread.objects.in_bulk(keys.get("thread", ())),
    }
    return {
        "given": [
            (label, [_show_row(rows, TABLES.get(name, "node"), key) for key in inputs[name]])
            for name, label in GIVEN.items()
            if inputs[name]
        ],
        "made": [
            MadeRow(
                kind=MADE.get(item["kind"], item["kind"]),
                became=DROPPED.get(dropped, dropped) if dropped else BECAME.get(item.get("outcome", ""), ""),
                what=_show_row(rows, TABLES.get(item["kind"], "node"), item["id"]) if "id" in item else None,
                by=[_show_row(rows, "node", key) for key in item.get("by", ())],
            )
            for item in run.made
            for dropped in [item.get("dropped", "")]
        ],
    }


def _show_row(rows: Rows, table: str, key: int) -> ShownRow:
    row = rows[table].get(key)
    if row is None:
        return ShownRow("", "")
    if isinstance(row, ConceptNode):
        return ShownRow(excerpt(row.description, MAX_EXCERPT), node_address(row))
    texts = {Question: "text", Entity: "canonical_name", Thread: "title"}
    return ShownRow(getattr(row, texts[type(row)]), page_of(row))
