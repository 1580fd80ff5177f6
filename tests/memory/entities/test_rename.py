"""Renaming an entity, adding and removing its names; the memories follow."""

import pytest

from echovessel.outbox.models import OutboxEvent
from memory.entities import merge, rename
from memory.entities.rename import NameRefused
from memory.models import Entity
from persona.models import Persona
from tests.memory.entities.test_merge import entity, names, node
from tests.memory.sessions import NOW


def mentioned_texts(of: Entity) -> set[str]:
    return set(of.mentions.values_list("node__description", flat=True))


@pytest.fixture
def huang(mira: Persona) -> Entity:
    person = entity(mira, "黄逸扬", "Scott")
    for text in ("黄逸扬 called.", "Scott came.", "黄逸扬 is Scott."):
        person.mentions.create(node=node(mira, text))
    return person


def test_a_name_more_finds_the_memories_that_it_stands_in(mira: Persona, huang: Entity) -> None:
    node(mira, "YANG paints.")
    node(mira, "Yangming Lake is cold.")
    alias = rename.add_alias(huang, "  Yang ")
    assert alias.text == "Yang"
    assert mentioned_texts(huang) == {"黄逸扬 called.", "Scott came.", "黄逸扬 is Scott.", "YANG paints."}
    assert rename.add_alias(huang, "yang").pk == alias.pk
    assert OutboxEvent.objects.get().data == {"node_id": str(huang.uuid), "kind": "entity", "change": "named"}


def test_a_name_that_somebody_else_bears_too_tells_nothing(mira: Persona, huang: Entity) -> None:
    entity(mira, "Yang")
    node(mira, "Yang paints.")
    rename.add_alias(huang, "Yang")
    assert "Yang paints." not in mentioned_texts(huang)


def test_the_memories_of_another_persona_are_not_looked_at(huang: Entity, otto: Persona) -> None:
    node(otto, "Yang paints.")
    rename.add_alias(huang, "Yang")
    assert len(mentioned_texts(huang)) == 3


def test_renamed_it_bears_the_name_it_had_as_well(huang: Entity) -> None:
    rename.rename(huang, "Huang  Yiyang")
    huang.refresh_from_db()
    assert (huang.canonical_name, names(huang)) == ("Huang Yiyang", ["黄逸扬", "Scott", "Huang Yiyang"])
    assert OutboxEvent.objects.order_by("-id")[0].data["change"] == "renamed"


def test_removing_an_alias_removes_the_mentions_by_that_alias_alone(huang: Entity) -> None:
    rename.remove_alias(huang.aliases.get(text="Scott"))
    assert (names(huang), mentioned_texts(huang)) == (["黄逸扬"], {"黄逸扬 called.", "黄逸扬 is Scott."})


def test_without_the_name_it_went_by_it_goes_by_another(huang: Entity) -> None:
    rename.remove_alias(huang.aliases.get(text="黄逸扬"))
    huang.refresh_from_db()
    assert (huang.canonical_name, mentioned_texts(huang)) == ("Scott", {"Scott came.", "黄逸扬 is Scott."})


def test_a_name_taken_away_and_given_again_is_as_it_was(huang: Entity) -> None:
    before = mentioned_texts(huang)
    rename.remove_alias(huang.aliases.get(text="Scott"))
    rename.add_alias(huang, "Scott")
    assert mentioned_texts(huang) == before


def test_the_last_name_and_the_last_that_stands_anywhere_stay(mira: Persona, huang: Entity) -> None:
    alone = entity(mira, "Rosa", "Rosalind")
    alone.mentions.create(node=node(mira, "Rosa sings."))
    with pytest.raises(NameRefused, match="No other name"):
        rename.remove_alias(alone.aliases.get(text="Rosa"))
    rename.remove_alias(alone.aliases.get(text="Rosalind"))
    with pytest.raises(NameRefused, match="No other name"):
        rename.remove_alias(alone.aliases.get())
    assert (names(alone), mentioned_texts(alone)) == (["Rosa"], {"Rosa sings."})


@pytest.mark.parametrize(
    ("name", "code"),
    [("", "no_name"), ("my sister", "no_name"), ("Ana", "talking"), ("Mira", "talking"), ("x" * 121, "too_long")],
)
def test_what_is_no_name_is_refused(huang: Entity, name: str, code: str) -> None:
    for action in (rename.rename, rename.add_alias):
        with pytest.raises(NameRefused) as refused:
            action(huang, name)
        assert refused.value.code == code
    assert len(names(huang)) == 2


def test_a_merged_entity_cannot_be_renamed(mira: Persona, huang: Entity) -> None:
    rosa = entity(mira, "Rosa", "Scott")
    merge.merge_pair(huang, rosa, None, NOW)
    with pytest.raises(NameRefused, match="merged into another"):
        rename.add_alias(rosa, "Rosalind")
    with pytest.raises(NameRefused, match="merged into another"):
        rename.remove_alias(rosa.aliases.get())
