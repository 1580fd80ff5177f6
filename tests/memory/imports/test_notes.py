"""Notes: cards, lorebooks and memories of other systems become drafts, names and unverified memories, once."""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from pathlib import Path
from time import process_time
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import transaction

from memory import forgetting
from memory.forgetting import Target
from memory.imports import notes
from memory.imports.note_rules import Names, Note, sort_notes
from memory.imports.readers import Source, read
from memory.imports.readers.types import Card, Lore, Remembered
from memory.models import Alias, ConceptNode, Entity
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource, of_external
from persona.models import CoreDraft, DraftQuote, Persona
from persona.onboarding import drafts
from tests.memory.imports import importing_files
from tests.memory.sessions import NOW
from tests.table import each_row

pytestmark = pytest.mark.django_db

FILES = Path(__file__).parent / "readers" / "files"
NAMES = Names("Mira", "Ana")


def store_notes(persona: Persona, *items: Note, by: UUID | None = None) -> Mapping[str, int]:
    run = by or uuid4()
    ready = notes.prepare_notes(persona, items)
    with transaction.atomic():
        return dict(notes.store(persona, ready, run, NOW))


def of_file(name: str) -> Iterator[Note]:
    with Source(FILES / name) as source:
        yield from (item for item in read(source) if isinstance(item, Card | Lore | Remembered))


def card(**fields: Any) -> Card:
    texts = dict.fromkeys(
        ("nickname", "description", "personality", "scenario", "example_messages", "post_history"), ""
    )
    defaults: dict[str, Any] = {"name": "Mira", "greetings": (), "lore": (), "source_id": "c", "location": "", **texts}
    return Card(**defaults | fields)


def lore(content: str, *keys: str, **fields: Any) -> Lore:
    defaults: dict[str, Any] = {"name": "", "enabled": True, "source_id": content[:40], "location": "lorebook, entry 1"}
    return Lore(keys=keys, content=content, **defaults | fields)


def memory_note(text: str, kind: str = "fact", **fields: Any) -> Remembered:
    defaults: dict[str, Any] = {"day": None, "confidence": None, "source_id": text[:40], "location": "memory 1"}
    return Remembered(text=text, type=kind, **defaults | fields)


# --- cards ----------------------------------------------------------------------------------------------------------
def test_a_card_becomes_drafts_word_for_word_and_nothing_of_it_stands_in_a_block(mira: Persona) -> None:
    before, run = drafts.block_texts(mira), uuid4()
    counts = store_notes(mira, *of_file("card_v2.json"), by=run)
    assert counts == {"drafts": 5, "entities": 1, "disabled": 1}
    assert list(CoreDraft.objects.order_by("id").values_list("label", "text")) == [
        ("persona", "Mira is a botanist who keeps a night garden."),
        ("persona", "patient, curious"),
        ("persona", "Ana visits the garden."),
        ("style", "Ana: What grows here?\nMira: Moonflowers."),
        ("style", "Answer slowly."),
    ]
    first = DraftQuote.objects.order_by("id").first()
    assert first is not None
    assert (first.quote, first.where) == ("{{char}} is a botanist who keeps a night garden.", "card, description")
    assert set(CoreDraft.objects.values_list("import_uuid", flat=True)) == {run}
    assert drafts.block_texts(mira) == before


def test_the_first_greeting_is_what_a_new_companion_says_first_and_goes_with_its_import(mira: Persona) -> None:
    job = importing_files.import_file(mira, (FILES / "card_v2.json").read_bytes(), "card_v2.json")
    mira.refresh_from_db()
    assert (mira.greeting, mira.greeting_import_uuid) == ("You came back, Ana.", job.uuid)
    forgetting.forget(forgetting.plan([Target("import", mira.import_runs.get().pk)]), None, NOW)
    mira.refresh_from_db()
    assert mira.greeting == ""


def test_a_cards_greeting_replaces_one_that_a_model_wrote_while_the_card_was_read_and_no_other(mira: Persona) -> None:
    Persona.objects.filter(pk=mira.pk).update(greeting="Hello, I'm Mira!", greeting_by_model=True)
    run = uuid4()
    store_notes(mira, *of_file("card_v2.json"), by=run)  # `mira` was loaded before the model was saved
    mira.refresh_from_db()
    assert (mira.greeting, mira.greeting_import_uuid, mira.greeting_by_model) == ("You came back, Ana.", run, False)
    store_notes(mira, card(greetings=("Another.",)))
    mira.refresh_from_db()
    assert (mira.greeting, mira.greeting_import_uuid) == ("You came back, Ana.", run)


def test_somebody_one_has_talked_with_keeps_silent(mira: Persona) -> None:
    Persona.objects.filter(pk=mira.pk).update(greeting="Mine.")
    mira.refresh_from_db()
    store_notes(mira, *of_file("card_v2.json"))
    mira.refresh_from_db()
    assert mira.greeting == "Mine."


def test_other_greetings_and_the_notes_of_its_author_become_nothing(mira: Persona) -> None:
    store_notes(mira, *of_file("card_v2.json"))
    text = " ".join(
        [
            *CoreDraft.objects.values_list("text", flat=True),
            *DraftQuote.objects.values_list("quote", flat=True),
            *Entity.objects.values_list("description", flat=True),
            *ConceptNode.objects.values_list("description", flat=True),
        ]
    )
    for words in ("You came back", "Mind the fern", "夜安", "Best after dark", "somebody", "be kind", "shop"):
        assert words not in text


def test_a_long_text_comes_as_drafts_cut_at_the_ends_of_its_paragraphs() -> None:
    paragraphs = [f"{{{{char}}}} has a {number}th room. " + "It is quiet there. " * 20 for number in range(30)]
    text = "\n\n".join(paragraphs)
    passages = sort_notes([card(description=text)], NAMES).passages
    assert all(len(passage.quote) <= 1_000 for passage in passages)
    assert "".join("".join(passage.quote.split()) for passage in passages) == "".join(text.split())
    assert all("Mira has a" in passage.text for passage in passages)
    assert "".join(passage.text for passage in passages).count("Mira has a") == 30


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{{char}} waits for {{user}}.", "Mira waits for Ana."),
        ("<BOT>：你好，<USER>", "Mira：你好，Ana"),
        ("{{ Char }} and {{random:a,b}} and <b>", "Mira and {{random:a,b}} and <b>"),
    ],
)
def test_the_names_of_the_two_stand_for_a_cards_macros(text: str, expected: str) -> None:
    assert NAMES.filled(text) == expected


@each_row(
    ("text", "expected"),
    [
        ("{{char}} waits for {{user}}.", "Mira waits for Ana."),
        ("<START>\n{{user}}: Hi\n<start>\n<BOT>: Ho", "Ana: Hi\n\nMira: Ho"),
        ("I like {{random:red,blue}} and {{pick::tea::milk}}.", "I like red and tea."),
        ("{{// a note}}A{{comment: b}}{{original}}{{trim}}{{time}} {{roll:d6}}", "A"),
        ("one{{newline}}two {{reverse:abc}}", "one\ntwo cba"),
        ("{{random:{{char}},nobody}} nods.", "Mira nods."),
        ("{{charIfNotGroup}} and {{persona}}{{unheard_of::x}}.", "Mira and ."),
        ("{{user}}的猫叫{{random:小黑,小白}}。", "Ana的猫叫小黑。"),
        ("{ not } a {macro} and <b>", "{ not } a {macro} and <b>"),
        ("{{" * 50 + "deep" + "}}" * 50, None),
    ],
)
def test_every_macro_of_a_card_is_resolved(text: str, expected: str | None) -> None:
    assert expected is None or NAMES.resolved(text) == expected
    assert len(NAMES.resolved(text)) <= len(text)


def test_macros_that_are_never_closed_take_no_longer_than_they_are() -> None:
    started = process_time()
    for hostile in ("{{" + "a" * 300_000, "{{" * 100_000, "{{random:" * 10_000, "{{a:" + " " * 300_000):
        NAMES.resolved(hostile)
    assert process_time() - started < 2, "tried again and again, the first alone took minutes"


# --- lorebooks ------------------------------------------------------------------------------------------------------
def test_an_entry_of_a_lorebook_is_somebody_uncertain_with_a_description(mira: Persona) -> None:
    run = uuid4()
    counts = store_notes(mira, lore("Otto is {{char}}'s cat.", "Otto", "/ott.*/i", "the old tom", name="Otto"), by=run)
    assert counts == {"entities": 1}
    [entity] = Entity.objects.all()
    assert (entity.canonical_name, entity.description, entity.status) == ("Otto", "Otto is Mira's cat.", "uncertain")
    assert (entity.import_uuid, entity.described_by) == (run, "")
    assert set(entity.aliases.values_list("text", flat=True)) == {"Otto", "the old tom"}
    assert not ConceptNode.objects.exists()


def test_what_is_too_long_for_a_description_is_remembered_whole_and_linked(mira: Persona) -> None:
    text = "\n\n".join(f"Moonflowers, part {number}: " + "they open at dusk. " * 20 for number in range(4))
    counts = store_notes(mira, lore(text, "Moonflowers"))
    assert counts["entities"] == 1
    entity = Entity.objects.get()
    assert len(entity.description) <= 400
    nodes = ConceptNode.objects.order_by("id")
    assert "".join("".join(node.description.split()) for node in nodes) == "".join(text.split())
    assert set(entity.nodes.all()) == set(nodes)
    assert {node.subject for node in nodes} == {"persona"}


def test_of_who_is_known_the_words_are_a_memory_and_what_is_known_stays(mira: Persona, remember: Any) -> None:
    store_notes(mira, lore("Otto is a cat.", "Otto"))
    Entity.objects.update(description="A dog, Ana says.", status="confirmed", import_uuid=None)
    counts = store_notes(mira, lore("Otto is a ship, says this book.", "Otto", name="Otto the second"))
    assert counts == {"nodes": 1}
    entity = Entity.objects.get()
    assert (entity.description, entity.status) == ("A dog, Ana says.", "confirmed")
    assert list(entity.nodes.all()) == list(ConceptNode.objects.all())


@pytest.mark.parametrize("keys", [(), ("/x+/",), ("Ana",), ("mira",), ("she",), ("我",)])
def test_lore_without_a_name_is_stored_as_a_memory(mira: Persona, keys: tuple[str, ...]) -> None:
    assert store_notes(mira, lore("The pond is deep.", *keys)) == {"nodes": 1}
    node = ConceptNode.objects.get()
    assert (node.description, node.source, node.verification) == ("The pond is deep.", "import", "unverified")


def test_lore_that_always_holds_is_a_draft_and_what_is_switched_off_is_nothing(mira: Persona) -> None:
    always = lore("The house stands by the sea.", "house", other_data={"constant": True})
    counts = store_notes(mira, always, lore("Off.", "switch", enabled=False), lore(" ", "empty"))
    assert counts == {"drafts": 1, "disabled": 1, "empty": 1}
    assert CoreDraft.objects.get().label == "persona"


# --- memories -------------------------------------------------------------------------------------------------------
def test_a_memory_of_another_system_is_an_unverified_one_of_its_day(mira: Persona) -> None:
    run = uuid4()
    memory = memory_note("Likes green tea.", "preference", day=date(2025, 12, 1), confidence=0.9)
    assert store_notes(mira, memory, memory_note("她的猫叫小黑。", "pet"), by=run) == {"nodes": 2}
    tea, cat = ConceptNode.objects.order_by("id")
    assert (tea.source, tea.verification, tea.status, tea.confidence) == ("import", "unverified", "active", 0.9)
    assert tea.created_at == datetime(2025, 12, 1, 4, tzinfo=UTC)  # noon in Shanghai
    assert tea.event_time_start is None
    assert tea.import_uuid == cat.import_uuid == run
    assert (cat.confidence, cat.created_at) == (0.7, NOW)
    assert cat.external_id == "remembered:她的猫叫小黑。"


def test_what_is_of_times_to_come_was_remembered_now(mira: Persona) -> None:
    store_notes(mira, memory_note("Has a plan.", day=date(2099, 1, 1)))
    assert ConceptNode.objects.get().created_at == NOW


@pytest.mark.parametrize(
    ("kind", "label"),
    [("instruction", "style"), ("user_instructions", "style"), ("identity", "user"), ("user_profile", "user"),
     ("companion", "persona")],
)  # fmt: skip
def test_notes_for_every_session_become_drafts(mira: Persona, kind: str, label: str) -> None:
    assert store_notes(mira, memory_note("Always be brief.", kind)) == {"drafts": 1}
    assert CoreDraft.objects.get().label == label
    assert not ConceptNode.objects.exists()


@pytest.mark.parametrize("status", ["superseded", "deprecated", "archived", "retracted"])
def test_what_does_not_hold_any_more_is_left_out(mira: Persona, status: str) -> None:
    assert store_notes(mira, memory_note("Lives in Rome.", other_data={"status": status})) == {"outdated": 1}


def test_a_long_memory_comes_in_parts_that_say_all_of_it(mira: Persona) -> None:
    text = "\n\n".join(f"On her {number}th trip she went north. " + "It rained a lot. " * 30 for number in range(5))
    counts = store_notes(mira, memory_note(text, "conversations_memory"))
    nodes = ConceptNode.objects.order_by("id")
    assert counts["nodes"] == len(nodes) > 3
    assert "".join("".join(node.description.split()) for node in nodes) == "".join(text.split())


def test_what_an_export_of_ours_says_of_a_memory_is_read_as_far_as_it_can_be(mira: Persona) -> None:
    rest = {
        "provenance": {"platform": "echovessel"},
        "temporal": {"valid_from": "2026-01-03T00:00:00+00:00", "valid_until": "2026-01-04T00:00:00+00:00"},
        "metadata": {
            "kind": "thought", "subject": "shared", "emotional_impact": -40, "emotion_tags": ["Sad", 3],
            "relational_tags": ["unresolved", "root"], "verification": "confirmed", "pinned": True, "status": "hidden",
        },
    }  # fmt: skip
    other = rest | {"provenance": {"platform": "elsewhere"}}
    store_notes(
        mira, memory_note("They never spoke of it.", other_data=rest), memory_note("It rained.", other_data=other)
    )
    thought, event = ConceptNode.objects.order_by("id")
    assert (thought.kind, thought.subject, thought.emotional_impact) == ("thought", "shared", -10)
    assert (thought.emotion_tags, thought.relational_tags) == (["sad"], ["unresolved"])
    assert thought.event_time_start == date(2026, 1, 3)
    assert (thought.verification, thought.pinned, thought.status) == ("unverified", False, "active")
    assert (event.kind, event.emotional_impact, event.event_time_start) == ("event", 0, None)


@pytest.mark.parametrize(
    "metadata", [None, [], "x", {"kind": 3, "subject": [], "emotional_impact": "9", "emotion_tags": "sad"}]
)
def test_what_cannot_be_read_of_it_is_left(mira: Persona, metadata: Any) -> None:
    rest = {"provenance": {"platform": "echovessel"}, "temporal": {"valid_from": 3}, "metadata": metadata}
    store_notes(mira, memory_note("It rained.", other_data=rest))
    node = ConceptNode.objects.get()
    assert (node.kind, node.subject, node.emotional_impact, node.emotion_tags) == ("event", "user", 0, [])


# --- once, and never again ------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name", ["card_v1.json", "card_v3.json", "lorebook_v3.json", "world_info.json", "pam_store.json"]
)
def test_the_same_notes_again_add_nothing(mira: Persona, name: str) -> None:
    first = store_notes(mira, *of_file(name))
    rows = [model.objects.count() for model in (CoreDraft, Entity, ConceptNode)]
    assert sum(rows) == sum(first.get(what, 0) for what in ("drafts", "nodes", "entities")) > 0
    again = store_notes(mira, *of_file(name))
    assert not {"drafts", "nodes", "entities", "refused"} & again.keys()
    assert again["known"] == sum(rows)
    assert [model.objects.count() for model in (CoreDraft, Entity, ConceptNode)] == rows


def test_a_memory_that_was_corrected_since_is_left_as_it_was_corrected(mira: Persona, remember: Any) -> None:
    store_notes(mira, memory_note("Likes tea.", source_id="m1"))
    ConceptNode.objects.update(description="Likes coffee.")
    assert store_notes(mira, memory_note("Likes tea.", source_id="m1")) == {"known": 1}
    assert ConceptNode.objects.get().description == "Likes coffee."


def test_what_was_forgotten_is_refused_and_counted(mira: Persona, ana: User) -> None:
    tombstones.add_tombstones(
        mira,
        [
            TombstoneSource("text", "My cat Milo died in Lisbon."),
            TombstoneSource("name", "Otto"),
            of_external("node", "remembered:m9"),
            TombstoneSource("text", "Mira keeps a night garden by the sea."),
            TombstoneSource("text", "The fern in the hall is older than the house."),
        ],
    )
    counts = store_notes(
        mira,
        memory_note("My cat Milo died in Lisbon!"),
        memory_note("Something else entirely.", source_id="m9"),
        lore("Otto is a cat.", "Otto"),
        lore("The fern in the hall is older than the house.", "Fern"),
        card(description="{{char}} keeps a night garden by the sea."),
    )
    assert counts == {"refused": 5}
    assert not any(model.objects.exists() for model in (CoreDraft, Entity, ConceptNode))


def test_a_name_that_was_forgotten_is_nobodys_alias(mira: Persona) -> None:
    tombstones.add_tombstones(mira, [TombstoneSource("name", "Kitty")])
    store_notes(mira, lore("Otto is a cat.", "Otto", "Kitty"))
    assert list(Entity.objects.get().aliases.values_list("text", flat=True)) == ["Otto"]


def test_a_forgotten_card_leaves_nothing_and_does_not_come_back(mira: Persona) -> None:
    """An entity without mentions is deleted, too; a forgotten name is refused."""
    content = (FILES / "card_v2.json").read_bytes()
    job = importing_files.import_file(mira, content, "card_v2.json")
    assert (job.status, job.counts["entities"], CoreDraft.objects.count()) == ("done", 1, 5)
    run = mira.import_runs.get()
    forgetting_plan = forgetting.plan([Target("import", run.pk)])
    assert forgetting.forget(forgetting_plan, None, NOW).counts == forgetting_plan.counts
    assert not any(model.objects.exists() for model in (CoreDraft, DraftQuote, Entity, Alias, ConceptNode))
    again = importing_files.import_file(mira, content, "card_v2.json")
    assert again.counts["refused"] == 6
    assert not CoreDraft.objects.exists()
    assert not Entity.objects.exists()
