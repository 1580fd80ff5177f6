"""Imported data is forgotten as a whole or message by message, and does not come back with its file."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.models import Message, Session
from echovessel.jobs.lease import LeaseLost
from memory.consolidation import runner
from memory.forgetting import Choice, Plan, Target, forget, plan, verify
from memory.imports import runner as imports_runner
from memory.models import (
    Alias,
    ConceptNode,
    Entity,
    ImportChunk,
    ImportJob,
    ImportPiece,
    ImportRun,
    Mention,
    Receipt,
)
from memory.store import checks
from persona.models import CoreDraft, Persona
from tests.memory.imports import importing_files
from tests.memory.imports.imported_sessions import LONG_AGO, acquire_job, an_import, events_of_each, import_session
from tests.memory.sessions import NOW, Clock, event, extraction, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db
SAID = "My brother Nils keeps seven grey geese in Porto."
CHAT = importing_files.whatsapp(
    "Ana: I was born in Porto by the sea.", f"Ana: {SAID}", "24", "Ana: I feed two grey cats."
)
NAME = "WhatsApp Chat with Mira.txt"


def forget_target(target: Target, choice: Choice | None = None) -> Receipt:
    return forget(plan([target], choice or Choice()), None, NOW)


def plan_for(target: Target) -> Plan:
    return plan([target], Choice())


def line_of(words: str) -> Message:
    return Message.objects.get(content=words)


def test_a_whole_import_is_reverted_with_everything_that_came_of_it(mira: Persona, model: Script) -> None:
    model.answers(*[events_of_each] * 9)
    job = importing_files.import_file(mira, CHAT, NAME)
    CoreDraft.objects.create(
        persona=mira, label="user", text="Ana feeds cats.", content_hash="0", import_uuid=job.uuid, created_at=NOW
    )
    live = talk(mira, "I am tired today, after the party.", "> Rest well.", "I will.")
    forget_target(Target("import", ImportRun.objects.get(uuid=job.uuid).pk))
    assert list(Session.objects.all()) == [live]
    assert not any(
        model.objects.exists() for model in (ImportJob, ImportChunk, ImportPiece, ImportRun, ConceptNode, CoreDraft)
    )
    assert verify.find_texts([SAID]) == []
    assert checks.broken_invariants(NOW) == {}


def test_taken_back_while_it_is_under_way_it_ends_where_it_is(mira: Persona, model: Script) -> None:
    job = importing_files.confirm_file(mira, CHAT, NAME)
    model.answers(*[events_of_each] * 9)
    imports_runner.run(job.pk, Clock(), slice_seconds=0)
    job.refresh_from_db()
    claim = acquire_job(job)
    forget_target(Target("import", ImportRun.objects.get().pk))
    with pytest.raises(LeaseLost):
        claim.checkpoint()
    assert imports_runner.run(job.pk, Clock()) == imports_runner.Outcome.NOT_MINE
    assert not any(model.objects.exists() for model in (ImportJob, ImportPiece, ImportChunk, Session, Message))


def test_a_file_of_which_nothing_was_taken_in_yet_is_reverted_too(mira: Persona) -> None:
    job = importing_files.confirm_file(mira, CHAT, NAME)
    forget_target(Target("import", ImportRun.objects.get(uuid=job.uuid).pk))
    assert not any(model.objects.exists() for model in (ImportJob, ImportPiece, ImportRun))


def test_what_was_also_told_here_is_decided_as_for_any_line(mira: Persona, model: Script) -> None:
    job = an_import(mira)
    same = event_of("Ana's brother Nils keeps seven grey geese.")
    session = import_session(job, f"Ana: {SAID}", at=NOW - timedelta(days=2))
    model.answers(same, same)
    runner.run(session.pk, Clock())
    live = talk(mira, "My brother Nils keeps seven grey geese!", "> I know.", "Still.")
    runner.run(live.pk, Clock())
    node = ConceptNode.objects.get(kind="event")
    assert node.evidence.count() == 2
    forgetting_plan = plan_for(Target("import", ImportRun.objects.get().pk))
    assert [item.why for item in forgetting_plan.deleted if item.kind == "event"] == ["quotes"]
    assert [item.key for item in forgetting_plan.deleted if item.kind == "message"] == [session.messages.get().pk]
    orphan_plan = plan([Target("import", ImportRun.objects.get().pk)], Choice("orphan"))
    assert [(item.key, item.why) for item in orphan_plan.staying] == [(node.pk, "other_ground")]


def test_a_line_that_was_forgotten_does_not_come_back_with_its_file(mira: Persona, model: Script) -> None:
    model.answers(*[events_of_each] * 9)
    importing_files.import_file(mira, CHAT, NAME)
    forget_target(Target("message", line_of(SAID).pk))
    assert verify.find_texts([SAID]) == []
    again = importing_files.import_file(mira, CHAT, NAME)
    assert (again.status, again.counts["known"], again.counts["refused"]) == ("done", 2, 1)
    assert not Message.objects.filter(content=SAID).exists()
    assert checks.broken_invariants(NOW) == {}


def test_of_a_session_that_lost_a_line_no_digest_tells_which_it_was(mira: Persona) -> None:
    job = an_import(mira)
    session = import_session(job, "Ana: I was born in Porto.", f"Ana: {SAID}")
    other = import_session(job, "Ana: I feed two grey cats.", at=LONG_AGO + timedelta(days=3))
    before = {session.external_id, other.external_id}
    forget_target(Target("message", line_of(SAID).pk))
    chunk = ImportChunk.objects.get(session=session)
    session.refresh_from_db()
    assert chunk.digest not in before
    assert session.external_id is None
    assert (chunk.dated, chunk.kind) == (True, "talk")
    assert ImportChunk.objects.get(session=other).digest == other.external_id


def test_with_the_last_line_of_a_session_its_part_of_the_file_is_forgotten(mira: Persona) -> None:
    session = import_session(an_import(mira), f"Ana: {SAID}")
    forget_target(Target("session", session.pk))
    assert not ImportChunk.objects.exists()


def test_a_line_of_somebody_else_is_forgotten_like_any(mira: Persona) -> None:
    session = import_session(an_import(mira), f"Kim: {SAID}", "Ana: I feed two grey cats.")
    message = session.messages.get(speaker="Kim")
    forget_target(Target("message", message.pk))
    assert verify.find_texts([SAID]) == []
    assert session.messages.count() == 1


def nils_of(persona: Persona) -> Entity:
    """An entity mentioned in one node."""
    nils = Entity.objects.create(persona=persona, canonical_name="Nils", kind="person")
    Alias.objects.create(entity=nils, persona=persona, text="Nils", normalized="nils")
    node = ConceptNode.objects.create(
        persona=persona, kind="event", source="extraction", description="Nils keeps geese.", content_hash="0",
        embedding_model="none",
    )  # fmt: skip
    Mention.objects.create(node=node, entity=nils)
    return nils


def test_no_file_is_named_after_whom_nobody_knows_any_more(mira: Persona) -> None:
    job = an_import(mira, "done")
    ImportJob.objects.filter(pk=job.pk).update(file_name="WhatsApp Chat with Nils.txt")
    import_session(job, f"Ana: {SAID}")
    forget_target(Target("entity", nils_of(mira).pk))
    job.refresh_from_db()
    assert job.file_name == ""


def test_nor_does_a_refusal_say_it(mira: Persona) -> None:
    job = importing_files.analyze_file(mira, b"1234 5678\n0000\n", "Letters of Nils.bin")
    assert "Nils" in job.refusal["where"]
    forget_target(Target("entity", nils_of(mira).pk))
    job.refresh_from_db()
    assert (job.file_name, job.refusal["code"], job.refusal["where"]) == ("", "unknown_format", "")


def test_forgetting_a_person_deletes_their_messages(mira: Persona) -> None:
    session = import_session(an_import(mira), "Ana: I feed two grey cats.", f"Nils: {SAID}", "Anni: I feed none.")
    forget_target(Target("entity", nils_of(mira).pk))
    assert set(session.messages.values_list("speaker", flat=True)) == {"", "Anni"}
    assert verify.find_texts([SAID]) == []


def test_a_file_that_is_still_to_be_read_is_named_in_the_plan(mira: Persona) -> None:
    waiting_job = importing_files.analyze_file(mira, CHAT, NAME)
    live = talk(mira, SAID, "> Seven!", "Seven.")
    forgetting_plan = plan_for(Target("session", live.pk))
    assert [(item.kind, item.uuid, item.why) for item in forgetting_plan.untouched] == [
        ("import", waiting_job.uuid, "on_its_way")
    ]


def test_what_is_forgotten_while_its_file_waits_is_left_out_when_it_is_read(mira: Persona, model: Script) -> None:
    model.answers(*[events_of_each] * 9)
    job = importing_files.confirm_file(mira, CHAT, NAME)
    live = talk(mira, SAID, "> Seven!", "Seven.", at=LONG_AGO)
    forget_target(Target("session", live.pk))
    while imports_runner.run(job.pk, Clock()) == imports_runner.Outcome.GOES_ON:
        pass
    assert verify.find_texts([SAID]) == []


def test_while_something_is_forgotten_no_import_stays_in_hand(mira: Persona) -> None:
    job = an_import(mira)
    session = import_session(job, f"Ana: {SAID}")
    claim = acquire_job(job)
    forget_target(Target("session", session.pk))
    with pytest.raises(LeaseLost):
        claim.checkpoint()


@pytest.mark.parametrize("kind", ["persona", "owner"])
def test_with_a_persona_or_an_owner_goes_what_they_brought(mira: Persona, ana: User, ben: User, kind: Any) -> None:
    User.objects.create_superuser("root", password="a long word for root")
    job = importing_files.analyze_file(mira, CHAT, NAME)
    import_session(an_import(mira), f"Ana: {SAID}")
    assert job.pieces.exists()
    forget_target(Target(kind, mira.pk if kind == "persona" else ana.pk))
    assert not any(model.objects.exists() for model in (ImportJob, ImportPiece, ImportChunk, ImportRun, Session))
    assert verify.find_texts([SAID]) == []


def test_what_was_brought_for_nobody_yet_goes_with_its_owner(ana: User, ben: User) -> None:
    theirs = importing_files.begin_import(None, CHAT, NAME, owner=ben)
    importing_files.begin_import(None, CHAT, NAME, owner=ana)
    forget_target(Target("owner", ana.pk))
    assert list(ImportJob.objects.all()) == [theirs]
    assert not ImportPiece.objects.exclude(job=theirs).exists()


def event_of(description: str) -> Any:
    def answer(request: Any) -> dict[str, Any]:
        if request.purpose == "reflection":
            return {"thoughts": []}
        message = next(message for message in request.material["lines"] if message["role"] == "user")
        return extraction([event(description, {"message_id": message["id"], "quote": message["content"]})])

    return answer
