"""Reflection: its reasons, its events, and the thoughts that are stored."""

from datetime import timedelta
from typing import Any

import pytest

from memory.consolidation import reflection, runner
from memory.consolidation.reflection import off_tone
from memory.models import ConceptNode, Filling, ReflectionRun
from persona.models import Persona
from tests.memory.sessions import NOW, Clock, cite, event, extraction, impression, talk, thought
from tests.scripted import Script
from tests.table import each_row


def consolidate_event(
    persona: Persona, model: Script, clock: Clock, words: str, impact: int = 2, reflection: Any = None
) -> Any:
    """Consolidate a session with one event; `reflection` is the model's answer if there is a reflection."""
    session = talk(persona, words, "a", "b", at=clock.now)
    model.structured.clear()
    model.answers(extraction([event(f"Ana said: {words}", cite(session.messages.all()[0]), emotional_impact=impact)]))
    model.answers(reflection or impression(f"After {words}"))
    runner.run(session.pk, clock)
    return session


def reasons() -> list[str]:
    return list(ReflectionRun.objects.order_by("id").values_list("reason", flat=True))


def test_six_sessions_reflect_by_timer_and_shock_and_stop_at_three(mira: Persona, model: Script, clock: Clock) -> None:
    words = ["rain", "soup", "bicycle", "funeral of Omar", "house on fire", "lost passport"]
    for word, impact in zip(words, [2, 2, 2, -9, -9, -9], strict=True):
        consolidate_event(mira, model, clock, word, impact)
        clock.forward(hours=3)
    assert reasons() == ["timer", "not_due", "not_due", "shock", "shock", "hard_gate"]
    assert ConceptNode.objects.filter(kind="thought").count() == 3


def test_a_shock_told_again_is_still_a_shock(mira: Persona, model: Script, clock: Clock) -> None:
    consolidate_event(mira, model, clock, "Omar died", -9)
    clock.forward(hours=2)
    consolidate_event(mira, model, clock, "Omar died", -9)
    assert reasons() == ["shock", "shock"]
    assert ConceptNode.objects.filter(kind="event").count() == 1


def test_the_shock_comes_first_and_no_more_than_ten_events(mira: Persona, model: Script, clock: Clock) -> None:
    for number in range(12):
        ConceptNode.objects.create(
            persona=mira, kind="event", description=f"old {number}", source="import",
            created_at=NOW - timedelta(minutes=number), last_mentioned_at=NOW - timedelta(minutes=number),
        )  # fmt: skip
    consolidate_event(mira, model, clock, "Omar died", -9)
    events = model.requests[-1].material["events"]
    assert [item["description"] for item in events][:2] == ["Ana said: Omar died", "old 0"]
    assert len(events) == 10
    assert model.requests[-1].tier == "medium"


def test_events_of_the_last_day_are_seen_again_and_older_ones_not(mira: Persona, model: Script, clock: Clock) -> None:
    consolidate_event(mira, model, clock, "first")
    clock.forward(hours=25)
    consolidate_event(mira, model, clock, "second")
    assert [item["description"] for item in model.requests[-1].material["events"]] == ["Ana said: second"]
    clock.forward(hours=3)
    consolidate_event(mira, model, clock, "a shock", -9)
    assert len(model.requests[-1].material["events"]) == 2


def test_a_thought_without_given_ground_is_dropped_the_other_kept(mira: Persona, model: Script, clock: Clock) -> None:
    def answer(request: Any) -> Any:
        [ground] = request.material["events"]
        return {
            "thoughts": [
                thought("unfounded", ["e424242"]),
                thought("founded", [ground["id"], "e424242"], emotional_impact=-30),
                {"description": "no filling"},
            ]
        }

    consolidate_event(mira, model, clock, "something", reflection=answer)
    node = ConceptNode.objects.get(kind="thought")
    assert (node.description, node.emotional_impact, node.source) == ("founded", -10, "reflection")
    assert Filling.objects.count() == 1
    run = ReflectionRun.objects.get()
    assert (run.thoughts, run.dropped) == (1, 2)


def test_no_more_than_two_thoughts_are_kept(mira: Persona, model: Script, clock: Clock) -> None:
    def answer(request: Any) -> Any:
        event_id = request.material["events"][0]["id"]
        words = ["a quiet sea", "one red bicycle", "bread at dawn", "the fourth window"]
        return {"thoughts": [thought(word, [event_id]) for word in words]}

    consolidate_event(mira, model, clock, "something", reflection=answer)
    assert ConceptNode.objects.filter(kind="thought").count() == 2
    assert ReflectionRun.objects.get().dropped == 2


@pytest.mark.parametrize("status", ["hidden", "superseded", "quarantined"])
def test_what_was_put_away_while_the_model_thought_is_no_ground(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    consolidate_event(mira, model, clock, "rain")
    store = reflection.store_thoughts

    def put_away_and_store(*args: Any) -> Any:
        ConceptNode.objects.filter(description="Ana said: rain").update(status=status)
        return store(*args)

    def answer(request: Any) -> Any:
        rain, shock = sorted(request.material["events"], key=lambda item: item["emotional_impact"], reverse=True)
        return {"thoughts": [thought("on rain", [rain["id"]]), thought("on both", [rain["id"], shock["id"]])]}

    monkeypatch.setattr(reflection, "store_thoughts", put_away_and_store)
    consolidate_event(mira, model, clock, "a shock", -9, answer)
    conclusion = ConceptNode.objects.get(kind="thought", description__startswith="on ")
    assert conclusion.description == "on both"
    assert [edge.child.description for edge in conclusion.filling.all()] == ["Ana said: a shock"]
    run = ReflectionRun.objects.order_by("id")[1]
    assert (run.thoughts, run.dropped) == (1, 1)


def test_two_workers_together_reflect_no_more_often_than_one(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = reflection.store_thoughts

    def store_after_another(*args: Any) -> Any:
        for _ in range(3):
            ReflectionRun.objects.create(persona=mira, reason="shock", at=clock.now)
        return store(*args)

    monkeypatch.setattr(reflection, "store_thoughts", store_after_another)
    consolidate_event(mira, model, clock, "Omar died", -9)
    assert reasons() == ["shock", "shock", "shock", "hard_gate"]
    assert ReflectionRun.objects.latest("id").dropped == 1
    assert not ConceptNode.objects.filter(kind="thought").exists()


def test_no_events_no_reflection(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "hm", "hm", "hm")
    runner.run(session.pk, clock)
    assert reasons() == ["nothing_new"]
    assert [request.purpose for request in model.requests] == ["extraction"]


def test_a_repeat_doubles_nothing(mira: Persona, model: Script, clock: Clock) -> None:
    session = consolidate_event(mira, model, clock, "something")
    session.refresh_from_db()
    session.status = "closing"
    session.save()
    request_count = len(model.requests)
    runner.run(session.pk, clock)
    assert len(model.requests) == request_count
    assert ConceptNode.objects.filter(kind="thought").count() == ReflectionRun.objects.count() == 1


def test_hidden_and_quarantined_events_are_not_reflected_on(mira: Persona, model: Script, clock: Clock) -> None:
    consolidate_event(mira, model, clock, "first")
    ConceptNode.objects.filter(kind="event").update(status="hidden")
    clock.forward(hours=1)
    consolidate_event(mira, model, clock, "a shock", -9)
    assert [item["description"] for item in model.requests[-1].material["events"]] == ["Ana said: a shock"]


@each_row(
    ("text", "off"),
    [
        ("Subject exhibits patterns of avoidance.", True),
        ("Ana should talk to someone.", True),
        ("该用户有抑郁症的表现。", True),
        ("I've been noticing that Ana only lets herself be tired when no one is around.", False),
        ("Ana把真正重的话都留到深夜才说。", False),
    ],
)
def test_the_tone_list_notices_clinical_words(text: str, off: bool) -> None:
    assert bool(off_tone(text)) is off


def test_an_off_tone_thought_is_kept_and_logged_without_its_words(
    mira: Persona, model: Script, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    consolidate_event(
        mira, model, clock, "something", reflection=impression("Subject exhibits avoidance.", emotional_impact=9)
    )
    assert ConceptNode.objects.filter(kind="thought").count() == 1
    assert "tone" in caplog.text
    assert "avoidance" not in caplog.text
