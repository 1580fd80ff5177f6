"""An archive holds every layer and every setting: restored elsewhere, it is saved again with the same bytes, and what
people decided can be taken back there as here."""

import io
import json
import random
import zipfile
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from chat import search
from chat.models import CrisisFlag, Message, Session, Turn
from echovessel.db.sqlite import bulk
from echovessel.embeddings import embedding
from memory.archive import BrokenLine, account_archive, import_archive, schema, write
from memory.entities import merge, photos
from memory.forgetting import Choice, Target, forget, plan
from memory.models import (
    ConceptNode,
    Entity,
    Evidence,
    Filling,
    ImportChunk,
    ImportJob,
    ImportRun,
    Mention,
    MergeProposal,
    NodeVersion,
    Question,
    QuestionGround,
    Receipt,
    ReflectionRun,
    SlowCycle,
    SlowCycleRun,
    Thread,
    ThreadMember,
    Tombstone,
)
from memory.store import checks, tombstones, vectors
from memory.store.deduplication import content_hash
from persona.companion import pictures
from persona.models import CoreBlock, CoreDraft, MoodChange, Persona
from persona.models.core_block import Label
from persona.onboarding import drafts
from proactive.models import Consideration, Outreach, ReachingOut
from tests.memory.archive.archives import HEADER, PERSONA, import_lines, message, node, session
from tests.memory.archive.test_export_archive import create_entity, line, restore_saved, saved_lines
from tests.memory.archive.test_export_archive import node as remembered
from tests.memory.sessions import NOW, talk, turn
from tests.persona.images import jpeg

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(days=1)
FORGOTTEN = "My cat Rex died in Lisbon yesterday."


@pytest.fixture
def everything(mira: Persona) -> Persona:
    """A persona with rows in every table of its own."""
    block = CoreBlock.objects.get(persona=mira, label=Label.STYLE)
    block.rewrite("Short.", mira.owner)
    block.rewrite("Longer.", mira.owner)
    CoreBlock.objects.filter(pk=block.pk).update(edited_by=None)
    mood = {"mood": "warm", "energy": 6}
    pictures.save_picture(mira, jpeg())
    Persona.objects.filter(pk=mira.pk).update(
        colour="plum",
        greeting="You came back.",
        care_until=LATER,
        episodic_state=mood | {"updated_at": NOW.isoformat()},
    )
    first_session = talk(mira, "Hello.", status="closed")
    spoken_turn = turn(first_session, "done", spoke_first=True, started_at=NOW, usage={"tokens_in": 3})
    line(first_session, "I am here.", role="persona", turn=spoken_turn)
    failed_turn = turn(first_session, "failed", error="no_model", partial="I am")
    crisis_message = line(first_session, "I want to die.", turn=failed_turn, day=(NOW + timedelta(days=3)).date())
    CrisisFlag.objects.create(message=crisis_message, by_model=True, raised_at=NOW, seen_at=LATER, seen_by=mira.owner)
    MoodChange.objects.create(persona=mira, session_uuid=first_session.uuid, at=NOW, **mood)
    event = remembered(mira, "Ana adopted Milo, who was called Bello.", session=first_session)
    Evidence.objects.create(node=event, message=crisis_message, quote="I want", start=0, end=6)
    expectation = remembered(
        mira, "Ana will call.", kind="expectation", outcome="fulfilled", resolved_at=NOW, resolved_by=event
    )
    thought = remembered(mira, "Bello makes Ana gentle.", kind="thought")
    Filling.objects.create(parent=thought, child=event)
    Filling.objects.create(parent=thought, child=None, orphaned=True)
    NodeVersion.objects.create(
        node=event,
        version=1,
        description="Ana adopted Mia.",
        emotional_impact=2,
        emotion_tags=["joy"],
        verification="unverified",
        edited_by=mira.owner,
        edited_at=NOW - timedelta(days=1),
    )
    ReflectionRun.objects.create(persona=mira, session=first_session, reason="timer", thoughts=1, at=NOW)
    _slow_cycle(mira, event, expectation)
    SlowCycle.objects.create(persona=mira, through=event.pk, requested_at=LATER, requested_by=first_session)
    tombstones.add_tombstone(mira, FORGOTTEN)
    stones = list(mira.tombstones.values_list("pk", flat=True))
    targets = [["node", str(mira.uuid)]]
    Receipt.objects.create(
        persona=mira, owner_id=mira.owner_id, targets=targets, stones=stones, at=NOW, status="done", finished_at=NOW
    )
    _first_words(mira, spoken_turn, crisis_message, expectation)
    _brought(mira, event)
    milo, bello = (
        create_entity(mira, name, kind="pet", described_through=event.pk, relation=relation)
        for name, relation in (("Milo", ""), ("Bello", "cat"))
    )
    Mention.objects.bulk_create(Mention(node=event, entity=entity) for entity in (milo, bello))
    Mention.objects.create(node=thought, entity=bello)
    rosa = create_entity(mira, "Rosa", description="A friend.", described_by="person")
    photos.save_photo(rosa, jpeg())
    merge.keep_apart(merge.propose(mira, milo, rosa, 0.4, ["sound"]), mira.owner, NOW)
    mira.refresh_from_db()
    return mira


def _brought(persona: Persona, event: ConceptNode) -> None:
    """An imported file with its results, and one that is still being written."""
    job = imported_file(persona, status="remembering", found={"chunks": 2, "speakers": [{"name": "Rosa"}]})
    import_session = talk(persona, status="closing")
    Session.objects.filter(pk=import_session.pk).update(close_reason="import", import_uuid=job.uuid)
    message = line(import_session, "Tom is my brother, and a nurse.", import_uuid=job.uuid)
    line(import_session, "Hi, Ana!", role="system", speaker="Rosa", import_uuid=job.uuid)
    parts = {"job": job, "persona": persona, "dated": False}
    ImportChunk.objects.create(number=0, digest="a" * 64, kind="talk", session=import_session, **parts)
    ImportChunk.objects.create(number=1, digest="b" * 64, kind="notes", **parts)
    ConceptNode.objects.filter(pk=event.pk).update(import_uuid=job.uuid)
    imported_file(persona, status="writing")
    quote = drafts.DraftSource("Tom is my brother", message.uuid, NOW)
    draft = drafts.propose(persona, "user", "Ana has a brother, Tom.", [quote], job.uuid, NOW)
    assert draft is not None
    drafts.reject(draft, persona.owner, LATER)
    drafts.propose(persona, "persona", "Mira sings.", [drafts.DraftSource("She sings.", where="card")], None, NOW)


def imported_file(persona: Persona, **values: Any) -> ImportJob:
    """An import that the owner has confirmed."""
    usual = {"file_name": "talk.txt", "file_size": 9, "file_digest": "c" * 64, "format": "whatsapp"}
    moments = {"created_at": NOW, "confirmed_at": NOW}
    job = ImportJob.objects.create(owner=persona.owner, persona=persona, **(usual | moments | values))
    ImportRun.objects.create(uuid=job.uuid, persona=persona, at=NOW)
    return job


def _slow_cycle(persona: Persona, event: ConceptNode, expectation: ConceptNode) -> None:
    """A slow cycle run, an open question, and two threads, one of them dissolved by the owner."""
    story = Thread.objects.create(persona=persona, title="Milo's name", state="ended", created_at=NOW)
    dissolved_thread = Thread.objects.create(
        persona=persona, title="A call", titled_by="person", created_at=NOW, dissolved_at=LATER
    )
    for thread, member, removed_at in (
        (story, event, None),
        (story, expectation, None),
        (dissolved_thread, expectation, LATER),
    ):
        ThreadMember.objects.create(thread=thread, node=member, removed_at=removed_at)
    run = SlowCycleRun.objects.create(persona=persona, reason="first", outcome="done", through=event.pk, at=NOW)
    question_fields = {"text": "Does he sleep?", "content_hash": content_hash("Does he sleep?")}
    question = Question.objects.create(persona=persona, run=run, asked_at=NOW, **question_fields)
    QuestionGround.objects.create(question=question, node=event)
    run.given = {"events": [event.pk], "awaited": [expectation.pk], "questions": [], "thoughts": [], "entities": []}
    run.given |= {"threads": [story.pk], "earlier": [expectation.pk]}
    run.made = [
        {"kind": "question", "id": question.pk},
        {"kind": "outcome", "id": expectation.pk, "outcome": "fulfilled", "by": [event.pk]},
        {"kind": "thought", "dropped": "no_ground"},
        {"kind": "thread", "id": story.pk, "by": [event.pk]},
    ]
    run.save()


def _first_words(persona: Persona, turn: Turn, message: Message, promise: ConceptNode) -> None:
    """The settings of outreach, two outreaches, and two considerations."""
    ReachingOut.objects.create(persona=persona, enabled=True, quiet_start=22, changed_at=NOW)
    about_silence = {"persona": persona, "trigger": "silence", "trigger_key": f"silence:1:{message.uuid}"}
    outreach = Outreach.objects.create(
        status="delivered", wanted_at=NOW, delivered_at=NOW, turn_uuid=turn.uuid, **about_silence
    )
    Outreach.objects.create(
        persona=persona,
        trigger="promise",
        trigger_key=f"promise:{promise.uuid}",
        about_uuid=promise.uuid,
        status="failed",
        wanted_at=NOW,
    )
    values = {"day": NOW.date(), "first_at": NOW, "at": LATER, "times": 5}
    Consideration.objects.create(verdict="send", outreach=outreach, **about_silence, **values)
    Consideration.objects.create(persona=persona, verdict="refuse", gate="quiet_hours", **values)


def test_every_layer_and_setting_comes_back_with_the_same_bytes(ana: User, everything: Persona, tmp_path: Path) -> None:
    before = saved_lines(everything)
    types = {json.loads(line)["type"] for line in before}
    assert types == {*schema.TYPES, "reaching_out", "outreach", "consideration"} - {"header"}
    assert saved_lines(restore_saved(tmp_path, ana, everything)) == before
    assert checks.broken_invariants(LATER) == {}


def test_a_restored_archive_keeps_references_settings_and_tombstones(
    ana: User, everything: Persona, tmp_path: Path
) -> None:
    again = restore_saved(tmp_path, ana, everything)
    assert again.uuid == everything.uuid
    assert (again.care_until, again.created_at) == (LATER, everything.created_at)
    block = CoreBlock.objects.get(persona=again, label=Label.STYLE)
    assert (block.content, block.version, block.edited_by) == ("Longer.", 3, None)
    assert [version.version for version in block.versions.all()] == [2, 1]
    event, expectation = again.nodes.get(kind="event"), again.nodes.get(kind="expectation")
    assert expectation.resolved_by == event
    assert SlowCycle.objects.get().through == SlowCycleRun.objects.get().through == event.pk
    assert Question.objects.get().run == SlowCycleRun.objects.get()
    thought = again.nodes.get(kind="thought")
    assert sorted(thought.filling.values_list("orphaned", flat=True)) == [False, True]
    crisis_message = Message.objects.get(crisis_flag__isnull=False)
    assert (crisis_message.content, crisis_message.crisis_flag.seen_by, crisis_message.turn.status) == (
        "I want to die.",
        ana,
        "failed",
    )
    assert (crisis_message.crisis_flag.by_detector, crisis_message.crisis_flag.by_model) == (False, True)
    outreach = Outreach.objects.get(trigger="silence")
    assert outreach.trigger_key == f"silence:1:{crisis_message.uuid}"
    assert Turn.objects.get(uuid=outreach.turn_uuid).spoke_first
    assert Outreach.objects.get(trigger="promise").trigger_key == f"promise:{expectation.uuid}"
    assert Consideration.objects.get(verdict="send").outreach == outreach
    assert Receipt.objects.get(persona=again).stones == [Tombstone.objects.get().pk]
    assert tombstones.refuses(again, [FORGOTTEN])


def test_a_file_that_was_taken_in_is_known_elsewhere_with_all_that_came_of_it(
    ana: User, everything: Persona, tmp_path: Path
) -> None:
    again = restore_saved(tmp_path, ana, everything)
    file, broken_off = ImportJob.objects.order_by("pk")
    assert (file.status, file.file_digest, file.found) == ("remembering", "c" * 64, {"chunks": 2})
    assert (broken_off.status, broken_off.file_name) == ("cancelled", "")
    brought_by_it = [
        again.sessions.get(import_uuid=file.uuid),
        again.messages.get(import_uuid=file.uuid, speaker="Rosa"),
        again.nodes.get(import_uuid=file.uuid),
    ]
    assert [row.persona for row in brought_by_it] == [again] * 3
    assert list(file.chunks.values_list("number", "digest", "dated", "session")) == [
        (0, "a" * 64, False, brought_by_it[0].pk),
        (1, "b" * 64, False, None),
    ]
    assert ImportRun.objects.get(uuid=file.uuid).persona == again
    draft = CoreDraft.objects.get(label="user")
    assert (draft.status, draft.decided_by, draft.import_uuid) == ("rejected", ana, file.uuid)
    assert draft.quotes.get().said_in == again.messages.get(content__startswith="Tom").uuid


def test_a_draft_does_not_come_back_without_the_line_that_it_rests_on(
    ana: User, everything: Persona, tmp_path: Path
) -> None:
    file = tmp_path / "hers.jsonl"
    file.write_bytes(b"".join(write.archive_lines(everything, NOW)))
    message = everything.messages.get(content__startswith="Tom")
    forget(plan([Target("message", message.pk)], Choice()), ana, LATER)
    assert not CoreDraft.objects.filter(label="user").exists()
    with file.open("rb") as archive:
        import_archive(archive, ana)
    assert [draft.label for draft in CoreDraft.objects.all()] == ["persona"]


def test_an_import_that_was_forgotten_is_not_known_again_by_an_older_archive(
    ana: User, everything: Persona, tmp_path: Path
) -> None:
    file = tmp_path / "hers.jsonl"
    file.write_bytes(b"".join(write.archive_lines(everything, NOW)))
    run = ImportRun.objects.order_by("pk").first()
    assert run is not None
    forget(plan([Target("import", run.pk)], Choice()), ana, LATER)
    before = saved_lines(everything)
    with file.open("rb") as archive:
        import_archive(archive, ana)
    assert not ImportJob.objects.filter(uuid=run.uuid).exists()
    assert [line for line in saved_lines(everything) if b'"tombstone"' not in line] == [
        line for line in before if b'"tombstone"' not in line
    ]


def test_the_order_of_a_whole_archive_does_not_matter(ana: User, merged: Persona) -> None:
    header, *lines = write.archive_lines(merged, NOW)
    Persona.objects.all().delete()
    shuffled_lines = random.Random(7).sample(lines, len(lines))
    assert saved_lines(import_archive(io.BytesIO(b"".join([header, *shuffled_lines])), ana).persona) == lines


def test_a_block_that_is_newer_than_its_last_version_follows_it(ana: User, everything: Persona) -> None:
    newest = b'"label":"style","version":3'
    lines = [line for line in write.archive_lines(everything, NOW) if newest not in line]
    Persona.objects.all().delete()
    again = import_archive(io.BytesIO(b"".join(lines)), ana).persona
    block = CoreBlock.objects.get(persona=again, label=Label.STYLE)
    assert (block.content, block.version) == ("Longer.", 3)
    assert [version.version for version in block.versions.all()] == [2, 1]


@pytest.mark.parametrize(
    "values",
    [
        {"made": [{"id": "1"}]},
        {"tokens_in": 2**63},
    ],
)
def test_an_account_that_cannot_be_shown_is_refused(ana: User, tmp_path: Path, values: dict[str, Any]) -> None:
    run = {"type": "slow_cycle_run", "id": "1", "reason": "first", "outcome": "done", "at": NOW.isoformat()}
    with pytest.raises(BrokenLine, match="line 3: "):
        import_lines(tmp_path, ana, HEADER, PERSONA, run | values)


@pytest.mark.parametrize("values", [{"erased": {"node": ["x"]}}, {"prints": [[]]}, {"targets": [["node"]]}])
def test_a_receipt_by_which_nothing_can_be_proven_is_refused(ana: User, tmp_path: Path, values: dict[str, Any]) -> None:
    with pytest.raises(BrokenLine, match="line 3: "):
        import_lines(tmp_path, ana, HEADER, PERSONA, {"type": "receipt", "id": "1", "at": NOW.isoformat()} | values)


def test_her_own_whole_archive_brings_nothing_twice(ana: User, everything: Persona, tmp_path: Path) -> None:
    before = saved_lines(everything)
    result = import_saved(ana, everything, tmp_path)
    assert (result.persona, result.added.total(), ImportRun.objects.count()) == (everything, 0, 2)
    assert saved_lines(everything) == before


def import_saved(owner: User, persona: Persona, path: Path, **options: Any) -> Any:
    """Save the persona, import the archive, and return the result."""
    file = path / "hers.jsonl"
    file.write_bytes(b"".join(write.archive_lines(persona, NOW)))
    with file.open("rb") as archive:
        return import_archive(archive, owner, **options)


def test_somebody_elses_copy_is_another_one_with_all_that_can_be_hers(
    ben: User, everything: Persona, tmp_path: Path
) -> None:
    reports: list[str] = []
    before = checks.broken_invariants(LATER)
    copy = import_saved(ben, everything, tmp_path, report=reports.append).persona
    assert copy.uuid != everything.uuid
    assert copy.sessions.count() == everything.sessions.count()
    assert not copy.tombstones.exists()
    assert [report for report in reports if "cannot be used" in report]
    assert checks.broken_invariants(LATER) == before


@pytest.fixture
def merged(everything: Persona) -> Persona:
    """Bello is merged into Milo, who is mentioned again afterwards; then Rosa is merged, too."""
    milo, bello, rosa = (everything.entities.get(canonical_name=name) for name in ("Milo", "Bello", "Rosa"))
    merge.merge_pair(milo, bello, everything.owner, NOW)
    Mention.objects.create(node=remembered(everything, "Bello barked.", created_at=LATER), entity=milo)
    merge.merge_pair(milo, rosa, everything.owner, LATER)
    Mention.objects.create(node=remembered(everything, "Rosa laughed.", created_at=LATER), entity=milo)
    return everything


def people(persona: Persona) -> list[str]:
    """Entities, their mentions and their merge decisions as text, without ids."""
    rows = [
        f"{entity.canonical_name} {entity.status} {entity.description}"
        for entity in persona.entities.order_by("canonical_name")
    ]
    rows += sorted(
        f"{mention.entity.canonical_name}: {mention.node.description}"
        for mention in Mention.objects.filter(entity__persona=persona).select_related("node", "entity")
    )
    decisions = MergeProposal.objects.of(persona).select_related("a", "b")
    return rows + sorted(
        f"{sorted([proposal.a.canonical_name, proposal.b.canonical_name])} {proposal.status}" for proposal in decisions
    )


def undo_one_by_one(persona: Persona, by: User) -> list[list[str]]:
    """The people after each merge is undone, the last one first."""
    groups = []
    for proposal in MergeProposal.objects.of(persona).filter(status="merged").order_by("-decided_at"):
        assert merge.undo(proposal, by, LATER + timedelta(days=1))
        groups.append(people(persona))
    return groups


def test_merges_are_taken_back_elsewhere_as_they_are_here(ana: User, merged: Persona, tmp_path: Path) -> None:
    before = saved_lines(merged)
    file = tmp_path / "hers.jsonl"
    file.write_bytes(b"".join(write.archive_lines(merged, NOW)))
    expected = undo_one_by_one(merged, ana)
    assert len(expected) == 2
    Persona.objects.all().delete()
    with file.open("rb") as archive:
        again = import_archive(archive, ana).persona
    assert saved_lines(again) == before
    assert checks.broken_invariants(LATER) == {}
    assert undo_one_by_one(again, ana) == expected


def test_a_tombstone_of_another_installation_is_kept_and_said_to_refuse_nothing(
    ana: User, everything: Persona, tmp_path: Path, settings: Any
) -> None:
    before = saved_lines(everything)
    file = tmp_path / "hers.jsonl"
    file.write_bytes(b"".join(write.archive_lines(everything, NOW)))
    Persona.objects.all().delete()
    settings.TOMBSTONE_KEY = "another"
    reports: list[str] = []
    with file.open("rb") as archive:
        again = import_archive(archive, ana, report=reports.append).persona
    assert [report for report in reports if "1 tombstones refuse nothing here" in report]
    assert saved_lines(again) == before


def test_a_turn_has_one_reply_whatever_a_file_says(ana: User, tmp_path: Path) -> None:
    turn = {"type": "turn", "id": "t1", "session": "s1", "created_at": "2026-01-03T10:00:00+00:00"}
    messages = [message(f"m{place}", "Yes.", role="persona", turn="t1") for place in range(2)]
    import_lines(tmp_path, ana, HEADER, PERSONA, session("s1"), turn, turn | {"id": "t2"}, *messages)
    assert sorted(Message.objects.values_list("turn__external_id", flat=True), key=str) == [None, "t1"]
    assert Turn.objects.count() == 1


@pytest.mark.parametrize(
    "line",
    [
        {"type": "proposal", "id": "p1", "a": "e1", "b": "e2", "score": 1, "status": "merged", "created_at": "x"},
        {"type": "mood", "id": "1", "mood": "x" * 41, "energy": 1, "at": "2026-01-03T10:00:00+00:00"},
        {"type": "tombstone", "kind": "text", "digest": "x", "key": "k", "created_at": "2026-01-03T10:00:00+00:00"},
        {"type": "outreach", "trigger": "whim", "key": "k", "status": "failed", "wanted_at": "2026-01-03T10:00:00Z"},
    ],
)
def test_a_broken_line_of_any_part_is_named(ana: User, tmp_path: Path, line: Any) -> None:
    with pytest.raises(BrokenLine, match="line 3: "):
        import_lines(tmp_path, ana, HEADER, PERSONA, line)
    assert not Persona.objects.exists()


def test_a_merge_that_does_not_say_how_it_is_undone_is_not_taken(ana: User, tmp_path: Path) -> None:
    at = "2026-01-03T10:00:00+00:00"
    survivor = {"type": "entity", "id": "e1", "name": "Milo"}
    merged_entity = {"type": "entity", "id": "e2", "name": "Bello", "status": "merged", "merged_into": "e1"}
    proposal = {"type": "proposal", "id": "p1", "a": "e1", "b": "e2", "score": 1, "status": "merged", "created_at": at}
    import_lines(tmp_path, ana, HEADER, PERSONA, merged_entity, survivor, proposal)
    assert not MergeProposal.objects.exists()
    assert Entity.objects.get(status="merged").merged_into == Entity.objects.get(status="confirmed")


def test_many_at_once_are_stored_as_one_by_one(ana: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With triggers disabled, and without."""
    messages = [message(f"m{place}", f"Line {place} of 小黑.") for place in range(8)]
    statuses = ["hidden", "active"] * 4
    nodes = [
        node(f"n{place}", f"Memory {place}.", messages=[f"m{place}"], status=status)
        for place, status in enumerate(statuses)
    ]
    counts = []
    for number, limit in enumerate((1, 1_000)):
        monkeypatch.setattr(bulk, "MANY", limit)
        persona = import_lines(
            tmp_path, ana, HEADER, {**PERSONA, "id": f"mira-{number}"}, session("s1"), *messages, *nodes
        ).persona
        assert checks.broken_invariants(NOW) == {}
        assert not [*search.missing(), *vectors.missing()]
        towards = embedding.embed(["Memory 5."])[0]
        counts.append(
            (len(vectors.nearest(persona.pk, towards, 9)), search.count(persona.pk), vectors.count(persona.pk))
        )
    assert counts == [(4, 8, 8), (4, 8, 8)]


def test_triggers_that_were_set_aside_are_there_again_when_it_fails(
    ana: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MANY", 1)
    monkeypatch.setattr(type(search.SUBSTRINGS), "add", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        import_lines(tmp_path, ana, HEADER, PERSONA, session("s1"), message("m1", "Hello."))
    assert not Message.objects.exists()
    assert not search.missing()


# --- all of an owner ------------------------------------------------------------------------------------------------
def unzip(chunks: Iterable[bytes]) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(b"".join(chunks))) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_an_owners_all_is_an_archive_for_each(ana: User, mira: Persona, otto: Persona) -> None:
    second = Persona.objects.create(owner=ana, name="../Noa")
    files = unzip(account_archive.stream_zip(ana, NOW))
    assert list(files) == [f"01-{mira.uuid}.jsonl", f"02-{second.uuid}.jsonl"]
    assert files[f"01-{mira.uuid}.jsonl"] == b"".join(write.archive_lines(mira, NOW))


def test_the_command_saves_an_owners_all(ana: User, mira: Persona, tmp_path: Path) -> None:
    call_command("export_archive", str(tmp_path / "all.zip"), owner="ana")
    assert list(unzip([(tmp_path / "all.zip").read_bytes()])) == [f"01-{mira.uuid}.jsonl"]


@pytest.mark.parametrize(
    ("arguments", "owner", "why"),
    [((), None, "Give a persona"), (("a", "b"), "ana", "not both"), ((), "zoe", "no user")],
)
def test_the_command_says_what_it_wants(ana: User, arguments: tuple[str, ...], owner: str | None, why: str) -> None:
    with pytest.raises(CommandError, match=why):
        call_command("export_archive", *arguments, owner=owner)


def test_her_data_is_given_to_her_alone_and_to_her_password(ana: User, mira: Persona, client: Client) -> None:
    assert client.get("/account/data/").status_code == 302
    client.force_login(ana)
    assert b"data-form" in client.get("/account/data/").content
    assert b"/account/data/" in client.get("/account/").content
    assert client.post("/account/data/", {"password": "wrong"}).status_code == 422
    answer: Any = client.post("/account/data/", {"password": "a long word for ana"})
    assert (answer["Content-Type"], answer.streaming) == ("application/zip", True)
    assert ".zip" in answer["Content-Disposition"]
    assert list(unzip(answer)) == [f"01-{mira.uuid}.jsonl"]
