"""The clock is set back by an hour or forward by a day while a talk goes on, rests or is remembered."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chat import messages
from chat.models import Message, Session
from chat.prompt.assemble import window_before
from chat.sessions import close
from echovessel.jobs import lease
from echovessel.llm import LLMError
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory.consolidation import reflection, runner
from memory.consolidation.runner import Outcome
from memory.models import ConceptNode, Evidence, ReflectionRun
from persona.models import Persona
from tests.memory.sessions import NOW, Clock, cite, event, extraction, impression, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
both_ways = pytest.mark.parametrize("jump", [-HOUR, DAY], ids=["an hour back", "a day forward"])


def told(persona: Persona, model: Script, first: Callable[[], Any] = lambda: None) -> Session:
    """A talk with one event; `first` happens while the model thinks of it."""
    session = talk(persona, "I moved to Lyon with my cat Milo.", "> Oh!", "Yes, last week.")
    said = session.messages.order_by("id")[0]

    def answered(request: Any) -> Any:
        first()
        if request.purpose == "reflection":
            return impression("It was Lyon.")(request)
        return extraction([event("Ana moved to Lyon.", cite(said), emotional_impact=3)])

    model.structured[:] = [answered] * 10
    return session


def boundaries() -> int:
    return OutboxEvent.objects.filter(name="chat.session.boundary").count()


# --- while a talk is remembered -----------------------------------------------------------------------------------
@both_ways
def test_a_jump_while_the_model_thinks_changes_nothing(
    mira: Persona, model: Script, clock: Clock, jump: timedelta
) -> None:
    jumps = iter([jump])
    session = told(mira, model, lambda: clock.forward(seconds=next(jumps, timedelta()).total_seconds()))
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert runner.requeue_stale(clock.now) == 0
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    assert ConceptNode.objects.get(kind="event").created_at == session.messages.order_by("id")[0].created_at
    assert (ConceptNode.objects.count(), Evidence.objects.count(), boundaries()) == (2, 1, 1)
    assert ReflectionRun.objects.get().reason == "timer"


def test_a_day_forward_may_cost_one_question_more_but_doubles_nothing(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To everybody else the lease of the one who works has run out a day ago."""
    session = told(mira, model)
    others: list[Outcome] = []
    ask = reflection.draft_thoughts

    def overtaken(*args: Any) -> Any:
        if not others:
            others.append(Outcome.NOT_MINE)
            clock.forward(days=1)
            assert runner.requeue_stale(clock.now) == 1
            others.append(runner.run(session.pk, clock))
        return ask(*args)

    monkeypatch.setattr(reflection, "draft_thoughts", overtaken)
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    assert others[-1] == Outcome.CLOSED
    assert (ConceptNode.objects.count(), Evidence.objects.count(), boundaries()) == (2, 1, 1)
    assert sorted(LLMCall.objects.values_list("purpose", flat=True)) == ["extraction", "reflection", "reflection"]


@both_ways
def test_a_dead_workers_session_is_taken_up_at_once(
    mira: Persona, model: Script, clock: Clock, jump: timedelta
) -> None:
    session = told(mira, model)
    held = f"{lease.HOST}:999999999:gone:claim"
    Session.objects.filter(pk=session.pk).update(
        status="consolidating", holder=held, lease_until=clock.now + timedelta(minutes=10), attempts=1
    )
    clock.now += jump
    assert runner.requeue_stale(clock.now) == 1
    assert runner.run(session.pk, clock) == Outcome.CLOSED


def test_a_pause_ends_with_a_jump_forward_and_lasts_no_longer_than_the_jump_back(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = told(mira, model)
    paused_at = clock.now

    def wait() -> None:
        clock.now = paused_at
        Session.objects.filter(pk=session.pk).update(status="closing", lease_until=None, attempts=0)
        model.structured.insert(0, LLMError("busy", code="rate_limited", permanent=False))
        assert runner.run(session.pk, clock) == Outcome.LATER

    wait()
    clock.now -= HOUR
    assert runner.requeue_stale(clock.now) == 0
    clock.now += HOUR + timedelta(minutes=2)
    assert runner.requeue_stale(clock.now) == 1
    wait()
    clock.now += DAY
    assert runner.requeue_stale(clock.now) == 1
    assert runner.run(session.pk, clock) == Outcome.CLOSED


def test_a_reflection_of_tomorrow_does_not_count_as_long_ago(mira: Persona, model: Script, clock: Clock) -> None:
    """It happened while the clock was a day ahead: to the clock that is right again it lies in the future."""
    clock.now += DAY
    runner.run(told(mira, model).pk, clock)
    clock.now -= DAY
    runner.run(told(mira, model).pk, clock)
    clock.now += 2 * DAY + HOUR
    runner.run(told(mira, model).pk, clock)
    assert list(ReflectionRun.objects.order_by("id").values_list("reason", flat=True)) == ["timer", "not_due", "timer"]


# --- while it rests -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("moments", "closed"),
    [
        ([10, -50, -20, 9, 29, 30, 31], [0, 0, 0, 0, 0, 1, 0]),  # back by an hour after ten minutes
        ([10, 10 + 24 * 60, 11, 12, 45], [0, 1, 0, 0, 0]),  # forward by a day, and set right
    ],
)
def test_it_closes_once(mira: Persona, moments: list[int], closed: list[int]) -> None:
    talk(mira, "I have a cat named Milo.", status=Session.Status.OPEN)
    assert [close.close_idle(NOW + timedelta(minutes=minutes)) for minutes in moments] == closed
    assert OutboxEvent.objects.filter(name="chat.session.closing").count() == 1


# --- while it goes on ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("back", [timedelta(seconds=2), HOUR], ids=["two seconds", "an hour"])
def test_what_is_said_after_the_clock_was_set_back_still_comes_after_what_was_said_before(
    mira: Persona, model: Script, back: timedelta
) -> None:
    said = ["I have a cat named Milo.", "He is white.", "My brother gave him to me.", "He sleeps a lot."]
    for number, line in enumerate(said):
        at = NOW + number * timedelta(seconds=1) - (back if number >= 2 else timedelta())
        last = messages.receive_message(mira, line, None, "web", at).message
    assert list(mira.messages.values_list("content", flat=True)) == said
    assert last.session.last_message_at <= NOW + HOUR
    close.close(mira.sessions.get(), "explicit", NOW + HOUR)
    mira.turns.update(status="done")
    session = mira.sessions.get()
    runner.run(session.pk, Clock(NOW + HOUR))
    asked = model.requests[0].user
    assert sorted(said, key=asked.index) == said
    follower = talk(mira, "Good morning.", at=NOW + DAY).messages.get()
    turn = mira.turns.create(session=follower.session)
    Message.objects.filter(pk=follower.pk).update(turn=turn)
    assert [message.content for message in window_before(turn)] == said
