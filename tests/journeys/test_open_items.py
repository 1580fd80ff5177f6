"""What is expected on Monday, and what becomes of it: from the words of a talk to the prompts of the days after."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from chat.sessions import close
from echovessel import schedule
from echovessel.llm.prompts import ContextRequest
from echovessel.outbox.models import OutboxEvent
from memory import context
from memory.consolidation import runner
from memory.models import ConceptNode, Evidence, SlowCycle, SlowCycleRun
from memory.slow_cycle import runner as slow_cycle_runner
from persona.models import Persona
from tests.memory.sessions import Clock, event, extraction, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db

MONDAY = datetime(2026, 3, 2, 4, 0, tzinfo=UTC)
WEDNESDAY, SATURDAY = MONDAY + timedelta(days=2), MONDAY + timedelta(days=5)
RESULT, FLIGHT = "I get the result of my job interview by Friday.", "My sister's flight lands here on 2026-03-08."
NEWS = "The result of the interview came: I got the job!"


def talked(persona: Persona, clock: Clock, *lines: str, at: datetime) -> None:
    """A talk, closed because it rested, made into memories; then she is alone with them."""
    session = talk(persona, *lines, at=at, status="open")
    clock.now = at + timedelta(minutes=31)
    assert close.close_idle(clock.now) == 1
    assert runner.run(session.pk, clock) == runner.Outcome.CLOSED
    clock.forward(minutes=30)
    assert slow_cycle_runner.run(persona.pk, clock) == slow_cycle_runner.Outcome.DONE


def expected(persona: Persona, now: datetime, *turns: str) -> str:
    """What the prompt says that she expects."""
    request = ContextRequest(persona=persona, turns=turns or ("Hello.",), now=now, budget=1_000)
    context.recollections(request)
    section = context.expectations(request)
    return section.text if section else ""


def by_minutes(until: datetime, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The schedule's minutes up to a moment, one a day; the names of its parts that broke."""
    monkeypatch.setattr(schedule.timezone, "now", clock)
    broken = []
    while clock.now < until:
        clock.forward(days=1)
        broken += [name for name, count in schedule.minute().items() if count < 0]
    return broken


def life(mira: Persona, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """One is fulfilled by Saturday's talk, by its evidence; the other is heard of no more."""
    talked(mira, clock, RESULT, "> I keep my fingers crossed.", FLIGHT, at=MONDAY)
    result, flight = ConceptNode.objects.filter(kind="expectation").order_by("event_time_end")
    assert [str(node.event_time_end) for node in (result, flight)] == ["2026-03-06", "2026-03-08"]
    on_wednesday = expected(mira, WEDNESDAY)
    assert "interview" in on_wednesday
    assert "flight" in on_wednesday
    marked = expected(mira, SATURDAY, "I got the result of my job interview today!")
    assert marked.splitlines()[1] == "What they say just now may be about this:"
    assert "interview" in marked.splitlines()[3]

    talked(mira, clock, NEWS, "> I'm so glad!", at=SATURDAY)
    result.refresh_from_db()
    assert (result.outcome, result.resolved_at) == ("fulfilled", clock.now)
    assert result.resolved_by is not None
    assert Evidence.objects.get(node=result.resolved_by).message.content == NEWS
    after = expected(mira, clock.now)
    assert "interview" not in after
    assert "flight" in after

    assert by_minutes(MONDAY + timedelta(days=11), clock, monkeypatch) == []
    flight.refresh_from_db()
    assert (flight.outcome, flight.resolved_by) == ("expired", None)
    assert expected(mira, clock.now) == ""
    told_of = OutboxEvent.objects.filter(name="memory.node.updated", data__change__in=["fulfilled", "expired"])
    assert [(one.data["change"], one.data["node_id"]) for one in told_of.order_by("id")] == [
        ("fulfilled", str(result.uuid)),
        ("expired", str(flight.uuid)),
    ]
    assert not SlowCycleRun.objects.exclude(outcome="done").exists()
    assert SlowCycle.objects.get().requested_at is None


def test_what_was_expected_by_friday_is_fulfilled_on_saturday(
    mira: Persona, clock: Clock, model: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.answers(*[_answer] * 8)
    life(mira, clock, monkeypatch)


def _answer(request: Any) -> dict[str, Any]:
    """As a model would: it is told the lines, or the new events and what is awaited."""
    if request.purpose == "extraction":
        lines = [line for line in request.material["lines"] if line["role"] == "user"]
        return extraction([event(f"Ana said: {line['content']}", _quote(line)) for line in lines])
    if request.purpose == "reflection":
        return {"thoughts": []}
    return _wondered(request.material)


def _quote(line: Any) -> dict[str, str]:
    return {"message_id": line["id"], "quote": line["content"]}


def _wondered(material: Any) -> dict[str, Any]:
    days = {RESULT: "2026-03-06", FLIGHT: "2026-03-08"}
    ahead = [
        {"description": f"{one['description']} We shall see.", "due": day, "filling": [one["id"]]}
        for one in material["events"]
        for words, day in days.items()
        if words in one["description"]
    ]
    news = [one["id"] for one in material["events"] if NEWS in one["description"]]
    awaited = [one["id"] for one in material["awaited"] if "interview" in one["description"]]
    outcomes = [{"of": one, "outcome": "fulfilled", "evidence": news} for one in awaited if news]
    return {"thoughts": [], "expectations": ahead, "outcomes": outcomes}
