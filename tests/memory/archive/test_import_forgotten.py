"""Forgotten data does not come back with an archive, whether its ids are old or new."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.models import Message, Session
from echovessel.embeddings import embedding
from memory.archive import ImportResult, import_archive, write
from memory.forgetting import Choice, Target, forget, plan
from memory.models import Alias, ConceptNode, Entity, Filling, ImportRun, Mention
from memory.store.tombstones import TombstoneSource, add_tombstone, add_tombstones, of_words
from persona.models import Persona
from tests.memory.archive.archives import SMALL, entity, import_lines, message, node, session
from tests.memory.sessions import talk

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def forget_targets(persona: Persona, *targets: Target, **choice: Any) -> None:
    forget(plan(targets, Choice(**choice)), persona.owner, NOW)


def node_of(external_id: str) -> Target:
    return Target("node", ConceptNode.objects.get(external_id=external_id).pk)


def remaining() -> dict[str, int]:
    tables = (Session, Message, ConceptNode, Entity, Alias, Mention, Filling)
    return {table.__name__: table._default_manager.count() for table in tables}


def as_new(*lines: Any) -> list[Any]:
    """The same archive with new ids for everything but the persona, like another export of the same source."""

    def rename(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: rename(item, name) for name, item in value.items()}
        if isinstance(value, list) and key in ("filling", "nodes", "messages"):
            return [f"new-{name}" for name in value]
        if isinstance(value, list):
            return [rename(item) for item in value]
        return f"new-{value}" if key in ("id", "session", "message", "superseded_by") else value

    return [line if line["type"] in ("header", "persona") else rename(line) for line in lines]


def test_a_second_import_after_a_forgetting_adds_nothing(ana: User, tmp_path: Path) -> None:
    persona = import_lines(tmp_path, ana).persona
    forget_targets(persona, node_of("n1"))
    before = remaining()
    again = import_lines(tmp_path, ana)
    assert remaining() == before
    assert not any(again.added.values())
    assert again.refused == {"messages": 1, "nodes": 3, "entities": 1}
    assert ImportRun.objects.count() == 1


def test_nothing_that_was_forgotten_comes_back_under_another_id(ana: User, tmp_path: Path) -> None:
    """Texts are recognized; the session comes without its summary, and the thought does not come without its event."""
    persona = import_lines(tmp_path, ana).persona
    forget_targets(persona, node_of("n1"))
    again = import_lines(tmp_path, ana, *as_new(*SMALL))
    assert again.refused == {"messages": 1, "nodes": 3, "entities": 1}
    assert not ConceptNode.objects.exists()
    assert not Session.objects.exclude(summary="").exists()
    new_messages = Message.objects.filter(external_id__startswith="new-")
    assert list(new_messages.values_list("external_id", flat=True)) == ["new-m2", "new-m3"]
    assert not Entity.objects.exists()


def test_a_session_of_which_no_line_is_left_is_refused_with_its_summary(ana: User, tmp_path: Path) -> None:
    persona = import_lines(tmp_path, ana).persona
    forget_targets(persona, Target("session", Session.objects.get().pk))
    assert not Session.objects.exists()
    for lines in (SMALL, as_new(*SMALL)):
        assert import_lines(tmp_path, ana, *lines).refused["sessions"] == 1
        assert not Session.objects.exists()
        assert not Message.objects.exists()


def test_imported_records_lose_refused_evidence(ana: User, tmp_path: Path) -> None:
    first = import_lines(tmp_path, ana, *SMALL[:2])
    add_tombstone(first.persona, "Ana has a dog.")
    add_tombstone(first.persona, "I have a dog called Rex, I tell you.")
    lines = (
        *SMALL[:2],
        session("s1", summary="About dog and cat."),
        message("m1", "I have a dog called Rex, I tell you."),
        message("m2", "I have a cat, too."),
        node("n1", "Ana has a dog.", messages=["m1"]),
        node("n2", "Ana has a cat.", messages=["m1", "m2"], session="s1"),
        node("n3", "Ana has two animals.", evidence=[{"message": "m1", "quote": "dog"}]),
        node("t1", "Ana loves animals.", kind="thought", filling=["n1", "n2"]),
        node("t2", "Ana is a dog person.", kind="thought", filling=["n3"]),
        node("t3", "She would like more dogs.", kind="thought", filling=["t2"]),
        entity("e1", "Rex", nodes=["n1"]),
        entity("e2", "Ana's animals", nodes=["n1", "n2"], description="A dog and a cat."),
    )
    result = import_lines(tmp_path, ana, *lines)
    assert (result.rejected, result.refused) == (0, {"messages": 1, "nodes": 4, "entities": 1})
    assert list(ConceptNode.objects.order_by("external_id").values_list("external_id", flat=True)) == ["n2", "t1"]
    cat, thought = ConceptNode.objects.order_by("external_id")
    assert list(cat.evidence.values_list("message__external_id", flat=True)) == ["m2"]
    assert sorted(thought.filling.values_list("child__external_id", "orphaned"), key=str) == [
        ("n2", False),
        (None, True),
    ]
    assert Session.objects.get().summary == ""
    assert Entity.objects.get().description == ""
    before = remaining()
    import_lines(tmp_path, ana, *lines)
    assert remaining() == before


def test_a_forgotten_name_is_refused_as_name_and_as_alias(ana: User, tmp_path: Path) -> None:
    persona = import_lines(tmp_path, ana, *SMALL[:2]).persona
    add_tombstones(persona, [TombstoneSource("name", "Blackie"), TombstoneSource("name", "Rex")])
    lines = (*SMALL[:2], node("n1", "Blackie and Milo play."), entity("e1", "Blackie", nodes=["n1"]))
    import_lines(tmp_path, ana, *lines, entity("e2", "Milo", aliases=["REX", "Mil"], nodes=["n1"]))
    assert list(Entity.objects.values_list("canonical_name", flat=True)) == ["Milo"]
    assert set(Alias.objects.values_list("text", flat=True)) == {"Milo", "Mil"}


def test_a_short_line_is_refused_on_its_day_alone(ana: User, tmp_path: Path) -> None:
    persona = import_lines(tmp_path, ana, *SMALL[:2]).persona
    day = datetime(2026, 1, 3, 20, tzinfo=UTC)
    add_tombstones(persona, [of_words("Yes.", day.astimezone(persona.zone).date())])
    lines = (message("m1", "Yes.", at=day.isoformat()), message("m2", "Yes.", at="2026-01-05T10:00:00+00:00"))
    import_lines(tmp_path, ana, *SMALL[:2], session("s1"), *lines)
    assert list(Message.objects.values_list("external_id", flat=True)) == ["m2"]


def test_what_is_forgotten_while_it_is_loaded_does_not_slip_in(
    ana: User, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    persona = import_lines(tmp_path, ana, *SMALL[:2]).persona
    embed = embedding.embed

    def embed_and_forget(texts: list[str], *args: Any, **how: Any) -> Any:
        add_tombstone(persona, "Ana is gentle with animals.")
        return embed(texts, *args, **how)

    monkeypatch.setattr("memory.archive.read.embedding.embed", embed_and_forget)
    assert import_lines(tmp_path, ana).refused == {"nodes": 1}
    assert not ConceptNode.objects.filter(kind="thought").exists()


def test_imported_rows_carry_the_uuid_of_their_import(ana: User, tmp_path: Path) -> None:
    first = import_lines(tmp_path, ana)
    second = import_lines(tmp_path, ana, *SMALL, message("m9", "One more."))
    runs = list(ImportRun.objects.order_by("id"))
    assert [run.counts for run in runs] == [
        {"sessions": 1, "messages": 3, "nodes": 3, "entities": 1},
        {"messages": 1},
    ]
    assert Message.objects.get(external_id="m9").import_uuid == runs[1].uuid
    for table in (Session, ConceptNode, Entity):
        assert set(table.objects.values_list("import_uuid", flat=True)) == {runs[0].uuid}
    assert first.persona == second.persona
    forget_targets(first.persona, Target("import", runs[0].pk))
    assert not ConceptNode.objects.exists()


def test_an_export_is_known_again_by_the_ids_it_wrote(ana: User, tmp_path: Path, remember: Any) -> None:
    """Without an external id, an export writes the uuid."""
    result: ImportResult = import_lines(tmp_path, ana)
    song = remember(result.persona, "Ana sings.")
    again = import_lines(tmp_path, ana, *SMALL, node(str(song.uuid), "Ana sings."))
    assert not again.added.total()
    ConceptNode.objects.filter(pk=song.pk).delete()
    assert import_lines(tmp_path, ana, *SMALL, node(str(song.uuid), "Ana sings.")).added.total() == 1


def test_a_persona_made_here_is_known_again_by_her_uuid(mira: Persona, tmp_path: Path) -> None:
    header, persona, *rest = SMALL
    result = import_lines(tmp_path, mira.owner, header, persona | {"id": str(mira.uuid)}, *rest)
    assert result.persona == mira


def test_what_was_told_again_after_it_was_forgotten_comes_back_with_an_archive_of_then(
    ana: User, tmp_path: Path, mira: Persona
) -> None:
    """An archive with a tombstone and the text restores the text; an older one without the tombstone does not."""

    def save(name: str) -> Path:
        (tmp_path / name).write_bytes(b"".join(write.archive_lines(mira, NOW)))
        return tmp_path / name

    def import_saved(path: Path) -> ImportResult:
        with path.open("rb") as file:
            return import_archive(file, ana)

    text = "My cat Milo died in Lisbon."
    first = talk(mira, text, at=NOW)
    older = save("older")
    forget(plan([Target("session", first.pk)]), ana, NOW + timedelta(days=1))
    talk(mira, text, at=NOW + timedelta(days=2))
    newer = save("newer")
    assert import_saved(older).added.total() == 0
    forget(plan([Target("persona", mira.pk)]), ana, NOW + timedelta(days=3))
    persona = import_saved(newer).persona
    assert [message.content for message in persona.messages.all()] == [text]
    forget(plan([Target("session", persona.sessions.get().pk)]), ana, NOW + timedelta(days=4))
    import_saved(newer)
    assert not persona.messages.exists()
