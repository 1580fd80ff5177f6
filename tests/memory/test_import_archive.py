"""An archive restores everything, whatever its order, once; and says what it could not take."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from chat.models import Message, MessageText, Session
from echovessel import embedding
from memory import vectors
from memory.archive import ArchiveError, BrokenLine, records
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, NodeText, NodeVector, NodeVersion
from persona.models import CoreBlock, Persona
from persona.models.core_block import Label
from tests.memory.archives import AT, HEADER, PERSONA, SMALL, entity, imported, message, node, session, written

TABLES = (Persona, CoreBlock, Session, Message, MessageText, ConceptNode, NodeText, NodeVector, Evidence, Filling)
COUNTED = (*TABLES, Entity, Alias, Mention)


def counts() -> list[int]:
    return [model._default_manager.count() for model in COUNTED]


def test_an_archive_restores_every_layer(ana: User, tmp_path: Path) -> None:
    persona = imported(tmp_path, ana).persona
    assert (persona.name, persona.user_name, persona.timezone, persona.owner) == ("Mira", "Ana", "Asia/Shanghai", ana)
    assert CoreBlock.objects.get(persona=persona, label=Label.PERSONA).content == "Mira loves the sea."
    talk = persona.sessions.get(external_id="s1")
    assert (talk.status, talk.message_count, talk.summary) == ("closed", 3, "About the cat.")
    cat = ConceptNode.objects.get(external_id="n1")
    assert (cat.emotional_impact, str(cat.event_time_start), cat.session) == (4, "2026-01-02", talk)
    [row] = Evidence.objects.filter(node=cat)
    assert row.quote == row.message.content[row.start : row.end] == "a white cat called Blackie"
    assert [edge.child for edge in Filling.objects.filter(parent__external_id="n2")] == [cat]
    gone = ConceptNode.objects.get(external_id="n0")
    assert (gone.status, gone.superseded_by) == ("superseded", cat)
    assert set(Alias.objects.values_list("text", flat=True)) == {"Blackie", "小黑"}
    assert Mention.objects.get().node == cat


def test_a_second_import_adds_nothing(ana: User, tmp_path: Path) -> None:
    first = imported(tmp_path, ana)
    before = counts()
    second = imported(tmp_path, ana)
    assert second.persona == first.persona
    assert not any(second.added.values())
    assert counts() == before


def test_the_order_of_lines_does_not_matter(ana: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BATCH", 2)
    imported(tmp_path, ana, HEADER, *reversed(SMALL[1:]))
    assert Evidence.objects.count() == Filling.objects.count() == Mention.objects.count() == 1
    assert Session.objects.get().message_count == 3


def test_an_import_that_broke_off_goes_on_where_it_stopped(
    ana: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "BATCH", 1)
    bad = message("m9", "Nowhere to be.", of="s9")
    with pytest.raises(BrokenLine, match="line 7"):
        imported(tmp_path, ana, *SMALL[:6], bad, *SMALL[6:])
    assert Message.objects.count() == 3
    done = imported(tmp_path, ana)
    assert (done.added["messages"], done.added["nodes"]) == (0, 3)
    assert Session.objects.get().message_count == 3


def test_nothing_of_a_broken_batch_is_written(ana: User, tmp_path: Path) -> None:
    with pytest.raises(BrokenLine, match="there is no session"):
        imported(tmp_path, ana, *SMALL, message("m9", "Nowhere to be.", of="s9"))
    assert Message.objects.count() == MessageText.objects.count() == Session.objects.get().message_count == 0


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
    ],
)
def test_a_broken_line_is_named_and_nothing_is_written(ana: User, tmp_path: Path, line: Any, reason: str) -> None:
    with pytest.raises(BrokenLine, match=f"line {len(SMALL) + 1}: .*{reason}"):
        imported(tmp_path, ana, *SMALL, line)
    assert Persona.objects.count() == 0


def test_bad_lines_can_be_skipped_and_are_reported(ana: User, tmp_path: Path) -> None:
    told: list[str] = []
    bad = (
        "{",
        node("n8", "Ana fell.", messages=["m99"]),
        node("n9", "Ana rose.", evidence=[{"message": "m1", "quote": "a black dog"}]),
        entity("e9", "Rex", nodes=["n99"]),
    )
    result = imported(tmp_path, ana, *SMALL, *bad, skip_bad=True, report=told.append)
    assert result.rejected == 4
    assert [line.split(":")[0] for line in told] == [f"rejected, line {len(SMALL) + place}" for place in (1, 2, 3, 4)]
    assert ConceptNode.objects.count() == 3


def test_what_is_not_understood_is_reported(ana: User, tmp_path: Path) -> None:
    told: list[str] = []
    imported(
        tmp_path, ana, *SMALL, {"type": "dream", "id": "d1"}, node("n9", "Ana sang.", colour="blue"), report=told.append
    )
    assert any("'dream'" in line for line in told)
    assert any("'colour'" in line for line in told)
    assert ConceptNode.objects.filter(external_id="n9").exists()


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ((PERSONA,), "no archive"),
        (({**HEADER, "format": "other"}, PERSONA), "no archive"),
        (({**HEADER, "version": 2}, PERSONA), "version 2"),
        ((HEADER, session("s1")), "no persona"),
    ],
)
def test_what_is_no_archive_is_refused(ana: User, tmp_path: Path, lines: tuple[Any, ...], reason: str) -> None:
    with pytest.raises(ArchiveError, match=reason):
        imported(tmp_path, ana, *lines)


def test_what_people_wrote_since_is_not_overwritten(ana: User, tmp_path: Path) -> None:
    persona = imported(tmp_path, ana).persona
    CoreBlock.objects.get(persona=persona, label=Label.USER).rewrite("Ana moved to Porto.", ana)
    imported(tmp_path, ana)
    assert CoreBlock.objects.get(persona=persona, label=Label.USER).content == "Ana moved to Porto."


def test_the_same_archive_of_another_owner_is_another_persona(ana: User, ben: User, tmp_path: Path) -> None:
    hers, his = imported(tmp_path, ana).persona, imported(tmp_path, ben).persona
    assert hers != his
    assert ConceptNode.objects.of(hers).count() == ConceptNode.objects.of(his).count() == 3
    assert all(row.message.persona_id == row.node.persona_id for row in Evidence.objects.all())


def test_a_vector_of_our_model_is_used_and_another_is_not(ana: User, tmp_path: Path) -> None:
    vector = np.zeros(embedding.DIMENSION, dtype="<f4")
    vector[7] = 1
    given = node("n1", "Ana sang.", embedding=base64.b64encode(vector.tobytes()).decode())
    ours = {**HEADER, "embedding_model": embedding.name()}
    imported(tmp_path, ana, ours, PERSONA, given)
    stored = ConceptNode.objects.get()
    assert np.array_equal(vectors.of([stored.pk])[stored.pk], vector)
    imported(tmp_path, ana, {**HEADER, "embedding_model": "another"}, {**PERSONA, "id": "mira-2"}, given)
    other = ConceptNode.objects.exclude(pk=stored.pk).get()
    assert not np.array_equal(vectors.of([other.pk])[other.pk], vector)


def test_vectors_of_the_plain_model_are_used_but_for_chinese(ana: User, tmp_path: Path) -> None:
    vector = np.zeros(embedding.DIMENSION, dtype="<f4")
    vector[7] = 1
    given = {"embedding": base64.b64encode(vector.tobytes()).decode()}
    plain = {**HEADER, "embedding_model": embedding.PLAIN}
    told = [node("n1", "Ana sang.", **given), node("n2", "Ana唱了歌。", **given)]
    imported(tmp_path, ana, plain, PERSONA, *told)
    english, chinese = ConceptNode.objects.order_by("external_id")
    stored = vectors.of([english.pk, chinese.pk])
    assert np.array_equal(stored[english.pk], vector)
    assert np.allclose(stored[chinese.pk], embedding.embed(["Ana唱了歌。"])[0], atol=1e-5)
    assert {english.embedding_model, chinese.embedding_model} == {embedding.BUNDLED}


def test_a_broken_vector_does_not_matter_where_it_is_not_used(ana: User, tmp_path: Path) -> None:
    plain = {**HEADER, "embedding_model": embedding.PLAIN}
    zero = base64.b64encode(bytes(4 * embedding.DIMENSION)).decode()
    imported(tmp_path, ana, plain, PERSONA, node("n1", "Ana唱了歌。", embedding=zero))
    with pytest.raises(BrokenLine, match="line 3"):
        imported(tmp_path, ana, plain, {**PERSONA, "id": "mira-2"}, node("n1", "Ana sang.", embedding=zero))


def test_a_message_that_is_not_quoted_is_evidence_as_a_whole(ana: User, tmp_path: Path) -> None:
    imported(tmp_path, ana, *SMALL, node("n9", "Ana has an armchair.", messages=["m3"]))
    row = Evidence.objects.get(node__external_id="n9")
    assert (row.start, row.quote) == (0, row.message.content)


def test_the_command_prints_the_id_alone(ana: User, tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", SMALL)
    out, err = io.StringIO(), io.StringIO()
    call_command("import_archive", str(path), owner="ana", name="Nora", stdout=out, stderr=err)
    persona = Persona.objects.get(external_id="mira-1")
    assert out.getvalue() == f"{persona.uuid}\n"
    assert persona.name == "Nora"


def test_the_command_names_what_is_wrong(ana: User, tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", (HEADER, PERSONA, "{"))
    with pytest.raises(CommandError, match="line 3: not JSON"):
        call_command("import_archive", str(path), owner="ana", stderr=io.StringIO())
    with pytest.raises(CommandError, match="no user 'zoe'"):
        call_command("import_archive", str(path), owner="zoe", stderr=io.StringIO())
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("import_archive", str(tmp_path / "none"), owner="ana", stderr=io.StringIO())


def test_a_chinese_archive_makes_a_chinese_persona(ana: User, tmp_path: Path) -> None:
    made = imported(
        tmp_path, ana, HEADER, {**PERSONA, "blocks": {}}, node("n1", "Ana养了一只白猫，名叫小黑。", created_at=AT)
    )
    assert made.persona.language == "zh"


def test_who_was_told_apart_or_merged_since_stays_so(ana: User, tmp_path: Path) -> None:
    persona = imported(tmp_path, ana).persona
    somebody = Entity.objects.create(persona=persona, canonical_name="Whitey")
    cat = Mention.objects.get().entity
    Mention.objects.update(entity=somebody)
    for merged_into in (None, somebody):
        Entity.objects.filter(pk=cat.pk).update(
            merged_into=merged_into, status="merged" if merged_into else "confirmed"
        )
        imported(tmp_path, ana)
        assert [mention.entity for mention in Mention.objects.all()] == [somebody]


def test_a_memory_that_was_corrected_is_not_linked_by_what_it_said_before(ana: User, tmp_path: Path) -> None:
    imported(tmp_path, ana)
    told = Mention.objects.get().node
    before = {"description": told.description, "emotional_impact": 0, "verification": "unverified", "edited_at": AT}
    NodeVersion.objects.create(node=told, version=1, **before)
    Entity.objects.all().delete()
    imported(tmp_path, ana)
    assert not Mention.objects.exists()
