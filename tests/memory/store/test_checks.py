"""Each kind of damage is counted under its name, and a life as the project makes it has none."""

import json
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Message, Session, Turn
from memory.bench import synthetic
from memory.entities import merge
from memory.entities.resolve import learn_aliases, link
from memory.erasure import receipts
from memory.models import ConceptNode, Entity, Evidence, Filling, Receipt
from memory.store import checks, tombstones
from persona import mood
from persona.models import Persona
from tests.memory.imports.imported_sessions import an_import, import_session

pytestmark = pytest.mark.django_db
NOW = timezone.now()
Remember = Callable[..., ConceptNode]


@pytest.fixture
def life(mira: Persona, otto: Persona, remember: Remember) -> dict[str, Any]:
    """Of everything something, and all of it in order."""
    message = receive_message(mira, "I met Tom at the sea. 小黑也在。", None, "web", NOW).message
    theirs = receive_message(otto, "I fish.", None, "web", NOW).message
    Turn.objects.update(status="done")
    event = remember(mira, "Ana met Tom at the sea.")
    quote = Evidence.objects.create(node=event, message=message, quote="Tom", start=6, end=9)
    thought = remember(mira, "Ana likes company.", kind="thought", source="reflection")
    edge = Filling.objects.create(parent=thought, child=event)
    tom, thomas = (Entity.objects.create(persona=mira, canonical_name=name) for name in ("Tom", "Thomas"))
    learn_aliases(tom, ["Tom"])
    learn_aliases(thomas, ["Thomas"])
    link(tom, [event])
    link(thomas, [remember(mira, "Thomas called.", source="import")])
    mood.change(mira, mood.Mood("calm", 5), message.session.uuid, NOW)
    tombstones.add_tombstone(mira, "the grey heron")
    job = an_import(mira, "asking")
    job.pieces.create(number=0, content=b"Ana: I met Tom at the sea.")
    Session.objects.filter(pk=import_session(job, "Ana: I met Tom at the sea.").pk).update(status="closed")
    return {
        "message": message.pk,
        "theirs": theirs.pk,
        "event": event.pk,
        "quote": quote.pk,
        "thought": thought.pk,
        "edge": edge.pk,
        "tom": tom.pk,
        "thomas": thomas.pk,
        "mira": mira.pk,
        "otto": otto.pk,
    }


def run(*statements: str) -> None:
    """Whoever holds a key to the database may do: triggers that would mend it are gone."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        for statement in statements:
            cursor.execute(statement)


def without_triggers(*names: str) -> None:
    run(*(f"DROP TRIGGER {name}" for name in names))


def test_a_life_is_in_order(life: dict[str, Any]) -> None:
    assert checks.broken_invariants(NOW) == {}
    out = StringIO()
    call_command("check_memory", stdout=out)
    assert out.getvalue().count(" 0\n") == len(checks.check(NOW))


DAMAGE = {
    "events_without_evidence": "UPDATE memory_evidence SET node_id = {thought}",
    "thoughts_without_ground": "UPDATE memory_filling SET parent_id = {tom_node}",
    "edges_without_child": "UPDATE memory_filling SET orphaned = 1",
    "edges_across_personas": "UPDATE memory_conceptnode SET persona_id = {otto} WHERE id = {thought}",
    "evidence_out_of_place": "UPDATE chat_message SET content = 'Tom!' WHERE id = {message}",
    "evidence_across_personas": "UPDATE memory_evidence SET message_id = {theirs}",
    "superseded_across_personas": "UPDATE memory_conceptnode SET superseded_by_id = {thought} WHERE id = {event}; "
    "UPDATE memory_conceptnode SET persona_id = {otto} WHERE id = {thought}",
    "entities_without_mention": "UPDATE memory_mention SET entity_id = {tom} WHERE entity_id = {thomas}",
    "merged_without_survivor": "UPDATE memory_entity SET status = 'merged' WHERE id = {tom}",
    "merged_in_a_circle": "UPDATE memory_entity SET merged_into_id = {thomas} + {tom} - id, status = 'merged'",
    "merged_across_personas": "UPDATE memory_entity SET merged_into_id = {tom}, status = 'merged', "
    "persona_id = {otto} WHERE id = {thomas}",
    "mentions_across_personas": "UPDATE memory_entity SET persona_id = {otto} WHERE id = {tom}",
    "mentions_of_merged": "UPDATE memory_entity SET merged_into_id = {thomas}, status = 'merged' WHERE id = {tom}",
    "names_of_another_persona": "UPDATE memory_alias SET persona_id = {otto} WHERE entity_id = {tom}",
    "vectors_missing": "DELETE FROM memory_nodevector WHERE node_id = {event}",
    "vectors_of_another_model": "UPDATE memory_conceptnode SET embedding_model = 'another' WHERE id = {event}",
    "vectors_of_wrong_length": "UPDATE memory_nodevector SET embedding = x'00' WHERE node_id = {event}",
    "searched_but_not_recallable": "DROP TRIGGER memory_node_leave; "
    "UPDATE memory_conceptnode SET status = 'hidden' WHERE id = {event}",
    "recallable_but_not_searched": "DELETE FROM memory_nodevec WHERE node_id = {event}",
    "talks_miscounted": "UPDATE chat_session SET message_count = message_count + 1",
    "turns_without_line": "UPDATE chat_message SET turn_id = NULL",
    "lines_across_personas": "UPDATE chat_message SET persona_id = {otto} WHERE id = {message}",
    "mood_without_change": "DELETE FROM persona_moodchange",
    "pieces_of_imports_that_are_over": "UPDATE memory_importjob SET status = 'failed'",
    "imports_across_owners": "UPDATE memory_importjob SET persona_id = {otto}; "
    "UPDATE memory_importchunk SET persona_id = {otto}",
    "chunks_across_personas": "UPDATE memory_importchunk SET persona_id = {otto}",
    "keys_of_nothing": "UPDATE memory_conceptnode SET resolved_by_id = 999999 WHERE id = {event}",
    "mentions_not_literal": "UPDATE memory_alias SET text = 'Tim' WHERE entity_id = {tom}",
    "memories_cut_otherwise": "UPDATE memory_conceptnode SET description = 'Ana met Tim.' WHERE id = {event}",
    "lines_not_cut": "DELETE FROM chat_messagetext WHERE message_id = {message}",
    "words_of_lines_astray": "DROP TRIGGER chat_messagetext_fts_delete; DELETE FROM chat_messagetext",
    "words_of_memories_astray": "UPDATE memory_nodetext_size SET rows = rows + 1",
    "substrings_of_lines_astray": "DROP TRIGGER chat_message_substring_update; UPDATE chat_message SET content = 'No.'",
    "substrings_of_memories_astray": "DELETE FROM memory_conceptnode_substring_data WHERE id > 10",
    "structures_missing": "DROP TRIGGER memory_line_gone",
    "stones_of_another_key": "UPDATE memory_tombstone SET key_id = 'another'",
}


@pytest.mark.parametrize(("name", "damage"), DAMAGE.items(), ids=DAMAGE)
def test_damage_is_counted_under_its_name(life: dict[str, Any], name: str, damage: str) -> None:
    tom_node = ConceptNode.objects.get(description="Thomas called.").pk
    run(*damage.format(**life, tom_node=tom_node).split("; "))
    assert checks.check(NOW)[name] > 0
    run("PRAGMA defer_foreign_keys = OFF") if name != "keys_of_nothing" else run(
        "UPDATE memory_conceptnode SET resolved_by_id = NULL"
    )


def test_vectors_and_staged_ones_whose_memory_is_gone_are_counted(life: dict[str, Any]) -> None:
    without_triggers("memory_node_delete")
    run(
        f"INSERT INTO memory_stagedvector(node_id, model, embedding) VALUES ({life['event']}, 'next', x'00')",
        f"DELETE FROM memory_conceptnode WHERE id = {life['event']}",
    )
    found = checks.check(NOW)
    assert (found["vectors_stray"], found["staged_vectors_stray"]) == (2, 1)  # with the thought
    run("DELETE FROM memory_nodevector", "DELETE FROM memory_stagedvector", "DELETE FROM memory_nodetext")


def test_a_question_between_two_personas_is_counted(life: dict[str, Any], mira: Persona) -> None:
    tom, thomas = Entity.objects.get(pk=life["tom"]), Entity.objects.get(pk=life["thomas"])
    merge.propose(mira, tom, thomas, 0.5, [])
    run(f"UPDATE memory_entity SET persona_id = {life['otto']} WHERE id = {thomas.pk}")
    assert checks.check(NOW)["proposals_across_personas"] == 1


def test_a_receipt_is_counted_when_it_waits_for_long(mira: Persona) -> None:
    receipts.note_erasure(mira, "off_record", {}, NOW)
    assert checks.check(NOW + timedelta(minutes=9))["receipts_pending"] == 0
    assert checks.check(NOW + timedelta(minutes=11))["receipts_pending"] == 1
    Receipt.objects.update(status="done")
    assert checks.check(NOW + timedelta(minutes=11))["receipts_pending"] == 0


def test_the_command_ends_with_1_and_says_what_is_wrong(life: dict[str, Any]) -> None:
    run("UPDATE memory_filling SET orphaned = 1")
    out = StringIO()
    with pytest.raises(CommandError, match="edges_without_child") as ended:
        call_command("check_memory", "--json", stdout=out)
    assert ended.value.returncode == 1
    assert json.loads(out.getvalue())["edges_without_child"] == 1


def test_a_new_key_of_tombstones_is_warned_of(life: dict[str, Any], settings: Any) -> None:
    def warned() -> bool:
        return any(message.id == "echovessel.W004" for message in run_checks(databases=["default"]))

    assert not warned()
    settings.TOMBSTONE_KEY = "another key than before"
    assert warned()


def test_tombstones_that_an_archive_brought_are_told_and_no_damage(mira: Persona, settings: Any) -> None:
    stone = tombstones.add_tombstone(mira, "the grey heron")
    receipt = Receipt.objects.create(
        persona=mira, owner_id=mira.owner_id, stones=[stone.pk], at=NOW, status="done", external_id="r1"
    )
    settings.TOMBSTONE_KEY = "that of another installation"
    told = StringIO()
    call_command("check_memory", stdout=StringIO(), stderr=told)
    assert told.getvalue().startswith("1 tombstones came with an archive of another installation")
    Receipt.objects.filter(pk=receipt.pk).update(external_id=None)
    assert checks.check(NOW)["stones_of_another_key"] == 1


def test_it_asks_as_many_statements_of_a_long_life_as_of_a_short_one(
    ana: User, django_assert_max_num_queries: Any
) -> None:
    def asked() -> int:
        with django_assert_max_num_queries(500) as seen:
            found = checks.broken_invariants(NOW)
        assert set(found) <= {"talks_miscounted", "mentions_not_literal"}, found  # made-up lives are not counted
        return len(seen)

    synthetic.write_life(ana, synthetic.Size(5, 40), seed=1, progress=False)
    short = asked()
    synthetic.write_life(ana, synthetic.Size(200, 400), seed=2, progress=False)
    assert asked() == short


def test_messages_that_are_deleted_by_hand_are_counted_out_of_their_session(mira: Persona) -> None:
    lines = [receive_message(mira, f"Line {number}.", None, "web", NOW).message for number in range(3)]
    Turn.objects.update(status="done")
    lines[0].delete()
    Message.objects.filter(pk=lines[1].pk).delete()
    session = mira.sessions.get()
    assert (session.message_count, session.token_count) == (1, lines[2].token_count)
    assert checks.broken_invariants(NOW) == {}
    lines[2].delete()
    assert not Turn.objects.exists()
    assert checks.broken_invariants(NOW) == {}
