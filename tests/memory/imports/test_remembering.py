"""Imported sessions are consolidated like closed sessions, with their own dates, and overrule nothing newer."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django_q.models import OrmQ

from chat.models import Message, Session
from echovessel.jobs.lease import LeaseLost
from echovessel.llm import LLMError
from echovessel.outbox.models import OutboxEvent
from memory.consolidation import runner
from memory.imports import runner as imports_runner
from memory.imports.consolidate import remember
from memory.imports.unread import count_sessions, waits_until
from memory.models import ConceptNode, Filling, ImportJob, ReflectionRun, SlowCycle
from memory.store import tombstones
from persona.models import MoodChange, Persona
from tests.memory.imports import importing_files
from tests.memory.imports.imported_sessions import (
    LONG_AGO,
    acquire_job,
    an_import,
    events_of_each,
    import_session,
    meanwhile,
)
from tests.memory.sessions import NOW, Clock, event, extraction, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(days=1)


def _quoted(request: Any, role: str = "user") -> list[dict[str, str]]:
    messages = [message for message in request.material["lines"] if message["role"] == role and not message["read"]]
    return [{"message_id": message["id"], "quote": message["content"]} for message in messages]


def _promise(description: str, due: str, evidence: list[dict[str, str]]) -> dict[str, Any]:
    return {"description": description, "due": due, "evidence": evidence}


def _thought(description: str, filling: list[int]) -> dict[str, Any]:
    return {"description": description, "emotional_impact": -3, "subject": "user", "filling": filling}


def prompts_of(model: Script) -> list[str]:
    return [request.user for request in model.requests]


# --- the order, and the slice ---------------------------------------------------------------------------------------
def test_the_oldest_is_read_first_and_paid_for_as_an_import(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    import_session(job, "Ana: I moved to Lisbon with Tomas.", at=LONG_AGO + timedelta(days=900))
    import_session(job, "Ana: I was born in Porto by the sea.", at=LONG_AGO)
    model.answers(events_of_each, events_of_each)
    assert remember(acquire_job(job), LATER)
    assert [request.purpose for request in model.requests] == ["import", "import"]
    assert ["Porto" in request.material["lines"][0]["content"] for request in model.requests] == [True, False]
    assert count_sessions(job) == {"remembered": 2, "failed": 0, "unread": 0}


def test_what_is_remembered_has_the_dates_of_its_lines_and_its_import(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    session = import_session(job, "Ana: I was born in Porto by the sea.")
    model.answers(events_of_each)
    remember(acquire_job(job), LATER)
    node = ConceptNode.objects.get()
    assert (node.created_at, node.last_mentioned_at, node.import_uuid) == (LONG_AGO, LONG_AGO, job.uuid)
    assert (node.source, node.status, node.verification) == ("extraction", "active", "unverified")
    assert node.evidence.get().message.session == session


def test_when_the_slice_is_over_the_rest_is_left_for_the_next(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    for day in range(3):
        import_session(job, f"Ana: I swam in the river on day {day}.", at=LONG_AGO + timedelta(days=day))
    model.answers(*[events_of_each] * 3)
    clock = Clock()
    claim = acquire_job(job, clock)
    assert not remember(claim, clock())
    assert count_sessions(job) == {"remembered": 1, "failed": 0, "unread": 2}
    assert waits_until(job, clock()) is None
    assert remember(claim, LATER)


def test_a_session_that_ends_in_the_middle_of_an_import_is_remembered_within_a_slice(
    mira: Persona, model: Script
) -> None:
    job = an_import(mira)
    for day in range(5):
        import_session(job, f"Ana: I swam in the river on day {day}.", at=LONG_AGO + timedelta(days=day))
    model.answers(*[events_of_each] * 9)
    clock = Clock()

    def slice_of(job: ImportJob) -> imports_runner.Outcome:
        return imports_runner.run(job.pk, clock, slice_seconds=0)

    assert slice_of(job) == imports_runner.Outcome.GOES_ON
    live = talk(mira, "I have a cat named Milo.", "> Sweet!", "She is grey.", at=NOW)
    runner.requeue_stale(clock())
    queued_tasks = [(job.task["func"], job.task["args"][0]) for job in OrmQ.objects.order_by("id")]
    assert queued_tasks == [("memory.tasks.import_file", job.pk), ("memory.tasks.consolidate_session", live.pk)]
    slice_of(job)
    runner.run(live.pk, clock)
    live.refresh_from_db()
    assert live.status == "closed"
    assert count_sessions(job)["unread"] == 3


def test_the_sweep_leaves_the_sessions_of_an_import_to_it_and_takes_ordinary_ones_first(mira: Persona) -> None:
    import_session(an_import(mira), "Ana: I was born in Porto by the sea.")
    import_session(an_import(mira, "cancelled"), "Ana: I was born in Porto by the river.")
    given_up = import_session(an_import(mira, "failed"), "Ana: I was born in Porto by the bridge.")
    live = talk(mira, "I have a cat named Milo.", "> Sweet!", "She is grey.")
    assert runner.requeue_stale(NOW + timedelta(hours=1)) == 2
    assert [job.task["args"][0] for job in OrmQ.objects.order_by("id")] == [live.pk, given_up.pk]


# --- failures -------------------------------------------------------------------------------------------------------
def test_a_session_that_cannot_be_read_stays_failed_and_the_next_one_is_read(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    first = import_session(job, "Ana: I was born in Porto by the sea.")
    import_session(job, "Ana: I moved to Lisbon with Tomas.", at=LONG_AGO + timedelta(days=9))
    model.answers(LLMError("no", code="content_refused", permanent=True), events_of_each)
    assert remember(acquire_job(job), LATER)
    first.refresh_from_db()
    assert first.failure.startswith("extraction: ")
    assert count_sessions(job) == {"remembered": 1, "failed": 1, "unread": 0}


def test_a_spent_budget_holds_up_the_import_till_it_is_renewed(mira: Persona, model: Script) -> None:
    job, clock = an_import(mira), Clock()
    for day in range(2):
        import_session(job, f"Ana: I swam in the river on day {day}.", at=LONG_AGO + timedelta(days=day))
    model.answers(LLMError("spent", code="budget_exhausted", permanent=False, retry_after=36_000))
    claim = acquire_job(job, clock)
    assert not remember(claim, LATER)
    assert not remember(claim, LATER)
    assert len(model.requests) == 1
    until = waits_until(job, clock())
    assert until == clock() + timedelta(hours=10)
    assert not OutboxEvent.objects.filter(name="chat.session.waiting").exists()
    clock.forward(hours=11)
    model.answers(events_of_each, events_of_each)
    assert remember(claim, LATER + timedelta(days=1))
    assert Session.objects.filter(import_uuid=job.uuid, status="closed", attempts=0).count() == 2


def test_a_worker_without_the_lease_reads_no_further_session(
    mira: Persona, model: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = an_import(mira)
    for day in range(2):
        import_session(job, f"Ana: I swam in the river on day {day}.", at=LONG_AGO + timedelta(days=day))
    claim = acquire_job(job)
    model.answers(events_of_each)
    meanwhile(monkeypatch, lambda: ImportJob.objects.update(holder="somebody else"))
    with pytest.raises(LeaseLost):
        remember(claim, LATER)
    assert count_sessions(job) == {"remembered": 1, "failed": 0, "unread": 1}


# --- nothing of today is overruled ----------------------------------------------------------------------------------
def test_a_session_of_years_ago_brings_no_thought_no_mood_and_no_news_of_each_session(
    mira: Persona, model: Script
) -> None:
    job = an_import(mira)
    import_session(job, "Ana: My mother Noor died in the spring.")
    model.answers(lambda request: extraction([event("Noor died.", *_quoted(request), emotional_impact=-9)]))
    assert remember(acquire_job(job), LATER)
    assert [request.purpose for request in model.requests] == ["import"]
    assert ReflectionRun.objects.get().reason == "not_due"
    assert not SlowCycle.objects.exclude(requested_at=None).exists()
    mira.refresh_from_db()
    assert (mira.episodic_state, MoodChange.objects.count()) == ({}, 0)
    assert not OutboxEvent.objects.filter(name__startswith="chat.").exists()
    assert OutboxEvent.objects.filter(name="memory.import.updated").exists()


def test_a_session_of_this_morning_is_taken_for_what_it_is(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    import_session(job, "Ana: My mother Noor died this morning.", at=NOW - timedelta(hours=3))
    model.answers(lambda request: extraction([event("Noor died.", *_quoted(request), emotional_impact=-9)]))
    remember(acquire_job(job), LATER)
    assert [request.purpose for request in model.requests] == ["import", "reflection"]
    mira.refresh_from_db()
    assert mira.episodic_state["mood"] == "warm"


def test_imported_events_are_not_in_the_next_reflection(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    import_session(job, "Ana: I was born in Porto by the sea.")
    model.answers(events_of_each, events_of_each)
    remember(acquire_job(job), LATER)
    live = talk(mira, "I have a cat named Milo.", "> Sweet!", "She is grey.")
    runner.run(live.pk, Clock())
    reflection = model.requests[-1]
    assert reflection.purpose == "reflection"
    assert "Porto" not in reflection.user


def test_what_was_told_later_is_not_replaced_by_what_was_told_before(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    later = talk(mira, "I live in Lisbon now.", "> Oh!", "Since May.")
    model.answers(events_of_each)
    runner.run(later.pk, Clock())
    node = ConceptNode.objects.get(description__contains="Lisbon")
    import_session(job, "Ana: I live in Lisbon, no, in Porto.")

    def replacing(request: Any) -> dict[str, Any]:
        return extraction([event("Ana lives in Porto.", *_quoted(request), supersedes=[f"e{node.pk}"])])

    model.answers(replacing)
    remember(acquire_job(job), LATER)
    node.refresh_from_db()
    assert node.status == "active"


def test_within_what_was_brought_the_later_replaces_the_earlier(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    import_session(job, "Ana: I live in Porto by the sea.")
    import_session(job, "Ana: I live in Porto no more, in Lisbon.", at=LONG_AGO + timedelta(days=100))

    def replacing(request: Any) -> dict[str, Any]:
        [node] = request.material["known"]
        return extraction([event("Ana lives in Lisbon.", *_quoted(request), supersedes=[node["id"]])])

    model.answers(events_of_each, replacing)
    remember(acquire_job(job), LATER)
    assert ConceptNode.objects.get(description__contains="by the sea").status == "superseded"


@pytest.mark.parametrize(("days", "count"), [(20, 1), (40, 2)])
def test_the_same_told_again_within_a_month_of_then_is_the_same(
    mira: Persona, model: Script, days: int, count: int
) -> None:
    job = an_import(mira)
    import_session(job, "Ana: I feed two grey cats at the harbour.")
    import_session(job, "Ana: At the harbour I feed two grey cats.", at=LONG_AGO + timedelta(days=days))
    answers = ("Ana feeds two grey cats at the harbour.", "Ana feeds two grey cats at that harbour.")
    model.answers(*(lambda request, text=text: extraction([event(text, *_quoted(request))]) for text in answers))
    remember(acquire_job(job), LATER)
    assert ConceptNode.objects.count() == count
    assert max(ConceptNode.objects.values_list("last_mentioned_at", flat=True)) == LONG_AGO + timedelta(days=days)


def test_a_promise_whose_day_is_over_is_not_waited_for(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    import_session(job, "Ana: My exam is on Friday.", "Mira: I will ask you about it.")

    def answer_with_promises(request: Any) -> dict[str, Any]:
        evidence = [{"message_id": request.material["lines"][1]["id"], "quote": "I will ask you about it."}]
        days = ("2021-06-04", "2026-03-06")
        return extraction(intentions=[_promise(f"Mira asks on {day}.", day, evidence) for day in days])

    model.answers(answer_with_promises)
    remember(acquire_job(job), LATER)
    assert [node.event_time_end for node in ConceptNode.objects.all()] == [date(2026, 3, 6)]


def test_who_asked_somebody_elsewhere_to_remember_something_did_not_ask_her(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    import_session(job, "Ana: Please remember that I am allergic to nuts.", "Mira: I will.", "Ana: Good.")
    remember(acquire_job(job), LATER)
    assert not ConceptNode.objects.filter(source="person").exists()


# --- the prompt -----------------------------------------------------------------------------------------------------
def test_what_others_say_is_read_along_and_is_evidence_of_nothing(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    session = import_session(job, "Kim: Ana broke her arm.", "Ana: That is true, at the harbour.", "Kim: Poor you.")
    kim = session.messages.first()
    assert kim is not None

    def citing_kim(request: Any) -> dict[str, Any]:
        own = event("Ana broke her arm at the harbour.", *_quoted(request))
        return extraction([own, event("Ana fell.", {"message_id": f"m{kim.pk}", "quote": kim.content})])

    model.answers(citing_kim)
    remember(acquire_job(job), LATER)
    [prompt] = prompts_of(model)
    assert "[-] 2021-06-02 Wed 02:00 Kim: Ana broke her arm." in prompt
    assert f"[m{kim.pk}]" not in prompt
    statuses = dict(ConceptNode.objects.values_list("description", "status"))
    assert statuses == {"Ana broke her arm at the harbour.": "active", "Ana fell.": "quarantined"}
    assert not Message.objects.filter(speaker="Kim", evidence_for__isnull=False).exists()


def test_where_only_others_speak_nobody_is_asked(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    import_session(job, *(f"Kim: I broke my arm at the harbour, {number} times." for number in range(5)))
    assert remember(acquire_job(job), LATER)
    assert model.requests == []
    assert count_sessions(job)["remembered"] == 1


def test_of_a_session_without_dates_no_day_is_known(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    import_session(job, "Ana: I broke my arm yesterday.", "Mira: Oh no.", "Ana: It hurts.", dated=False)
    model.answers(
        lambda request: extraction(
            [event("Ana broke her arm.", _quoted(request)[0], event_time={"start": "2021-05-31", "end": "2021-05-31"})],
            intentions=[_promise("Mira asks.", "2030-01-01", _quoted(request, "persona"))],
        )
    )
    remember(acquire_job(job), LATER)
    [prompt] = prompts_of(model)
    assert "2021" not in prompt
    assert [node.event_time_start for node in ConceptNode.objects.all()] == [None]


def test_prose_is_read_by_a_prompt_of_its_own_and_brings_thoughts_with_their_events(
    mira: Persona, model: Script
) -> None:
    job = an_import(mira)
    session = import_session(job, "Ana: Rain. I miss Noor.", kind="prose")

    def answer(request: Any) -> dict[str, Any]:
        return {
            "events": [event("Ana misses Noor in the rain.", *_quoted(request), emotional_impact=-5)],
            "mentioned_entities": [{"canonical_name": "Noor", "kind": "person", "in_events": [0]}],
            "thoughts": [
                _thought("Rain makes Ana think of Noor.", [0]),
                _thought("Ana likes rain.", [7]),
            ],
            "session_summary": "A day of rain.",
        }

    model.answers(answer)
    remember(acquire_job(job), LATER)
    assert model.requests[0].material["prose"] is True
    thought = ConceptNode.objects.get(kind="thought")
    assert (thought.description, thought.source, thought.created_at) == (
        "Rain makes Ana think of Noor.",
        "import",
        LONG_AGO,
    )
    assert thought.import_uuid == job.uuid
    assert list(Filling.objects.filter(parent=thought).values_list("child__kind", flat=True)) == ["event"]
    assert {mention.node.kind for mention in mira.entities.get().mentions.all()} == {"event", "thought"}
    session.refresh_from_db()
    assert session.status == "closed"


def test_a_thought_falls_with_the_event_that_was_forgotten_before(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    tombstones.add_tombstone(mira, "Ana misses Noor in the rain.")
    import_session(job, "Ana: Rain. I miss Noor.", kind="prose")
    model.answers(
        lambda request: {
            "events": [event("Ana misses Noor in the rain.", *_quoted(request))],
            "thoughts": [_thought("Rain makes Ana think of Noor.", [0])],
        }
    )
    remember(acquire_job(job), LATER)
    assert not ConceptNode.objects.exists()


def test_a_chat_with_others_goes_from_file_to_memory_with_nobody_but_the_two_as_witness(
    mira: Persona, model: Script
) -> None:
    model.answers(events_of_each)
    content = importing_files.whatsapp(
        "Kim: We saw Ana at the lighthouse.", "Ana: I love lighthouses.", "Mira: I know."
    )
    job = importing_files.import_file(mira, content, "WhatsApp Chat with Mira.txt", {"Kim": "other"})
    assert job.status == "done", job.failure
    assert list(Message.objects.exclude(speaker="").values_list("speaker", "role")) == [("Kim", "system")]
    assert ConceptNode.objects.get(kind="event").description == "Ana said: I love lighthouses."


def test_a_clock_of_another_zone_tells_the_lines_as_her_owner_would(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    import_session(job, "Ana: I was born in Porto by the sea.", at=datetime(2021, 6, 1, 20, 0, tzinfo=UTC))
    model.answers(events_of_each)
    remember(acquire_job(job), LATER)
    assert "2021-06-02 Wed 04:00 Ana: I was born" in prompts_of(model)[0]
