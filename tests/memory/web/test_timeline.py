"""The timeline page: which rows it shows."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation

from memory.models import ConceptNode, Entity, Mention
from memory.web.timeline import Row, rows
from persona.models import MoodChange, Persona

Remember = Callable[..., ConceptNode]


def create_entity(node: ConceptNode, name: str) -> Entity:
    entity = Entity.objects.create(persona=node.persona, canonical_name=name, kind="pet")
    Mention.objects.create(node=node, entity=entity)
    return entity


def rows_of_kind(persona: Persona, kind: str) -> list[Row]:
    return [row for row in rows(persona) if row.kind == kind]


def test_a_hidden_memory_is_shown_as_hidden(mira: Persona, remember: Remember, client: Client) -> None:
    remember(mira, "Ana has a cat.")
    remember(mira, "Ana has a dog.", status="hidden")
    assert {row.title: row.status for row in rows_of_kind(mira, "event")} == {
        "Ana has a cat.": "active",
        "Ana has a dog.": "hidden",
    }
    client.force_login(mira.owner)
    page = client.get(f"/memory/{mira.uuid}/timeline/").content.decode()
    assert page.count("timeline-hidden") == 1
    assert ">hidden</span>" in page
    client.cookies["django_language"] = "zh-hans"
    assert ">已隐藏</span>" in client.get(f"/memory/{mira.uuid}/timeline/").content.decode()


@pytest.mark.parametrize(
    ("status", "there"), [("active", 1), ("hidden", 1), ("superseded", 0), ("archived", 0), ("quarantined", 0)]
)
def test_who_stands_only_in_memories_that_are_not_shown_is_not_listed(
    mira: Persona, remember: Remember, status: str, there: int
) -> None:
    create_entity(remember(mira, "Milo is a cat.", status=status), "Milo")
    assert len(rows_of_kind(mira, "entity")) == there


def test_who_is_mentioned_twice_is_listed_once_and_who_never_is_not(mira: Persona, remember: Remember) -> None:
    milo = create_entity(remember(mira, "Milo is a cat."), "Milo")
    Mention.objects.create(node=remember(mira, "Milo sleeps."), entity=milo)
    Entity.objects.create(persona=mira, canonical_name="Nobody", kind="person")
    assert [row.title for row in rows_of_kind(mira, "entity")] == ["Milo"]


def test_a_memory_that_changes_is_a_new_row_for_the_page(mira: Persona, remember: Remember) -> None:
    def keys() -> set[Any]:
        return {row.key for row in rows(mira)}

    node = remember(mira, "Ana has a cat.")
    before = keys()
    ConceptNode.objects.filter(pk=node.pk).update(status="hidden")
    assert not before & keys()


def test_people_are_told_by_what_they_are_to_you_and_a_neutral_mood_in_words(mira: Persona, remember: Remember) -> None:
    translation.activate("en")
    milo = create_entity(remember(mira, "Milo is a cat."), "Milo")
    assert rows_of_kind(mira, "entity")[0].detail == "pet"
    Entity.objects.filter(pk=milo.pk).update(relation="my cat")
    assert rows_of_kind(mira, "entity")[0].detail == "cat"
    now = timezone.now()
    for mood, title in (("listening", "at ease"), ("glad", "glad")):
        MoodChange.objects.all().delete()
        MoodChange.objects.create(persona=mira, mood=mood, energy=5, at=now)
        assert [row.title for row in rows_of_kind(mira, "mood")] == [title]
