"""A whole import, from the file to the last step."""

import logging
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError
from django.db.models import Max, Min
from django_q.models import OrmQ

from chat.models import Message, Session
from echovessel.jobs.lease import LeaseLost, new_holder
from echovessel.llm import LLMError
from echovessel.outbox.models import OutboxEvent
from memory import imports, tasks
from memory.archive import schema
from memory.consolidation import runner
from memory.forgetting import Choice, Target, forget, plan
from memory.imports import analysis, archive_files, drafts, leases, stored_file, summary
from memory.imports import runner as imports_runner
from memory.imports import store as imports_store
from memory.models import ConceptNode, ImportChunk, ImportJob, ImportPiece, ImportRun
from memory.store.tombstones import add_tombstone
from persona.models import Persona
from persona.onboarding.creation import create_persona
from tests.memory.archive.archives import SMALL
from tests.memory.archive.archives import write_archive as written_archive
from tests.memory.imports import importing_files
from tests.memory.imports.importing_files import (
    analyze_file,
    begin_import,
    choices_for,
    confirm_file,
    import_file,
    message_lines,
    whatsapp,
)
from tests.memory.sessions import NOW, Clock

pytestmark = pytest.mark.django_db

CHAT = whatsapp(
    "Ana: I met Tomas at the harbour.", "Mira: How was it?", "Kim: hello", "Ana: Warm.", "9", "Ana: I slept badly."
)
NAME = "WhatsApp Chat with Mira.txt"
SAID = [
    "user: I met Tomas at the harbour.",
    "persona: How was it?",
    "Kim: hello",
    "user: Warm.",
    "user: I slept badly.",
]


def run_writing(job: ImportJob) -> ImportJob:
    """Store the messages, without extracting memories."""
    while job.status == "writing":
        imports_runner.run(job.pk, Clock(), slice_seconds=0)
        job.refresh_from_db()
    return job


def states(persona: Persona) -> list[str]:
    events = OutboxEvent.objects.filter(stream=persona.uuid, name="memory.import.updated").order_by("id")
    return list(dict.fromkeys(event.data["status"] for event in events))


def test_a_chat_comes_in_as_talks_with_their_own_dates_and_is_remembered(mira: Persona) -> None:
    job = import_file(mira, CHAT, NAME)
    assert job.status == "done"
    assert message_lines(mira) == SAID
    first, second = Session.objects.order_by("started_at")
    assert first.started_at == datetime(2023, 3, 25, 13, 0, tzinfo=UTC)  # nine in the evening in Shanghai
    assert (first.channel, first.close_reason, first.status, first.message_count) == ("whatsapp", "import", "closed", 4)
    assert {first.import_uuid, second.import_uuid} == {job.uuid}
    assert Message.objects.exclude(import_uuid=job.uuid).count() == 0
    assert {message.day for message in first.messages.all()} == {date(2023, 3, 25)}
    assert imports.summarize(job)["counts"] == {
        "talks": 2, "lines": 5, "known": 0, "refused": 0, "remembered": 2, "failed": 0, "unread": 0, "drafts": 0,
    }  # fmt: skip
    assert imports.summarize(job)["progress"] == 1.0
    assert ImportRun.objects.get(uuid=job.uuid).counts == {"lines": 5, "talks": 2}


def test_it_says_on_the_stream_how_far_it_is(mira: Persona) -> None:
    import_file(mira, CHAT, NAME)
    assert states(mira) == ["asking", "writing", "remembering", "drafting", "done"]


def test_when_it_is_over_no_piece_no_line_and_no_name_is_left_of_the_file(mira: Persona) -> None:
    job = analyze_file(mira, CHAT, NAME)
    assert {speaker["name"] for speaker in job.found["speakers"]} == {"Ana", "Mira", "Kim"}
    assert job.found["sample"][0]["text"] == "I met Tomas at the harbour."
    imports.confirm(job, choices_for(job), NOW)
    assert "sample" not in job.found
    imports_runner.run(job.pk, Clock())
    job.refresh_from_db()
    assert not ImportPiece.objects.exists()
    assert not {"speakers", "sample", "mapping", "fields"} & set(job.found)
    assert "roles" not in job.choices


def test_the_file_again_adds_nothing_and_says_so(mira: Persona) -> None:
    import_file(mira, CHAT, NAME)
    before = message_lines(mira), ImportChunk.objects.count(), ConceptNode.objects.count(), ImportRun.objects.count()
    job = import_file(mira, CHAT, NAME)
    assert job.status == "done"
    assert (job.counts["known"], job.counts["lines"], job.counts["talks"]) == (5, 0, 0)
    after = message_lines(mira), ImportChunk.objects.count(), ConceptNode.objects.count(), ImportRun.objects.count()
    assert after == before


def test_a_newer_export_brings_what_was_said_since(mira: Persona) -> None:
    import_file(mira, CHAT, NAME)
    newer = CHAT + b"\n26/03/2023, 06:05 - Mira: I am sorry.\n27/03/2023, 20:00 - Ana: Better today."
    job = import_file(mira, newer, NAME)
    assert (job.counts["known"], job.counts["lines"]) == (5, 2)
    assert message_lines(mira) == [*SAID, "persona: I am sorry.", "user: Better today."]


def test_lines_of_another_format_or_persona_are_not_known(mira: Persona, otto: Persona) -> None:
    import_file(mira, CHAT, NAME)
    assert import_file(otto, CHAT, NAME, {"Ana": "user", "Mira": "persona"}).counts["lines"] == 5


@pytest.mark.parametrize("what", ["line", "talk", "import"])
def test_what_was_forgotten_stays_forgotten_and_is_counted(mira: Persona, what: str) -> None:
    job = import_file(mira, CHAT, NAME)
    message = Message.objects.get(content="I met Tomas at the harbour.")
    targets = {
        "line": Target("message", message.pk),
        "talk": Target("session", message.session_id),
        "import": Target("import", ImportRun.objects.get(uuid=job.uuid).pk),
    }
    forget(plan([targets[what]], Choice()), mira.owner, NOW)
    texts = message_lines(mira)
    assert message.content not in " ".join(texts)
    again = import_file(mira, CHAT, NAME)
    assert (again.counts["refused"], again.counts["known"], again.counts["lines"]) == (5 - len(texts), len(texts), 0)
    assert message_lines(mira) == texts


def test_what_was_buried_before_the_file_came_is_refused(mira: Persona) -> None:
    add_tombstone(mira, "I met Tomas at the harbour.")
    job = import_file(mira, CHAT, NAME)
    assert (job.counts["refused"], job.counts["lines"]) == (1, 4)
    assert message_lines(mira) == SAID[1:]


def test_lines_of_years_are_many_sessions(mira: Persona) -> None:
    groups = [(f"Ana: Line {number}", f"Mira: Reply {number}", f"Ana: Oh {number}", "31") for number in range(250)]
    job = run_writing(confirm_file(mira, whatsapp(*(text for group in groups for text in group)), NAME))
    assert (job.counts["lines"], job.counts["talks"]) == (750, 250)
    assert message_lines(mira)[::3] == [f"user: Line {number}" for number in range(250)]
    days = Session.objects.aggregate(first=Min("started_at"), last=Max("last_message_at"))
    assert days["last"] - days["first"] > timedelta(days=250)


def test_one_session_without_a_pause_is_cut_where_it_grows_too_long(mira: Persona) -> None:
    job = run_writing(confirm_file(mira, whatsapp(*(f"Ana: Line {number}" for number in range(450))), NAME))
    assert job.counts["lines"] == 450
    assert sorted(session.message_count for session in Session.objects.all()) == [50, 200, 200]
    assert message_lines(mira) == [f"user: Line {number}" for number in range(450)]


def test_lines_with_one_id_are_both_kept(mira: Persona) -> None:
    content = b'[{"id": "1", "author": "user", "body": "One"}, {"id": "1", "author": "user", "body": "Two"}]'
    job = analyze_file(mira, content, "talk.json")
    imports.confirm(job, choices_for(job), NOW)
    imports_runner.run(job.pk, Clock())
    imports.confirm(job := reload(job), choices_for(job), NOW)
    run_writing(job)
    assert message_lines(mira) == ["user: One", "user: Two"]


def reload(job: ImportJob) -> ImportJob:
    job.refresh_from_db()
    return job


# --- questions ----------------------------------------------------------------------------------------------------
def test_where_the_file_does_not_say_whether_day_or_month_is_first_it_asks_and_looks_again(mira: Persona) -> None:
    content = whatsapp("Ana: Hello", "Mira: Hi", at=datetime(2023, 3, 4, 9, 0))
    job = analyze_file(mira, content, NAME)
    assert (job.status, job.found["questions"]) == ("asking", ["day_first"])
    with pytest.raises(imports.WrongChoice) as error:
        imports.confirm(job, imports.suggest_choices(job), NOW)
    assert error.value.code == "day_first"
    imports.confirm(job, imports.Choices(day_first=False), NOW)
    assert job.status == "looking"
    imports_runner.run(job.pk, Clock())
    assert (reload(job).status, job.found["questions"]) == ("asking", [])
    imports.confirm(job, choices_for(job), NOW)
    run_writing(job)
    assert {message.created_at.month for message in Message.objects.all()} == {4}


def test_where_nothing_says_which_field_is_what_it_asks_and_shows_the_beginning(mira: Persona) -> None:
    content = b'[{"a": "Ana", "b": "I met Tomas at the harbour."}, {"a": "Mira", "b": "How nice for you, Ana!"}]'
    job = analyze_file(mira, content, "talk.json")
    assert (job.status, job.found["questions"]) == ("asking", ["mapping"])
    assert job.found["mapping"]["text"] == "b"
    assert set(job.found["fields"]) >= {"a", "b"}
    mapping = {"text": "b", "speaker": "a", "records": "item"}
    imports.confirm(job, imports.Choices(mapping=mapping), NOW)
    imports_runner.run(job.pk, Clock())
    assert {speaker["name"] for speaker in reload(job).found["speakers"]} == {"Ana", "Mira"}
    imports.confirm(job, choices_for(job), NOW)
    run_writing(job)
    assert message_lines(mira) == ["user: I met Tomas at the harbour.", "persona: How nice for you, Ana!"]
    assert {message.created_at.astimezone(mira.zone).date() for message in Message.objects.all()} == {date(2024, 1, 5)}
    assert not ImportChunk.objects.get().dated


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        ({"roles": {"Ana": "user"}}, "roles"),
        ({"roles": {"Ana": "user", "Mira": "king", "Kim": "other"}}, "roles"),
        ({"roles": {"Ana": "user", "Mira": "persona", "Kim": "other", "Eve": "other"}}, "unknown_speaker"),
        ({"roles": {"Ana": "other", "Mira": "persona", "Kim": "other"}}, "nobody_is_you"),
        ({"zone": "Mars/Olympus"}, "zone"),
        ({"limit": 0}, "limit"),
        ({"undated": date(2030, 1, 1)}, "undated"),
        ({"format": "papyrus"}, "format"),
        ({"mapping": {"text": ""}}, "mapping"),
        ({"mapping": {"text": "a", "nonsense": "b"}}, "mapping"),
    ],
)
def test_choices_that_do_not_fit_are_turned_down_and_change_nothing(
    mira: Persona, wrong: dict[str, Any], code: str
) -> None:
    job = analyze_file(mira, CHAT, NAME)
    with pytest.raises(imports.WrongChoice) as error:
        imports.confirm(job, choices_for(job, **wrong) if "roles" not in wrong else imports.Choices(**wrong), NOW)
    assert error.value.code == code
    assert reload(job).status == "asking"
    assert not ImportRun.objects.exists()


def test_of_whom_one_leaves_out_nothing_comes_in_and_the_lines_are_counted(mira: Persona) -> None:
    job = run_writing(confirm_file(mira, CHAT, NAME, {"Kim": "skip"}))
    assert message_lines(mira) == [text for text in SAID if not text.startswith("Kim")]
    assert (job.counts["lines"], job.counts["left_out"]) == (4, 1)


def test_lines_at_the_end_and_whole_sessions_that_are_left_out_are_counted_once_each(
    mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = whatsapp("Kim: Alone.", "30", "Ana: Hello.", "Kim: One.", "30", "Mira: Bye.", "Kim: Two.", "Kim: Three.")
    monkeypatch.setattr(imports_store, "MESSAGES_PER_TRANSACTION", 1)
    job = run_writing(confirm_file(mira, chat, NAME, {"Kim": "skip"}))
    assert (job.counts["lines"], job.counts["left_out"]) == (2, 4)


def test_of_an_import_of_which_all_is_left_out_nothing_stays_but_the_counts(mira: Persona) -> None:
    job = import_file(mira, CHAT, NAME, {"Kim": "user", "Ana": "skip", "Mira": "skip"})
    mine = import_file(mira, CHAT, NAME, {"Kim": "user", "Ana": "skip", "Mira": "skip"})
    assert (job.counts["lines"], job.counts["left_out"]) == (1, 4)
    assert (mine.counts["lines"], mine.counts["known"], mine.counts["left_out"]) == (0, 1, 4)
    assert [run.uuid for run in ImportRun.objects.all()] == [job.uuid]


def test_a_file_that_begins_with_the_newest_comes_in_as_it_was_said(mira: Persona) -> None:
    rows = [f"2024-05-{day:02} 20:{minute:02},Ana,Line {day} {minute}" for day in (9, 4) for minute in (30, 20, 10)]
    job = analyze_file(mira, "\n".join(["date,from,text", *rows]).encode(), "messages.csv")
    assert job.found["newest_first"]
    imports.confirm(job, choices_for(job, {"Ana": "user"}), NOW)
    run_writing(job)
    assert message_lines(mira) == [f"user: Line {day} {minute}" for day in (4, 9) for minute in (10, 20, 30)]


def test_a_file_that_cannot_be_read_is_refused_with_its_reason(mira: Persona) -> None:
    job = analyze_file(mira, b"\x00\x01\x02\xff" * 100, "noise.bin")
    summary = imports.summarize(job)
    assert (job.status, job.refusal["code"]) == ("refused", "binary")
    assert summary["refusal"] == "This is not text."
    assert imports.summarize(job)["finished_at"]
    assert not Message.objects.exists()
    imports_runner.requeue_stale(NOW)
    assert not ImportPiece.objects.exists()


def test_a_file_whose_end_is_broken_is_refused_before_anything_of_it_is_stored(mira: Persona) -> None:
    whole = (importing_files.FILES / "chatgpt.json").read_bytes()
    job = analyze_file(mira, whole[:-40], "conversations.json")
    assert (job.status, job.refusal["code"]) == ("refused", "not_json")
    assert not Message.objects.exists()


def test_for_somebody_who_is_still_to_be_made_it_waits_for_the_persona(ana: User, mira: Persona) -> None:
    job = analyze_file(None, CHAT, NAME, owner=ana)
    with pytest.raises(imports.WrongChoice) as error:
        imports.confirm(job, choices_for(job, {"Ana": "user", "Mira": "persona"}), NOW)
    assert error.value.code == "no_persona"
    imports.assign_persona(job, mira)
    imports.confirm(job, choices_for(job), NOW)
    assert job.status == "writing"


def test_nobody_gives_a_file_to_the_persona_of_somebody_else(ana: User, otto: Persona) -> None:
    job = analyze_file(None, CHAT, NAME, owner=ana)
    with pytest.raises(imports.WrongChoice):
        imports.assign_persona(job, otto)
    assert reload(job).persona is None


def test_a_file_is_given_to_one_persona_once(ana: User, mira: Persona) -> None:
    job = analyze_file(None, CHAT, NAME, owner=ana)
    in_another_tab = ImportJob.objects.get(pk=job.pk)
    imports.assign_persona(job, mira)
    second = create_persona(ana, "Nora")
    with pytest.raises(imports.WrongChoice) as error:
        imports.assign_persona(in_another_tab, second)
    assert error.value.code == "not_asking"
    assert reload(job).persona == mira


@pytest.mark.parametrize("otherwise", [{}, {"format": "journal"}])
def test_who_answers_in_two_tabs_is_heard_once(mira: Persona, otherwise: dict[str, Any]) -> None:
    job = analyze_file(mira, CHAT, NAME)
    in_another_tab = ImportJob.objects.get(pk=job.pk)
    imports.confirm(job, choices_for(job), NOW)
    with pytest.raises(imports.WrongChoice) as error:
        imports.confirm(in_another_tab, choices_for(in_another_tab, **otherwise), NOW)
    assert error.value.code == "not_asking"
    assert (reload(job).status, job.choices["format"]) == ("writing", None)
    assert ImportRun.objects.count() == 1


def test_a_file_that_cannot_be_read_otherwise_is_asked_about_again_as_it_was_found(mira: Persona) -> None:
    job = analyze_file(mira, CHAT, NAME)
    survey = job.found
    imports.confirm(job, choices_for(job, format="chatgpt", zone="Asia/Tokyo"), NOW)
    assert imports_runner.run(job.pk, Clock()) == "asks"
    summary = imports.summarize(reload(job))
    assert (summary["status"], summary["format"], summary["found"]) == ("asking", "whatsapp", survey)
    assert (summary["refusal"], job.refusal["read_as"]) == ("This is not JSON, or it is damaged or cut off.", "chatgpt")
    assert (job.choices["format"], job.choices["zone"], job.file_is_here) == (None, "Asia/Tokyo", True)
    imports.confirm(job, choices_for(job), NOW)
    run_writing(job)
    assert (message_lines(mira), reload(job).refusal) == (SAID, {})


def test_read_otherwise_again_and_again_and_cancelled_it_keeps_no_name(mira: Persona) -> None:
    job = analyze_file(mira, (importing_files.FILES / "messages.csv").read_bytes(), "messages.csv")
    for _twice in range(2):
        imports.confirm(job, choices_for(job, format="chatgpt"), NOW, reanalyze=True)
        imports_runner.run(job.pk, Clock())
        assert (reload(job).status, job.refusal["code"]) == ("asking", "not_json")
    imports.confirm(job, choices_for(job, format="chatgpt"), NOW, reanalyze=True)
    assert imports.cancel(reload(job), NOW)
    assert set(job.choices) == {"format", "day_first", "zone", "undated", "limit", "kind", "without_owner"}
    assert not ImportPiece.objects.exists()


def test_read_as_something_in_which_there_is_nothing_it_is_asked_about_as_it_was_found(mira: Persona) -> None:
    job = analyze_file(mira, (importing_files.FILES / "chatgpt.json").read_bytes(), "conversations.json")
    imports.confirm(job, choices_for(job, format="claude"), NOW)
    imports_runner.run(job.pk, Clock())
    assert (reload(job).status, job.format, job.refusal["code"]) == ("asking", "chatgpt", "nothing_found")


def test_what_was_read_otherwise_may_be_read_again_as_it_is_recognised(mira: Persona) -> None:
    job = analyze_file(mira, CHAT, NAME)
    survey = job.found
    imports.confirm(job, choices_for(job, format="journal"), NOW)
    imports_runner.run(job.pk, Clock())
    assert reload(job).format == "journal"
    imports.confirm(job, choices_for(job, format="auto"), NOW)
    imports_runner.run(job.pk, Clock())
    assert (reload(job).status, job.format, job.found) == ("asking", "whatsapp", survey)


# --- cancelling ---------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("status", ["looking", "asking", "writing", "remembering"])
def test_cancelled_in_any_state_nothing_unread_is_left_and_the_file_may_come_again(mira: Persona, status: str) -> None:
    job = begin_import(mira, CHAT, NAME)
    if status != "looking":
        imports_runner.run(job.pk, Clock())
        job.refresh_from_db()
    if status in ("writing", "remembering"):
        imports.confirm(job, choices_for(job), NOW)
    if status == "remembering":
        imports_runner.run(job.pk, Clock(), through="writing")
        job.refresh_from_db()
    assert job.status == status
    assert imports.cancel(job, NOW)
    assert (job.status, job.finished_at) == ("cancelled", NOW)
    assert [model.objects.count() for model in (Message, ImportChunk, ImportPiece, ImportRun)] == [0, 0, 0, 0]
    assert not imports.cancel(job, NOW)
    assert imports_runner.run(job.pk, Clock()) == "not_mine"
    assert import_file(mira, CHAT, NAME).counts["lines"] == 5


def test_cancelled_while_it_is_written_the_worker_stops_and_stores_nothing_more(
    mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = confirm_file(mira, CHAT, NAME)
    store = imports_store.store

    def overtaken(*args: Any) -> None:
        imports.cancel(ImportJob.objects.get(pk=job.pk), NOW)
        store(*args)

    monkeypatch.setattr(imports_store, "store", overtaken)
    assert imports_runner.run(job.pk, Clock()) == "not_mine"
    assert reload(job).status == "cancelled"
    assert not Message.objects.exists()


def test_an_archive_that_is_cancelled_stops_at_the_next_sign_of_life(
    mira: Persona, otto: Persona, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_files, "_HEARTBEAT_BYTES", 1)
    monkeypatch.setattr(schema, "BATCH", 1)
    job = confirm_file(otto, written_archive(tmp_path / "mira.jsonl", SMALL).read_bytes(), "mira.jsonl")

    def stop(part: float) -> None:
        if otto.messages.exists():
            imports.cancel(ImportJob.objects.get(pk=job.pk), NOW)

    assert imports_runner.run(job.pk, Clock(), progress=stop) == "not_mine"
    assert reload(job).status == "cancelled"
    assert (otto.messages.count(), otto.nodes.count()) == (2, 0)  # the second message was already being stored


# --- queue and slices ---------------------------------------------------------------------------------------------
def test_while_an_archive_is_loaded_it_says_how_much_is_gone_through(
    otto: Persona, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_files, "_HEARTBEAT_BYTES", 1)
    monkeypatch.setattr(summary, "_SELDOM", timedelta())
    job = confirm_file(otto, written_archive(tmp_path / "mira.jsonl", SMALL).read_bytes(), "mira.jsonl")
    fractions = []
    imports_runner.run(
        job.pk, Clock(), progress=lambda part: fractions.append(imports.summarize(reload(job))["progress"])
    )
    assert fractions == sorted(fractions)
    assert len(set(fractions)) > 5
    assert (0 < fractions[0] < 0.2, fractions[-1]) == (True, 0.95)
    events = OutboxEvent.objects.filter(stream=otto.uuid, name="memory.import.updated").order_by("id")
    parts = [event.data["progress"] for event in events if event.data["status"] == "writing"]
    assert parts == [0.0, *fractions]


def test_it_is_queued_once_and_found_again_where_nobody_took_it(mira: Persona) -> None:
    job = begin_import(mira, CHAT, NAME)
    assert imports_runner.requeue_stale(NOW) == 1
    assert imports_runner.requeue_stale(NOW + timedelta(minutes=1)) == 0
    assert OrmQ.objects.count() == 1
    assert imports_runner.requeue_stale(NOW + timedelta(minutes=11)) == 1
    assert imports_runner.run(job.pk, Clock()) == "asks"
    assert imports_runner.requeue_stale(NOW + timedelta(minutes=30)) == 0


def test_the_worker_knows_its_job_by_its_id(mira: Persona) -> None:
    job = begin_import(mira, CHAT, NAME)
    imports.enqueue(job, NOW)
    queued_task = OrmQ.objects.get().task
    assert (queued_task["func"], queued_task["args"]) == ("memory.tasks.import_file", (job.pk,))
    assert tasks.import_file(job.pk) == "asks"
    assert tasks.import_file(job.pk) == "not_mine"


def test_after_a_slice_it_goes_to_the_end_of_the_queue(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(imports_store, "MESSAGES_PER_TRANSACTION", 1)
    job = confirm_file(mira, CHAT, NAME)
    queue_length = OrmQ.objects.count()
    assert imports_runner.run(job.pk, Clock(), slice_seconds=0) == "goes_on"
    assert (reload(job).gone_through, job.status, job.holder) == (1, "writing", leases.QUEUED)
    assert OrmQ.objects.count() == queue_length + 1


def test_the_command_reads_a_file_that_is_not_kept_and_no_worker_touches_it(mira: Persona) -> None:
    with importing_files.source(CHAT, NAME) as source:
        job = imports.begin(mira.owner, mira, source, NOW, keep=False)
        assert not ImportPiece.objects.exists()
        assert imports_runner.requeue_stale(NOW) == 0
        assert imports_runner.run(job.pk, Clock()) == "not_mine"
        imports.analyze_in_process(job, source)
        imports.confirm(job, choices_for(job), NOW)
        fractions: list[float] = []
        assert imports_runner.run(job.pk, Clock(), source=source, progress=fractions.append) == "done"
    assert fractions
    assert message_lines(mira) == SAID


@pytest.mark.parametrize("has_pieces", [True, False])
def test_a_file_whose_handing_over_died_is_taken_away(mira: Persona, has_pieces: bool) -> None:
    job = begin_import(mira, CHAT, NAME)
    ImportJob.objects.filter(pk=job.pk).update(file_is_here=False, file_digest="")
    if not has_pieces:
        ImportPiece.objects.all().delete()
    imports_runner.requeue_stale(NOW + timedelta(minutes=59))
    assert ImportJob.objects.exists()
    imports_runner.requeue_stale(NOW + timedelta(minutes=61))
    assert [model.objects.count() for model in (ImportJob, ImportPiece)] == [0, 0]


def test_a_look_from_the_command_line_that_died_is_taken_away(mira: Persona) -> None:
    with importing_files.source(CHAT, NAME) as source:
        job = imports.begin(mira.owner, mira, source, NOW, keep=False)
    lease = leases.acquire(job.pk, Clock(), has_file=True)
    assert lease
    imports_runner.requeue_stale(NOW + timedelta(minutes=9))
    assert ImportJob.objects.exists()
    imports_runner.requeue_stale(NOW + timedelta(hours=2))
    assert not ImportJob.objects.exists()


@pytest.mark.parametrize("holder", ["of-another-host:7:aa:bb", "here"])
def test_an_import_with_an_expired_lease_is_enqueued_again(mira: Persona, holder: str) -> None:
    job = confirm_file(mira, CHAT, NAME)
    OrmQ.objects.all().delete()
    holder = new_holder() if holder == "here" else holder
    ImportJob.objects.filter(pk=job.pk).update(holder=holder, lease_until=NOW - timedelta(hours=3))
    imports_runner.requeue_stale(NOW)
    assert OrmQ.objects.count() == 1


def test_what_a_file_dates_ahead_was_written_when_it_was_brought(mira: Persona) -> None:
    ahead = NOW.replace(tzinfo=None) + timedelta(days=40)
    import_file(mira, whatsapp("Ana: We go skiing.", "Mira: Lovely!", at=ahead), NAME)
    assert message_lines(mira) == ["user: We go skiing.", "persona: Lovely!"]
    assert not Message.objects.filter(created_at__gt=NOW).exists()


def test_a_year_that_no_clock_shows_is_no_date(mira: Persona) -> None:
    chat = b"[0001/01/01, 00:05:00] Ana: hello there\n[0001/01/01, 00:06:00] Mira: hi\n"
    assert import_file(mira, chat, NAME).status == "done"
    assert {message.created_at.year for message in Message.objects.all()} == {2024}


def test_a_line_that_came_late_does_not_turn_the_session_round(mira: Persona) -> None:
    late = b"""25/01/2024, 21:00 - Ana: I came home.
25/01/2024, 21:00 - Mira: And?
25/01/2024, 21:00 - Ana: The door was open.
25/01/2024, 20:59 - Mira: Oh no."""
    import_file(mira, late, NAME)
    assert message_lines(mira) == ["user: I came home.", "persona: And?", "user: The door was open.", "persona: Oh no."]


def test_an_id_that_looks_like_one_made_here_is_its_own(mira: Persona) -> None:
    message_id = f"x~{sha256(b'second words').hexdigest()[:12]}"
    records = [(message_id, "Ana", "the first"), ("x", "Mira", "first words"), ("x", "Ana", "second words")]
    rows = [f"2024-01-05 10:0{n}:00,{key},{name},{text}" for n, (key, name, text) in enumerate(records)]
    import_file(mira, "\n".join(["date,id,from,text", *rows]).encode(), "chat.csv")
    assert [text.split(": ")[1] for text in message_lines(mira)] == ["the first", "first words", "second words"]


def test_a_file_that_nobody_says_anything_about_is_deleted_unread(mira: Persona) -> None:
    job = analyze_file(mira, CHAT, NAME)
    imports_runner.requeue_stale(NOW + timedelta(days=29))
    assert ImportPiece.objects.exists()
    imports_runner.requeue_stale(NOW + timedelta(days=31))
    job.refresh_from_db()
    assert (job.status, ImportPiece.objects.count(), Message.objects.count()) == ("cancelled", 0, 0)


def test_an_import_whose_file_stands_elsewhere_is_not_taken_for_one_that_died(mira: Persona) -> None:
    with importing_files.source(CHAT, NAME) as source:
        job = imports.begin(mira.owner, mira, source, NOW, keep=False)
    later = NOW + timedelta(days=7)
    assert leases.acquire(job.pk, lambda: later, has_file=True)
    imports_runner.requeue_stale(later + timedelta(minutes=1))
    assert ImportJob.objects.exists()


def test_of_a_file_that_cannot_be_stored_nothing_stays(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_file, "PIECE_BYTES", 100)
    create = ImportPiece.objects.create

    def full(**values: Any) -> Any:
        if values["number"] == 1:
            raise OperationalError("database or disk is full")
        return create(**values)

    monkeypatch.setattr(ImportPiece.objects, "create", full)
    with pytest.raises(OperationalError):
        begin_import(mira, CHAT, NAME)
    assert [model.objects.count() for model in (ImportJob, ImportPiece)] == [0, 0]


def test_a_failing_cancellation_does_not_block_other_imports(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    cancelled, _waiting = begin_import(mira, CHAT, NAME), begin_import(mira, CHAT, NAME)
    ImportJob.objects.filter(pk=cancelled.pk).update(status="cancelled")
    monkeypatch.setattr(imports_runner.runs, "finish_cancelled", failing(OperationalError("database is locked")))
    with pytest.raises(OperationalError):
        imports_runner.requeue_stale(NOW)
    assert OrmQ.objects.count() == 1


# --- failures -----------------------------------------------------------------------------------------------------
def failing(error: Exception) -> Any:
    def fail(*args: Any, **rest: Any) -> Any:
        raise error

    return fail


def test_a_fault_that_passes_costs_a_pause(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    job, clock = confirm_file(mira, CHAT, NAME), Clock()
    with monkeypatch.context() as patch:
        patch.setattr(imports_store.summary, "publish_progress", failing(RuntimeError("I met Tomas")))
        assert imports_runner.run(job.pk, clock) == "later"
    assert not Message.objects.exists()
    assert imports_runner.run(job.pk, clock) == "not_mine"
    clock.forward(minutes=2)
    assert imports_runner.requeue_stale(clock()) == 1
    assert imports_runner.run(job.pk, clock) == "done"
    assert message_lines(mira) == SAID


def test_a_fault_that_stays_ends_it_visibly_with_a_code_and_no_words(
    mira: Persona, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    job, clock = confirm_file(mira, CHAT, NAME), Clock()
    monkeypatch.setattr(imports_store.summary, "publish_progress", failing(RuntimeError("I met Tomas at the harbour.")))
    with caplog.at_level(logging.INFO):
        for _ in range(5):
            imports_runner.run(job.pk, clock)
            clock.forward(days=1)
    assert (reload(job).status, job.failure) == ("failed", "RuntimeError")
    assert not ImportPiece.objects.exists()
    assert not [word for word in ("Tomas", "harbour", "Chat with") if word in caplog.text + job.failure]


def test_drafts_that_cannot_be_had_do_not_hold_up_the_end(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(drafts, "draft", failing(LLMError("no", code="content_refused", permanent=True)))
    job = import_file(mira, CHAT, NAME)
    assert (job.status, job.failure) == ("done", "drafting: content_refused")


def test_a_session_that_cannot_be_read_does_not_stop_the_others(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    read = runner.extraction.read

    def stumbling(lease: Any) -> None:
        if lease.row.messages.filter(content="I slept badly.").exists():
            raise LLMError("no", code="content_refused", permanent=True)
        read(lease)

    monkeypatch.setattr(runner.extraction, "read", stumbling)
    monkeypatch.setattr(runner, "is_worth_reading", lambda session: True)
    job = import_file(mira, CHAT, NAME)
    assert job.status == "done"
    assert {name: imports.summarize(job)["counts"][name] for name in ("remembered", "failed")} == {
        "remembered": 1,
        "failed": 1,
    }


def test_a_spent_budget_is_waited_for_and_costs_no_try(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    job, clock = confirm_file(mira, CHAT, NAME), Clock()
    spent = LLMError("spent", code="budget_exhausted", permanent=False, retry_after=3_600)
    with monkeypatch.context() as patch:
        patch.setattr(drafts, "draft", failing(spent))
        assert imports_runner.run(job.pk, clock) == "later"
    assert (reload(job).status, job.attempts) == ("drafting", 0)
    assert imports.summarize(job)["waits_until"] == (clock() + timedelta(hours=1)).isoformat()
    clock.forward(hours=2)
    assert imports_runner.run(job.pk, clock) == "done"


def test_while_the_file_is_gone_through_the_lease_is_kept(mira: Persona) -> None:
    job, clock = begin_import(mira, CHAT, NAME), Clock()
    claim = leases.acquire(job.pk, clock)
    assert claim
    keeping = analysis.LeaseRenewer(claim)
    clock.forward(minutes=5)
    keeping()
    assert reload(job).lease_until == clock() + timedelta(minutes=10)
    ImportJob.objects.update(holder="somebody else")
    clock.forward(minutes=5)
    with pytest.raises(LeaseLost):
        keeping()
