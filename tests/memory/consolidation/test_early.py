"""Early consolidation: the owner asked to remember the messages so far, and the session goes on."""

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django_q.models import OrmQ

from chat.messages import add_message
from chat.models import Message, Session, Turn
from chat.sessions import close
from chat.turns import turn as turns
from echovessel.embeddings import embedding
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.jobs import lease
from echovessel.jobs.lease import Lease
from echovessel.llm import LLMError
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory import tasks
from memory.consolidation import apply as consolidation_apply
from memory.consolidation import requests, runner
from memory.consolidation.runner import Outcome
from memory.models import ConceptNode, Evidence, Extraction, ModelReply, ReflectionRun
from persona.models import MoodChange, Persona
from tests.memory.deaths import Killed, Trial, dies_at, remains, same_wherever_it_dies, undone
from tests.memory.sessions import Clock, event, extraction, talk, thought, turn
from tests.scripted import Script


def start_session(persona: Persona, *messages: str) -> Session:
    return talk(persona, *(messages or ("I have a cat named Milo.", "> Sweet!")), status="open")


def say(session: Session, words: str, at: datetime) -> Message:
    role = Message.Role.PERSONA if words.startswith("> ") else Message.Role.USER
    return add_message(session, role, words.removeprefix("> "), at)


def create_answer(mood: str = "warm", summary: str = "") -> Callable[[Any], Any]:
    """An answer with one event for each new message of the user."""

    def answer(request: Any) -> Any:
        if request.purpose == "reflection":
            return {"thoughts": [thought("She is fond of Milo.", [request.material["events"][0]["id"]])]}
        new = [message for message in request.material["lines"] if message["role"] == "user" and not message["read"]]
        events = [
            event(f"Ana said: {message['content']}", {"message_id": message["id"], "quote": message["content"]})
            for message in new
        ]
        return extraction(
            events,
            session_mood_signal={"mood": mood, "energy": 6, "last_user_signal": None},
            session_summary=summary or f"{len(new)} lines.",
        )

    return answer


def new_contents(model: Script) -> list[str]:
    """The contents of the messages that were new in a request, in order, over all requests."""
    return [
        message["content"]
        for request in model.requests
        if request.purpose == "extraction"
        for message in request.material["lines"]
        if not message["read"]
    ]


def events() -> set[str]:
    return set(ConceptNode.objects.filter(kind="event").values_list("description", flat=True))


def lease_state(session: Session) -> tuple[Any, ...]:
    session.refresh_from_db()
    return (
        session.status,
        session.holder,
        session.lease_until,
        session.attempts,
        session.early_consolidation_requested_at,
    )


def test_what_was_said_so_far_is_remembered_and_the_session_goes_on(mira: Persona, model: Script, clock: Clock) -> None:
    session = start_session(mira)
    model.answers(create_answer())
    assert requests.request_early_consolidation(session, clock.now)
    assert OrmQ.objects.get().task["args"] == (session.pk,)
    assert tasks.consolidate_session(session.pk) == "read"
    assert lease_state(session) == ("open", "", None, 0, None)
    assert events() == {"Ana said: I have a cat named Milo."}
    assert (session.summary, session.trivial, MoodChange.objects.count()) == ("1 lines.", False, 1)
    assert not ReflectionRun.objects.exists()
    assert not ModelReply.objects.exists()
    assert not OutboxEvent.objects.filter(name="chat.session.boundary").exists()
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE


def test_even_a_session_that_the_gate_would_drop_is_read_when_somebody_asks(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = start_session(mira, "hi", "> hey")
    model.answers(create_answer())
    requests.request_early_consolidation(session, clock.now)
    assert runner.run(session.pk, clock) == Outcome.READ
    assert new_contents(model) == ["hi", "hey"]


def test_no_message_is_asked_about_twice_and_the_close_reads_the_rest(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = start_session(mira)
    model.structured[:] = [
        create_answer("calm", "Milo."),
        create_answer("sad", "A move."),
        create_answer("glad", "Bread."),
        create_answer(),
    ]
    requests.request_early_consolidation(session, clock.now)
    runner.run(session.pk, clock)
    for words in ("I moved to Lyon.", "I bake bread."):
        clock.forward(minutes=1)
        say(session, words, clock.now)
        requests.request_early_consolidation(session, clock.now)
        if words == "I moved to Lyon.":
            assert runner.run(session.pk, clock) == Outcome.READ
    close.close(session, "explicit", clock.now)
    assert runner.run(session.pk, clock) == Outcome.CLOSED

    assert new_contents(model) == ["I have a cat named Milo.", "Sweet!", "I moved to Lyon.", "I bake bread."]
    context = [message["content"] for message in model.requests[1].material["lines"] if message["read"]]
    assert context == ["I have a cat named Milo.", "Sweet!"]
    assert len(events()) == 3
    session.refresh_from_db()
    assert (session.summary, session.trivial) == ("Milo. A move. Bread.", False)
    mira.refresh_from_db()
    assert mira.episodic_state["mood"] == "glad"
    assert list(MoodChange.objects.order_by("id").values_list("mood", flat=True)) == ["calm", "sad", "glad"]
    boundary = OutboxEvent.objects.get(name="chat.session.boundary").data
    assert (boundary["events_count"], boundary["thoughts_count"]) == (3, 1)
    assert [request.purpose for request in model.requests] == ["extraction"] * 3 + ["reflection"]


def test_messages_that_were_read_are_marked_and_stand_above_the_session(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = start_session(mira)
    model.structured[:] = [create_answer()] * 2
    requests.request_early_consolidation(session, clock.now)
    runner.run(session.pk, clock)
    say(session, "I moved to Lyon.", clock.now)
    requests.request_early_consolidation(session, clock.now + timedelta(seconds=1))
    runner.run(session.pk, clock)
    read, new = re.findall(r"<said>\n(.*?)\n</said>", model.requests[1].user, re.DOTALL)
    assert "Milo" in read
    assert "Lyon" not in read
    assert "Lyon" in new
    assert "Milo" not in new
    assert "<said>" in model.requests[0].user
    assert model.requests[0].user.count("<said>") == 1


def test_an_event_of_messages_that_were_read_is_dropped_and_one_that_adds_to_them_kept(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = start_session(mira)
    first = session.messages.order_by("id")[0]
    model.answers(create_answer())
    requests.request_early_consolidation(session, clock.now)
    runner.run(session.pk, clock)
    second = say(session, "He is five. I love him.", clock.now)
    promise = {"description": "Mira will ask.", "due": "2026-03-06", "evidence": []}
    old = {"message_id": f"m{first.pk}", "quote": "a cat named Milo"}
    model.answers(
        extraction(
            [
                event("Ana keeps a cat.", old),
                event("Milo is five.", old, {"message_id": f"m{second.pk}", "quote": "He is five."}),
            ],
            mentioned_entities=[{"canonical_name": "Milo", "aliases": [], "kind": "pet", "in_events": [1]}],
            intentions=[promise | {"evidence": [{"message_id": f"m{first.pk + 1}", "quote": "Sweet!"}]}],
        )
    )
    requests.request_early_consolidation(session, clock.now + timedelta(seconds=1))
    assert runner.run(session.pk, clock) == Outcome.READ
    assert events() == {"Ana said: I have a cat named Milo.", "Milo is five."}
    assert not ConceptNode.objects.filter(kind="intention").exists()
    assert list(Extraction.objects.values_list("chunk", "dropped")) == [(0, 0), (1, 2)]
    assert set(mira.entities.get().mentions.values_list("node__description", flat=True)) == {"Milo is five."}


def test_without_a_model_nothing_is_made_of_messages_that_were_read(mira: Persona, clock: Clock, settings: Any) -> None:
    settings.LLM_PROVIDER = "offline"
    session = start_session(mira, "My sister Anna lives in Rome.", "> Lovely!")
    requests.request_early_consolidation(session, clock.now)
    runner.run(session.pk, clock)
    before = events()
    assert len(before) == 1
    clock.forward(minutes=1)
    say(session, "hm, nice weather", clock.now)
    requests.request_early_consolidation(session, clock.now)
    runner.run(session.pk, clock)
    assert events() == before
    clock.forward(minutes=1)
    say(session, "My brother Tom lives in Oslo.", clock.now)
    requests.request_early_consolidation(session, clock.now)
    runner.run(session.pk, clock)
    assert len(events() - before) == 1
    assert [row.dropped for row in Extraction.objects.all()] == [0, 0, 0]


def test_the_gate_judges_only_what_was_not_read(mira: Persona, model: Script, clock: Clock) -> None:
    session = start_session(mira)
    model.structured[:] = [create_answer()] * 2
    requests.request_early_consolidation(session, clock.now)
    runner.run(session.pk, clock)
    say(session, "bye", clock.now)
    close.close(session, "explicit", clock.now)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    session.refresh_from_db()
    assert (session.status, session.trivial) == ("closed", False)
    assert [request.purpose for request in model.requests] == ["extraction", "reflection"]


def test_what_was_asked_for_before_the_close_is_read_however_short_it_is(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = start_session(mira, "hi", "> hey")
    requests.request_early_consolidation(session, clock.now)
    close.close(session, "explicit", clock.now)
    model.structured[:] = [create_answer()] * 2
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert new_contents(model) == ["hi", "hey"]
    assert lease_state(session) == ("closed", "", None, 0, None)


def test_replies_recalled_are_counted_once_at_the_close(mira: Persona, model: Script, clock: Clock) -> None:
    node = ConceptNode.objects.create(persona=mira, kind="event", description="x", source="import")
    xray = {"recollections": {"chosen": [{"id": str(node.uuid), "layer": "L3"}]}}
    session = start_session(mira)
    turn(session, "done", xray=xray)
    model.structured[:] = [create_answer()] * 3
    requests.request_early_consolidation(session, clock.now)
    runner.run(session.pk, clock)
    node.refresh_from_db()
    assert node.access_count == 0
    say(session, "I moved to Lyon.", clock.now)
    turn(session, "done", xray=xray)
    close.close(session, "explicit", clock.now)
    runner.run(session.pk, clock)
    node.refresh_from_db()
    assert node.access_count == 2


def test_a_close_in_the_middle_waits_for_the_reader_and_is_handed_over_again(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start_session(mira)
    apply = consolidation_apply.apply

    def meanwhile(claim: Any) -> Any:
        say(session, "I moved to Lyon.", clock.now)
        assert close.close(session, "explicit", clock.now)
        assert runner.run(session.pk, clock) == Outcome.NOT_MINE
        OrmQ.objects.all().delete()
        return apply(claim)

    model.structured[:] = [create_answer()] * 3
    requests.request_early_consolidation(session, clock.now)
    with monkeypatch.context() as patched:
        patched.setattr(consolidation_apply, "apply", meanwhile)
        assert runner.run(session.pk, clock) == Outcome.READ
    assert lease_state(session) == ("closing", "", None, 0, None)
    assert OrmQ.objects.get().task["args"] == (session.pk,)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert new_contents(model) == ["I have a cat named Milo.", "Sweet!", "I moved to Lyon."]


def test_asked_again_in_the_middle_it_is_read_again(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start_session(mira)
    apply = consolidation_apply.apply

    def meanwhile(claim: Any) -> Any:
        clock.forward(seconds=1)
        say(session, "I moved to Lyon.", clock.now)
        assert requests.request_early_consolidation(session, clock.now)
        OrmQ.objects.all().delete()
        return apply(claim)

    model.structured[:] = [create_answer()] * 2
    requests.request_early_consolidation(session, clock.now)
    with monkeypatch.context() as patched:
        patched.setattr(consolidation_apply, "apply", meanwhile)
        assert runner.run(session.pk, clock) == Outcome.READ
    assert OrmQ.objects.count() == 1
    assert runner.run(session.pk, clock) == Outcome.READ
    assert new_contents(model) == ["I have a cat named Milo.", "Sweet!", "I moved to Lyon."]
    assert lease_state(session)[-1] is None


def test_a_reply_in_flight_is_waited_for_and_its_end_hands_over(mira: Persona, model: Script, clock: Clock) -> None:
    session = start_session(mira)
    waiting = turn(session, "collecting")
    requests.request_early_consolidation(session, clock.now)
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    assert runner.requeue_stale(clock.now) == 0
    running = turns.claim(mira.pk, clock.now)
    assert running == waiting
    OrmQ.objects.all().delete()
    turns.finish(running, "Yes.", stopped=False, first_token_at=None, xray={}, now=clock.now)
    assert OrmQ.objects.get().task["args"] == (session.pk,)
    model.answers(create_answer())
    assert runner.run(session.pk, clock) == Outcome.READ
    assert Turn.objects.get().status == "done"


def test_the_sweep_finds_an_early_reading_that_a_dead_worker_left(mira: Persona, model: Script, clock: Clock) -> None:
    session = start_session(mira)
    requests.request_early_consolidation(session, clock.now)
    assert runner.acquire(session.pk, clock) is not None
    assert runner.requeue_stale(clock.now) == 0
    Session.objects.update(holder=f"{lease.HOST}:999999999:gone:1")
    OrmQ.objects.all().delete()
    assert runner.requeue_stale(clock.now) == 1
    model.answers(create_answer())
    assert runner.run(session.pk, clock) == Outcome.READ


def test_killed_with_an_answer_in_hand_it_asks_nobody_again_though_more_was_said(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start_session(mira)
    requests.request_early_consolidation(session, clock.now)
    model.structured[:] = [create_answer("calm", "Milo."), create_answer("glad", "Lyon."), create_answer()]

    def die(*args: Any) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Lease, "checkpoint", die)
        with pytest.raises(Killed):
            runner.run(session.pk, clock)
    assert ModelReply.objects.count() == 1
    say(session, "I moved to Lyon.", clock.now)
    close.close(session, "explicit", clock.now)
    clock.forward(seconds=601)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert new_contents(model) == ["I have a cat named Milo.", "Sweet!", "I moved to Lyon."]
    assert events() == {"Ana said: I have a cat named Milo.", "Ana said: I moved to Lyon."}
    assert LLMCall.objects.filter(purpose="extraction").count() == 2


def test_a_fault_that_may_pass_pauses_and_an_open_session_never_fails(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = start_session(mira)
    requests.request_early_consolidation(session, clock.now)
    for attempt in range(1, 6):
        model.structured[:] = [LLMError("busy", code="rate_limited", permanent=False)]
        outcome = runner.run(session.pk, clock)
        session.refresh_from_db()
        assert (session.status, session.failure) == ("open", "")
        if attempt < 5:
            assert (outcome, session.waiting_for) == (Outcome.LATER, "provider")
            assert runner.run(session.pk, clock) == Outcome.NOT_MINE
            clock.now = session.lease_until + timedelta(seconds=1)
    assert outcome == Outcome.DROPPED
    assert lease_state(session) == ("open", "", None, 0, None)
    assert OutboxEvent.objects.filter(name="chat.session.waiting").count() == 4
    model.structured[:] = [create_answer()] * 2
    close.close(session, "explicit", clock.now)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert len(events()) == 1


def test_answers_that_nobody_can_read_are_asked_for_anew_at_the_close(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = start_session(mira)
    requests.request_early_consolidation(session, clock.now)
    model.structured[:] = ["I would rather not.", "No."]
    assert runner.run(session.pk, clock) == Outcome.DROPPED
    assert not ModelReply.objects.exists()
    model.structured[:] = [create_answer()] * 2
    close.close(session, "explicit", clock.now)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert len(events()) == 1


def test_closed_while_it_fails_the_request_stands_and_the_gate_lets_it_pass(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = start_session(mira, "hi", "> hey")
    requests.request_early_consolidation(session, clock.now)

    def meanwhile(*args: Any) -> None:
        close.close(session, "explicit", clock.now)
        OrmQ.objects.all().delete()
        raise EmbeddingUnavailable("gone")

    model.structured[:] = [create_answer()] * 2
    with monkeypatch.context() as patched:
        patched.setattr(consolidation_apply, "apply", meanwhile)
        assert runner.run(session.pk, clock) == Outcome.DROPPED
    assert lease_state(session)[0] == "closing"
    assert OrmQ.objects.count() == 1
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert new_contents(model) == ["hi", "hey"]
    assert Evidence.objects.count() == 1


def test_what_kills_its_reader_every_time_leaves_the_session_open(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(texts: Any, **_: Any) -> Any:
        raise Killed

    session = start_session(mira)
    requests.request_early_consolidation(session, clock.now)
    model.answers(create_answer())
    monkeypatch.setattr(embedding, "embed", die)
    for _ in range(5):
        with pytest.raises(Killed):
            runner.run(session.pk, clock)
        clock.forward(seconds=601)
    assert runner.run(session.pk, clock) == Outcome.DROPPED
    assert lease_state(session) == ("open", "", None, 0, None)
    assert len(new_contents(model)) == 2


@pytest.mark.parametrize("status", ["closing", "consolidating", "closed", "failed"])
def test_only_an_open_session_can_be_read_early(mira: Persona, clock: Clock, status: str) -> None:
    session = talk(mira, "I have a cat.", status=status)
    assert not requests.request_early_consolidation(session, clock.now)
    assert not OrmQ.objects.exists()


def test_off_the_record_nothing_is_read_early(mira: Persona, model: Script, clock: Clock) -> None:
    session = start_session(mira)
    requests.request_early_consolidation(session, clock.now)
    Session.objects.update(off_the_record=True)
    assert runner.run(session.pk, clock) == Outcome.READ
    assert not model.requests
    assert lease_state(session) == ("open", "", None, 0, None)
    assert not requests.request_early_consolidation(session, clock.now)


@pytest.mark.parametrize("stride", [97, pytest.param(1, marks=pytest.mark.campaign)])
def test_killed_before_any_statement_of_an_early_reading_nothing_is_lost_or_doubled(
    mira: Persona, model: Script, stride: int
) -> None:
    def try_out(statement: int) -> Trial:
        with undone():
            session, mine = start_session(mira), Clock()
            model.structured[:] = [create_answer()] * 9
            model.requests.clear()
            requests.request_early_consolidation(session, mine.now)
            died = dies_at(statement, lambda: runner.run(session.pk, mine))
            for _ in range(2):
                mine.forward(seconds=601)
                runner.run(session.pk, mine)
            say(session, "I moved to Lyon with my sister Noor.", mine.now)
            close.close(session, "explicit", mine.now)
            runner.run(session.pk, mine)
            return remains(session), died

    undisturbed, _ = try_out(0)
    assert undisturbed["session"][0] == "closed"
    assert [call[0] for call in undisturbed["ledger"]] == ["extraction", "extraction", "reflection"]
    assert same_wherever_it_dies(try_out, stride) > 30


def test_a_session_that_is_closed_while_its_reading_waits_says_what_it_waits_for(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = start_session(mira)
    requests.request_early_consolidation(session, clock.now)
    model.structured[:] = [LLMError("spent", code="budget_exhausted", permanent=False, retry_after=3_600.0)]
    assert runner.run(session.pk, clock) == Outcome.LATER
    close.close(session, "explicit", clock.now)
    events = OutboxEvent.objects.filter(name__in=["chat.session.closing", "chat.session.waiting"]).order_by("id")
    assert [row.name for row in events] == ["chat.session.waiting", "chat.session.closing", "chat.session.waiting"]
    assert events[2].data == events[0].data
    clock.forward(seconds=3_601)
    model.structured[:] = [create_answer()] * 2
    assert runner.run(session.pk, clock) == Outcome.CLOSED


def test_a_session_whose_pause_is_over_waits_for_nothing(mira: Persona, model: Script, clock: Clock) -> None:
    session = start_session(mira)
    requests.request_early_consolidation(session, clock.now)
    model.structured[:] = [LLMError("busy", code="rate_limited", permanent=False)]
    runner.run(session.pk, clock)
    clock.forward(hours=2)
    close.close(session, "explicit", clock.now)
    assert OutboxEvent.objects.filter(name="chat.session.waiting").count() == 1
