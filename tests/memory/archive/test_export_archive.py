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
from tests.memory.archive.archives import imported
from tests.memory.sessions import NOW

QUOTED = "Milo, our cat, and Milo's bell."


def saved(persona: Persona) -> list[bytes]:
    """The lines without the header."""
    return list(write.archive_lines(persona, NOW))[1:]


def told(persona: Persona, *types: str) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in write.archive_lines(persona, NOW)]
    return [line for line in found if line["type"] in types]


def restored(path: Path, owner: User, persona: Persona) -> Persona:
    """The persona in an empty installation."""
    file = path / "saved.jsonl"
    file.write_bytes(b"".join(write.archive_lines(persona, NOW)))
    Persona.objects.all().delete()
    with file.open("rb") as opened:
        result = import_archive(opened, owner)
    assert result.rejected == 0
    return result.persona


def line(session: Session, content: str, **values: Any) -> Message:
    at = session.started_at
    values = {"role": "user", "token_count": 1, "day": at.date(), "created_at": at} | values
    made = Message.objects.create(session=session, persona=session.persona, content=content, **values)
    search.index([made])
    return made


def node(persona: Persona, description: str, **values: Any) -> ConceptNode:
    values = {"kind": "event", "source": "extraction", "embedding_model": embedding.name()} | values
    made = ConceptNode.objects.create(persona=persona, description=description, content_hash=description, **values)
    towards = np.zeros((1, embedding.DIMENSION), dtype=np.float32)
    towards[0, made.pk % embedding.DIMENSION] = 1
    vectors.index([made], towards)
    return made


def named(persona: Persona, name: str, *others: str, **values: Any) -> Entity:
    made = Entity.objects.create(persona=persona, canonical_name=name, **values)
    for text in (name, *others):
        made.aliases.create(persona=persona, text=text, normalized=normalize_name(text))
    return made


@pytest.fixture
def life(mira: Persona) -> Persona:
    """Something of everything that an archive can hold."""
    mood.change(mira, mood.Mood("warm", 6), None, NOW)
    Persona.objects.filter(pk=mira.pk).update(facts={"born": "1990", "城市": "上海"})
    mira.refresh_from_db()
    talk = Session.objects.create(
        persona=mira,
        status="closed",
        close_reason="idle",
        started_at=NOW,
        last_message_at=NOW,
        closed_at=NOW,
        summary="猫。",
    )
    first, second = line(talk, QUOTED), line(talk, "小黑 is black.", withheld=True)
    line(talk, "How lovely\u2028“she” is!", role="persona")
    cat = node(mira, "Ana's cat is Milo.", session=talk, emotional_impact=-3, emotion_tags=["joy"], pinned=True)
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
    milo = named(mira, "Milo", "小黑", "Blackie", kind="pet", description="A cat.", described_by="person")
    Mention.objects.create(node=cat, entity=milo)
    named(mira, "Rosa", status="uncertain")
    return mira


def test_what_is_saved_and_restored_is_saved_with_the_same_bytes(ana: User, life: Persona, tmp_path: Path) -> None:
    before = saved(life)
    persona = restored(tmp_path, ana, life)
    assert saved(persona) == before
    cat = persona.nodes.get(pinned=True)
    assert list(cat.evidence.values_list("quote", "start")) == [("Milo", 0), ("Milo", 19), ("小黑 is black.", 0)]
    assert persona.nodes.get(kind="intention").archived_because == "settled"
    assert persona.messages.get(withheld=True).content == "小黑 is black."
    assert restored(tmp_path, ana, persona).uuid == life.uuid


def test_an_archive_comes_out_as_it_went_in(ana: User, tmp_path: Path) -> None:
    persona = imported(tmp_path, ana).persona
    assert {one["id"] for one in told(persona, "persona", "session", "message", "node", "entity")} == {
        *("mira-1", "s1", "m1", "m2", "m3", "n1", "n2", "n0", "e1")
    }
    before = saved(persona)
    assert saved(restored(tmp_path, ana, persona)) == before


def test_the_vectors_go_with_it_and_are_not_made_anew(
    ana: User, life: Persona, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = sorted(bytes(row) for row in life.nodes.values_list("vector__embedding", flat=True))
    monkeypatch.setattr(embedding, "embed", lambda texts: np.zeros((0, embedding.DIMENSION)) if not texts else 1 / 0)
    persona = restored(tmp_path, ana, life)
    assert sorted(bytes(row) for row in persona.nodes.values_list("vector__embedding", flat=True)) == kept


def test_her_own_archive_brings_nothing_twice_into_her(ana: User, life: Persona, tmp_path: Path) -> None:
    before = saved(life)
    file = tmp_path / "saved.jsonl"
    file.write_bytes(b"".join(write.archive_lines(life, NOW)))
    with file.open("rb") as opened:
        result = import_archive(opened, ana)
    assert result.persona == life
    assert not result.added.total()
    assert saved(life) == before


def test_talks_off_the_record_are_in_no_archive(life: Persona) -> None:
    hushed = Session.objects.create(persona=life, off_the_record=True, status="open")
    line(hushed, "Nobody must know.")
    assert b"Nobody must know." not in b"".join(write.archive_lines(life, NOW))
    assert str(hushed.uuid).encode() not in b"".join(write.archive_lines(life, NOW))


def test_whoever_lives_on_in_another_is_saved_as_that_one(life: Persona) -> None:
    milo, rosa = life.entities.get(canonical_name="Milo"), life.entities.get(canonical_name="Rosa")
    merge.merge_pair(milo, rosa, None, NOW)
    survivor, merged = told(life, "entity")
    assert (survivor["name"], set(survivor["aliases"])) == ("Milo", {"Blackie", "Rosa", "小黑"})
    assert (merged["name"], merged["aliases"], merged["merged_into"]) == ("Rosa", [], survivor["id"])


def test_only_her_own_things_are_saved(life: Persona, otto: Persona) -> None:
    node(otto, "Ben keeps a secret.")
    assert b"secret" not in b"".join(write.archive_lines(life, NOW))
    assert [one["type"] for one in told(otto, "header", "persona", "session")] == ["header", "persona"]


def test_a_batch_more_or_less_changes_nothing(life: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = saved(life)
    monkeypatch.setattr(parts, "AT_ONCE", 1)
    assert saved(life) == whole


def test_what_is_forgotten_while_it_is_saved_is_left_out(life: Persona) -> None:
    lines = write.archive_lines(life, NOW)
    next(lines)
    life.messages.get(withheld=True).delete()
    rest = [json.loads(one) for one in lines]
    assert not [one for one in rest if "小黑 is black." in json.dumps(one, ensure_ascii=False)]


def test_the_command_writes_a_file_for_its_owner_alone(ana: User, life: Persona, tmp_path: Path) -> None:
    file = tmp_path / "mira.jsonl"
    call_command("export_archive", str(life.uuid), str(file))
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.read_bytes().splitlines(keepends=True)[1:] == saved(life)
    assert [path.name for path in tmp_path.iterdir()] == ["mira.jsonl"]


@pytest.mark.parametrize(
    "order",
    [("{id}", "--format", "pam", "{file}"), ("--format", "pam", "{id}", "{file}"), ("{id}", "{file}", "--format=pam")],
)
def test_the_command_takes_its_options_anywhere(life: Persona, tmp_path: Path, order: tuple[str, ...]) -> None:
    file = tmp_path / "mira.zip"
    command = load_command_class("memory", "export_archive")
    command.run_from_argv(["manage.py", "export_archive", *(one.format(id=life.uuid, file=file) for one in order)])
    assert zipfile.is_zipfile(file)


def test_the_command_writes_to_stdout(life: Persona, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    call_command("export_archive", str(life.uuid))
    assert capfdbinary.readouterr().out.splitlines(keepends=True)[1:] == saved(life)


@pytest.mark.django_db
def test_the_command_says_what_it_cannot_do(mira: Persona, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="no persona"):
        call_command("export_archive", "nobody")
    with pytest.raises(CommandError, match="cannot be written"):
        call_command("export_archive", str(mira.uuid), str(tmp_path / "nowhere" / "mira.jsonl"))


def _a_life(persona: Persona, dice: random.Random) -> None:
    words = ["小黑", "Milo", "<b>", "“bell”", "a\nb", "\\", "猫", "ﬁ", "é"]
    talks = [
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
    lines = [
        line(dice.choice(talks), " ".join(dice.choices(words, k=6)), withheld=dice.random() < 0.2) for _ in range(6)
    ]
    nodes: list[ConceptNode] = []
    for _ in range(6):
        made = node(
            persona,
            " ".join(dice.choices(words, k=4)),
            kind=dice.choice(["event", "thought"]),
            session=dice.choice([None, *talks]),
            status=dice.choice(["active", "hidden", "archived"]),
            created_at=NOW + timedelta(seconds=dice.randint(0, 2)),
            superseded_by=dice.choice([None, *nodes]),
        )
        for said in dice.sample(lines, dice.randint(0, 3)):
            start = dice.randrange(len(said.content))
            end = dice.randint(start + 1, len(said.content))
            Evidence.objects.create(node=made, message=said, quote=said.content[start:end], start=start, end=end)
        for child in dice.sample(nodes, min(len(nodes), dice.randint(0, 2))):
            Filling.objects.create(parent=made, child=child)
        nodes.append(made)
    for name in dice.sample(["Milo", "小黑", "Rosa"], 2):
        known = named(persona, name, *dice.sample(["Blackie", "Bell", "Zoë"], 2), kind=dice.choice(["pet", "other"]))
        Mention.objects.bulk_create(Mention(node=one, entity=known) for one in dice.sample(nodes, 3))


@settings(max_examples=5)
@given(seed=st.integers(0, 10**9))
def test_any_life_is_restored_and_saved_again_with_the_same_bytes(
    ana: User, mira: Persona, tmp_path: Path, seed: int
) -> None:
    with transaction.atomic():
        _a_life(mira, random.Random(seed))
        before = saved(mira)
        assert saved(restored(tmp_path, ana, mira)) == before
        transaction.set_rollback(True)


def test_a_greeting_that_a_model_wrote_is_not_kept_and_any_other_is_restored_as_the_personas_own(
    mira: Persona, ana: User, tmp_path: Path
) -> None:
    Persona.objects.update(greeting="I am Mira.", greeting_by_model=True)
    assert "greeting" not in told(Persona.objects.get(), "persona")[0]
    Persona.objects.update(greeting="You came back.", greeting_by_model=False)
    again = restored(tmp_path, ana, Persona.objects.get())
    assert (again.greeting, again.greeting_by_model) == ("You came back.", False)
