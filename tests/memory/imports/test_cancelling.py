"""A cancelled import: extracted memories stay, all else is deleted, and the file can be imported again."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from chat.models import Message, MessageText, Session
from echovessel.outbox.models import OutboxEvent
from memory import imports
from memory.consolidation import apply, extraction, runner
from memory.forgetting import replay, verify
from memory.imports import cancellation, runs, unread
from memory.imports import runner as imports_runner
from memory.imports.cancellation import erase_unread
from memory.models import ConceptNode, Extraction, ImportChunk, ImportJob, ImportPiece, ImportRun, ModelReply, Receipt
from memory.store import checks
from persona.models import Persona
from tests.memory.imports import importing_files
from tests.memory.imports.imported_sessions import LONG_AGO, an_import, events_of_each, import_session, meanwhile
from tests.memory.sessions import NOW, Clock
from tests.scripted import Script

SAID = "My brother Nils keeps seven grey geese in Porto."
CHAT = importing_files.whatsapp(
    "Ana: I was born in Porto by the sea.", "24", f"Ana: {SAID}", "24", "Ana: I feed two cats."
)
NAME = "WhatsApp Chat with Mira.txt"


def left_of(persona: Persona) -> list[str]:
    return list(persona.messages.order_by("created_at").values_list("content", flat=True))


@pytest.mark.django_db
def test_what_was_remembered_stays_and_the_same_file_goes_on_with_the_rest(mira: Persona, model: Script) -> None:
    model.answers(*[events_of_each] * 9)
    job = importing_files.confirm_file(mira, CHAT, NAME)
    while not unread.count_sessions(job)["remembered"]:
        assert imports_runner.run(job.pk, Clock(), slice_seconds=0) == imports_runner.Outcome.GOES_ON
    assert imports.cancel(job, NOW)
    assert left_of(mira) == ["I was born in Porto by the sea."]
    assert {"talks": 1, "lines": 1}.items() <= job.counts.items()
    assert ImportChunk.objects.get().session == Session.objects.get()
    assert (MessageText.objects.count(), ImportPiece.objects.count()) == (1, 0)
    assert [node.description for node in ConceptNode.objects.all()] == ["Ana said: I was born in Porto by the sea."]
    assert checks.broken_invariants(NOW) == {}
    again = importing_files.import_file(mira, CHAT, NAME)
    assert (again.status, again.counts["known"], again.counts["lines"]) == ("done", 1, 2)
    assert left_of(mira) == ["I was born in Porto by the sea.", SAID, "I feed two cats."]
    assert ConceptNode.objects.count() == 3
    assert ImportRun.objects.count() == 2


@pytest.mark.django_db
def test_of_an_import_that_nobody_has_read_nothing_is_left_to_forget(mira: Persona) -> None:
    job = an_import(mira, "cancelled")
    import_session(job, f"Ana: {SAID}")
    assert erase_unread(job, NOW) == 1
    assert not any(model.objects.exists() for model in (ImportRun, ImportChunk, Session))
    receipt = Receipt.objects.get()
    assert receipt.targets == [["cancelled_import", str(job.uuid)]]
    assert receipt.counts["chat_message"] == 1
    [event] = OutboxEvent.objects.filter(name="chat.session.erased")
    assert "session_id" in event.data


@pytest.mark.django_db(transaction=True)
def test_the_bytes_of_what_was_not_read_are_gone_from_the_file(mira: Persona) -> None:
    job = an_import(mira, "cancelled")
    import_session(job, f"Ana: {SAID}")
    erase_unread(job, NOW)
    assert Receipt.objects.get().status == "done"
    assert verify.find_texts([SAID]) == []


@pytest.mark.django_db
def test_a_session_that_a_model_is_reading_comes_to_nothing(
    mira: Persona, model: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = an_import(mira)
    session = import_session(job, f"Ana: {SAID}")
    model.answers(events_of_each)
    meanwhile(monkeypatch, lambda: _cancel(job))
    assert runner.run(session.pk, Clock()) == runner.Outcome.NOT_MINE
    assert not any(model.objects.exists() for model in (Session, Message, ConceptNode, Extraction, ModelReply))


@pytest.mark.django_db
def test_a_session_of_which_something_is_remembered_stays_and_is_over(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    session = import_session(job, f"Ana: {SAID}")
    model.answers(events_of_each)
    claim = runner.acquire(session.pk, Clock())
    assert claim is not None
    extraction.read(claim)
    apply.apply(claim)
    assert erase_unread(job, NOW) == 0
    session.refresh_from_db()
    assert (session.status, session.messages.count(), session.holder) == ("closed", 1, "")
    assert ConceptNode.objects.count() == 1
    assert ImportRun.objects.exists()
    assert erase_unread(job, NOW) == 0


@pytest.mark.django_db
def test_a_session_that_could_not_be_read_goes_too(mira: Persona) -> None:
    job = an_import(mira, "cancelled")
    session = import_session(job, f"Ana: {SAID}")
    Session.objects.filter(pk=session.pk).update(status="failed", failure="extraction: …")
    assert erase_unread(job, NOW) == 1


@pytest.mark.django_db
def test_a_resumed_erasure_of_unread_sessions_leaves_one_receipt(
    mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = an_import(mira, "cancelled")
    for day in range(12):
        import_session(job, f"Ana: I swam in the river on day {day}.", at=LONG_AGO + timedelta(days=day))
    with monkeypatch.context() as patch:
        patch.setattr(cancellation, "erase_or_close", _dies_after(7, cancellation.erase_or_close))
        with pytest.raises(KeyboardInterrupt):
            erase_unread(job, NOW)
    assert Session.objects.count() == 7
    assert Receipt.objects.get().counts["chat_session"] == 5
    assert erase_unread(job, NOW) == 7
    assert Receipt.objects.get().counts["chat_session"] == 12
    assert not Session.objects.exists()


@pytest.mark.django_db
def test_of_years_of_talk_the_job_of_the_minute_takes_away_what_nobody_waits_for(
    mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = an_import(mira)
    for day in range(12):
        import_session(job, f"Ana: I swam in the river on day {day}.", at=LONG_AGO + timedelta(days=day))
    monkeypatch.setattr(runs, "ERASED_AT_ONCE", 5)
    assert imports.cancel(job, NOW)
    assert (job.status, job.finished_at, Session.objects.count()) == ("cancelled", None, 7)
    assert imports_runner.requeue_stale(NOW) == 0
    job.refresh_from_db()
    assert (job.finished_at, Session.objects.count()) == (NOW, 0)
    assert not ImportRun.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("status", ["looking", "asking", "writing"])
def test_it_can_be_cancelled_before_anything_is_remembered(mira: Persona, status: str) -> None:
    steps: dict[str, Callable[[], ImportJob]] = {
        "looking": lambda: importing_files.begin_import(mira, CHAT, NAME),
        "asking": lambda: importing_files.analyze_file(mira, CHAT, NAME),
        "writing": lambda: importing_files.confirm_file(mira, CHAT, NAME),
    }
    job = steps[status]()
    assert job.status == status
    assert imports.cancel(job, NOW)
    assert not imports.cancel(job, NOW)
    assert imports_runner.run(job.pk, Clock()) == imports_runner.Outcome.NOT_MINE
    assert not any(model.objects.exists() for model in (ImportPiece, ImportChunk, ImportRun, Session))
    assert checks.broken_invariants(NOW) == {}


def _cancel(job: ImportJob) -> None:
    ImportJob.objects.filter(pk=job.pk).update(status="cancelled", holder="", lease_until=None)
    erase_unread(job, NOW)


def _dies_after(count: int, ended: Any) -> Any:
    countdown = iter(range(count))

    def dying(session: Session) -> Any:
        if next(countdown, None) is None:
            raise KeyboardInterrupt
        return ended(session)

    return dying


@pytest.mark.django_db
def test_after_a_restore_it_is_cancelled_again(mira: Persona) -> None:
    job = an_import(mira, "cancelled")
    import_session(job, f"Ana: {SAID}")
    erase_unread(job, NOW)
    since = replay.read_log()
    Receipt.objects.all().delete()
    ImportJob.objects.filter(pk=job.pk).update(status="remembering")  # as the backup has it
    import_session(job, f"Ana: {SAID}")
    replay.replay(since, NOW)
    job.refresh_from_db()
    assert job.status == "cancelled"
    imports_runner.requeue_stale(NOW)
    assert not Session.objects.exists()
