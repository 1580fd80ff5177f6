"""An import is reverted, and the same file can be imported again with other answers as if for the first time."""

from typing import Any

import pytest
from django.db import transaction

from chat.models import Message, Session
from memory import imports
from memory.consolidation import open_items, runner
from memory.forgetting import REVERT_IMPORT, Choice, Plan, Target, forget, plan, registry, replay, verify
from memory.imports import runner as imports_runner
from memory.models import (
    Alias,
    ConceptNode,
    Entity,
    Evidence,
    ImportChunk,
    ImportJob,
    ImportPiece,
    ImportRun,
    Mention,
    Receipt,
    Tombstone,
)
from memory.store import checks
from persona.models import CoreBlock, CoreDraft, Persona
from tests.memory.archive.archives import SMALL
from tests.memory.archive.archives import write_archive as written_archive
from tests.memory.imports import importing_files
from tests.memory.imports.imported_sessions import an_import, events_of_each, import_session
from tests.memory.sessions import NOW, Clock, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db
GEESE = "My brother Nils keeps seven grey geese in Porto."
CHAT = importing_files.whatsapp(
    "Ana: I was born in Porto by the sea.", "Mira: I grew up in Lyon, far from it.", f"Ana: {GEESE}", "24", "Ana: Rain."
)
NAME = "WhatsApp Chat with Mira.txt"
SWAPPED = {"Ana": "persona", "Mira": "user"}


def plan_revert(job: ImportJob) -> Plan:
    return plan([Target("import", ImportRun.objects.get(uuid=job.uuid).pk)], REVERT_IMPORT)


def revert(job: ImportJob) -> Receipt:
    return forget(plan_revert(job), None, NOW)


def node_of(session: Session, description: str, kind: str = "event") -> ConceptNode:
    """A memory with the first message of the session as its evidence."""
    node = ConceptNode.objects.create(
        persona=session.persona, kind=kind, source="extraction", description=description, session=session,
        content_hash=description, embedding_model="none", import_uuid=session.import_uuid,
    )  # fmt: skip
    message = session.messages.order_by("id")[0]
    Evidence.objects.create(node=node, message=message, quote=message.content, start=0, end=len(message.content))
    return node


def import_chat(persona: Persona, model: Script, roles: dict[str, str] | None = None) -> ImportJob:
    model.answers(*[events_of_each] * 9)
    return importing_files.import_file(persona, CHAT, NAME, roles)


def all_of(persona: Persona) -> dict[str, list[Any]]:
    """Everything that an import creates, without keys and ids of this database."""
    messages = Message.objects.filter(persona=persona).order_by("created_at", "external_id")
    sessions = persona.sessions.order_by("started_at")
    nodes = persona.nodes.order_by("created_at", "description")
    return {
        "lines": list(
            messages.values_list("external_id", "role", "speaker", "content", "created_at", "day", "withheld")
        ),
        "talks": list(sessions.values_list("external_id", "channel", "status", "started_at", "message_count")),
        "nodes": list(nodes.values_list("kind", "subject", "description", "status", "created_at", "content_hash")),
        "quotes": sorted(Evidence.objects.filter(node__persona=persona).values_list("node__description", "quote")),
        "names": sorted(persona.entities.values_list("canonical_name", "kind")),
        "chunks": list(ImportChunk.objects.filter(persona=persona).values_list("number", "digest", "kind", "dated")),
        "drafts": sorted(persona.core_drafts.values_list("label", "text", "status")),
    }


def test_brought_with_swapped_roles_and_taken_back_the_file_comes_again_as_for_the_first_time(
    mira: Persona, model: Script
) -> None:
    first = import_chat(mira, model)
    right, counts = all_of(mira), imports.summarize(first)["counts"]
    revert(first)
    assert all_of(mira) == {name: [] for name in right}
    wrong = import_chat(mira, model, SWAPPED)
    assert all_of(mira)["nodes"] != right["nodes"]
    revert(wrong)
    last = import_chat(mira, model)
    assert (all_of(mira), imports.summarize(last)["counts"]) == (right, counts)
    assert not Tombstone.objects.exists()
    assert checks.broken_invariants(NOW) == {}


def test_nothing_of_it_is_left_and_a_receipt_tells_how_much_it_was(mira: Persona, model: Script) -> None:
    job = import_chat(mira, model)
    revert_plan = plan_revert(job)
    receipt = forget(revert_plan, mira.owner, NOW)
    assert not any(
        model.objects.exists()
        for model in (ImportJob, ImportPiece, ImportChunk, ImportRun, Session, Message, ConceptNode, Entity, CoreDraft)
    )
    assert verify.find_texts([GEESE]) == []
    assert (receipt.is_reverted, receipt.counts, receipt.stones, receipt.prints) == (True, revert_plan.counts, [], [])
    import_chat(mira, model)
    assert verify.prove([receipt]).hits == []  # the messages imported again are not traces of the deleted ones
    assert checks.broken_invariants(NOW) == {}


def test_what_was_forgotten_before_stays_forgotten(mira: Persona, model: Script) -> None:
    job = import_chat(mira, model)
    forget(plan([Target("message", Message.objects.get(content=GEESE).pk)]), None, NOW)
    revert(job)
    again = import_chat(mira, model)
    assert (again.counts["lines"], again.counts["known"], again.counts["refused"]) == (3, 0, 1)
    assert not Message.objects.filter(content=GEESE).exists()
    revert(again)
    assert verify.find_texts([GEESE]) == []


def test_what_was_said_here_since_and_what_came_of_it_stays(mira: Persona, model: Script) -> None:
    job = import_chat(mira, model)
    model.answers(*[events_of_each] * 9)
    live = talk(mira, GEESE, f"> You told me: {GEESE}", "I saw them today, by the river.")
    runner.run(live.pk, Clock())
    shared_node = ConceptNode.objects.get(description=f"Ana said: {GEESE}")
    assert shared_node.evidence.count() == 2
    messages_before = list(live.messages.values_list("uuid", "content", "withheld"))
    revert_plan = plan_revert(job)
    assert [(item.key, item.why) for item in revert_plan.staying] == [(shared_node.pk, "other_ground")]
    revert(job)
    assert list(Message.objects.values_list("uuid", "content", "withheld")) == messages_before
    assert shared_node.evidence.get().message.session == live
    assert ConceptNode.objects.count() == 2
    assert checks.broken_invariants(NOW) == {}


def test_a_memory_of_here_that_the_file_replaced_or_settled_is_as_it_was(mira: Persona) -> None:
    job = an_import(mira, "done")
    imported_node = node_of(import_session(job, f"Ana: {GEESE}"), "Nils keeps seven geese.")
    live = talk(mira, "Nils keeps nine geese, and I will visit him.")
    older, promise = node_of(live, "Nils keeps nine geese."), node_of(live, "Ana visits Nils.", kind="intention")
    ConceptNode.objects.filter(pk=older.pk).update(status="superseded", superseded_by=imported_node)
    open_items.settle(promise, "fulfilled", imported_node, NOW)
    revert(job)
    older.refresh_from_db()
    promise.refresh_from_db()
    assert (older.status, older.superseded_by) == ("active", None)
    assert (promise.outcome, promise.resolved_by, promise.resolved_at) == ("open", None, None)


def test_who_is_known_from_elsewhere_too_stays_without_the_names_that_the_file_gave(mira: Persona) -> None:
    job = an_import(mira, "done")
    imported_node = node_of(import_session(job, "Ana: Nisse, my Nils, keeps geese."), "Nisse keeps geese.")
    live_node = node_of(talk(mira, "Nils is ill."), "Nils is ill.")
    nils = Entity.objects.create(persona=mira, canonical_name="Nils", kind="person", import_uuid=job.uuid)
    lone_entity = Entity.objects.create(persona=mira, canonical_name="Geese", kind="pet", import_uuid=job.uuid)
    for name in ("Nils", "Nisse"):
        Alias.objects.create(entity=nils, persona=mira, text=name, normalized=name.casefold())
    Alias.objects.create(entity=lone_entity, persona=mira, text="Geese", normalized="geese")
    Mention.objects.bulk_create([Mention(node=imported_node, entity=nils), Mention(node=live_node, entity=nils)])
    Mention.objects.create(node=imported_node, entity=lone_entity)
    revert(job)
    assert [
        (entity.canonical_name, [name.text for name in entity.aliases.all()]) for entity in Entity.objects.all()
    ] == [("Nils", ["Nils"])]


def test_drafts_go_and_what_a_person_accepted_stays_in_its_block_and_is_named(mira: Persona, model: Script) -> None:
    job = import_chat(mira, model)
    text = f"Ana said: {GEESE}"
    CoreDraft.objects.create(
        persona=mira, label="user", text=text, content_hash="0", import_uuid=job.uuid, status="accepted", created_at=NOW
    )
    CoreBlock.objects.filter(persona=mira, label="user").update(content=text)
    revert_plan = plan_revert(job)
    assert [(item.kind, item.why) for item in revert_plan.untouched] == [("core_block", "written_by_people")]
    revert(job)
    assert not CoreDraft.objects.exists()
    assert CoreBlock.objects.get(persona=mira, label="user").content == text


@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_what_is_left_of_one_that_ended_early_is_reverted(mira: Persona, model: Script, status: str) -> None:
    model.answers(*[events_of_each] * 9)
    job = importing_files.confirm_file(mira, CHAT, NAME)
    imports_runner.run(job.pk, Clock(), slice_seconds=0)
    imports_runner.run(job.pk, Clock(), slice_seconds=0)
    job.refresh_from_db()
    if status == "cancelled":
        imports.cancel(job, NOW)
    else:
        ImportJob.objects.filter(pk=job.pk).update(status="failed", finished_at=NOW)
    revert(job)
    assert not any(model.objects.exists() for model in (ImportRun, ImportJob, ImportChunk, Session, Message))
    assert import_chat(mira, model).counts["lines"] == 4


def test_another_file_that_brought_some_of_the_same_keeps_what_it_brought(mira: Persona, model: Script) -> None:
    first = import_chat(mira, model)
    model.answers(*[events_of_each] * 9)
    newer = importing_files.import_file(
        mira, CHAT + b"\n" + importing_files.whatsapp("4000", "Ana: We moved to Faro."), NAME
    )
    assert (newer.counts["known"], newer.counts["lines"]) == (4, 1)
    revert(first)
    assert importing_files.message_lines(mira) == ["user: We moved to Faro."]
    assert import_chat(mira, model).counts["lines"] == 4
    assert checks.broken_invariants(NOW) == {}


def test_an_archive_is_reverted_and_comes_again_whole(otto: Persona, mira: Persona, tmp_path: Any) -> None:
    content = written_archive(tmp_path / "mira.jsonl", SMALL).read_bytes()
    first = importing_files.import_file(otto, content, "mira.jsonl")
    right = all_of(otto)
    revert(first)
    assert not any(all_of(otto).values())
    last = importing_files.import_file(otto, content, "mira.jsonl")
    assert (all_of(otto), last.counts) == (right, first.counts)
    assert checks.broken_invariants(NOW) == {}


@pytest.mark.parametrize("table", ["memory_conceptnode", "memory_importrun"])
def test_who_dies_on_the_way_has_done_nothing_and_the_next_one_ends_the_same(
    mira: Persona, model: Script, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    job = import_chat(mira, model)
    before, delete = all_of(mira), registry.delete

    def dying(name: str, keys: Any) -> None:
        if name == table:
            raise KeyboardInterrupt
        delete(name, keys)

    monkeypatch.setattr(registry, "delete", dying)
    with pytest.raises(KeyboardInterrupt):
        revert(job)
    assert all_of(mira) == before
    monkeypatch.setattr(registry, "delete", delete)
    revert(job)
    assert not any(all_of(mira).values())
    assert Receipt.objects.count() == 1
    assert plan([Target("import", 0)], REVERT_IMPORT).is_empty


def test_after_a_restore_it_is_reverted_again_and_may_come_again(mira: Persona, model: Script) -> None:
    job = import_chat(mira, model)
    live = talk(mira, GEESE, "> Seven!")
    with transaction.atomic():  # the rolled back database stands for a restored backup
        revert(job)
        since = replay.read_log()
        transaction.set_rollback(True)
    assert ImportRun.objects.exists()
    result = replay.replay(since, NOW)
    assert (result.receipts, result.hits) == (1, [])
    assert list(Session.objects.all()) == [live]
    assert live.messages.filter(withheld=False).count() == 2
    assert not Tombstone.objects.exists()
    assert import_chat(mira, model).counts["lines"] == 4


def test_who_confirms_that_it_is_forgotten_has_not_confirmed_that_it_is_reverted(mira: Persona) -> None:
    job = an_import(mira, "done")
    import_session(job, f"Ana: {GEESE}")
    for_good = plan([Target("import", ImportRun.objects.get(uuid=job.uuid).pk)], Choice("orphan"))
    assert for_good.digest != plan_revert(job).digest
