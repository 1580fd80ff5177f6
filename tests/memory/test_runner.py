"""The runner: killed anywhere it finishes the job and doubles nothing; what fails is seen; nothing runs twice."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django_q.models import OrmQ

from chat import closing
from chat.models import Session
from echovessel import embedding
from echovessel.embedding import EmbeddingUnavailable
from echovessel.llm import LLMError
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory import tasks
from memory.consolidation import applying, runner
from memory.consolidation.runner import Outcome, pause_after
from memory.models import (
    Alias,
    ConceptNode,
    Entity,
    Evidence,
    Extraction,
    Filling,
    Mention,
    NodeText,
    NodeVector,
    ReflectionRun,
    UnreadableAnswer,
)
from persona.models import MoodChange, Persona
from tests.memory.talks import NOW, Clock, event, extraction, talk, thought, turn
from tests.scripted import Script


class Killed(BaseException):
    """The process is gone."""


class Undo(Exception):
    """Ends a try-out whose rows are not to stay."""


def answer(request: Any) -> Any:
    """The same answer for the same request."""
    if request.purpose == "reflection":
        return {"thoughts": [thought("A quiet impression of Milo.", [request.material["events"][0]["id"]])]}
    lines = [line for line in request.material["lines"] if line["role"] == "user"]
    cited = [{"message_id": line["id"], "quote": line["content"]} for line in lines]
    return extraction(
        [
            event("Ana has a cat named Milo.", cited[0]),
            event("Ana has a cat called Milo.", cited[1]),
            event("Ana's mother Noor died.", cited[2], emotional_impact=-9),
        ],
        mentioned_entities=[
            {"canonical_name": "Milo", "aliases": [], "kind": "pet", "in_events": [0, 1]},
            {"canonical_name": "Noor", "aliases": [], "kind": "person", "in_events": [2]},
        ],
    )


def a_talk(persona: Persona) -> Session:
    return talk(persona, "I have a cat named Milo.", "> Sweet!", "Milo, yes.", "My mother Noor died.")


def ready(model: Script) -> None:
    model.structured[:] = [answer] * 50


def remains(session: Session) -> dict[str, Any]:
    """Everything that a consolidation leaves, in a form that two runs can be compared by."""
    session.refresh_from_db()
    return {
        "session": (session.status, session.summary, session.failure, session.trivial),
        "nodes": list(
            ConceptNode.objects.order_by("description").values_list("description", "mention_count", "status")
        ),
        "evidence": sorted(Evidence.objects.values_list("node__description", "quote", "start", "end")),
        "filling": sorted(Filling.objects.values_list("parent__description", "child__description")),
        "entities": sorted(Entity.objects.values_list("canonical_name", "status")),
        "mentions": sorted(Mention.objects.values_list("entity__canonical_name", "node__description")),
        "counts": [one.objects.count() for one in (Alias, NodeVector, NodeText, MoodChange, ReflectionRun, Extraction)],
        "told": Counter(OutboxEvent.objects.values_list("name", flat=True)),
    }


@contextmanager
def killed_at(statement: int) -> Iterator[None]:
    """Dies before the n-th statement reaches the database."""
    seen = 0

    def execute(run: Callable[..., Any], *args: Any) -> Any:
        nonlocal seen
        seen += 1
        if seen == statement:
            raise Killed
        return run(*args)

    with connection.execute_wrapper(execute):
        yield


@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.long)])
def test_killed_before_any_statement_it_finishes_the_job_and_doubles_nothing(
    mira: Persona, model: Script, stride: int
) -> None:
    def try_out(statement: int) -> tuple[dict[str, Any], bool]:
        """What remains after dying at the statement and running again until nothing waits."""
        found: dict[str, Any] = {}
        died = False
        try:
            with transaction.atomic():
                session, mine = a_talk(mira), Clock()
                ready(model)
                try:
                    with killed_at(statement):
                        runner.run(session.pk, mine)
                except Killed:
                    died = True
                for _ in range(2):
                    mine.forward(seconds=601)
                    runner.run(session.pk, mine)
                found = remains(session) | {"calls": LLMCall.objects.count()}
                raise Undo
        except Undo:
            return found, died

    undisturbed, _ = try_out(0)
    assert undisturbed["session"][0] == "closed"
    assert len(undisturbed["nodes"]) == 3
    statement, died = 1, True
    while died:
        found, died = try_out(statement)
        assert found.pop("calls") <= undisturbed["calls"] + 1, statement  # an answer may be lost before it is stored
        assert found == {key: value for key, value in undisturbed.items() if key != "calls"}, statement
        statement += stride
    assert statement > 60


@pytest.mark.parametrize("step", ["extract", "applying.apply", "reflection.reflect", "_close"])
def test_killed_after_a_step_no_answer_is_paid_for_twice(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    owner, _, name = step.rpartition(".")
    where = getattr(runner, owner) if owner else runner
    done = getattr(where, name)

    def then_die(*args: Any, **kwargs: Any) -> None:
        done(*args, **kwargs)
        raise Killed

    session = a_talk(mira)
    ready(model)
    with monkeypatch.context() as patched:
        patched.setattr(where, name, then_die)
        with pytest.raises(Killed):
            runner.run(session.pk, clock)
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    clock.forward(seconds=601)
    runner.run(session.pk, clock)
    session.refresh_from_db()
    assert session.status == "closed"
    assert [request.purpose for request in model.requests] == ["extraction", "reflection"]


def test_only_one_of_two_workers_gets_a_session(mira: Persona, clock: Clock) -> None:
    session = a_talk(mira)
    assert runner.claimed(session.pk, clock) is not None
    assert runner.claimed(session.pk, clock) is None
    clock.forward(seconds=601)
    assert runner.claimed(session.pk, clock) is not None


def test_who_lost_the_lease_stops_and_closes_nothing(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = a_talk(mira)
    apply = applying.apply

    def slow(*args: Any) -> Any:
        later = Clock(clock.now + timedelta(seconds=700))
        assert runner.claimed(session.pk, later) is not None
        return apply(*args)

    ready(model)
    monkeypatch.setattr(applying, "apply", slow)
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    session.refresh_from_db()
    assert (session.status, session.attempts) == ("consolidating", 2)


@pytest.mark.parametrize("status", ["collecting", "running"])
def test_a_reply_in_flight_is_waited_for(mira: Persona, model: Script, clock: Clock, status: str) -> None:
    session = a_talk(mira)
    waiting = turn(session, status)
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    assert tasks.sweep(clock.now) == 0
    waiting.status = "failed"
    waiting.save()
    assert tasks.sweep(clock.now) == 1
    assert runner.run(session.pk, clock) == Outcome.CLOSED


def test_a_fault_that_may_pass_is_tried_five_times_in_about_an_hour(mira: Persona, model: Script, clock: Clock) -> None:
    session = a_talk(mira)
    start = clock.now
    for attempt in range(1, 6):
        model.structured[:] = [LLMError("busy", code="rate_limited", permanent=False)]
        outcome = runner.run(session.pk, clock)
        session.refresh_from_db()
        if attempt < 5:
            assert (outcome, session.status) == (Outcome.LATER, "closing")
            assert runner.run(session.pk, clock) == Outcome.NOT_MINE
            assert tasks.sweep(clock.now) == 0
            clock.now = session.lease_until + timedelta(seconds=1)
            assert tasks.sweep(clock.now) == 1
    assert (outcome, session.status) == (Outcome.FAILED, "failed")
    assert "extraction: busy" in session.failure
    assert timedelta(minutes=55) < clock.now - start < timedelta(minutes=70)
    assert OutboxEvent.objects.filter(name="chat.session.boundary", data__failed=True).count() == 1


def test_pauses_grow_and_respect_the_server() -> None:
    assert [pause_after(attempt).seconds for attempt in (1, 2, 3, 4, 5)] == [60, 240, 960, 2400, 2400]
    assert pause_after(1, 90.5).total_seconds() == 90.5


def test_a_fault_that_passed_leaves_no_trace(mira: Persona, model: Script, clock: Clock) -> None:
    session = a_talk(mira)
    model.structured[:] = [LLMError("slow", code="timeout", permanent=False)]
    assert runner.run(session.pk, clock) == Outcome.LATER
    clock.forward(minutes=2)
    ready(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    session.refresh_from_db()
    assert session.failure == ""


def test_a_permanent_fault_fails_at_once_and_a_retry_succeeds(mira: Persona, model: Script, clock: Clock) -> None:
    session = a_talk(mira)
    model.structured[:] = [LLMError("no such model", code="provider_unavailable", permanent=True)]
    assert runner.run(session.pk, clock) == Outcome.FAILED
    assert runner.run(session.pk, clock) == Outcome.NOT_MINE
    assert not ConceptNode.objects.exists()
    assert runner.retry(session)
    ready(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert not runner.retry(session)


def test_an_unreadable_answer_fails_visibly_and_its_words_are_kept(mira: Persona, model: Script, clock: Clock) -> None:
    session = a_talk(mira)
    model.structured[:] = ["I would rather not.", "My secret answer."]
    assert runner.run(session.pk, clock) == Outcome.FAILED
    session.refresh_from_db()
    assert session.failure.startswith("extraction: ")
    assert "secret" not in session.failure
    assert UnreadableAnswer.objects.get().raw == "My secret answer."
    runner.retry(session)
    ready(model)
    runner.run(session.pk, clock)
    assert not UnreadableAnswer.objects.exists()


def test_a_failing_reflection_leaves_all_else_and_a_retry_adds_only_the_thoughts(
    mira: Persona, model: Script, clock: Clock
) -> None:
    session = a_talk(mira)
    model.structured[:] = [answer, LLMError("no", code="content_refused", permanent=True)]
    assert runner.run(session.pk, clock) == Outcome.FAILED
    before = remains(session)
    assert before["session"][2].startswith("reflection: ")
    assert (len(before["nodes"]), MoodChange.objects.count(), Entity.objects.count()) == (2, 1, 2)
    runner.retry(session)
    ready(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    after = remains(session)
    assert len(after["nodes"]) == 3
    assert [after[key] for key in ("evidence", "entities")] == [before[key] for key in ("evidence", "entities")]


def test_a_missing_embedding_model_fails_with_its_words(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(texts: Any) -> Any:
        raise EmbeddingUnavailable("the embedding model's file is missing: model.safetensors")

    session = a_talk(mira)
    ready(model)
    with monkeypatch.context() as patched:
        patched.setattr(embedding, "embed", broken)
        assert runner.run(session.pk, clock) == Outcome.FAILED
    session.refresh_from_db()
    assert "model.safetensors" in session.failure
    assert Extraction.objects.count() == 1
    runner.retry(session)
    assert runner.run(session.pk, clock) == Outcome.CLOSED


def test_a_fault_that_nobody_foresaw_is_tried_again_and_then_seen(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    words = " ".join(["what", "Ana", "said"])

    def broken(*args: Any) -> None:
        raise ZeroDivisionError(words)

    session = a_talk(mira)
    ready(model)
    with monkeypatch.context() as patched:
        patched.setattr(applying, "apply", broken)
        for _ in range(4):
            assert runner.run(session.pk, clock) == Outcome.LATER
            session.refresh_from_db()
            assert (session.status, session.failure) == ("closing", "")
            assert session.lease_until is not None
            assert session.lease_until > clock.now
            clock.now = session.lease_until + timedelta(seconds=1)
        assert runner.run(session.pk, clock) == Outcome.FAILED
    session.refresh_from_db()
    assert (session.status, session.failure) == ("failed", "extraction: ZeroDivisionError")
    assert "ZeroDivisionError" in caplog.text
    assert words not in caplog.text
    assert len([request for request in model.requests if request.purpose == "extraction"]) == 1
    assert runner.retry(session)
    assert runner.run(session.pk, clock) == Outcome.CLOSED


def test_a_retry_asks_anew_for_what_was_never_made_use_of(mira: Persona, model: Script, clock: Clock) -> None:
    session = a_talk(mira)
    Extraction.objects.create(session=session, chunk=0, answer={"events": "poison"})
    for _ in range(5):
        assert runner.run(session.pk, clock) in (Outcome.LATER, Outcome.FAILED)
        clock.forward(hours=1)
    assert runner.retry(session)
    assert not Extraction.objects.exists()
    ready(model)
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert ConceptNode.objects.filter(kind="event").exists()


def test_an_answer_with_half_a_character_is_stored_without_it(mira: Persona, model: Script, clock: Clock) -> None:
    session = a_talk(mira)
    said = session.messages.order_by("id")[0]
    half = {"message_id": f"m{said.pk}", "quote": "a cat named Milo\ud83d"}
    model.answers(json.dumps(extraction([event("Ana has a cat\ud83d.", half)])), {"thoughts": []})
    assert runner.run(session.pk, clock) == Outcome.CLOSED
    assert ConceptNode.objects.get(kind="event").description == "Ana has a cat."
    assert Evidence.objects.get().quote == "a cat named Milo"


def test_a_worker_of_an_earlier_round_holds_nothing_after_a_retry(mira: Persona, model: Script, clock: Clock) -> None:
    session = a_talk(mira)
    stale = runner.claimed(session.pk, clock)
    assert stale is not None
    Session.objects.filter(pk=session.pk).update(status="failed", lease_until=None)
    assert runner.retry(session)
    fresh = runner.claimed(session.pk, clock)
    assert fresh is not None
    assert (fresh.tries, stale.mine().exists(), fresh.mine().exists()) == (1, False, True)
    Session.objects.filter(pk=session.pk).update(status="failed", lease_until=None)
    assert runner.retry(session)
    again = runner.claimed(session.pk, clock)
    assert again is not None
    assert (again.attempt, again.tries) == (201, 1)


def test_what_kills_its_worker_every_time_is_given_up(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*args: Any) -> None:
        raise Killed

    session = a_talk(mira)
    ready(model)
    monkeypatch.setattr(applying, "apply", die)
    for _ in range(5):
        with pytest.raises(Killed):
            runner.run(session.pk, clock)
        clock.forward(seconds=601)
    assert runner.run(session.pk, clock) == Outcome.FAILED
    session.refresh_from_db()
    assert "5 times" in session.failure


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_model_or_embedder_works(
    mira: Persona, model: Script, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    open_ones: list[str] = []
    embed = embedding.embed

    def watched(texts: Any) -> Any:
        if connection.in_atomic_block:
            open_ones.append("embedder")
        return embed(texts)

    def listening(request: Any) -> Any:
        if connection.in_atomic_block:
            open_ones.append(request.purpose)
        return answer(request)

    monkeypatch.setattr(embedding, "embed", watched)
    model.structured[:] = [listening] * 9
    assert runner.run(a_talk(mira).pk, clock) == Outcome.CLOSED
    assert open_ones == []


def test_the_queue_carries_ids_and_the_sweep_does_not_flood_it(mira: Persona, clock: Clock) -> None:
    for hours in range(30):
        talk(mira, "I have a cat.", at=NOW - timedelta(hours=hours))
    assert tasks.sweep(clock.now) == 20
    assert tasks.sweep(clock.now) == 0
    assert OrmQ.objects.count() == 20
    job = OrmQ.objects.first()
    assert job is not None
    assert job.task["args"] == (Session.objects.order_by("closed_at").values_list("pk", flat=True)[0],)


def test_the_job_finishes_what_closing_handed_over(mira: Persona, model: Script) -> None:
    session = talk(mira, "I have a cat named Milo.", "Milo, yes.", "My mother Noor died.", status="open")
    ready(model)
    assert closing.close(session, "explicit", NOW)
    job = OrmQ.objects.get().task
    assert (job["func"], job["args"]) == ("memory.tasks.consolidate_session", (session.pk,))
    assert tasks.consolidate_session(session.pk) == "closed"
    assert tasks.consolidate_session(session.pk) == "not_mine"


def run_command(*args: str) -> str:
    out = StringIO()
    call_command(*args, stdout=out, stderr=out)
    return out.getvalue()


def test_by_hand_everything_that_waits_is_done(mira: Persona, model: Script) -> None:
    ready(model)
    sessions = [a_talk(mira), talk(mira, "hi")]
    assert "1 closed, 1 trivial" in run_command("consolidate", "--all", "--wait")
    assert {Session.objects.get(pk=session.pk).status for session in sessions} == {"closed"}
    assert "nothing waits" in run_command("consolidate", "--wait")


def test_by_hand_one_session_by_any_of_its_ids(mira: Persona, model: Script) -> None:
    ready(model)
    one, other = a_talk(mira), a_talk(mira)
    Session.objects.filter(pk=other.pk).update(external_id="s-1")
    run_command("consolidate", "--session", str(one.uuid), "--wait")
    assert [Session.objects.get(pk=session.pk).status for session in (one, other)] == ["closed", "closing"]
    run_command("consolidate", "--session", "s-1")
    assert OrmQ.objects.get().task["args"] == (other.pk,)
    run_command("consolidate", "--session", str(other.pk), "--wait")
    assert Session.objects.get(pk=other.pk).status == "closed"


def test_by_hand_a_failure_is_an_error_and_a_failed_one_is_tried_anew(mira: Persona, model: Script) -> None:
    session = a_talk(mira)
    model.structured[:] = [LLMError("no", code="content_refused", permanent=True)]
    with pytest.raises(CommandError, match="1 failed"):
        run_command("consolidate", "--wait")
    ready(model)
    assert "1 closed" in run_command("consolidate", "--session", str(session.pk), "--wait")


def test_by_hand_a_pause_is_waited_for(mira: Persona, model: Script, settings: Any) -> None:
    settings.KNOBS = settings.KNOBS | {"consolidate.backoff_seconds": 1, "consolidate.worker_poll_seconds": 1}
    a_talk(mira)
    model.structured[:] = [LLMError("busy", code="rate_limited", permanent=False), *[answer] * 3]
    assert "1 closed" in run_command("consolidate", "--wait")


@pytest.mark.parametrize("reference", ["nonsense", "424242", "5f0f7c1e-0000-4000-8000-000000000000"])
def test_by_hand_an_unknown_session_is_an_error(mira: Persona, reference: str) -> None:
    with pytest.raises(CommandError, match="No session"):
        run_command("consolidate", "--session", reference)


def test_by_hand_an_open_session_is_not_touched(mira: Persona) -> None:
    session = talk(mira, "hi", status="open")
    with pytest.raises(CommandError, match="still open"):
        run_command("consolidate", "--session", str(session.pk))
