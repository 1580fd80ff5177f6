"""Outreach: one first word, said once, or not at all."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django_q.models import OrmQ

from chat.messages import receive_message
from chat.models import Message, Session, Turn
from chat.sessions import close
from chat.turns import first_word
from chat.turns import turn as turns
from chat.turns.first_word import FirstWordRefused
from echovessel import llm
from echovessel.jobs import lease
from echovessel.llm import LLMError
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory import forgetting
from memory.forgetting.types import Target
from memory.models import ConceptNode, ModelReply
from persona.models import Persona
from proactive.models import Consideration, Outreach
from proactive.outreach import deliver, runner
from tests.memory.sessions import NOW, Clock, turn
from tests.proactive.outreach_setup import allow, promised, talked, wanted
from tests.scripted import Script

pytestmark = pytest.mark.django_db
SAID = "How did the interview go?"


@pytest.fixture
def promise(mira: Persona, remember: Any) -> ConceptNode:
    """Mira may speak first, and something that she promised is due today."""
    allow(mira)
    talked(mira)
    return promised(remember, mira)


@pytest.fixture
def due(mira: Persona, promise: ConceptNode, model: Script, clock: Clock) -> Outreach:
    """The outreach that comes of it, and a model that knows what to say."""
    model.answers({"message": SAID})
    return wanted(mira, clock())


@pytest.fixture
def meanwhile(monkeypatch: Any) -> Callable[[Callable[[], Any]], None]:
    """A function: what it is given happens while the model thinks, once."""
    ask = llm.answer_now

    def happens(action: Callable[[], Any]) -> None:
        def thinking(*args: Any, **values: Any) -> Any:
            monkeypatch.setattr(llm, "answer_now", ask)
            action()
            return ask(*args, **values)

        monkeypatch.setattr(llm, "answer_now", thinking)

    return happens


def calls() -> int:
    return LLMCall.objects.filter(purpose="proactive").count()


# --- what is said ----------------------------------------------------------------------------------------------------
def test_a_first_word_is_stored_published_and_stamped(due: Outreach, mira: Persona, clock: Clock) -> None:
    assert runner.run(due.pk, clock) == "delivered"
    line = Message.objects.get(content=SAID)
    said = Outreach.objects.get()
    assert (said.status, said.delivered_at, said.attempts, said.holder) == ("delivered", clock(), 0, "")
    assert line.turn is not None
    assert (line.turn.uuid, line.turn.spoke_first, line.turn.status) == (said.turn_uuid, True, "done")
    assert (line.role, line.created_at, line.session.channel, line.session.status) == (
        "persona",
        clock(),
        "web",
        "open",
    )
    boundary = OutboxEvent.objects.get(stream=mira.uuid, name="chat.session.boundary")
    done = OutboxEvent.objects.get(stream=mira.uuid, name="chat.message.done")
    assert boundary.data["new_session_id"] == done.data["session_id"] == str(line.session.uuid)
    assert (done.data["content"], done.data["spoke_first"]) == (SAID, True)
    assert done.data["turn_id"] == str(line.turn.uuid)
    assert done.data["html"] == f"<p>{SAID}</p>\n"
    assert calls() == 1
    assert not ModelReply.objects.exists()


def test_it_tells_why_now_and_what_was_recalled(due: Outreach, promise: ConceptNode, clock: Clock) -> None:
    runner.run(due.pk, clock)
    xray = Turn.objects.get(spoke_first=True).xray
    assert xray["why_now"] == {"trigger": "promise", "about": str(promise.uuid), "since": due.wanted_at.isoformat()}
    assert {"recollections", "promises", "tokens"} <= xray.keys()
    assert "interview" not in str(xray)


def test_an_open_session_goes_on_with_it(due: Outreach, mira: Persona, clock: Clock) -> None:
    session = Session.objects.create(persona=mira, channel="web", started_at=NOW, last_message_at=NOW)
    runner.run(due.pk, clock)
    assert Message.objects.get(content=SAID).session == session
    assert not OutboxEvent.objects.filter(name="chat.session.boundary").exists()


def test_a_delivered_outreach_is_not_sent_again(due: Outreach, clock: Clock) -> None:
    assert runner.run(due.pk, clock) == "delivered"
    assert runner.run(due.pk, clock) == "not_mine"
    assert Message.objects.filter(content=SAID).count() == calls() == 1


def test_an_answer_on_the_next_day_is_read_together_with_the_question(
    due: Outreach, mira: Persona, clock: Clock
) -> None:
    runner.run(due.pk, clock)
    clock.forward(hours=20)
    assert close.close_idle(clock()) == 0
    answer = receive_message(mira, "I got the job!", None, "web", clock()).message
    turns.claim(mira.pk, clock())
    turns.finish(Turn.objects.get(pk=answer.turn_id), "Oh!", stopped=False, first_token_at=None, xray={}, now=clock())
    clock.forward(minutes=40)
    assert close.close_idle(clock()) == 1
    session = Session.objects.get(pk=answer.session_id)
    assert [line.content for line in session.messages.all()] == [SAID, "I got the job!", "Oh!"]


# --- when it is not the moment any more ------------------------------------------------------------------------------
def test_while_a_message_of_the_user_waits_she_waits(due: Outreach, mira: Persona, clock: Clock) -> None:
    session = Session.objects.create(persona=mira, channel="web", started_at=NOW, last_message_at=NOW)
    waiting = turn(session, Turn.Status.COLLECTING)
    assert runner.run(due.pk, clock) == "later"
    due.refresh_from_db()
    assert (due.status, due.lease_until, due.attempts) == ("wanted", clock() + timedelta(seconds=60), 0)
    assert calls() == 0
    waiting.delete()
    assert runner.run(due.pk, clock) == "not_mine", "the moment is not over yet"
    clock.forward(seconds=61)
    assert runner.run(due.pk, clock) == "delivered"


def test_who_begins_to_write_while_the_model_thinks_is_not_interrupted(
    due: Outreach, mira: Persona, meanwhile: Any, clock: Clock
) -> None:
    meanwhile(lambda: receive_message(mira, "I must tell you something.", None, "web", clock()))
    assert runner.run(due.pk, clock) == "later"
    assert not Message.objects.filter(content=SAID).exists()
    claimed = turns.claim(mira.pk, clock())
    assert claimed is not None
    turns.finish(claimed, "Tell me.", stopped=False, first_token_at=None, xray={}, now=clock())
    clock.forward(minutes=2)
    assert runner.run(due.pk, clock) == "dropped", "they are talking"
    due.refresh_from_db()
    assert (due.status, due.reason) == ("dropped", "trigger")
    assert not ModelReply.objects.exists()


def test_what_was_dropped_for_the_moment_comes_again_and_is_said_once(
    due: Outreach, mira: Persona, model: Script, clock: Clock
) -> None:
    allow(mira, enabled=False)
    assert runner.run(due.pk, clock) == "dropped"
    assert Outreach.objects.get().reason == "enabled"
    allow(mira)
    clock.forward(minutes=1)
    assert wanted(mira, clock()) == due
    assert runner.run(due.pk, clock) == "delivered"
    assert Outreach.objects.count() == calls() == 1


def test_a_gate_that_closed_while_the_model_thought_drops_it(due: Outreach, meanwhile: Any, clock: Clock) -> None:
    meanwhile(lambda: clock.forward(hours=2, minutes=29))  # eleven in Shanghai
    assert runner.run(due.pk, clock) == "dropped"
    assert Outreach.objects.get().reason == "quiet_hours"
    assert not Message.objects.filter(content=SAID).exists()
    assert not ModelReply.objects.exists()


@pytest.mark.parametrize("change", [{"outcome": "fulfilled", "resolved_at": NOW}, {"status": "hidden"}])
def test_what_is_done_or_hidden_meanwhile_is_no_reason(
    due: Outreach, promise: ConceptNode, meanwhile: Any, clock: Clock, change: dict[str, Any]
) -> None:
    meanwhile(lambda: ConceptNode.objects.filter(pk=promise.pk).update(**change))
    assert runner.run(due.pk, clock) == "dropped"
    assert not Message.objects.filter(content=SAID).exists()


def test_nothing_is_said_into_a_session_off_the_record(due: Outreach, mira: Persona, clock: Clock) -> None:
    Session.objects.create(persona=mira, channel="web", off_the_record=True)
    assert runner.run(due.pk, clock) == "dropped"
    with pytest.raises(FirstWordRefused, match="off_the_record"):
        first_word.say(mira, SAID, {}, clock())
    assert not Message.objects.filter(content=SAID).exists()


# --- forgetting ------------------------------------------------------------------------------------------------------
def test_what_is_forgotten_while_the_model_thinks_is_not_said(
    mira: Persona, promise: ConceptNode, model: Script, remember: Any, meanwhile: Any, clock: Clock
) -> None:
    """The prompt held it: what the model makes of that is thrown away, and asked anew."""
    secret = remember(mira, "Ana stole a book before the interview.")
    on_its_way = wanted(mira, clock())
    model.answers({"message": "How was the interview, after the stolen book?"}, {"message": SAID})
    meanwhile(lambda: forgetting.forget(forgetting.plan([Target("node", secret.pk)]), None, clock()))
    assert runner.run(on_its_way.pk, clock) == "later"
    assert "stole" in model.requests[-1].user
    assert not ModelReply.objects.exists()
    assert runner.requeue_stale(clock()) == 1
    assert runner.run(on_its_way.pk, clock) == "delivered"
    assert [line.content for line in Message.objects.filter(turn__spoke_first=True)] == [SAID]
    assert "stole" not in model.requests[-1].user


def test_a_first_word_that_repeats_what_is_forgotten_goes_with_it(
    mira: Persona, promise: ConceptNode, model: Script, clock: Clock
) -> None:
    model.answers({"message": "I promised to ask Ana how the interview went."})
    runner.run(wanted(mira, clock()).pk, clock)
    forgetting.forget(forgetting.plan([Target("node", promise.pk)]), None, clock())
    assert not Message.objects.filter(turn__spoke_first=True).exists()
    assert str(promise.uuid) not in str([turn.xray for turn in Turn.objects.all()])


# --- what goes wrong -------------------------------------------------------------------------------------------------
def test_a_fault_that_may_pass_is_waited_for_and_then_it_is_said(
    mira: Persona, promise: ConceptNode, model: Script, clock: Clock
) -> None:
    on_its_way = wanted(mira, clock())
    model.answers(LLMError("…", code="timeout", permanent=False), {"message": SAID})
    assert runner.run(on_its_way.pk, clock) == "later"
    assert runner.requeue_stale(clock()) == 0, "the pause is not over"
    clock.forward(minutes=2)
    assert runner.requeue_stale(clock()) == 1
    assert runner.run(on_its_way.pk, clock) == "delivered"


@pytest.mark.parametrize(
    ("faults", "code"),
    [
        ([LLMError("…", code="content_refused", permanent=True)], "content_refused"),
        ([LLMError("…", code="timeout", permanent=False)] * 5, "timeout"),
        (["{}", "{}"], "internal"),
    ],
)
def test_a_fault_that_does_not_pass_ends_it_with_a_code(
    mira: Persona, promise: ConceptNode, model: Script, clock: Clock, faults: list[Any], code: str
) -> None:
    on_its_way = wanted(mira, clock())
    model.answers(*faults)
    outcome = ""
    while outcome in ("", "later"):
        outcome = runner.run(on_its_way.pk, clock)
        on_its_way.refresh_from_db()
        clock.now = max(clock.now, (on_its_way.lease_until or clock.now) + timedelta(seconds=1))
    assert outcome == "failed"
    assert (on_its_way.status, on_its_way.reason) == ("failed", code)
    assert not Message.objects.filter(turn__spoke_first=True).exists()


def test_a_spent_budget_is_a_gate_and_no_fault(due: Outreach, model: Script, clock: Clock) -> None:
    model.structured.insert(0, LLMError("…", code="budget_exhausted", permanent=False))
    assert runner.run(due.pk, clock) == "dropped"
    assert Outreach.objects.get().reason == "cost_cap"


def test_a_fault_that_nobody_foresaw_is_tried_again(due: Outreach, clock: Clock, monkeypatch: Any) -> None:
    def stumble(*_: Any) -> None:
        raise ValueError

    with monkeypatch.context() as patched:
        patched.setattr(runner, "deliver", stumble)
        assert runner.run(due.pk, clock) == "later"
    clock.forward(minutes=2)
    assert runner.run(due.pk, clock) == "delivered"
    assert calls() == 1, "what was paid for was kept"


def test_its_log_holds_no_words(due: Outreach, clock: Clock, monkeypatch: Any, caplog: Any) -> None:
    def stumble(_claim: Any, written: Any) -> None:
        raise ValueError(written.text)

    monkeypatch.setattr(runner, "deliver", stumble)
    runner.run(due.pk, clock)
    assert "ValueError" in caplog.text
    assert SAID not in caplog.text


def test_words_of_another_hour_are_not_said(due: Outreach, model: Script, monkeypatch: Any) -> None:
    """They were written, and then the worker was gone for hours."""
    clock = Clock(NOW + timedelta(minutes=31))
    monkeypatch.setattr(runner, "deliver", lambda *_: (_ for _ in ()).throw(ValueError))
    runner.run(due.pk, clock)
    ModelReply.objects.update(at=clock())
    monkeypatch.setattr(runner, "deliver", deliver.deliver)
    clock.forward(minutes=70)
    model.answers({"message": "And, how was it?"})
    assert runner.run(due.pk, clock) == "delivered"
    assert [line.content for line in Message.objects.filter(turn__spoke_first=True)] == ["And, how was it?"]


# --- whose it is -----------------------------------------------------------------------------------------------------
def test_who_is_dead_is_not_waited_for(due: Outreach, clock: Clock) -> None:
    gone = f"{lease.HOST}:{2**22 - 7}:dead:beef"
    Outreach.objects.update(holder=gone, lease_until=clock() + timedelta(minutes=9), attempts=1)
    assert runner.requeue_stale(clock()) == 1
    assert runner.run(due.pk, clock) == "delivered"


def test_what_another_has_in_hand_is_left_to_them(due: Outreach, clock: Clock) -> None:
    Outreach.objects.update(holder="elsewhere:1:a:b", lease_until=clock() + timedelta(minutes=9))
    assert runner.requeue_stale(clock()) == 0
    assert runner.run(due.pk, clock) == "not_mine"
    clock.forward(minutes=10)
    assert runner.run(due.pk, clock) == "delivered"


def test_who_was_given_up_for_dead_says_nothing_any_more(due: Outreach, meanwhile: Any, clock: Clock) -> None:
    meanwhile(lambda: Outreach.objects.update(holder="elsewhere:1:a:b"))
    assert runner.run(due.pk, clock) == "not_mine"
    assert not Message.objects.filter(content=SAID).exists()
    assert not ModelReply.objects.exists()


def test_what_kills_its_worker_again_and_again_is_given_up(due: Outreach, clock: Clock) -> None:
    Outreach.objects.update(attempts=5, holder="", lease_until=None)
    assert runner.run(due.pk, clock) == "failed"
    assert Outreach.objects.get().reason == "stopped_too_often"


def test_the_sweep_leaves_room_in_the_queue(due: Outreach, clock: Clock, settings: Any) -> None:
    settings.KNOBS |= {"consolidate.queue_room": 1}
    OrmQ.objects.all().delete()
    assert runner.requeue_stale(clock()) == 1
    assert runner.requeue_stale(clock()) == 0


def test_a_persona_that_is_deleted_takes_her_outreach_along(due: Outreach, mira: Persona, clock: Clock) -> None:
    mira.delete()
    assert runner.run(due.pk, clock) == "not_mine"
    assert not Consideration.objects.exists()
