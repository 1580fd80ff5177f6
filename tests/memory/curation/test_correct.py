"""Corrections: words, vector and names change together; the old version is kept and can be restored."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.models import Session
from echovessel.embeddings import embedding
from memory.curation import correct as curation_correct
from memory.curation.correct import Correction, WordsForgotten, correct, restore
from memory.models import Alias, ConceptNode, Entity, Filling, Mention, NodeVector, NodeVersion
from memory.store import tombstones, vectors
from memory.store.active_model import ModelChanged
from memory.store.deduplication import content_hash
from persona.models import Persona
from tests.memory.sessions import NOW, talk
from tests.memory.store.test_writing import published, put, quote, toward
from tests.table import each_row

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]

CAT, DOG = "Ana has a cat called Milo.", "Ana has a dog called Rex."


def create_entity(persona: Persona, name: str, **values: Any) -> Entity:
    entity = Entity.objects.create(persona=persona, canonical_name=name, **values)
    Alias.objects.create(entity=entity, persona=persona, text=name, normalized=name.lower())
    return entity


def test_the_new_words_are_what_is_found_and_the_old_ones_are_history(mira: Persona, remember: Remember) -> None:
    node = remember(mira, CAT, confidence=0.5)
    corrected = correct(node, Correction(DOG), mira.owner, NOW)
    assert (corrected.pk, corrected.description, corrected.verification) == (node.pk, DOG, "confirmed")
    assert corrected.content_hash == content_hash(DOG)
    [vector] = embedding.embed([DOG])
    assert vectors.nearest(mira.pk, vector, 1)[0][1] == pytest.approx(0, abs=1e-3)
    assert vectors.find_by_terms(mira.pk, ["dog", "cat"], 5)["dog"].tolist() == [node.pk]
    assert not len(vectors.find_by_terms(mira.pk, ["cat"], 5).get("cat", []))
    version = NodeVersion.objects.get()
    assert (version.version, version.description, version.verification) == (1, CAT, "unverified")
    assert (version.edited_by, version.edited_at) == (mira.owner, NOW)
    assert published("memory.node.updated") == [
        {"node_id": str(node.uuid), "kind": "event", "change": "corrected"},
    ]


@each_row(
    ("description", "new_text", "expected"),
    [
        ("Ana: “I have a cat named Tom.”", "Ana: “I have a dog named Tom.”", "Ana: I have a dog named Tom."),
        ("Ana: “We bought a boat in May.”", "Ana: “We bought a boat”", "Ana: “We bought a boat”"),
        ("Ana: “I read it twice.”", "Ana read “Dune” twice.", "Ana read “Dune” twice."),
        ("安娜：“我养了一只猫。”", "安娜：“我养了一只狗。”", "安娜：我养了一只狗。"),
    ],
)
def test_no_quotation_marks_stand_around_words_that_nobody_said(
    mira: Persona, description: str, new_text: str, expected: str
) -> None:
    quote_text = description.partition("“")[2].removesuffix("”")
    message = talk(mira, quote_text).messages.filter(role="user").get()
    node = put(mira, description, toward(len(quote_text)), evidence=[quote(message, quote_text)]).node
    assert node is not None
    corrected = correct(node, Correction(new_text), mira.owner, NOW)
    assert corrected.description == expected
    again = correct(corrected, Correction(corrected.description, emotional_impact=3), mira.owner, NOW)
    assert again.description == expected
    assert restore(again, again.versions.get(version=1), mira.owner, NOW).description == description


def test_everything_else_can_be_corrected_and_is_bounded(mira: Persona, remember: Remember) -> None:
    node = remember(mira, CAT, event_time_start=date(2026, 1, 1), event_time_end=date(2026, 1, 2))
    change = Correction(
        emotional_impact=-99,
        emotion_tags=["Joy", "joy", "a", "b", "c", "d"],
        relational_tags=["commitment", "nonsense"],
        event_time=(date(2026, 2, 1), date(2026, 2, 3)),
    )
    updated_node = correct(node, change, None, NOW)
    assert (updated_node.emotional_impact, updated_node.emotion_tags, updated_node.relational_tags) == (
        -10,
        ["joy", "a", "b", "c"],
        ["commitment"],
    )
    assert (updated_node.event_time_start, updated_node.event_time_end) == (date(2026, 2, 1), date(2026, 2, 3))
    assert correct(updated_node, Correction(event_time=None), None, NOW).event_time_start is None
    assert correct(updated_node, Correction(emotional_impact=3), None, NOW).event_time_start is None
    assert [version.version for version in NodeVersion.objects.order_by("version")] == [1, 2, 3]


def test_without_any_difference_nothing_happens(mira: Persona, remember: Remember) -> None:
    node = remember(mira, CAT)
    assert correct(node, Correction(f"  {CAT} ", emotional_impact=0), mira.owner, NOW).verification == "unverified"
    assert not NodeVersion.objects.exists()
    assert not published("memory.node.updated")


@pytest.mark.parametrize("change", [Correction(" \n "), Correction(event_time=(date(2026, 2, 2), date(2026, 2, 1)))])
def test_what_cannot_be_is_refused(mira: Persona, remember: Remember, change: Correction) -> None:
    with pytest.raises(ValueError, match=r"description|begins"):
        correct(remember(mira, CAT), change, mira.owner, NOW)
    assert not NodeVersion.objects.exists()


def test_words_that_were_forgotten_do_not_come_back_by_a_correction(mira: Persona, remember: Remember) -> None:
    node = remember(mira, CAT)
    tombstones.add_tombstone(mira, DOG)
    with pytest.raises(WordsForgotten):
        correct(node, Correction(DOG), mira.owner, NOW)
    node.refresh_from_db()
    assert node.description == CAT
    assert not NodeVersion.objects.exists()


def test_an_earlier_version_comes_back_with_its_very_vector(mira: Persona, remember: Remember) -> None:
    node = remember(mira, CAT)
    before = bytes(NodeVector.objects.get(node=node).embedding)
    correct(node, Correction(DOG, emotional_impact=4), mira.owner, NOW)
    assert bytes(NodeVector.objects.get(node=node).embedding) != before
    restored = restore(node, NodeVersion.objects.get(), mira.owner, NOW + timedelta(days=1))
    assert (restored.description, restored.emotional_impact, restored.verification) == (CAT, 0, "unverified")
    assert bytes(NodeVector.objects.get(node=node).embedding) == before
    assert list(NodeVersion.objects.order_by("version").values_list("description", flat=True)) == [CAT, DOG]


def test_mentions_follow_the_corrected_text(mira: Persona, remember: Remember) -> None:
    """An entity that is in no memory is deleted."""
    node, other = remember(mira, CAT), remember(mira, "Rex barks at Zoe.")
    milo, rex, zoe = create_entity(mira, "Milo"), create_entity(mira, "Rex"), create_entity(mira, "Zoe")
    Mention.objects.bulk_create([Mention(node=node, entity=milo), Mention(node=other, entity=rex)])
    Mention.objects.create(node=other, entity=zoe)
    correct(node, Correction(DOG), mira.owner, NOW)
    assert list(node.entities.all()) == [rex]
    assert set(Entity.objects.all()) == {rex, zoe}


def test_what_was_written_of_it_is_erased_but_for_a_persons_words(mira: Persona, remember: Remember) -> None:
    session = talk(mira, "My cat is called Milo.")
    Session.objects.update(summary="Ana told of her cat called Milo.")
    node = remember(mira, CAT, session=session)
    by_model = create_entity(mira, "Milo", description="Ana's cat.", described_by="slow_cycle")
    by_person = create_entity(mira, "Ana's cat", description="Her cat.", described_by="person")
    Mention.objects.bulk_create([Mention(node=node, entity=by_model), Mention(node=node, entity=by_person)])
    correct(node, Correction(emotional_impact=3), mira.owner, NOW)
    assert Entity.objects.get(pk=by_model.pk).description == "Ana's cat."
    correct(node, Correction("Ana has a dog called Milo."), mira.owner, NOW)
    assert Entity.objects.get(pk=by_model.pk).description == ""
    assert Entity.objects.get(pk=by_person.pk).description == "Her cat."
    assert Session.objects.get().summary == ""


def test_what_was_concluded_from_it_stays(mira: Persona, remember: Remember) -> None:
    node = remember(mira, CAT)
    thought = remember(mira, "She is never alone.", kind="thought", source="reflection")
    Filling.objects.create(parent=thought, child=node)
    correct(node, Correction(DOG), mira.owner, NOW)
    thought.refresh_from_db()
    assert thought.status == "active"
    assert thought.filling.get().child_id == node.pk


def test_the_same_messages_do_not_bring_the_old_words_back(mira: Persona) -> None:
    """A piece of a session may be read twice; only new messages are news."""
    session = talk(mira, "my cat called Milo", "again, my cat called Milo")
    first, second = session.messages.all()
    node = put(mira, CAT, evidence=[quote(first, "cat")]).node
    correct(node, Correction(DOG), mira.owner, NOW)
    again = put(mira, CAT, evidence=[quote(first, "my cat")])
    assert (again.outcome, again.node.pk) == ("repeated", node.pk)
    assert put(mira, CAT, evidence=[quote(second, "my cat")]).outcome == "new"


def test_a_correction_begins_anew_where_the_model_changed_meanwhile(
    mira: Persona, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    node, tries = remember(mira, CAT), []

    def fail_once(model: str) -> None:
        tries.append(model)
        if len(tries) == 1:
            raise ModelChanged("another one came into use")

    monkeypatch.setattr(curation_correct, "expect", fail_once)
    assert correct(node, Correction(DOG), mira.owner, NOW).description == DOG
    assert len(tries) == 2
    assert NodeVersion.objects.count() == 1


def test_what_was_forgotten_meanwhile_cannot_be_corrected(mira: Persona, remember: Remember, ana: User) -> None:
    node = remember(mira, CAT)
    ConceptNode.objects.filter(pk=node.pk).delete()
    with pytest.raises(ConceptNode.DoesNotExist):
        correct(node, Correction(DOG), ana, NOW)
