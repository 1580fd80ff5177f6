"""A persona exported to the formats of others: the files fit the published schemas and are read back unchanged."""

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chat.models import Message
from memory.exports import WAYS
from memory.imports.readers.cards import CharacterCard
from memory.imports.readers.pam import PortableMemory
from memory.imports.readers.source import Source
from memory.imports.readers.types import Card, ReaderItem, Remembered
from memory.models import ConceptNode, Entity
from persona.companion.pictures import only_pixels, save_picture
from persona.models import Persona
from tests.memory.archive.archives import SMALL, import_lines, message, session
from tests.memory.imports import importing_files
from tests.memory.imports.readers.schema import faults
from tests.memory.imports.readers.sources import FILES, messages_of, read_items, source_of
from tests.persona.images import jpeg, png

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 22, 1, 0, tzinfo=UTC)
SCHEMAS = FILES.parent / "schemas"
OFF = (session("s2", off_the_record=True), message("m8", "Between us: the safe is open.", of="s2"))


@pytest.fixture
def restored(ana: User, tmp_path: Path) -> Persona:
    """A persona with memories of a cat, a session off the record, and a withheld message."""
    persona = import_lines(tmp_path, ana, *SMALL, *OFF, message("m9", "My pin is 4711.", withheld=True)).persona
    persona.nodes.filter(external_id="n2").update(status="hidden")
    return persona


def export_source(persona: Persona, way: str) -> Source:
    return source_of(b"".join(WAYS[way].write(persona, NOW)), WAYS[way].file_name(persona, NOW))


def documents(source: Source) -> dict[str, Any]:
    with source.open() as file, zipfile.ZipFile(io.BytesIO(file.read())) as archive:
        return {name: json.loads(archive.read(name)) for name in archive.namelist()}


def memories_of(items: list[ReaderItem]) -> dict[str, Remembered]:
    return {memory.text: memory for memory in items if isinstance(memory, Remembered)}


def test_portable_memory_fits_its_schemas(restored: Persona) -> None:
    files = documents(export_source(restored, "pam"))
    assert sorted(files) == ["conversations/000001.json", "memory-store.json"]
    for name, document in files.items():
        kind = "pam_store" if name == "memory-store.json" else "pam_conversation"
        assert list(faults(document, json.loads((SCHEMAS / f"{kind}.schema.json").read_text()))) == []


def test_what_was_said_and_what_remains_come_back(restored: Persona) -> None:
    items = read_items(PortableMemory(), export_source(restored, "pam"))
    assert [(message.speaker, message.role, message.text) for message in messages_of(items)] == [
        ("Ana", "user", "I adopted a white cat called Blackie."),
        ("Mira", "persona", "How lovely! Does she scratch the sofa?"),
        ("Ana", "user", "Only my grandmother's old armchair."),
    ]
    memories = memories_of(items)
    assert memories.keys() == {
        *ConceptNode.objects.values_list("description", flat=True),
        "Blackie: Ana's white cat.",
        "Mira loves the sea.",
        "Ana lives in Lisbon.",
        "Short.",
    }
    cat, before = memories["Ana adopted a white cat named Blackie."], memories["Ana has no pets."]
    assert (cat.type, str(cat.day)) == ("event", "2026-01-02")
    assert cat.other_data["provenance"]["message_ref"] == str(Message.objects.get(external_id="m1").uuid)
    assert before.other_data["temporal"]["superseded_by"] == cat.source_id
    assert (before.other_data["status"], memories["Ana lives in Lisbon."].type) == ("superseded", "identity")
    gentle = memories["Ana is gentle with animals."]
    assert gentle.other_data["status"] == "deprecated"
    assert [edge["to"] for edge in gentle.other_data["relations"]] == [cat.source_id]


@pytest.mark.parametrize("way", ["pam", "card", "card_png"])
def test_what_no_model_may_see_is_in_no_file_for_others(restored: Persona, way: str) -> None:
    with export_source(restored, way).open() as file:
        data = file.read()
    whole = (
        b"".join(json.dumps(document).encode() for document in documents(source_of(data)).values())
        if way == "pam"
        else data
    )
    assert b"4711" not in whole
    assert b"safe is open" not in whole


def test_what_somebody_else_said_bears_their_name_and_a_notice_is_left_out(restored: Persona) -> None:
    message = Message.objects.get(external_id="m2")
    Message.objects.filter(pk=message.pk).update(role="system", speaker="Zoé")
    Message.objects.filter(external_id="m3").update(role="system")
    messages = messages_of(read_items(PortableMemory(), export_source(restored, "pam")))
    assert [message.speaker for message in messages] == ["Ana", "Zoé"]


@pytest.mark.parametrize("way", ["card", "card_png"])
def test_a_card_says_who_she_is_and_nothing_of_her_owner(restored: Persona, way: str) -> None:
    source = export_source(restored, way)
    (card,) = (card for card in read_items(CharacterCard(), source) if isinstance(card, Card))
    assert (card.name, card.description, card.post_history) == ("Mira", "Mira loves the sea.", "Short.")
    assert card.lore == ()
    assert card.other_data["spec"] == "chara_card_v3"
    with export_source(restored, "card").open() as file:
        assert all(word not in file.read() for word in (b"Ana", b"Lisbon", b"Blackie"))


def test_a_card_is_drawn_in_her_own_picture_where_it_is_a_png(mira: Persona) -> None:
    save_picture(mira, png(3, 5))
    with export_source(mira, "card_png").open() as file:
        data = file.read()
    assert only_pixels(data) == ("png", png(3, 5))
    save_picture(mira, jpeg())
    with export_source(mira, "card_png").open() as file:
        assert only_pixels(file.read())[0] == "png"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            "Mira met Ana in Lisbon. ANA calls her Mi; Anastasia does not.",
            "Mira met {{user}} in Lisbon. {{user}} calls her Mi; Anastasia does not.",
        ),
        ("She likes Ana's cat.", "She likes {{user}}'s cat."),
    ],
)
def test_where_a_card_speaks_of_her_owner_it_speaks_of_whoever_reads_it(
    restored: Persona, words: str, expected: str
) -> None:
    restored.core_blocks.filter(label="persona").update(content=words)
    (card,) = (card for card in read_items(CharacterCard(), export_source(restored, "card")) if isinstance(card, Card))
    assert card.description == expected


def test_somebody_who_lives_on_in_another_is_not_told_twice(restored: Persona) -> None:
    cat = Entity.objects.get()
    Entity.objects.create(
        persona=restored, canonical_name="Kitty", description="A cat.", status="merged", merged_into=cat
    )
    assert "Kitty: A cat." not in memories_of(read_items(PortableMemory(), export_source(restored, "pam")))


def test_names_are_asked_for_at_once(restored: Persona) -> None:
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            export_source(restored, "pam")
        return len(queries)

    count_queries()  # the owner is cached from then on
    before = count_queries()
    for number in range(5):
        Entity.objects.create(persona=restored, canonical_name=f"Nils {number}", description="A neighbour.")
    assert count_queries() == before


def test_a_persona_with_nothing_is_taken_along_too(mira: Persona) -> None:
    mira.core_blocks.update(content="")
    assert read_items(PortableMemory(), export_source(mira, "pam")) == []


@pytest.mark.parametrize(
    ("name", "way", "begins"),
    [("m.zip", "pam", b"PK"), ("m.json", "card", b"{"), ("m.PNG", "card", b"\x89PNG"), ("m.jsonl", "archive", b'{"ty')],
)
def test_the_command_writes_each(restored: Persona, tmp_path: Path, name: str, way: str, begins: bytes) -> None:
    call_command("export_archive", str(restored.uuid), str(tmp_path / name), format=way)
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert (tmp_path / name).stat().st_mode & 0o077 == 0


def test_all_of_an_owners_are_archives(restored: Persona, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="saved as archives"):
        call_command("export_archive", str(tmp_path / "x.zip"), owner="ana", format="pam")


def test_a_reimported_export_adds_no_rows(restored: Persona) -> None:
    with export_source(restored, "pam").open() as file:
        content = file.read()
    before = [restored.messages.count(), restored.nodes.count(), restored.entities.count()]
    job = importing_files.import_file(restored, content, "m.zip")
    assert [restored.messages.count(), restored.nodes.count(), restored.entities.count()] == before
    assert {name: count for name, count in job.counts.items() if count} == {"known": 8, "outdated": 2}


def test_somebody_else_of_the_users_name_stays_somebody_else(ana: User, tmp_path: Path) -> None:
    group = [
        message("g1", "I am Ana, too.", role="system", speaker="ana"),
        message("g2", "Hi all.", role="system", speaker="Ben"),
    ]
    persona = import_lines(tmp_path, ana, *SMALL, *group).persona
    messages_by_text = {
        message.text: (message.speaker, message.role)
        for message in messages_of(read_items(PortableMemory(), export_source(persona, "pam")))
    }
    assert messages_by_text["I am Ana, too."] == ("ana (other)", "other")
    assert messages_by_text["Hi all."] == ("Ben", "other")
    assert messages_by_text["Only my grandmother's old armchair."] == ("Ana", "user")
