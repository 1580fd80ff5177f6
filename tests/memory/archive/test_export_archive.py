"""A persona is saved and restored, and saved again with the same bytes."""

import json
import random
import zipfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command, load_command_class
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from chat import search
from chat.models import Message, Session
from echovessel.embeddings import embedding
from echovessel.language.person_names import normalize_name
from memory.archive import import_archive, parts, write
from memory.entities import merge
from memory.models import ConceptNode, Entity, Evidence, Filling, Mention
from memory.store import vectors
from persona import mood
from persona.models import Persona
from tests.memory.archive.archives import import_lines
from tests.memory.sessions import NOW

QUOTED = "Milo, our cat, and Milo's bell."


def saved_lines(persona: Persona) -> list[bytes]:
    """The archive lines without the header."""
    return list(write.archive_lines(persona, NOW))[1:]


def saved_objects(persona: Persona, *types: str) -> list[dict[str, Any]]:
    objects = [json.loads(text) for text in write.archive_lines(persona, NOW)]
    return [data for data in objects if data["type"] in types]


def restore_saved(path: Path, owner: User, persona: Persona) -> Persona:
    """Restore the persona into an empty installation."""
    file = path / "saved.jsonl"
    file.write_bytes(b"".join(write.archive_lines(persona, NOW)))
    Persona.objects.all().delete()
    with file.open("rb") as archive:
        result = import_archive(archive, owner)
    assert result.rejected == 0
    return result.persona


def line(session: Session, content: str, **values: Any) -> Message:
    at = session.started_at
    values = {"role": "user", "token_count": 1, "day": at.date(), "created_at": at} | values
    message = Message.objects.create(session=session, persona=session.persona, content=content, **values)
    search.index([message])
    return message


def node(persona: Persona, description: str, **values: Any) -> ConceptNode:
    values = {"kind": "event", "source": "extraction", "embedding_model": embedding.name()} | values
    created_node = ConceptNode.objects.create(
        persona=persona, description=description, content_hash=description, **values
    )
    towards = np.zeros((1, embedding.DIMENSION), dtype=np.float32)
    towards[0, created_node.pk % embedding.DIMENSION] = 1
    vectors.index([created_node], towards)
    return created_node


def create_entity(persona: Persona, name: str, *others: str, **values: Any) -> Entity:
    entity = Entity.objects.create(persona=persona, canonical_name=name, **values)
    for text in (name, *others):
        entity.aliases.create(persona=persona, text=text, normalized=normalize_name(text))
    return entity


@pytest.fixture
def life(mira: Persona) -> Persona:
    """A persona with an example of everything that an archive can hold."""
    mood.change(mira, mood.Mood("warm", 6), None, NOW)
    Persona.objects.filter(pk=mira.pk).update(facts={"born": "1990", "城市": "上海"})
    mira.refresh_from_db()
    session = Session.objects.create(
        persona=mira,
        status="closed",
        close_reason="idle",
        started_at=NOW,
        last_message_at=NOW,
        closed_at=NOW,
        summary="猫。",
    )
    first, second = line(session, QUOTED), line(session, "小黑 is black.", withheld=True)
    line(session, "How lovely\u2028“she” is!", role="persona")
    cat = node(mira, "Ana's cat is Milo.", session=session, emotional_impact=-3, emotion_tags=["joy"], pinned=True)
    for start in (0, QUOTED.rindex("Milo")):
        Evidence.objects.create(node=cat, message=first, quote="Milo", start=start, end=start + 4)
    Evidence.objects.create(node=cat, message=second, quote=second.content, start=0, end=len(second.content))
    thought = node(mira, "Ana is gentle.", kind="thought", source="reflection", confidence=0.4)
    Filling.objects.create(parent=thought, child=cat)
    Filling.objects.create(parent=thought, child=None, orphaned=True)
    node(mira, "Ana has a dog.", status="superseded", superseded_by=cat)
    node(
        mira,
        "She will call.",
        kind="intention",
        status="archived",
        archived_because="settled",
        outcome="fulfilled",
        resolved_at=NOW,
        event_time_start=NOW.date(),
        event_time_end=NOW.date() + timedelta(days=1),
    )
    milo = create_entity(mira, "Milo", "小黑", "Blackie", kind="pet", description="A cat.", described_by="person")
    Mention.objects.create(node=cat, entity=milo)
    create_entity(mira, "Rosa", status="uncertain")
    return mira


def test_what_is_saved_and_restored_is_saved_with_the_same_bytes(ana: User, life: Persona, tmp_path: Path) -> None:
    before = saved_lines(life)
    persona = restore_saved(tmp_path, ana, life)
    assert saved_lines(persona) == before
    cat = persona.nodes.get(pinned=True)
    assert list(cat.evidence.values_list("quote", "start")) == [("Milo", 0), ("Milo", 19), ("小黑 is black.", 0)]
    assert persona.nodes.get(kind="intention").archived_because == "settled"
    assert persona.messages.get(withheld=True).content == "小黑 is black."
    assert restore_saved(tmp_path, ana, persona).uuid == life.uuid


def test_an_archive_comes_out_as_it_went_in(ana: User, tmp_path: Path) -> None:
    persona = import_lines(tmp_path, ana).persona
    assert {data["id"] for data in saved_objects(persona, "persona", "session", "message", "node", "entity")} == {
        *("mira-1", "s1", "m1", "m2", "m3", "n1", "n2", "n0", "e1")
    }
    before = saved_lines(persona)
    assert saved_lines(restore_saved(tmp_path, ana, persona)) == before


def test_the_vectors_go_with_it_and_are_not_made_anew(
    ana: User, life: Persona, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors_before = sorted(bytes(row) for row in life.nodes.values_list("vector__embedding", flat=True))
    monkeypatch.setattr(embedding, "embed", lambda texts: np.zeros((0, embedding.DIMENSION)) if not texts else 1 / 0)
    persona = restore_saved(tmp_path, ana, life)
    assert sorted(bytes(row) for row in persona.nodes.values_list("vector__embedding", flat=True)) == vectors_before


def test_her_own_archive_brings_nothing_twice_into_her(ana: User, life: Persona, tmp_path: Path) -> None:
    before = saved_lines(life)
    file = tmp_path / "saved.jsonl"
    file.write_bytes(b"".join(write.archive_lines(life, NOW)))
    with file.open("rb") as archive:
        result = import_archive(archive, ana)
    assert result.persona == life
    assert not result.added.total()
    assert saved_lines(life) == before


def test_sessions_off_the_record_are_in_no_archive(life: Persona) -> None:
    private_session = Session.objects.create(persona=life, off_the_record=True, status="open")
    line(private_session, "Nobody must know.")
    assert b"Nobody must know." not in b"".join(write.archive_lines(life, NOW))
    assert str(private_session.uuid).encode() not in b"".join(write.archive_lines(life, NOW))


def test_a_merged_entity_is_saved_with_its_survivor(life: Persona) -> None:
    milo, rosa = life.entities.get(canonical_name="Milo"), life.entities.get(canonical_name="Rosa")
    merge.merge_pair(milo, rosa, None, NOW)
    survivor, merged = saved_objects(life, "entity")
    assert (survivor["name"], set(survivor["aliases"])) == ("Milo", {"Blackie", "Rosa", "小黑"})
    assert (merged["name"], merged["aliases"], merged["merged_into"]) == ("Rosa", [], survivor["id"])


def test_only_her_own_things_are_saved(life: Persona, otto: Persona) -> None:
    node(otto, "Ben keeps a secret.")
    assert b"secret" not in b"".join(write.archive_lines(life, NOW))
    assert [data["type"] for data in saved_objects(otto, "header", "persona", "session")] == ["header", "persona"]


def test_a_batch_more_or_less_changes_nothing(life: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = saved_lines(life)
    monkeypatch.setattr(parts, "BATCH_SIZE", 1)
    assert saved_lines(life) == whole


def test_what_is_forgotten_while_it_is_saved_is_left_out(life: Persona) -> None:
    lines = write.archive_lines(life, NOW)
    next(lines)
    life.messages.get(withheld=True).delete()
    rest = [json.loads(line) for line in lines]
    assert not [data for data in rest if "小黑 is black." in json.dumps(data, ensure_ascii=False)]


def test_the_command_writes_a_file_for_its_owner_alone(ana: User, life: Persona, tmp_path: Path) -> None:
    file = tmp_path / "mira.jsonl"
    call_command("export_archive", str(life.uuid), str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes().splitlines(keepends=True)[1:] == saved_lines(life)
    assert [path.name for path in tmp_path.iterdir()] == ["mira.jsonl"]


@pytest.mark.parametrize(
    "order",
    [("{id}", "--format", "pam", "{file}"), ("--format", "pam", "{id}", "{file}"), ("{id}", "{file}", "--format=pam")],
)
def test_the_command_takes_its_options_anywhere(life: Persona, tmp_path: Path, order: tuple[str, ...]) -> None:
    file = tmp_path / "mira.zip"
    command = load_command_class("memory", "export_archive")
    command.run_from_argv(
        ["manage.py", "export_archive", *(argument.format(id=life.uuid, file=file) for argument in order)]
    )
    assert zipfile.is_zipfile(file)


def test_the_command_writes_to_stdout(life: Persona, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    call_command("export_archive", str(life.uuid))
    assert capfdbinary.readouterr().out.splitlines(keepends=True)[1:] == saved_lines(life)


@pytest.mark.django_db
def test_the_command_says_what_it_cannot_do(mira: Persona, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no persona"):
        call_command("export_archive", "nobody")
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export_archive", str(mira.uuid), str(tmp_path / "nowhere" / "mira.jsonl"))


def _a_life(persona: Persona, dice: random.Random) -> None:
    words = ["小黑", "Milo", "<b>", "“bell”", "a\nb", "\\", "猫", "ﬁ", "é"]
    sessions = [
        Session.objects.create(
            persona=persona,
            channel=f"c{number}",
            status=dice.choice(["open", "closed", "failed", "consolidating"]),
            started_at=NOW + timedelta(seconds=dice.randint(0, 2)),
            last_message_at=NOW + timedelta(days=1),
            summary=dice.choice(["", "A talk."]),
        )
        for number in range(3)
    ]
    messages = [
        line(dice.choice(sessions), " ".join(dice.choices(words, k=6)), withheld=dice.random() < 0.2) for _ in range(6)
    ]
    nodes: list[ConceptNode] = []
    for _ in range(6):
        created_node = node(
            persona,
            " ".join(dice.choices(words, k=4)),
            kind=dice.choice(["event", "thought"]),
            session=dice.choice([None, *sessions]),
            status=dice.choice(["active", "hidden", "archived"]),
            created_at=NOW + timedelta(seconds=dice.randint(0, 2)),
            superseded_by=dice.choice([None, *nodes]),
        )
        for message in dice.sample(messages, dice.randint(0, 3)):
            start = dice.randrange(len(message.content))
            end = dice.randint(start + 1, len(message.content))
            Evidence.objects.create(
                node=created_node, message=message, quote=message.content[start:end], start=start, end=end
            )
        for child in dice.sample(nodes, min(len(nodes), dice.randint(0, 2))):
            Filling.objects.create(parent=created_node, child=child)
        nodes.append(created_node)
    for name in dice.sample(["Milo", "小黑", "Rosa"], 2):
        entity = create_entity(
            persona, name, *dice.sample(["Blackie", "Bell", "Zoë"], 2), kind=dice.choice(["pet", "other"])
        )
        Mention.objects.bulk_create(Mention(node=mentioned, entity=entity) for mentioned in dice.sample(nodes, 3))


@settings(max_examples=5)
@given(seed=st.integers(0, 10**9))
def test_any_life_is_restored_and_saved_again_with_the_same_bytes(
    ana: User, mira: Persona, tmp_path: Path, seed: int
) -> None:
    with transaction.atomic():
        _a_life(mira, random.Random(seed))
        before = saved_lines(mira)
        assert saved_lines(restore_saved(tmp_path, ana, mira)) == before
        transaction.set_rollback(True)


def test_a_greeting_that_a_model_wrote_is_not_kept_and_any_other_is_restored_as_the_personas_own(
    mira: Persona, ana: User, tmp_path: Path
) -> None:
    Persona.objects.update(greeting="I am Mira.", greeting_by_model=True)
    assert "greeting" not in saved_objects(Persona.objects.get(), "persona")[0]
    Persona.objects.update(greeting="You came back.", greeting_by_model=False)
    again = restore_saved(tmp_path, ana, Persona.objects.get())
    assert (again.greeting, again.greeting_by_model) == ("You came back.", False)
