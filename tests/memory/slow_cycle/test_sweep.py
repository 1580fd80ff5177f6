"""A slow cycle that dies before any statement: the next run completes it once and pays once."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection

from echovessel.embeddings import embedding
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory.curation import questions, threads
from memory.entities.resolve import learn_aliases, link
from memory.models import (
    ConceptNode,
    Entity,
    Filling,
    ModelReply,
    NodeText,
    NodeVector,
    Question,
    SlowCycle,
    SlowCycleRun,
    Thread,
)
from memory.slow_cycle import runner
from persona.models import Persona
from tests.memory.deaths import Trial, dies_at, same_wherever_it_dies, undone
from tests.memory.sessions import Clock
from tests.memory.slow_cycle.slow_cycles import Remember
from tests.scripted import Script

pytestmark = pytest.mark.django_db


def create_life(persona: Persona, remember: Remember, clock: Clock) -> None:
    """Create an expected interview, two entities with enough events, a question that is answered, and a thread that
    continues."""
    before = SlowCycleRun.objects.create(
        persona=persona, reason="first", outcome="done", at=clock() - timedelta(days=1)
    )
    old = remember(persona, "Ana had an interview.")
    SlowCycle.objects.create(persona=persona, requested_at=clock(), through=old.pk)
    questions.keep(before.persona, "Did they call?", [old], clock(), before)
    remember(persona, "The port calls Ana.", kind="expectation")
    thoughts = [remember(persona, text, kind="thought") for text in ("Ana paints.", "Ana sells the boat.")]
    threads.begin(persona, "The boat", thoughts, "open", clock())
    for name in ("Omar", "Noor"):
        entity = Entity.objects.create(persona=persona, canonical_name=name, kind="person")
        learn_aliases(entity, [name])
        link(entity, [remember(persona, f"{name} sails boat {number}.") for number in range(3)])


def answer(request: Any) -> dict[str, Any]:
    events = [event["id"] for event in request.material["events"]]
    if request.purpose == "entity":
        return {"description": f"{request.material['name']} sails.", "filling": events[:1]}
    awaited, open_questions = request.material["awaited"], request.material["questions"]
    return {
        "thoughts": [
            {"description": "Ana stands straighter.", "emotional_impact": 3, "subject": "user", "filling": events},
            {"description": "unfounded", "filling": []},
        ],
        "expectations": [{"description": "The boat sails.", "due": "2026-03-09", "filling": events[:1]}],
        "salient_questions": [{"text": "Where does the boat sail?", "about": events[:2]}],
        "outcomes": [{"of": node["id"], "outcome": "fulfilled", "evidence": events[:1]} for node in awaited],
        "answered_questions": [{"question": question["id"], "by": events[0]} for question in open_questions],
        "threads": [
            *({"id": thread["id"], "state": "ended", "members": events[:1]} for thread in request.material["threads"]),
            {"id": None, "title": "Sailing with Omar", "members": events[1:3]},
        ],
    }


def stored_state() -> dict[str, Any]:
    def rows(of: Any, *fields: str) -> list[list[str]]:
        return sorted([str(value) for value in row] for row in of.objects.values_list(*fields))

    return {
        "cycle": rows(SlowCycle, "through", "requested_at", "holder", "lease_until", "attempts"),
        "runs": rows(SlowCycleRun, "reason", "outcome", "given", "made", "through", "tokens_in", "dropped"),
        "nodes": rows(ConceptNode, "id", "kind", "description", "outcome", "resolved_by", "mention_count", "source"),
        "filling": rows(Filling, "parent", "child"),
        "vectors": rows(NodeVector, "node"),
        "words": rows(NodeText, "node", "body"),
        "questions": rows(Question, "text", "status", "answered_by", "rests_on__node"),
        "threads": rows(Thread, "title", "state", "members__node"),
        "entities": rows(Entity, "canonical_name", "description", "described_by", "described_through"),
        "ledger": rows(LLMCall, "purpose", "outcome", "tokens_in"),
        "replies": rows(ModelReply, "step"),
        "told": Counter(OutboxEvent.objects.values_list("name", flat=True)),
    }


@pytest.mark.parametrize("stride", [83, pytest.param(1, marks=pytest.mark.campaign)])
def test_killed_before_any_statement_nothing_is_lost_doubled_or_paid_twice(
    mira: Persona, model: Script, remember: Remember, stride: int
) -> None:
    def try_out(statement: int) -> Trial:
        with undone():
            clock = Clock()
            create_life(mira, remember, clock)
            model.structured[:] = [answer] * 9
            died = dies_at(statement, lambda: runner.run(mira.pk, clock))
            clock.forward(seconds=601)
            runner.run(mira.pk, clock)
            return stored_state(), died

    state, _ = try_out(0)
    assert [row[0] for row in state["ledger"]] == ["entity", "entity", "slow_cycle"]
    assert (len(state["runs"]), len(state["nodes"]), state["replies"]) == (2, 12, [])
    assert [row[1] for row in state["entities"]] == ["Noor sails.", "Omar sails."]
    assert {row[1] for row in state["questions"]} == {"answered", "open"}
    assert [row[:2] for row in state["threads"]] == [["Sailing with Omar", "open"]] * 2 + [["The boat", "ended"]] * 3
    assert same_wherever_it_dies(try_out, stride) > 60


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_model_or_embedder_works(
    mira: Persona, model: Script, remember: Remember, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    worked: list[str] = []

    def outside(who: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*args: Any, **options: Any) -> Any:
            assert not connection.in_atomic_block, who
            worked.append(who)
            return work(*args, **options)

        return checked

    create_life(mira, remember, clock)
    model.structured[:] = [outside("model", answer)] * 3
    monkeypatch.setattr(embedding, "embed", outside("embedder", embedding.embed))
    assert runner.run(mira.pk, clock) == runner.Outcome.DONE
    assert set(worked) == {"model", "embedder"}
