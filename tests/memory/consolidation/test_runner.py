"""The runner: after a death it finishes the job and duplicates nothing; failures show; nothing runs twice."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django_q.models import OrmQ

from chat.models import Session
from chat.sessions import close
from echovessel.embeddings import embedding
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.jobs import knobs, lease
from echovessel.jobs.lease import LeaseLost
from echovessel.llm import LLMError
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory import tasks
from memory.consolidation import apply as consolidation_apply
from memory.consolidation import extraction as extraction_step
from memory.consolidation import reflection, runner
from memory.consolidation.runner import Outcome
from memory.models import (
    ConceptNode,
    Entity,
    Evidence,
    Extraction,
    ModelReply,
)
from persona.models import MoodChange, Persona
from tests.memory.consolidation.test_facts import fact, loop
from tests.memory.deaths import Killed, Trial, dies_at, remains, same_wherever_it_dies, undone
from tests.memory.sessions import NOW, Clock, event, extraction, talk, thought, turn
from tests.scripted import Script

# So long that two sentences about it are alike by their words.
CAT = "Ana has a grey cat with white paws, green eyes, a long tail and a red collar who sleeps near the kitchen window"


def answer(request: Any) -> Any:
    """The same answer for the same request."""
    if request.purpose == "reflection":
        return {"thoughts": [thought("A quiet impression of Milo.", [request.material["events"][0]["id"]])]}
    messages = [message for message in request.material["lines"] if message["role"] == "user"]
    quotes = [{"message_id": message["id"], "quote": message["content"]} for message in messages]
    return extraction(
        [
            event(f"{CAT}, named Milo.", quotes[0]),
            event(f"{CAT}, called Milo.", quotes[1]),
            event("Ana's mother Noor died.", quotes[2], emotional_impact=-9),
        ],
        mentioned_entities=[
            {"canonical_name": "Milo", "aliases": [], "kind": "pet", "in_events": [0, 1]},
            {"canonical_name": "Noor", "aliases": [], "kind": "person", "in_events": [2]},
        ],
        facts=[
            fact(f"{CAT}.", quotes[0], domain="belongings"),
            fact("Noor was Ana's mother.", quotes[2], domain="people", whose="Noor"),
        ],
        open_loops=[loop("Ana will tell of Milo.", quotes[1])],
    )


def create_session(persona: Persona) -> Session:
    return talk(persona, "I have a cat named Milo.", "> Sweet!", "Milo, yes.", "My mother Noor died.")


def script_answers(model: Script) -> None:
    model.structured[:] = [answer] * 50


@pytest.mark.parametrize("stride", [131, pytest.param(1, marks=pytest.mark.campaign)])
def test_killed_before_any_statement_it_finishes_the_job_and_doubles_nothing(
    mira: Persona, model: Script, stride: int
) -> None:
    def try_out(statement: int) -> Trial:
        with undone():
            session, mine = create_session(mira), Clock()
            script_answers(model)
            died = dies_at(statement, lambda: runner.run(session.pk, mine))
            for _ in range(2):
                mine.forward(seconds=601)
                runner.run(session.pk, mine)
            return remains(session), died

    undisturbed, _ = try_out(0)
    assert undisturbed["session"][0] == "closed"
    assert len(undisturbed["nodes"]) == 6
    assert [call[0] for call in undisturbed["ledger"]] == ["extraction", "reflection"]
    assert same_wherever_it_dies(try_out, stride) > 60


def test_only_one_of_two_workers_gets_a_session(mira: Persona, clock: Clock) -> None:
    session = create_session(mira)
    assert runner.acquire(session.pk, clock) is not None
    assert runner.acquire(session.pk, clock) is None
    clock.forward(seconds=601)
    assert runner.acquire(session.pk, clock) is not None


def test_who_lost_the_lease_stops_and_closes_nothing(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = create_session(mira)
    apply = consolidation_apply.apply

    def slow(claim: Any) -> Any:
        later = Clock(clock.now + timedelta(seconds=700))
        assert runner.acquire(session.pk, later) is not None
        return apply(claim)

    script_answers(model)
    monkeypatch.setattr(consolidation_apply, "apply", slow)
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    session.refresh_from_db()
    assert (session.status, session.attempts) == ("consolidating", 2)
    assert not ConceptNode.objects.exists()


@pytest.mark.parametrize("status", ["collecting", "running"])
def test_a_reply_in_flight_is_waited_for(mira: Persona, model: Script, clock: Clock, status: str) -> None:
    session = create_session(mira)
    waiting = turn(session, status)
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    assert runner.requeue_stale(clock.now) == 0
    waiting.status = "failed"
    waiting.save()
    assert runner.requeue_stale(clock.now) == 1
    assert runner.run(session.pk, clock) == Outcome.CLOSED


def test_a_fault_that_may_pass_is_tried_five_times_in_about_an_hour(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    start = clock.now
    for attempt in range(1, 6):
        model.structured[:] = [LLMError("busy", code="rate_limited", permanent=False)]
        outcome = runner.run(session.pk, clock)
        session.refresh_from_db()
        if attempt < 5:
            assert (outcome, session.status) == (Outcome.LATER, "closing")
            assert runner.run(session.pk, clock) == Outcome.NOT_MINE
            assert runner.requeue_stale(clock.now) == 0
            clock.now = session.lease_until + timedelta(seconds=1)
            assert runner.requeue_stale(clock.now) == 1
    assert (outcome, session.status) == (Outcome.FAILED, "failed")
    assert "extraction: busy" in session.failure
    assert timedelta(minutes=55) < clock.now - start < timedelta(minutes=70)
    assert OutboxEvent.objects.filter(name="chat.session.boundary", data__failed=True).count() == 1


def test_a_fault_that_passed_leaves_no_trace(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    model.structured[:] = [LLMError("slow", code="timeout", permanent=False)]
    assert runner.run(session.pk, clock) == Outcome.LATER
    clock.forward(minutes=2)
    script_answers(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    session.refresh_from_db()
    assert session.failure == ""


def test_a_permanent_fault_fails_at_once_and_a_retry_succeeds(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    model.structured[:] = [LLMError("no such model", code="provider_unavailable", permanent=True)]
    assert runner.run(session.pk, clock) == Outcome.FAILED
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    assert not ConceptNode.objects.exists()
    assert runner.retry(session)
    script_answers(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert not runner.retry(session)


def test_an_unreadable_answer_fails_visibly_and_its_words_are_kept(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    model.structured[:] = ["I would rather not.", "My secret answer."]
    assert runner.run(session.pk, clock) == Outcome.FAILED
    session.refresh_from_db()
    assert session.failure.startswith("extraction: ")
    assert "secret" not in session.failure
    replies = ModelReply.objects.values_list("number", "text")
    assert list(replies) == [(0, "I would rather not."), (1, "My secret answer.")]
    runner.retry(session)
    script_answers(model)
    runner.run(session.pk, clock)
    assert not ModelReply.objects.exists()


@pytest.mark.real_embeddings
def test_a_failing_reflection_leaves_all_else_and_a_retry_adds_only_the_thoughts(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = create_session(mira)
    model.structured[:] = [answer, LLMError("no", code="content_refused", permanent=True)]
    assert runner.run(session.pk, clock) == Outcome.FAILED
    before = remains(session)
    assert before["session"][2].startswith("reflection: ")
    assert (len(before["nodes"]), MoodChange.objects.count(), Entity.objects.count()) == (5, 1, 2)
    runner.retry(session)
    script_answers(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    after = remains(session)
    assert len(after["nodes"]) == 6
    assert [after[key] for key in ("evidence", "entities")] == [before[key] for key in ("evidence", "entities")]


def test_a_missing_embedding_model_fails_with_its_words(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_to_embed(texts: Any, **_: Any) -> Any:
        raise EmbeddingUnavailable("the embedding model's file is missing: model.safetensors")

    session = create_session(mira)
    script_answers(model)
    with monkeypatch.context() as patched:
        patched.setattr(embedding, "embed", fail_to_embed)
        assert runner.run(session.pk, clock) == Outcome.FAILED
    session.refresh_from_db()
    assert "model.safetensors" in session.failure
    assert Extraction.objects.count() == 1
    runner.retry(session)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert [request.purpose for request in model.requests] == ["extraction", "reflection"]


def test_a_fault_that_nobody_foresaw_is_tried_again_and_then_seen(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    words = " ".join(["what", "Ana", "said"])

    def fail_to_apply(*args: Any) -> None:
        raise ZeroDivisionError(words)

    session = create_session(mira)
    script_answers(model)
    with monkeypatch.context() as patched:
        patched.setattr(consolidation_apply, "apply", fail_to_apply)
        for _ in range(4):
            assert runner.run(session.pk, clock) == Outcome.LATER
            session.refresh_from_db()
            assert (session.status, session.failure) == ("closing", "")
            assert session.lease_until is not None
            assert session.lease_until > clock.now
            clock.now = session.lease_until + timedelta(seconds=1)
        assert runner.run(session.pk, clock) == Outcome.FAILED
    session.refresh_from_db()
    assert (session.status, session.failure) == ("failed", "applying: ZeroDivisionError")
    assert "ZeroDivisionError" in caplog.text
    assert words not in caplog.text
    assert len([request for request in model.requests if request.purpose == "extraction"]) == 1
    assert runner.retry(session)
    assert runner.run(session.pk, clock) == Outcome.CLOSED


def test_a_retry_asks_anew_for_what_was_never_made_use_of(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    Extraction.objects.create(session=session, chunk=0, through=session.messages.last().pk, answer={"events": "poison"})
    for _ in range(5):
        assert runner.run(session.pk, clock) in (Outcome.LATER, Outcome.FAILED)
        clock.forward(hours=1)
    assert runner.retry(session)
    assert not Extraction.objects.exists()
    script_answers(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert ConceptNode.objects.filter(kind="event").exists()


def test_a_retry_pays_for_no_piece_twice_that_was_read(
    mira: Persona, model: Script, clock: Clock, settings: Any
) -> None:
    settings.KNOBS |= {"consolidate.chunk_tokens": 200, "consolidate.chunk_overlap_lines": 0}
    session = talk(mira, *[f"Line {number}. " + "I talk and talk. " * 40 for number in range(3)])
    model.answers(extraction(), extraction())
    model.structured.append(LLMError("no", code="content_refused", permanent=True))
    assert runner.run(session.pk, clock) == Outcome.FAILED
    model.answers(extraction())
    assert runner.retry(session)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert [request.purpose for request in model.requests] == ["extraction"] * 4


def test_an_answer_with_half_a_character_is_stored_without_it(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    message = session.messages.order_by("id")[0]
    half = {"message_id": f"m{message.pk}", "quote": "a cat named Milo\ud83d"}
    model.answers(json.dumps(extraction([event("Ana has a cat\ud83d.", half)])), {"thoughts": []})
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert ConceptNode.objects.get(kind="event").description == "Ana has a cat."
    assert Evidence.objects.get().quote == "a cat named Milo"


def test_a_worker_of_before_a_retry_holds_nothing_after_it(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    stale = runner.acquire(session.pk, clock)
    assert stale is not None
    Session.objects.filter(pk=session.pk).update(status="failed")
    assert runner.retry(session)
    with pytest.raises(LeaseLost):
        stale.checkpoint()
    fresh = runner.acquire(session.pk, clock)
    assert fresh is not None
    assert (fresh.attempts(), stale.leased_row().exists(), fresh.leased_row().exists()) == (1, False, True)


def test_a_session_that_kills_its_worker_five_times_fails(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*args: Any) -> None:
        raise Killed

    session = create_session(mira)
    script_answers(model)
    monkeypatch.setattr(consolidation_apply, "apply", die)
    for _ in range(5):
        with pytest.raises(Killed):
            runner.run(session.pk, clock)
        clock.forward(seconds=601)
    assert runner.run(session.pk, clock) == Outcome.FAILED
    session.refresh_from_db()
    assert "5 times" in session.failure


def test_poison_is_parked_where_people_see_it_and_the_others_go_on(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    poison, sound = create_session(mira), talk(mira, "I have a dog named Rex.", "> Oh!", "Yes, Rex.", at=clock.now)
    apply = consolidation_apply.apply

    def die(claim: Any) -> Any:
        if claim.row.pk == poison.pk:
            raise Killed
        return apply(claim)

    model.structured[:] = [extraction()] * 9
    monkeypatch.setattr(consolidation_apply, "apply", die)
    outcomes = []
    for _ in range(6):
        clock.forward(seconds=601)
        runner.requeue_stale(clock.now)
        for job in OrmQ.objects.order_by("id"):
            with suppress(Killed):
                outcomes.append(runner.run(job.task["args"][0], clock))
            job.delete()
    assert outcomes == [Outcome.CLOSED, Outcome.FAILED]
    poison.refresh_from_db()
    sound.refresh_from_db()
    assert (poison.status, sound.status) == ("failed", "closed")
    assert len([request for request in model.requests if request.purpose == "extraction"]) == 2


def test_killed_often_but_never_at_the_same_step_it_comes_to_its_end(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    """After each completed step the next one has all its attempts."""
    settings.KNOBS = settings.KNOBS | {"consolidate.chunk_tokens": 200, "consolidate.chunk_overlap_lines": 0}
    session = talk(mira, *["We talked about the weather of Lyon " * 16] * 9)
    model.structured[:] = [extraction()] * 9
    died: list[str] = []

    def then_die(owner: Any, name: str) -> None:
        original = getattr(owner, name)

        def step(*args: Any) -> None:
            original(*args)
            died.append(name)
            raise Killed

        patched.setattr(owner, name, step)

    with monkeypatch.context() as patched:
        then_die(extraction_step, "extract_piece")
        for _ in range(9):
            with pytest.raises(Killed):
                runner.run(session.pk, clock)
            clock.forward(seconds=601)
    assert len(died) > knobs.attempts()
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    session.refresh_from_db()
    assert (session.status, session.attempts) == ("closed", 0)
    assert [request.purpose for request in model.requests] == ["extraction"] * 9


@pytest.mark.parametrize("step", ["extraction.read", "apply.apply", "reflection.reflect"])
def test_tries_are_those_of_the_step_at_hand(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def die(*args: Any) -> None:
        raise Killed

    session = create_session(mira)
    script_answers(model)
    owner, _, name = step.rpartition(".")
    monkeypatch.setattr(getattr(runner, owner), name, die)
    deaths = 0
    while True:
        try:
            assert runner.run(session.pk, clock) == Outcome.FAILED
            break
        except Killed:
            deaths += 1
            clock.forward(seconds=601)
    assert deaths == knobs.attempts()


def test_a_session_of_a_dead_worker_is_taken_up_at_once(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    assert runner.acquire(session.pk, clock) is not None
    assert runner.requeue_stale(clock.now) == 0
    Session.objects.update(holder=f"{lease.HOST}:999999999:gone:1")
    script_answers(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED


def test_the_sweep_requeues_only_sessions_of_dead_workers(mira: Persona, clock: Clock) -> None:
    dead, living, paused = create_session(mira), create_session(mira), create_session(mira)
    for session in (dead, living):
        assert runner.acquire(session.pk, clock) is not None
    Session.objects.filter(pk=dead.pk).update(holder=f"{lease.HOST}:999999999:gone:1")
    Session.objects.filter(pk=paused.pk).update(lease_until=clock.now + timedelta(minutes=5))
    assert runner.requeue_stale(clock.now) == 1
    assert OrmQ.objects.get().task["args"] == (dead.pk,)


def test_a_paused_session_names_its_reason_and_end_once_per_pause(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    model.structured[:] = [LLMError("busy", code="rate_limited", permanent=False)] * 2
    for pauses in (1, 2):
        assert runner.run(session.pk, clock) == Outcome.LATER
        session.refresh_from_db()
        assert session.waiting_for == "provider"
        events = OutboxEvent.objects.filter(name="chat.session.waiting").order_by("id")
        assert events.count() == pauses
        last = events.last()
        assert last is not None
        assert last.data == {
            "session_id": str(session.uuid),
            "reason": "provider",
            "until": session.lease_until.isoformat(),
        }
        assert runner.run(session.pk, clock) == Outcome.NOT_MINE
        clock.now = session.lease_until + timedelta(seconds=1)
    claim = runner.acquire(session.pk, clock)
    assert claim is not None
    assert claim.row.waiting_for == ""


def test_a_spent_budget_is_waited_for_and_costs_no_try(mira: Persona, model: Script, clock: Clock) -> None:
    session = create_session(mira)
    for day in range(7):
        until_midnight = (24 - clock.now.hour) * 3_600.0
        model.structured[:] = [LLMError("spent", code="budget_exhausted", permanent=False, retry_after=until_midnight)]
        assert runner.run(session.pk, clock) == Outcome.LATER, day
        session.refresh_from_db()
        assert (session.status, session.waiting_for, session.attempts) == ("closing", "budget", 0)
        assert session.lease_until == clock.now + timedelta(seconds=until_midnight)
        clock.now = session.lease_until + timedelta(seconds=1)
    assert {row.data["reason"] for row in OutboxEvent.objects.filter(name="chat.session.waiting")} == {"budget"}
    script_answers(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    session.refresh_from_db()
    assert session.waiting_for == ""


def test_an_answer_in_another_language_is_asked_for_once_more_and_then_taken(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = talk(mira, "我养了只白猫，叫小黑。", "> 好可爱！", "是啊。")
    evidence = {"message_id": f"m{session.messages.all()[0].pk}", "quote": "我养了只白猫"}
    foreign = extraction([event("Ana has a white cat.", evidence)], session_summary="A talk about a cat.")
    model.answers(foreign, extraction([event("Ana养了一只白猫。", evidence)], session_summary="聊了猫。"))
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert ConceptNode.objects.get(kind="event").description == "Ana养了一只白猫。"
    first, second, *_ = model.requests
    assert "language of the talk" in second.user
    assert "language of the talk" not in first.user


def test_a_memory_in_the_wrong_language_beats_a_lost_one(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "我养了只白猫，叫小黑。", "> 好可爱！", "是啊。")
    evidence = {"message_id": f"m{session.messages.all()[0].pk}", "quote": "我养了只白猫"}
    foreign = extraction([event("Ana has a white cat.", evidence)], session_summary="A talk about a cat.")
    model.answers(foreign, foreign)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert ConceptNode.objects.get(kind="event").description == "Ana has a white cat."
    assert LLMCall.objects.filter(purpose="extraction").count() == 2


@pytest.mark.real_embeddings
def test_events_and_thoughts_are_counted_once_whatever_was_repeated(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*args: Any, **kwargs: Any) -> None:
        raise Killed

    session = create_session(mira)
    script_answers(model)
    for owner, step in (
        (consolidation_apply, "summarize_session"),
        (reflection.replies, "delete"),
        (runner, "publish_boundary"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(owner, step, die)
            with pytest.raises(Killed):
                runner.run(session.pk, clock)
        clock.forward(seconds=601)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    boundary = OutboxEvent.objects.get(name="chat.session.boundary").data
    assert (boundary["events_count"], boundary["thoughts_count"]) == (2, 1)


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_model_or_embedder_works(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in our connection nor in another one: a write with no timeout succeeds at that moment."""
    worked: list[str] = []
    embed = embedding.embed
    impatient = connection.copy()
    impatient.settings_dict["OPTIONS"] = connection.settings_dict["OPTIONS"] | {"timeout": 0}

    def works(who: str) -> None:
        assert not connection.in_atomic_block, who
        with impatient.cursor() as cursor:
            cursor.execute("UPDATE persona_persona SET timezone = timezone")
            assert cursor.rowcount == 1
        worked.append(who)

    def watched(texts: Any, **how: Any) -> Any:
        works("embedder")
        return embed(texts, **how)

    def listening(request: Any) -> Any:
        with ThreadPoolExecutor(1) as executor:
            executor.submit(works, request.purpose).result()
        return answer(request)

    monkeypatch.setattr(embedding, "embed", watched)
    impatient.inc_thread_sharing()
    model.structured[:] = [listening] * 9
    try:
        assert runner.run(create_session(mira).pk, clock) == Outcome.CLOSED
    finally:
        impatient.close()
    assert [who for who in worked if who != "embedder"] == ["extraction", "reflection"]
    assert worked.count("embedder") >= 2


def test_the_queue_carries_ids_and_the_sweep_does_not_flood_it(mira: Persona, clock: Clock) -> None:
    for hours in range(30):
        talk(mira, "I have a cat.", at=NOW - timedelta(hours=hours))
    assert runner.requeue_stale(clock.now) == 20
    assert runner.requeue_stale(clock.now) == 0
    assert OrmQ.objects.count() == 20
    job = OrmQ.objects.first()
    assert job is not None
    assert job.task["args"] == (Session.objects.order_by("closed_at").values_list("pk", flat=True)[0],)


def test_the_job_finishes_what_closing_handed_over(mira: Persona, model: Script) -> None:
    session = talk(mira, "I have a cat named Milo.", "Milo, yes.", "My mother Noor died.", status="open")
    script_answers(model)
    assert close.close(session, "explicit", NOW)
    job = OrmQ.objects.get().task
    assert (job["func"], job["args"]) == ("memory.tasks.consolidate_session", (session.pk,))
    assert tasks.consolidate_session(session.pk) == "closed"
    assert tasks.consolidate_session(session.pk) == "not_mine"


def run_command(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out, stderr=out)
    return out.getvalue()


def test_by_hand_everything_that_waits_is_done(mira: Persona, model: Script) -> None:
    script_answers(model)
    sessions = [create_session(mira), talk(mira, "hi")]
    assert "1 closed, 1 trivial" in run_command("consolidate", "--all", "--wait")
    assert {Session.objects.get(pk=session.pk).status for session in sessions} == {"closed"}
    assert "nothing is waiting" in run_command("consolidate", "--wait")


def test_by_hand_one_session_by_any_of_its_ids(mira: Persona, model: Script) -> None:
    script_answers(model)
    first, other = create_session(mira), create_session(mira)
    Session.objects.filter(pk=other.pk).update(external_id="s-1")
    run_command("consolidate", "--session", str(first.uuid), "--wait")
    assert [Session.objects.get(pk=session.pk).status for session in (first, other)] == ["closed", "closing"]
    run_command("consolidate", "--session", "s-1")
    assert OrmQ.objects.get().task["args"] == (other.pk,)
    run_command("consolidate", "--session", str(other.pk), "--wait")
    assert Session.objects.get(pk=other.pk).status == "closed"


def test_by_hand_a_failure_is_an_error_and_a_failed_one_is_tried_anew(mira: Persona, model: Script) -> None:
    session = create_session(mira)
    model.structured[:] = [LLMError("no", code="content_refused", permanent=True)]
    with pytest.raises(CommandError, match="1 failed"):
        run_command("consolidate", "--wait")
    script_answers(model)
    assert "1 closed" in run_command("consolidate", "--session", str(session.pk), "--wait")


def test_retry_failed_requeues_failed_sessions(mira: Persona, otto: Persona, model: Script) -> None:
    sessions = [create_session(mira), create_session(mira), create_session(otto)]
    waiting = create_session(mira)
    Session.objects.exclude(pk=waiting.pk).update(status="failed", failure="no", attempts=5)
    assert "again: 1" in run_command("retry_failed", "--session", str(sessions[0].uuid))
    assert "again: 1" in run_command("retry_failed", "--persona", str(otto.uuid))
    assert [job.task["args"][0] for job in OrmQ.objects.order_by("id")] == [sessions[0].pk, sessions[2].pk]
    script_answers(model)
    output = run_command("retry_failed", "--wait")
    assert "again: 1" in output
    assert "1 closed" in output
    statuses = [Session.objects.get(pk=session.pk).status for session in (*sessions, waiting)]
    assert statuses == ["closing", "closed", "closing", "closing"]
    assert "again: 0" in run_command("retry_failed")


def test_retry_failed_exits_with_an_error_when_a_session_fails_again(mira: Persona, model: Script) -> None:
    session = create_session(mira)
    Session.objects.update(status="failed")
    model.structured[:] = [LLMError("no", code="content_refused", permanent=True)]
    with pytest.raises(CommandError, match="1 failed"):
        run_command("retry_failed", "--wait")
    assert Session.objects.get(pk=session.pk).status == "failed"


def test_by_hand_a_session_that_is_held_is_not_taken_from_its_worker(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = create_session(mira)
    claim = runner.acquire(session.pk, clock)
    assert claim is not None
    Session.objects.update(status="closing")
    run_command("consolidate", "--session", str(session.pk))
    claim.checkpoint()
    assert claim.leased_row().filter(lease_until__gt=clock.now).exists()


@pytest.mark.parametrize("who", ["nobody", "5f0f7c1e-0000-4000-8000-000000000000"])
def test_by_hand_an_unknown_persona_is_an_error(mira: Persona, who: str) -> None:
    with pytest.raises(CommandError):
        run_command("retry_failed", "--persona", who)


def test_by_hand_a_pause_is_waited_for(mira: Persona, model: Script, settings: Any) -> None:
    settings.KNOBS = settings.KNOBS | {"consolidate.backoff_seconds": 1, "consolidate.worker_poll_seconds": 1}
    create_session(mira)
    model.structured[:] = [LLMError("busy", code="rate_limited", permanent=False), *[answer] * 3]
    assert "1 closed" in run_command("consolidate", "--wait")


@pytest.mark.parametrize("command", ["consolidate", "retry_failed"])
def test_by_hand_tomorrows_budget_is_not_waited_for_and_it_says_so(mira: Persona, model: Script, command: str) -> None:
    session = create_session(mira)
    if command == "retry_failed":
        Session.objects.update(status="failed")
    spent = LLMError("spent", code="budget_exhausted", permanent=False, retry_after=3_600)
    model.structured[:] = [spent]
    output = run_command(command, "--wait")
    assert "waiting for tomorrow's budget: 1" in output
    assert "reply" not in output
    assert Session.objects.get(pk=session.pk).status == "closing"


@pytest.mark.parametrize("reference", ["nonsense", "424242", "5f0f7c1e-0000-4000-8000-000000000000"])
def test_by_hand_an_unknown_session_is_an_error(mira: Persona, reference: str) -> None:
    with pytest.raises(CommandError, match="No session"):
        run_command("consolidate", "--session", reference)


def test_by_hand_an_open_session_is_not_touched(mira: Persona) -> None:
    session = talk(mira, "hi", status="open")
    with pytest.raises(CommandError, match="still open"):
        run_command("consolidate", "--session", str(session.pk))
