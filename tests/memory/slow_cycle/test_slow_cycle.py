"""The slow cycle: its inputs, the thoughts it writes between sessions, and its failures."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django_q.models import OrmQ

from chat.models import Session
from echovessel.jobs import knobs as job_knobs
from echovessel.llm import LLMError
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory import forgetting, tasks
from memory.consolidation import open_items, runner, slow_cycle_requests
from memory.curation import actions, questions
from memory.curation.lessons import Wish, add_lesson
from memory.models import ConceptNode, ModelReply, NodeVector, Question, SlowCycle, SlowCycleRun
from memory.slow_cycle import context, persist
from memory.slow_cycle import runner as slow_cycle_runner
from memory.slow_cycle.runner import Outcome
from memory.slow_cycle.tombstone_check import perhaps_names
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource
from persona.models import Persona
from tests.memory.sessions import NOW, Clock, cite, event, extraction, impression, talk
from tests.memory.slow_cycle.slow_cycles import (
    Remember,
    answer,
    dropped_items,
    expectation,
    key,
    last_run,
    outcome,
    question,
    request_cycle,
    thought,
)
from tests.scripted import Script

TIRED = LLMError("busy", code="rate_limited", permanent=False)


def prompt_events(model: Script) -> list[dict[str, Any]]:
    """The events in the last request to the model."""
    events: list[dict[str, Any]] = model.requests[-1].material["events"]
    return events


def run(persona: Persona, clock: Clock) -> Outcome:
    """Request the slow cycle and run it now."""
    request_cycle(persona, clock.now)
    return slow_cycle_runner.run(persona.pk, clock)


def forget(node: ConceptNode, clock: Clock) -> None:
    forgetting.forget(forgetting.plan([forgetting.Target("node", node.pk)]), None, clock.now)


def interview(remember: Remember, persona: Persona, **fields: Any) -> ConceptNode:
    return remember(persona, "Ana had her interview at the port.", emotional_impact=4, **fields)


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], None]:
    """A function that arranges an action to run while the model thinks."""

    def arrange(action: Callable[[], Any]) -> None:
        think = slow_cycle_runner.think

        def thinks(*args: Any) -> Any:
            thinking = think(*args)
            monkeypatch.setattr(slow_cycle_runner, "think", think)
            action()
            return thinking

        monkeypatch.setattr(slow_cycle_runner, "think", thinks)

    return arrange


# --- from a session to a thought ------------------------------------------------------------------------------------
def test_a_session_that_left_something_makes_her_think(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "I had the interview at the port.", "> Oh!", "They call on Friday.", at=clock.now)
    event_item = event("Ana had an interview at the port.", cite(session.messages.all()[0]))
    model.answers(extraction([event_item]), impression())
    assert runner.run(session.pk, clock) == runner.Outcome.CLOSED
    [job] = [job.task for job in OrmQ.objects.all()]
    assert (job["func"], job["args"]) == ("memory.tasks.slow_cycle", (mira.pk,))

    event_node = ConceptNode.objects.get(kind="event")
    model.answers(
        answer(
            thoughts=[thought("Ana stands straighter when she speaks of the port.", event_node)],
            salient_questions=[question("Who would she work with there?", event_node)],
            expectations=[expectation("The port calls Ana.", "2026-03-06", event_node)],
        )
    )
    assert slow_cycle_runner.run(mira.pk, clock) == Outcome.DONE
    nodes_by_kind = {node.kind: node for node in ConceptNode.objects.filter(source="slow_cycle")}
    assert nodes_by_kind["thought"].filling.get().child == event_node
    assert (nodes_by_kind["expectation"].event_time_end, nodes_by_kind["expectation"].outcome) == (
        date(2026, 3, 6),
        "open",
    )
    assert NodeVector.objects.filter(node__in=nodes_by_kind.values()).count() == 2
    assert Question.objects.get().rests_on.get().node == event_node
    account = last_run()
    assert (account.reason, account.outcome, account.session, account.dropped) == ("first", "done", session, 0)
    assert account.given["events"] == [event_node.pk]
    assert [item["kind"] for item in account.made] == ["thought", "expectation", "question"]
    assert (account.tokens_in, account.tokens_out) == (10, 5)
    calls = LLMCall.objects.order_by("id").values_list("purpose", flat=True)
    assert list(calls) == ["extraction", "reflection", "slow_cycle"]
    assert not ModelReply.objects.exists()
    cycle = SlowCycle.objects.get()
    assert (cycle.through, cycle.requested_at, cycle.holder, cycle.attempts) == (event_node.pk, None, "", 0)
    told_of = OutboxEvent.objects.filter(name="memory.thought.created", data__source="slow_cycle")
    assert sorted(told_of.values_list("data__type", flat=True)) == ["expectation", "thought"]


def test_a_session_that_left_nothing_makes_her_think_nothing(mira: Persona, model: Script, clock: Clock) -> None:
    runner.run(talk(mira, "hm", "hm", "hm", at=clock.now).pk, clock)
    runner.run(talk(mira, "hi", at=clock.now).pk, clock)
    assert not OrmQ.objects.exists()
    assert not SlowCycle.objects.exclude(requested_at=None).exists()


def test_what_fails_between_sessions_leaves_the_session_closed(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "I have a cat named Milo.", "> Oh!", "Yes.", at=clock.now)
    model.answers(extraction([event("Ana has a cat.", cite(session.messages.all()[0]))]), impression())
    runner.run(session.pk, clock)
    model.answers(LLMError("no", code="content_refused", permanent=True))
    assert slow_cycle_runner.run(mira.pk, clock) == Outcome.FAILED
    session.refresh_from_db()
    assert (session.status, session.failure) == ("closed", "")
    assert (last_run().outcome, last_run().failure, last_run().through) == ("failed", "content_refused", 0)
    assert not SlowCycle.objects.exclude(requested_at=None).exists()


def test_nothing_that_a_failed_run_was_given_is_lost(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    node = interview(remember, mira)
    model.answers("no JSON", "no JSON")
    assert run(mira, clock) == Outcome.FAILED
    assert last_run().failure == "unreadable"
    clock.forward(minutes=30)
    model.answers(answer(thoughts=[thought("Ana hopes.", node)]))
    assert run(mira, clock) == Outcome.DONE
    assert [item["id"] for item in prompt_events(model)] == [key(node)]


def test_events_that_a_model_refuses_again_and_again_do_not_stop_her_for_ever(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    refused = interview(remember, mira)
    for _ in range(3):
        model.answers(LLMError("no", code="content_refused", permanent=True))
        assert run(mira, clock) == Outcome.FAILED
        clock.forward(minutes=31)
    assert (last_run().through, last_run().made) == (refused.pk, [{"kind": "events", "dropped": "content_refused"}])
    later = remember(mira, "Ana has a cat named Milo.")
    assert run(mira, clock) == Outcome.DONE
    assert [item["id"] for item in prompt_events(model)] == [key(later)]


# --- schedule -------------------------------------------------------------------------------------------------------
def test_she_rests_between_two_runs_and_what_waits_is_taken_up_by_the_minute(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    interview(remember, mira)
    assert run(mira, clock) == Outcome.DONE
    clock.forward(minutes=10)
    remember(mira, "Ana has a cat named Milo.")
    assert run(mira, clock) == Outcome.NOT_NOW
    assert SlowCycle.objects.get().attempts == 0
    clock.forward(minutes=19)
    assert slow_cycle_requests.requeue_stale(clock.now) == 0
    clock.forward(minutes=2)
    assert slow_cycle_requests.requeue_stale(clock.now) == 1
    assert OrmQ.objects.get().task["args"] == (mira.pk,)
    assert slow_cycle_runner.run(mira.pk, clock) == Outcome.DONE
    assert last_run().reason == "rested"
    assert slow_cycle_requests.requeue_stale(clock.now) == 0


@pytest.mark.parametrize(
    ("fields", "reason"),
    [({"emotional_impact": -8}, "shock"), ({"relational_tags": ["correction"]}, "correction")],
)
def test_urgent_runs_skip_the_rest_period(
    mira: Persona, model: Script, clock: Clock, remember: Remember, fields: Any, reason: str
) -> None:
    interview(remember, mira)
    run(mira, clock)
    clock.forward(minutes=1)
    remember(mira, "Ana has a cat named Milo.")
    assert run(mira, clock) == Outcome.NOT_NOW
    session = talk(mira, "hm", status="closed")
    remember(mira, "Omar died.", **fields)
    assert slow_cycle_requests.request_run(session, clock.now)  # ends the rest period
    assert slow_cycle_runner.run(mira.pk, clock) == Outcome.DONE
    assert (last_run().reason, len(prompt_events(model))) == (reason, 2)


def test_a_day_has_an_end_to_her_thinking(
    mira: Persona, model: Script, clock: Clock, remember: Remember, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"slow_cycle.runs_per_day": 2}
    clock.now = datetime(2026, 3, 5, 20, tzinfo=UTC)
    for number in range(3):
        remember(mira, f"Omar died {number} times.", emotional_impact=-9)
        outcomes = run(mira, clock)
        clock.forward(hours=1)
    assert outcomes == Outcome.NOT_NOW
    assert SlowCycle.objects.get().lease_until == datetime(2026, 3, 6, tzinfo=UTC)
    clock.now = datetime(2026, 3, 6, 0, 1, tzinfo=UTC)
    assert slow_cycle_runner.run(mira.pk, clock) == Outcome.DONE


def test_no_run_begins_that_could_break_through_a_wall_of_tokens(
    mira: Persona, otto: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    interview(remember, mira)

    def call(persona: Persona, tokens_in: int, tokens_out: int, **values: Any) -> None:
        LLMCall.objects.create(
            owner=persona.owner, persona_uuid=persona.uuid, tokens_in=tokens_in, tokens_out=tokens_out,
            **{"purpose": "slow_cycle", "provider": "p", "model": "m", "outcome": "ok", "at": clock.now} | values,
        )  # fmt: skip

    call(otto, 150_000, 30_000)
    call(mira, 150_000, 30_000, purpose="chat")
    call(mira, 150_000, 30_000, provider="offline")
    call(mira, 150_000, 30_000, at=clock.now - timedelta(days=1))
    call(mira, 100_000, 10_000, outcome="timeout")
    assert run(mira, clock) == Outcome.DONE
    remember(mira, "Omar died.", emotional_impact=-9)
    call(mira, 42_001, 0, purpose="entity")
    assert run(mira, clock) == Outcome.NOT_NOW
    LLMCall.objects.filter(purpose="entity").update(tokens_in=0, tokens_out=17_500)
    SlowCycle.objects.update(lease_until=None)
    assert run(mira, clock) == Outcome.NOT_NOW


def test_what_is_put_away_before_she_comes_to_it_is_wanted_no_more(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    actions.hide(interview(remember, mira))
    assert run(mira, clock) == Outcome.NOT_NOW
    assert SlowCycle.objects.get().requested_at is None
    assert not model.requests


def test_the_sweep_fills_the_queue_up_to_a_bound_and_frees_what_the_dead_held(
    mira: Persona, otto: Persona, clock: Clock, settings: Any
) -> None:
    settings.KNOBS = {"consolidate.queue_room": 1}
    for persona in (mira, otto):
        request_cycle(persona, clock.now)
        clock.forward(minutes=1)
    assert slow_cycle_requests.requeue_stale(clock.now) == 1
    assert slow_cycle_requests.requeue_stale(clock.now) == 0
    OrmQ.objects.all().delete()
    SlowCycle.objects.filter(persona=otto).update(requested_at=None)
    lease = {"holder": "elsewhere:1:a:b", "lease_until": clock.now + timedelta(minutes=5)}
    SlowCycle.objects.filter(persona=mira).update(**lease)
    assert slow_cycle_requests.requeue_stale(clock.now) == 0
    SlowCycle.objects.filter(persona=mira).update(holder=f"{slow_cycle_runner.__name__}:1")
    clock.forward(minutes=6)
    assert slow_cycle_requests.requeue_stale(clock.now) == 1


@pytest.mark.django_db
def test_where_nothing_waits_the_minute_costs_two_small_queries(
    mira: Persona, clock: Clock, django_assert_num_queries: Any
) -> None:
    SlowCycle.objects.create(persona=mira)
    with django_assert_num_queries(2):
        assert slow_cycle_requests.requeue_stale(clock.now) == 0


# --- inputs ---------------------------------------------------------------------------------------------------------
def test_she_is_given_what_is_new_beside_what_she_thinks_awaits_and_wonders(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    old = remember(mira, "Ana moved to Shanghai.", created_at=clock.now - timedelta(days=8))
    first = interview(remember, mira)
    promise = remember(
        mira, "Mira asks about the port.", kind="intention",
        event_time_start=date(2026, 3, 8), event_time_end=date(2026, 3, 8),
    )  # fmt: skip
    settled = remember(mira, "It rains.", kind="expectation", outcome="expired")
    hidden = remember(mira, "A secret.", status="hidden")
    run_before = SlowCycleRun.objects.create(
        persona=mira, reason="first", outcome="done", at=clock.now - timedelta(days=1)
    )
    wonders = questions.keep(run_before.persona, "Who is Omar?", [first], clock.now, run_before)
    of_hidden = questions.keep(run_before.persona, "Why is it a secret?", [hidden], clock.now, run_before)
    assert wonders
    assert of_hidden
    noticed = remember(mira, "Ana hums.", kind="thought")
    run(mira, clock)
    prompt, given_ids = model.requests[-1].user, last_run().given
    assert given_ids == {
        "events": [first.pk], "awaited": [promise.pk], "questions": [wonders.pk], "thoughts": [noticed.pk],
        "entities": [], "threads": [], "earlier": [],
    }  # fmt: skip
    assert f"[e{promise.pk}] (promise, due 2026-03-08) Mira asks about the port." in prompt
    assert f"[q{wonders.pk}] Who is Omar?" in prompt
    assert "2026-03-05 Thu" in prompt
    assert all(node.description not in prompt for node in (old, settled, hidden))
    assert "web" not in prompt.split()


def test_what_does_not_fit_waits_for_the_next_run_and_nothing_is_given_twice(
    mira: Persona, model: Script, clock: Clock, remember: Remember, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"slow_cycle.run_tokens": 4_000}
    memories = [remember(mira, f"{number} " + "apples and pears " * 40) for number in range(20)]
    given_keys: list[str] = []
    runs = 0
    request_cycle(mira, clock.now)
    while slow_cycle_runner.run(mira.pk, clock) == Outcome.DONE:
        assert context.cost(model.requests[-1]) <= 4_000
        given_keys += [item["id"] for item in prompt_events(model)]
        clock.forward(minutes=31)
        runs += 1
    assert runs > 1
    assert given_keys == [key(node) for node in memories]
    assert SlowCycle.objects.get().requested_at is None


def test_a_run_keeps_within_its_tokens_however_much_is_known(
    mira: Persona, model: Script, clock: Clock, remember: Remember, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"slow_cycle.run_tokens": 4_000, "slow_cycle.answer_tokens": 2_000}
    mira.language = "zh"
    mira.save()
    for kind in ("thought", "expectation", "intention", "event"):
        for number in range(6):
            remember(mira, f"{number}" + "沧海桑田" * 480, kind=kind)
    assert run(mira, clock) == Outcome.DONE
    assert len(prompt_events(model)) == 1
    assert context.cost(model.requests[-1]) <= 4_000


def test_what_an_archive_brings_from_long_ago_is_not_wondered_about(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    interview(remember, mira)
    run(mira, clock)
    clock.forward(minutes=31)
    long_ago = clock.now - timedelta(days=400)
    remember(mira, "Ana went to school.", import_uuid=mira.uuid, created_at=long_ago)
    late = remember(mira, "Ana told of it late.", created_at=long_ago)
    run(mira, clock)
    assert [item["id"] for item in prompt_events(model)] == [key(late)]


# The last two are the nights in which clocks change in Los Angeles.
NIGHTS = ("2026-03-05T00:00:30", "2026-03-05T23:59:30", "2026-03-08T02:59:30", "2026-11-01T01:30:00")
ZONES = ("Asia/Shanghai", "UTC", "America/Los_Angeles")


@pytest.mark.parametrize(
    ("night", "zone"),
    [
        pytest.param(night, zone, marks=[pytest.mark.campaign] * (column != min(row, 2)))
        for row, night in enumerate(NIGHTS)
        for column, zone in enumerate(ZONES)
    ],
)
def test_an_event_of_a_minute_ago_is_seen_and_none_is_seen_twice(
    mira: Persona, model: Script, remember: Remember, night: str, zone: str
) -> None:
    mira.timezone = zone
    mira.save()
    clock = Clock(datetime.fromisoformat(night).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC))
    seen_keys: list[str] = []
    for number in range(6):
        node = remember(mira, f"Ana tells story {number}.", created_at=clock.now - timedelta(minutes=1))
        assert run(mira, clock) == Outcome.DONE
        new_keys = [item["id"] for item in prompt_events(model)]
        assert key(node) in new_keys
        seen_keys += new_keys
        clock.forward(minutes=30)
    assert len(seen_keys) == len(set(seen_keys)) == 6


def test_a_clock_that_was_set_back_stops_nothing(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    interview(remember, mira)
    run(mira, clock)
    clock.now -= timedelta(days=30)
    node = remember(mira, "Ana has a cat named Milo.", created_at=clock.now)
    assert run(mira, clock) == Outcome.DONE
    assert [item["id"] for item in prompt_events(model)] == [key(node)]


# --- checks of an answer --------------------------------------------------------------------------------------------
def test_every_item_stands_by_itself(mira: Persona, model: Script, clock: Clock, remember: Remember) -> None:
    waits = remember(mira, "The port calls Ana.", kind="expectation")
    node = interview(remember, mira)
    model.answers(
        answer(
            thoughts=[
                thought("Ana hopes.", node, "e999999"),
                thought("unfounded", "e999999"),
                thought("resting on what is awaited alone", waits),
                {"description": "without the rest"},
            ],
            expectations=[
                expectation("late", "2026-03-04", node),
                expectation("Today it rains.", "2026-03-05", node),
                expectation("One day she sails.", "some day", node),
                expectation("too many by one", None, node),
                expectation("unfounded", None),
            ],
            salient_questions=[question("Who called her?", node), question("unfounded?", "e999999")],
            outcomes=[
                outcome("e999999", "fulfilled", node),
                outcome(waits, "maybe", node),
                outcome(waits, "fulfilled", "e999999"),
                outcome(waits, " Fulfilled", node),
                outcome(waits, "violated", node),
                outcome(node, "violated", node),
            ],
            answered_questions=[{"question": "q77", "by": key(node)}],
        )
    )
    assert run(mira, clock) == Outcome.DONE
    rows = ConceptNode.objects.filter(source="slow_cycle").order_by("id").values_list("description", "event_time_end")
    assert list(rows) == [("Ana hopes.", None), ("Today it rains.", date(2026, 3, 5)), ("One day she sails.", None)]
    assert list(Question.objects.values_list("text", flat=True)) == ["Who called her?"]
    waits.refresh_from_db()
    assert (waits.outcome, waits.resolved_by, waits.resolved_at) == ("fulfilled", node, clock.now)
    assert sorted(dropped_items()) == sorted(
        [
            *[("item", "unreadable")] * 2,
            *[("thought", "no_ground")] * 2,
            ("expectation", "past_due"), ("expectation", "too_many"), ("expectation", "no_ground"),
            ("question", "no_ground"),
            ("outcome", "unknown"), ("outcome", "no_ground"), ("outcome", "said_twice"), ("outcome", "unknown"),
            ("answer", "unknown"),
        ]
    )  # fmt: skip
    assert last_run().dropped == len(dropped_items())


def test_today_is_a_day_of_the_owners_zone(mira: Persona, model: Script, remember: Remember) -> None:
    """In Shanghai it is already the sixth."""
    clock = Clock(datetime(2026, 3, 5, 20, tzinfo=UTC))
    node = interview(remember, mira)
    model.answers(
        answer(expectations=[expectation("past", "2026-03-05", node), expectation("now", "2026-03-06", node)])
    )
    run(mira, clock)
    assert ConceptNode.objects.get(source="slow_cycle").description == "now"


def test_open_questions_return_in_each_run_until_settled(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    node = interview(remember, mira)
    model.answers(answer(salient_questions=[question("Who called her?", node), question("Did it rain?", node)]))
    run(mira, clock)
    who, rain = Question.objects.order_by("id")
    clock.forward(minutes=31)
    answering = remember(mira, "Captain Li called Ana.")
    model.answers(
        answer(
            answered_questions=[{"question": f"q{who.pk}", "by": key(answering)}],
            salient_questions=[question("who called her", answering), question("Did it rain??", answering)],
        )
    )
    run(mira, clock)
    assert [item["text"] for item in model.requests[-1].material["questions"]] == ["Did it rain?", "Who called her?"]
    who.refresh_from_db()
    assert (who.status, who.answered_by, who.settled_at) == ("answered", answering, clock.now)
    assert dropped_items() == [("question", "asked_before")] * 2

    clock.forward(days=15)
    remember(mira, "Ana sails.")
    run(mira, clock)
    assert model.requests[-1].material["questions"] == []
    rain.refresh_from_db()
    assert (rain.status, rain.settled_at) == ("dropped", clock.now)


def test_the_same_expectation_may_come_again_once_it_was_settled(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    node = interview(remember, mira)
    model.answers(answer(expectations=[expectation("The port calls Ana.", None, node)]))
    run(mira, clock)
    first = ConceptNode.objects.get(source="slow_cycle")
    open_items.settle(first, "fulfilled", None, clock.now)
    clock.forward(minutes=31)
    again = remember(mira, "Ana had another interview.")
    model.answers(answer(expectations=[expectation("The port calls Ana.", None, again)]))
    run(mira, clock)
    second = ConceptNode.objects.get(source="slow_cycle", outcome="open")
    assert second != first


def test_a_thought_told_again_in_the_same_words_is_one_thought(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    for number in range(2):
        node = remember(mira, f"Ana sings song {number}.")
        model.answers(answer(thoughts=[thought("Ana hums when she is alone.", node)]))
        run(mira, clock)
        clock.forward(minutes=31)
    memory = ConceptNode.objects.get(source="slow_cycle")
    assert (memory.mention_count, memory.filling.count()) == (2, 2)
    assert last_run().made == [{"kind": "thought", "id": memory.pk, "outcome": "repeated"}]


# --- forgetting and archiving during a run --------------------------------------------------------------------------
def test_what_is_forgotten_while_the_model_thinks_leaves_nothing(
    mira: Persona, model: Script, clock: Clock, remember: Remember, meanwhile: Any
) -> None:
    node, stays = interview(remember, mira), remember(mira, "Ana has a cat named Milo.")

    model.answers(
        answer(thoughts=[thought("The port made Ana glow.", node)], salient_questions=[question("Which port?", node)])
    )
    meanwhile(lambda: forget(node, clock))
    assert run(mira, clock) == Outcome.NOT_MINE
    assert not ModelReply.objects.exists()
    assert not SlowCycleRun.objects.exists()
    assert not Question.objects.exists()
    assert slow_cycle_requests.requeue_stale(clock.now) == 1
    assert slow_cycle_runner.run(mira.pk, clock) == Outcome.DONE
    assert [item["id"] for item in prompt_events(model)] == [key(stays)]


def test_what_is_put_away_while_the_model_thinks_is_no_ground(
    mira: Persona, model: Script, clock: Clock, remember: Remember, meanwhile: Any
) -> None:
    waits = remember(mira, "The port calls Ana.", kind="expectation")
    node, stays = interview(remember, mira), remember(mira, "Ana has a cat named Milo.")
    run_before = SlowCycleRun.objects.create(
        persona=mira, reason="first", outcome="done", at=clock.now - timedelta(days=1)
    )
    wonders = questions.keep(run_before.persona, "Did they call?", [stays], clock.now, run_before)
    assert wonders

    model.answers(
        answer(
            thoughts=[thought("on both", node, stays), thought("on one", node)],
            salient_questions=[question("on one?", node)],
            outcomes=[outcome(waits, "fulfilled", node)],
            answered_questions=[{"question": f"q{wonders.pk}", "by": key(node)}],
        )
    )
    meanwhile(lambda: actions.hide(node))
    assert run(mira, clock) == Outcome.DONE
    memory = ConceptNode.objects.get(source="slow_cycle")
    assert (memory.description, memory.filling.get().child) == ("on both", stays)
    assert sorted(dropped_items()) == [(kind, "no_ground") for kind in ("answer", "outcome", "question", "thought")]


def test_a_question_goes_with_what_it_rests_on(mira: Persona, model: Script, clock: Clock, remember: Remember) -> None:
    node = interview(remember, mira)
    model.answers(answer(salient_questions=[question("Which port?", node)]))
    run(mira, clock)
    forget(node, clock)
    assert not Question.objects.exists()
    assert SlowCycleRun.objects.count() == 1


def test_what_was_forgotten_is_not_thought_or_asked_again(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    node = interview(remember, mira)
    tombstones.add_tombstone(mira, "Ana loved the old harbour at night.")
    tombstones.add_tombstone(mira, "Does Ana still love the old harbour?")
    tombstones.add_tombstones(
        mira, [TombstoneSource("name", "Tom"), TombstoneSource("name", "李明"), TombstoneSource("name", "Ana")]
    )
    model.answers(
        answer(
            thoughts=[
                thought("Ana loved the old harbour at night!", node),
                thought("Ana thinks of Tom.", node),
                thought("安娜想着李明。", node),
            ],
            salient_questions=[
                question("Does Ana still love the old harbour?", node),
                question("Where is Tom?", node),
                question("What does Ana do tomorrow?", node),
            ],
        )
    )
    run(mira, clock)
    assert not ConceptNode.objects.filter(source="slow_cycle").exists()
    assert [item.text for item in Question.objects.all()] == ["What does Ana do tomorrow?"]
    assert dropped_items() == [*[("thought", "forgotten")] * 3, *[("question", "forgotten")] * 2]


def test_a_name_is_looked_for_in_whatever_could_be_one() -> None:
    assert {"Tom", "Tom Lee", "Tom Lee Smith"} <= set(perhaps_names("He met Tom Lee Smith."))
    assert {"李明", "李明明"} <= set(perhaps_names("她见了李明明。"))


# --- failures -------------------------------------------------------------------------------------------------------
def test_a_fault_that_may_pass_is_waited_for_and_given_up_in_the_end(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    interview(remember, mira)
    request_cycle(mira, clock.now)
    model.answers(*[TIRED] * 5)
    pauses = []
    for _ in range(4):
        assert slow_cycle_runner.run(mira.pk, clock) == Outcome.LATER
        assert slow_cycle_runner.run(mira.pk, clock) == Outcome.NOT_MINE
        until = SlowCycle.objects.get().lease_until
        assert until
        pauses.append((until - clock.now).total_seconds() / 60)
        clock.now = until + timedelta(seconds=1)
    assert pauses == [1, 4, 16, 40]
    assert slow_cycle_runner.run(mira.pk, clock) == Outcome.FAILED
    assert (last_run().failure, last_run().made) == ("rate_limited", [])


def test_a_spent_budget_is_nobodys_fault(mira: Persona, model: Script, clock: Clock, remember: Remember) -> None:
    interview(remember, mira)
    model.answers(*[LLMError("spent", code="budget_exhausted", permanent=False, retry_after=7_200.0)] * 6)
    for _ in range(6):
        assert run(mira, clock) == Outcome.LATER
        clock.forward(hours=2, seconds=1)
    assert run(mira, clock) == Outcome.DONE


def test_a_fault_that_nobody_foresaw_is_logged_without_words_and_given_up_in_the_end(
    mira: Persona, model: Script, clock: Clock, remember: Remember, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    memory = interview(remember, mira)
    request_cycle(mira, clock.now)

    def fails(*_: Any) -> Any:
        raise RuntimeError(memory.description)

    monkeypatch.setattr(persist, "fresh_events", fails)
    for _ in range(job_knobs.attempts() - 1):
        assert slow_cycle_runner.run(mira.pk, clock) == Outcome.LATER
        clock.forward(hours=1)
    assert slow_cycle_runner.run(mira.pk, clock) == Outcome.FAILED
    assert last_run().failure == "RuntimeError"
    assert "at the port" not in caplog.text
    assert len(model.requests) == 1  # the reply was stored
    assert not ModelReply.objects.exists()


def test_wanted_again_while_the_model_thinks_it_stays_wanted(
    mira: Persona, model: Script, clock: Clock, remember: Remember, meanwhile: Any
) -> None:
    interview(remember, mira)
    session = talk(mira, "hm", at=NOW, status=Session.Status.CLOSED)

    def goes_on() -> None:
        remember(mira, "Ana has a cat named Milo.")
        assert slow_cycle_requests.request_run(session, clock.now + timedelta(seconds=5))

    meanwhile(goes_on)
    assert run(mira, clock) == Outcome.DONE
    cycle = SlowCycle.objects.get()
    assert (cycle.requested_by, cycle.holder) == (session, "")
    clock.forward(minutes=31)
    assert tasks.slow_cycle(mira.pk) in ("done", "not_now")


def test_two_workers_do_not_think_at_once(
    mira: Persona, model: Script, clock: Clock, remember: Remember, meanwhile: Any
) -> None:
    interview(remember, mira)
    others: list[Outcome] = []
    meanwhile(lambda: others.append(slow_cycle_runner.run(mira.pk, clock)))
    assert run(mira, clock) == Outcome.DONE
    assert others == [Outcome.NOT_MINE]
    assert len(model.requests) == 1


def test_what_the_owner_wants_left_alone_is_not_wondered_about(
    mira: Persona, remember: Remember, model: Script, clock: Clock
) -> None:
    call = remember(mira, "Ana called her father and went to the gym.")
    add_lesson(mira, Wish("never ask about my father", "topic", "my father", is_boundary=True), clock.now)
    model.answers(
        answer(
            salient_questions=[question("How is her dad?", call), question("Which gym does she like?", call)],
            thoughts=[thought("Ana grows quiet when her father calls.", call), thought("Ana likes the gym.", call)],
            expectations=[expectation("Her father may visit.", None, call)],
        )
    )
    assert run(mira, clock) == Outcome.DONE
    assert "never ask about my father" in model.requests[-1].user
    assert list(Question.objects.values_list("text", flat=True)) == ["Which gym does she like?"]
    assert not ConceptNode.objects.filter(source="slow_cycle", description__contains="ather").exists()
    assert sorted(dropped_items()) == [
        ("expectation", "left_alone"),
        ("question", "left_alone"),
        ("thought", "left_alone"),
    ]


def test_a_question_from_before_a_boundary_is_asked_no_more(
    mira: Persona, remember: Remember, model: Script, clock: Clock
) -> None:
    call = remember(mira, "Ana called her father.")
    model.answers(answer(salient_questions=[question("How is her father?", call)]))
    run(mira, clock)
    assert questions.open_questions(mira, clock.now).count() == 1
    lesson = add_lesson(mira, Wish("never ask about my father", "topic", "my father", is_boundary=True), clock.now)
    assert questions.open_questions(mira, clock.now).count() == 0
    actions.hide(lesson)
    assert questions.open_questions(mira, clock.now).count() == 1
