"""Names and whom they mean: the alias tier."""

from typing import Any

import pytest

from echovessel.outbox.models import OutboxEvent
from memory.entities.names import is_name, normalized, occurs
from memory.entities.resolve import Named, resolve
from memory.models import ConceptNode, Entity, Mention, MergeProposal
from persona.models import Persona
from tests.memory.talks import NOW


def node(persona: Persona, description: str, **values: Any) -> ConceptNode:
    return ConceptNode.objects.create(
        persona=persona, kind="event", description=description, source="extraction", created_at=NOW, **values
    )


def meet(persona: Persona, *names: str, kind: str = "person", **values: Any) -> Any:
    return resolve(persona, Named(names, kind, [node(persona, f"Ana met {names[0]}.", **values)]))


@pytest.mark.parametrize(
    "same",
    [
        ["Scott Huang", "scott huang", "SCOTT  HUANG", "Ｓｃｏｔｔ Huang", "Dr. Scott Huang", "Mr Scott-Huang"],
        ["黄逸扬", "黄 逸扬", "黄逸扬老师", "黄逸扬先生"],
        ["O'Brien", "O’Brien", "OBrien"],
    ],
)
def test_spelling_and_titles_do_not_matter(same: list[str]) -> None:
    assert len({normalized(name) for name in same}) == 1


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        ".",
        "she",
        "她",
        "妈妈",
        "the user",
        "黑",
        "my sister",
        "Her Boss",
        "the dog",
        "我妹妹",
        "我的男朋友",
        "他老板",
        "我",
    ],
)
def test_what_names_nobody_is_no_name(name: str) -> None:
    assert not is_name(name)


@pytest.mark.parametrize("name", ["Anna", "my Bob", "The Beatles", "Theo", "Heri", "我妹妹小云", "李娜", "Mia"])
def test_what_only_begins_like_a_role_is_a_name(name: str) -> None:
    assert is_name(name)


def test_two_sisters_stay_two(mira: Persona) -> None:
    anna, bea = (meet(mira, name, "my sister", "我妹妹").entity for name in ("Anna", "Bea"))
    assert anna != bea
    assert list(anna.aliases.values_list("text", flat=True)) == ["Anna"]
    assert not MergeProposal.objects.exists()


def test_a_title_alone_makes_no_two_people_one() -> None:
    assert normalized("张老师") != normalized("张医生")


@pytest.mark.parametrize(
    ("name", "text", "there"),
    [
        ("Ann", "Anna came", False),
        ("Ann", "She saw Ann.", True),
        ("ann", "She saw Ann's dog.", True),
        ("Mary Ann", "mary  ann", True),
        ("小黑", "她的猫小黑很调皮", True),
        ("Scott", "和Scott吃饭", True),
        ("C++", "He likes C++ a lot", True),
        ("", "anything", False),
    ],
)
def test_a_name_occurs_literally_or_not_at_all(name: str, text: str, there: bool) -> None:
    assert occurs(name, text) is there


def test_a_new_name_is_somebody_new(mira: Persona) -> None:
    found = meet(mira, "Scott", "Scotty")
    assert (found.how, found.entity.status) == ("new", "confirmed")
    assert list(found.entity.aliases.values_list("text", flat=True)) == ["Scott", "Scotty"]
    assert Mention.objects.get().entity == found.entity
    assert OutboxEvent.objects.get().data == {
        "entity_id": str(found.entity.uuid),
        "canonical_name": "Scott",
        "kind": "person",
        "merge_status": "new",
    }


def test_a_known_name_is_the_one_who_bears_it_and_teaches_new_ones(mira: Persona) -> None:
    first = meet(mira, "Scott")
    again = meet(mira, "Mr. SCOTT", "Scott Huang", kind="other")
    assert (again.how, again.entity) == ("alias_matched", first.entity)
    assert meet(mira, "Scott Huang").entity == first.entity
    assert Entity.objects.count() == 1


def test_what_was_unknown_is_known_once_it_is_told(mira: Persona) -> None:
    first = meet(mira, "Milo", kind="other").entity
    assert meet(mira, "Milo", kind="pet").entity == first
    assert Entity.objects.get().kind == "pet"
    meet(mira, "Milo", kind="other")
    assert Entity.objects.get().kind == "pet"
    assert OutboxEvent.objects.order_by("id")[1].data["kind"] == "pet"


def test_another_kind_is_somebody_else(mira: Persona) -> None:
    assert meet(mira, "Paris").entity != meet(mira, "Paris", kind="place").entity


def test_where_several_bear_the_name_people_are_asked_once(mira: Persona) -> None:
    scotts = [Entity.objects.create(persona=mira, canonical_name="Scott", kind="person") for _ in range(2)]
    for scott in scotts:
        scott.aliases.create(persona=mira, text="Scott", normalized="scott")
    found = meet(mira, "Scott")
    assert (found.how, found.entity.status) == ("uncertain", "uncertain")
    assert {(one.a_id, one.b_id) for one in MergeProposal.objects.all()} == {(s.pk, found.entity.pk) for s in scotts}
    assert not OutboxEvent.objects.exists()
    assert meet(mira, "Scott").entity == found.entity
    assert MergeProposal.objects.count() == 2


def test_an_alias_that_somebody_else_bears_is_a_question_and_no_merge(mira: Persona) -> None:
    scott, tom = meet(mira, "Scott").entity, meet(mira, "Tom").entity
    again = meet(mira, "Tom", "Scott", "Tommy")
    assert (again.how, again.entity) == ("alias_matched", tom)
    assert list(tom.aliases.values_list("text", flat=True)) == ["Tom"]
    proposal = MergeProposal.objects.get()
    assert (proposal.a, proposal.b, proposal.reasons) == (scott, tom, ["shared_alias"])
    MergeProposal.objects.update(status="kept_apart")
    meet(mira, "Tom", "Scott")
    assert MergeProposal.objects.get().status == "kept_apart"


def test_who_is_in_no_memory_is_not_stored(mira: Persona) -> None:
    told = node(mira, "Ana met a friend.")
    assert resolve(mira, Named(["Scott"], "person", [told])) is None
    assert resolve(mira, Named(["Scott"], "person", [])) is None
    assert meet(mira, "Scott", status="quarantined") is None
    assert not Entity.objects.exists()


def test_the_two_who_talk_are_no_entities(mira: Persona) -> None:
    assert meet(mira, "Ana") is None
    assert meet(mira, "Mira") is None
    assert meet(mira, "Scott", "Ana").entity.aliases.count() == 1


def test_personas_share_no_entities(mira: Persona, otto: Persona) -> None:
    assert meet(mira, "Scott").entity != meet(otto, "Scott").entity


def test_whom_a_merge_absorbed_is_not_found_again(mira: Persona) -> None:
    gone = meet(mira, "Scott").entity
    Entity.objects.filter(pk=gone.pk).update(status="merged")
    assert meet(mira, "Scott").entity != gone
