"""An archive restores everything once, whatever its order, and reports what it could not import."""

import base64
import gzip
import io
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from chat.models import Message, MessageText, Session, Turn
from echovessel.embeddings import embedding
from memory.archive import ArchiveError, BrokenLine, import_archive, schema, write
from memory.forgetting import Choice, Target, forget, plan
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, NodeText, NodeVector, NodeVersion
from memory.store import checks, vectors
from persona import mood
from persona.models import CoreBlock, Persona
from persona.models.core_block import Label
from tests.memory.archive.archives import (
    AT,
    HEADER,
    PERSONA,
    SMALL,
    entity,
    import_lines,
    message,
    node,
    session,
    write_archive,
)

TABLES = (Persona, CoreBlock, Session, Message, MessageText, ConceptNode, NodeText, NodeVector, Evidence, Filling)
COUNTED = (*TABLES, Entity, Alias, Mention)


def counts() -> list[int]:
    return [model._default_manager.count() for model in COUNTED]


def test_an_archive_restores_every_layer(ana: User, tmp_path: Path) -> None:
    persona = import_lines(tmp_path, ana).persona
    assert (persona.name, persona.user_name, persona.timezone, persona.owner) == ("Mira", "Ana", "Asia/Shanghai", ana)
    assert CoreBlock.objects.get(persona=persona, label=Label.PERSONA).content == "Mira loves the sea."
    session = persona.sessions.get(external_id="s1")
    assert (session.status, session.message_count, session.summary) == ("closed", 3, "About the cat.")
    cat = ConceptNode.objects.get(external_id="n1")
    assert (cat.emotional_impact, str(cat.event_time_start), cat.session) == (4, "2026-01-02", session)
    [row] = Evidence.objects.filter(node=cat)
    assert row.quote == row.message.content[row.start : row.end] == "a white cat called Blackie"
    assert [edge.child for edge in Filling.objects.filter(parent__external_id="n2")] == [cat]
    old_node = ConceptNode.objects.get(external_id="n0")
    assert (old_node.status, old_node.superseded_by) == ("superseded", cat)
    assert set(Alias.objects.values_list("text", flat=True)) == {"Blackie", "小黑"}
    assert Mention.objects.get().node == cat


def test_a_second_import_adds_nothing(ana: User, tmp_path: Path) -> None:
    first = import_lines(tmp_path, ana)
    before = counts()
    second = import_lines(tmp_path, ana)
    assert second.persona == first.persona
    assert not any(second.added.values())
    assert counts() == before


def test_the_order_of_lines_does_not_matter(ana: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "BATCH", 2)
    import_lines(tmp_path, ana, HEADER, *reversed(SMALL[1:]))
    assert Evidence.objects.count() == Filling.objects.count() == Mention.objects.count() == 1
    assert Session.objects.get().message_count == 3


def test_an_import_that_broke_off_goes_on_where_it_stopped(
    ana: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "BATCH", 1)
    divisors = [1] * (len(SMALL) + 5) + [0]  # every line once; then a session, its messages, and the first node
    with pytest.raises(ZeroDivisionError):
        import_lines(tmp_path, ana, progress=lambda size: divisors.append(size / divisors.pop(0)))
    assert Message.objects.count() == 3
    result = import_lines(tmp_path, ana)
    assert (result.added["messages"], result.added["nodes"]) == (0, 2)
    assert Session.objects.get().message_count == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{", "not JSON"),
        (b'{"type": "node", "id": "\xff"}', "not UTF-8"),
        ("[]", "not an object"),
        (node("n9", ""), "description"),
        (node("n9", "Ana laughed.", emotional_impact=11), "emotional_impact"),
        (node("n9", "Ana laughed.", relational_tags=["funny"]), "relational_tags"),
        (node("n9", "Ana laughed.", event_time={"start": "2026-01-03", "end": "2026-01-02"}), "before it starts"),
        (message("m9", "Hello.", at="2026-01-03T10:00:00"), "created_at"),
        (session("s9", status="lost"), "status"),
        (PERSONA, "one persona"),
        (HEADER, "a second header"),
        (message("m9", "Nowhere to be.", of="s9"), "there is no session 's9'"),
        (message("m1", "Other words."), "another message has the id 'm1', too: line 4"),
        (node("n9", "Ana fell.", messages=["m9"]), "there is no message 'm9'"),
        (node("n9", "Ana fell.", filling=["n8"]), "there is no node 'n8'"),
        (node("n9", "Ana fell.", superseded_by="n9"), "refers to itself"),
        (node("n9", "Ana fell.", evidence=[{"message": "m1", "quote": "a dog"}]), "does not occur in message 'm1'"),
        (node("n9", "Ana fell.", created_at="0001-01-01T00:00:00+14:00"), "created_at"),
        (node("n9", "Ana fell.", mention_count=2**63), "mention_count"),
        (message("m9", "\ud800"), "surrogate"),
        (json.dumps(message("m9", "Yes."))[:-1] + ', "content": "No."}', "'content' is said twice"),
        ('{"type": "mood", "id": "1", "mood": "calm", "energy": NaN}', "NaN is no number"),
        (json.dumps(message("m9", "Yes."))[:-9], "not JSON"),
        (entity("e9", "Rex", nodes=["n9"]), "there is no node 'n9'"),
        (entity("e9", "Rex", merged_into="e9"), "it is merged into itself"),
        ({"type": "mood", "id": "1", "session": "s9", "mood": "calm", "energy": 5, "at": AT}, "no session 's9'"),
        (
            {
                "type": "draft",
                "id": "1",
                "label": "user",
                "text": "x",
                "created_at": AT,
                "quotes": [{"quote": "a dog", "message": "m1"}],
            },
            "does not occur in message 'm1'",
        ),
    ],
)
def test_a_broken_line_is_named_and_nothing_is_written(ana: User, tmp_path: Path, line: Any, reason: str) -> None:
    with pytest.raises(BrokenLine, match=f"line {len(SMALL) + 1}: .*{reason}"):
        import_lines(tmp_path, ana, *SMALL, line)
    assert Persona.objects.count() == 0


def test_bad_lines_can_be_skipped_and_are_reported(ana: User, tmp_path: Path) -> None:
    reports: list[str] = []
    bad = (
        "{",
        node("n8", "Ana fell.", messages=["m99"]),
        node("n9", "Ana rose.", evidence=[{"message": "m1", "quote": "a black dog"}]),
        entity("e9", "Rex", nodes=["n99"]),
    )
    result = import_lines(tmp_path, ana, *SMALL, *bad, skip_bad=True, report=reports.append)
    assert result.rejected == 4
    assert sorted(report.split(":")[0] for report in reports) == [
        f"rejected, line {len(SMALL) + number}" for number in (1, 2, 3, 4)
    ]
    assert ConceptNode.objects.count() == 3


def test_unknown_fields_are_reported_at_any_depth(ana: User, tmp_path: Path) -> None:
    reports: list[str] = []
    quote = {"message": "m1", "quote": "a white cat", "tone": "glad"}
    day = {"start": "2026-01-02", "at": 9}
    song = node("n9", "Ana sang.", colour="blue", evidence=[quote, quote], event_time=day)
    persona_line = {**PERSONA, "blocks": {"user": "Ana lives in Lisbon.", "dreams": "Of the sea."}}
    import_lines(
        tmp_path, ana, HEADER, persona_line, *SMALL[2:], song, {"type": "dream", "id": "d1"}, report=reports.append
    )
    assert reports == [
        f"unknown and left out: {what} times)"
        for what in (
            "field 'blocks.dreams' of persona (1",
            "field 'colour' of node (1",
            "field 'event_time.at' of node (1",
            "field 'evidence.tone' of node (2",
            "lines of type 'dream' (1",
        )
    ]
    assert ConceptNode.objects.filter(external_id="n9").exists()


def test_free_form_facts_and_moods_are_kept(ana: User, tmp_path: Path) -> None:
    facts = {"born": "1990-02-03", "cats": [{"name": "小黑", "age": 3.5}]}
    mood_fields = {"mood": "tender", "energy": 7, "why": "the cat"}
    reports: list[str] = []
    persona = import_lines(
        tmp_path, ana, HEADER, {**PERSONA, "facts": facts, "mood": mood_fields}, report=reports.append
    ).persona
    assert (persona.facts, reports) == (facts, [])
    assert persona.episodic_state.items() >= mood_fields.items()


def test_a_mood_that_does_not_say_since_when_is_felt_as_of_the_export(ana: User, tmp_path: Path) -> None:
    header = {**HEADER, "exported_at": AT}
    persona = import_lines(tmp_path, ana, header, {**PERSONA, "mood": {"mood": "tender", "energy": 7}}).persona
    mood_now = mood.current(persona, datetime.fromisoformat(AT) + timedelta(hours=1))
    assert mood_now is not None
    assert (mood_now.mood, mood_now.energy) == ("tender", 7)
    assert mood.current(persona, datetime.fromisoformat(AT) + timedelta(days=9)) is None
    assert [change.mood for change in persona.mood_changes.all()] == ["tender"]
    assert checks.broken_invariants(datetime.fromisoformat(AT)) == {}


def test_null_is_as_if_it_were_not_said(ana: User, tmp_path: Path) -> None:
    empty_fields = dict.fromkeys(
        ("subject", "emotional_impact", "emotion_tags", "relational_tags", "event_time", "session")
    )
    reports: list[str] = []
    import_lines(
        tmp_path, ana, HEADER, PERSONA, node("n1", "Ana sang.", **empty_fields, messages=None), report=reports.append
    )
    stored_node = ConceptNode.objects.get()
    assert (stored_node.subject, stored_node.emotional_impact, stored_node.emotion_tags, reports) == ("user", 0, [], [])


@pytest.mark.parametrize("ending", [b"\r\n", b"\n\n\n", b" \t\r\n"])
def test_line_ends_and_marks_of_other_systems_do_not_matter(ana: User, tmp_path: Path, ending: bytes) -> None:
    lines = [json.dumps(line, ensure_ascii=False).encode() for line in SMALL]
    file = io.BytesIO(b"\xef\xbb\xbf" + ending.join(lines))  # and no break at the end
    assert import_archive(file, ana).added["nodes"] == 3


def test_empty_lines_before_the_header_do_not_matter(ana: User) -> None:
    file = io.BytesIO(b"\n\r\n" + b"\n".join(json.dumps(line).encode() for line in SMALL))
    assert import_archive(file, ana).added["messages"] == 3


def test_ids_of_an_archive_may_be_any_text(ana: User, tmp_path: Path) -> None:
    names = {"s1": "谈话 №1 / über", "m1": "消息 1", "n1": "n" * 200, "e1": "a b\tc", "mira-1": "'; DROP TABLE --"}
    lines = [{key: _rename(names, value) for key, value in line.items()} for line in SMALL]
    persona = import_lines(tmp_path, ana, *lines).persona
    assert persona.external_id == names["mira-1"]
    assert persona.nodes.get(external_id="n" * 200).evidence.get().message.external_id == "消息 1"
    assert persona.entities.get().external_id == "a b\tc"
    assert not import_lines(tmp_path, ana, *lines).added.total()


def _rename(names: dict[str, str], value: Any) -> Any:
    if isinstance(value, list):
        return [_rename(names, item) for item in value]
    if isinstance(value, dict):
        return {key: _rename(names, item) for key, item in value.items()}
    return names.get(value, value) if isinstance(value, str) else value


def test_records_that_refer_to_a_skipped_record_are_skipped(ana: User, tmp_path: Path) -> None:
    orphans = [
        message("m9", "Nowhere to be.", of="s9"),
        node("n8", "Ana was nowhere.", messages=["m9"]),
        node("n9", "Ana is lost.", kind="thought", filling=["n8"]),
        entity("e9", "Nowhere", nodes=["n8", "n9"]),
    ]
    reports: list[str] = []
    result = import_lines(tmp_path, ana, *SMALL, *orphans, skip_bad=True, report=reports.append)
    assert result.rejected == len(reports) == 4
    assert (result.added["messages"], result.added["nodes"], result.added["entities"]) == (3, 3, 1)


def test_an_archive_may_refer_to_what_an_earlier_one_brought(ana: User, tmp_path: Path) -> None:
    import_lines(tmp_path, ana)
    quote = [{"message": "m3", "quote": "old armchair"}]
    more = node("n9", "Ana has an old armchair.", session="s1", evidence=quote, filling=["n1"], kind="thought")
    assert import_lines(tmp_path, ana, HEADER, PERSONA, more, entity("e9", "armchair", nodes=["n9"])).added == {
        "nodes": 1,
        "entities": 1,
    }
    misquote = {**more, "id": "n10", "evidence": [{"message": "m3", "quote": "a dog"}]}
    with pytest.raises(BrokenLine, match="line 3: the quote"):
        import_lines(tmp_path, ana, HEADER, PERSONA, misquote)


def test_the_same_line_twice_is_taken_once_and_told(ana: User, tmp_path: Path) -> None:
    reports: list[str] = []
    merged = entity("e2", "Blacky", status="merged", merged_into="e1")
    result = import_lines(tmp_path, ana, *SMALL, *SMALL[2:], merged, merged, report=reports.append)
    assert reports == [f"duplicates, imported once: {len(SMALL) - 1} lines"]
    assert (result.added["nodes"], result.added["entities"]) == (3, 2)


def test_who_lives_on_in_a_circle_is_refused(ana: User, tmp_path: Path) -> None:
    circle = [entity(name, name, status="merged", merged_into=other) for name, other in (("e2", "e3"), ("e3", "e2"))]
    with pytest.raises(BrokenLine, match="circle"):
        import_lines(tmp_path, ana, *SMALL, *circle)
    assert not Persona.objects.exists()
    assert import_lines(tmp_path, ana, *SMALL, *circle, skip_bad=True).rejected == 2


def test_memories_may_rest_on_each_other(ana: User, tmp_path: Path) -> None:
    """Reinforcement can close a circle, so our own archives may hold one."""
    circle = [
        node("n8", "Ana is kind.", kind="thought", filling=["n9"], superseded_by="n9"),
        node("n9", "Ana is gentle.", kind="thought", filling=["n8"], superseded_by="n8"),
    ]
    persona = import_lines(tmp_path, ana, *SMALL, *circle).persona
    thought = persona.nodes.get(external_id="n8")
    forget(plan([Target("node", thought.pk)], Choice()), ana, datetime.fromisoformat(AT))
    assert not persona.nodes.filter(external_id__in=["n8", "n9"]).exists()


def test_a_sign_that_ends_words_elsewhere_is_dropped_with_no_quote_astray(ana: User, tmp_path: Path) -> None:
    quoted_message = message("m1", "Milo\0 is my cat, and Milo\0 purrs.")
    quoting_node = node("n1", "Ana has a cat.", evidence=[{"message": "m1", "quote": "Milo\0 purrs"}])
    persona = import_lines(tmp_path, ana, HEADER, PERSONA, session("s1"), quoted_message, quoting_node).persona
    [row] = Evidence.objects.all()
    assert row.message.content[row.start : row.end] == row.quote == "Milo purrs"
    assert checks.broken_invariants(datetime.fromisoformat(AT)) == {}
    lines = b"".join(write.archive_lines(persona, datetime.fromisoformat(AT)))
    persona.delete()
    again = import_archive(io.BytesIO(lines), ana).persona
    assert b"".join(write.archive_lines(again, datetime.fromisoformat(AT))) == lines


def test_a_turn_is_never_here_without_its_lines(ana: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "BATCH", 1)
    turns = [{"type": "turn", "id": f"t{number}", "session": "s1", "created_at": AT} for number in range(3)]
    messages = [message(f"m{number}", f"Line {number}.", turn=f"t{number}") for number in range(3)]
    empty_turns = []

    def look(size: int) -> None:
        empty_turns.append(Turn.objects.filter(messages=None).count())

    import_lines(tmp_path, ana, HEADER, PERSONA, session("s1"), *turns, *messages, progress=look)
    assert (Turn.objects.count(), set(empty_turns)) == (3, {0})


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ((PERSONA,), "no archive"),
        (({**HEADER, "format": "other"}, PERSONA), "no archive"),
        (({**HEADER, "version": 2}, PERSONA), "version 2"),
        ((HEADER, session("s1")), "no persona"),
        ((gzip.compress(b"{}"),), "gzip"),
        ((b"PK\x03\x04",), "zip"),
        (("\ufeff{}".encode("utf-16"),), "UTF-16"),
        ((HEADER, {**PERSONA, "timezone": "Europe/Nowhere"}), "line 2: timezone"),
        ((HEADER, {**PERSONA, "mood": {"mood": 5}}), "line 2: mood"),
    ],
)
def test_a_file_that_is_no_archive_is_refused(ana: User, tmp_path: Path, lines: tuple[Any, ...], reason: str) -> None:
    with pytest.raises(ArchiveError, match=reason):
        import_lines(tmp_path, ana, *lines)


def test_a_second_import_keeps_later_edits_of_people(ana: User, tmp_path: Path) -> None:
    persona = import_lines(tmp_path, ana).persona
    CoreBlock.objects.get(persona=persona, label=Label.USER).rewrite("Ana moved to Porto.", ana)
    import_lines(tmp_path, ana)
    assert CoreBlock.objects.get(persona=persona, label=Label.USER).content == "Ana moved to Porto."


def test_the_same_archive_of_another_owner_is_another_persona(ana: User, ben: User, tmp_path: Path) -> None:
    persona_of_ana, persona_of_ben = import_lines(tmp_path, ana).persona, import_lines(tmp_path, ben).persona
    assert persona_of_ana != persona_of_ben
    assert ConceptNode.objects.of(persona_of_ana).count() == ConceptNode.objects.of(persona_of_ben).count() == 3
    assert all(row.message.persona_id == row.node.persona_id for row in Evidence.objects.all())


def test_a_vector_of_our_model_is_used_and_another_is_not(ana: User, tmp_path: Path) -> None:
    vector = np.zeros(embedding.DIMENSION, dtype="<f4")
    vector[7] = 1
    song = node("n1", "Ana sang.", embedding=base64.b64encode(vector.tobytes()).decode())
    header = {**HEADER, "embedding_model": embedding.name()}
    import_lines(tmp_path, ana, header, PERSONA, song)
    stored_node = ConceptNode.objects.get()
    assert np.array_equal(vectors.of([stored_node.pk])[stored_node.pk], vector)
    import_lines(tmp_path, ana, {**HEADER, "embedding_model": "another"}, {**PERSONA, "id": "mira-2"}, song)
    other = ConceptNode.objects.exclude(pk=stored_node.pk).get()
    assert not np.array_equal(vectors.of([other.pk])[other.pk], vector)


def test_vectors_of_the_plain_model_are_used_but_for_chinese(ana: User, tmp_path: Path) -> None:
    vector = np.zeros(embedding.DIMENSION, dtype="<f4")
    vector[7] = 1
    values = {"embedding": base64.b64encode(vector.tobytes()).decode()}
    plain = {**HEADER, "embedding_model": embedding.PLAIN}
    nodes = [node("n1", "Ana sang.", **values), node("n2", "Ana唱了歌。", **values)]
    import_lines(tmp_path, ana, plain, PERSONA, *nodes)
    english, chinese = ConceptNode.objects.order_by("external_id")
    stored_vectors = vectors.of([english.pk, chinese.pk])
    assert np.array_equal(stored_vectors[english.pk], vector)
    assert np.allclose(stored_vectors[chinese.pk], embedding.embed(["Ana唱了歌。"])[0], atol=1e-5)
    assert {english.embedding_model, chinese.embedding_model} == {embedding.BUNDLED}


def test_a_broken_vector_does_not_matter_where_it_is_not_used(ana: User, tmp_path: Path) -> None:
    plain = {**HEADER, "embedding_model": embedding.PLAIN}
    zero = base64.b64encode(bytes(4 * embedding.DIMENSION)).decode()
    import_lines(tmp_path, ana, plain, PERSONA, node("n1", "Ana唱了歌。", embedding=zero))
    with pytest.raises(BrokenLine, match="line 3"):
        import_lines(tmp_path, ana, plain, {**PERSONA, "id": "mira-2"}, node("n1", "Ana sang.", embedding=zero))


def test_a_message_that_is_not_quoted_is_evidence_as_a_whole(ana: User, tmp_path: Path) -> None:
    import_lines(tmp_path, ana, *SMALL, node("n9", "Ana has an armchair.", messages=["m3"]))
    row = Evidence.objects.get(node__external_id="n9")
    assert (row.start, row.quote) == (0, row.message.content)


def test_the_command_prints_the_id_alone(ana: User, tmp_path: Path) -> None:
    path = write_archive(tmp_path / "a.jsonl", SMALL)
    out, err = io.StringIO(), io.StringIO()
    call_command("import_archive", str(path), owner="ana", name="Nora", stdout=out, stderr=err)
    persona = Persona.objects.get(external_id="mira-1")
    assert out.getvalue() == f"{persona.uuid}\n"
    assert persona.name == "Nora"


def test_the_command_names_what_is_wrong(ana: User, tmp_path: Path) -> None:
    path = write_archive(tmp_path / "a.jsonl", (HEADER, PERSONA, "{"))
    with pytest.raises(CommandError, match="line 3: not JSON"):
        call_command("import_archive", str(path), owner="ana", stderr=io.StringIO())
    with pytest.raises(CommandError, match="no user 'zoe'"):
        call_command("import_archive", str(path), owner="zoe", stderr=io.StringIO())
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_archive", str(tmp_path / "none"), owner="ana", stderr=io.StringIO())


def test_a_chinese_archive_makes_a_chinese_persona(ana: User, tmp_path: Path) -> None:
    result = import_lines(
        tmp_path, ana, HEADER, {**PERSONA, "blocks": {}}, node("n1", "Ana养了一只白猫，名叫小黑。", created_at=AT)
    )
    assert result.persona.language == "zh"


def test_a_second_import_keeps_later_splits_and_merges(ana: User, tmp_path: Path) -> None:
    persona = import_lines(tmp_path, ana).persona
    somebody = Entity.objects.create(persona=persona, canonical_name="Whitey")
    cat = Mention.objects.get().entity
    Mention.objects.update(entity=somebody)
    for merged_into in (None, somebody):
        Entity.objects.filter(pk=cat.pk).update(
            merged_into=merged_into, status="merged" if merged_into else "confirmed"
        )
        import_lines(tmp_path, ana)
        assert [mention.entity for mention in Mention.objects.all()] == [somebody]


def test_a_memory_that_was_corrected_is_not_linked_by_what_it_said_before(ana: User, tmp_path: Path) -> None:
    import_lines(tmp_path, ana)
    cat = Mention.objects.get().node
    before = {"description": cat.description, "emotional_impact": 0, "verification": "unverified", "edited_at": AT}
    NodeVersion.objects.create(node=cat, version=1, **before)
    Entity.objects.all().delete()
    import_lines(tmp_path, ana)
    assert not Mention.objects.exists()
