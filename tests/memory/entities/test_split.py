"""Splitting an entity that was two people; and the two stay apart."""

import random
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from echovessel.language.person_names import occurs
from echovessel.outbox.models import OutboxEvent
from memory.entities import clarify, merge
from memory.entities.comparison import candidates_for
from memory.entities.resolve import MentionedName, resolve
from memory.entities.similarity import Profile
from memory.entities.split import Division, NotSplit, division_of, split
from memory.models import Entity, Mention, MergeProposal
from persona.models import Persona
from tests.memory.entities.test_merge import entity, names, node
from tests.memory.sessions import NOW
from tests.table import each_row

SCOTT, HUANG = 1, 2  # keys of names


def division(names: set[int] = frozenset(), shared: set[int] = frozenset(), **memories: set[int]) -> Division:
    moved, both = memories.get("moved", set()), memories.get("both", set())
    return Division(frozenset(names), frozenset(shared), frozenset(moved), frozenset(both))


MEMORIES = {11: "Scott came.", 12: "黄逸扬 called.", 13: "黄逸扬 and Scott ate.", 14: "Scott left."}


@each_row(
    ("aliases", "mentions", "expected"),
    [
        # A name takes its memories with it; a memory with both names belongs to both.
        ({HUANG}, set(), division({HUANG}, moved={12}, both={13})),
        ({SCOTT}, set(), division({SCOTT}, moved={11, 14}, both={13})),
        # A chosen memory belongs to the other one only.
        ({HUANG}, {13}, division({HUANG}, moved={12, 13})),
        # Both entities have the same name.
        (set(), {14}, division(set(), {SCOTT}, moved={14})),
        ({HUANG}, {14}, division({HUANG}, {SCOTT}, moved={12, 14}, both={13})),
        ({SCOTT, HUANG}, {14}, division(set(), {SCOTT}, moved={14})),
        (set(), {13}, division(set(), {SCOTT, HUANG}, moved={13})),
        # Unknown keys are ignored.
        ({HUANG, 99}, {98}, division({HUANG}, moved={12}, both={13})),
    ],
)
def test_names_and_memories_are_divided(aliases: set[int], mentions: set[int], expected: Division) -> None:
    assert division_of({SCOTT: "Scott", HUANG: "黄逸扬"}, MEMORIES, aliases, mentions) == expected


@each_row(
    ("aliases", "mentions", "code"),
    [
        (set(), set(), "nothing_chosen"),
        ({99}, {98}, "nothing_chosen"),
        ({SCOTT, HUANG}, set(), "nothing_left"),
        (set(), set(MEMORIES), "nothing_left"),
        ({3}, set(), "no_memory"),
    ],
)
def test_a_split_that_leaves_a_side_empty_is_refused(aliases: set[int], mentions: set[int], code: str) -> None:
    with pytest.raises(NotSplit) as refused:
        division_of({SCOTT: "Scott", HUANG: "黄逸扬", 3: "Yang"}, MEMORIES, aliases, mentions)
    assert refused.value.code == code


@given(data=st.data())
def test_after_a_split_every_memory_names_whom_it_is_of(data: Any) -> None:
    names_by_key = dict(
        enumerate(data.draw(st.lists(st.sampled_from(["Scott", "黄逸扬", "Yang", "逸扬"]), unique=True)))
    )
    words = st.lists(st.sampled_from(["Scott", "黄逸扬", "Yang", "逸扬"]), min_size=1, max_size=3)
    texts = {key: " / ".join(name_list) for key, name_list in enumerate(data.draw(st.lists(words, max_size=6)))}
    texts = {key: text for key, text in texts.items() if any(occurs(name, text) for name in names_by_key.values())}
    aliases = data.draw(st.sets(st.sampled_from(sorted(names_by_key)))) if names_by_key else set()
    mentions = data.draw(st.sets(st.sampled_from(sorted(texts)))) if texts else set()
    try:
        result = division_of(names_by_key, texts, aliases, mentions)
    except NotSplit:
        return
    mine = {names_by_key[key] for key in names_by_key.keys() - result.moved_names}
    theirs = {names_by_key[key] for key in result.moved_names | result.shared_names}
    staying = texts.keys() - result.moved_memories
    going = result.moved_memories | result.shared_memories
    assert mine
    assert theirs
    assert staying
    assert going
    assert all(any(occurs(name, texts[key]) for name in mine) for key in staying)
    assert all(any(occurs(name, texts[key]) for name in theirs) for key in going)
    assert mentions <= result.moved_memories


@pytest.fixture
def scott(mira: Persona) -> Entity:
    person = entity(mira, "Scott", "黄逸扬", kind="person")
    for text in MEMORIES.values():
        person.mentions.create(node=node(mira, text))
    return person


def mentioned_texts(of: Entity) -> set[str]:
    return set(of.mentions.values_list("node__description", flat=True))


def keys(of: Entity, *names: str) -> list[int]:
    return list(of.aliases.filter(text__in=names).values_list("pk", flat=True))


def test_two_are_made_and_kept_apart(scott: Entity, ana: User) -> None:
    other = split(scott, keys(scott, "黄逸扬"), [], ana, NOW)
    assert (other.canonical_name, other.kind, other.status, names(other)) == (
        "黄逸扬",
        "person",
        "confirmed",
        ["黄逸扬"],
    )
    assert mentioned_texts(other) == {"黄逸扬 called.", "黄逸扬 and Scott ate."}
    assert (names(scott), mentioned_texts(scott)) == (
        ["Scott"],
        {"Scott came.", "黄逸扬 and Scott ate.", "Scott left."},
    )
    proposal = MergeProposal.objects.get()
    assert (proposal.status, proposal.decided_by, proposal.reasons) == ("kept_apart", ana, ["split"])
    outbox_event = OutboxEvent.objects.get(name="memory.entity.split")
    assert outbox_event.data == {"entity_id": str(scott.uuid), "made_entity_id": str(other.uuid)}


def test_without_its_first_name_it_goes_by_the_next(scott: Entity) -> None:
    other = split(scott, keys(scott, "Scott"), [], None, NOW)
    scott.refresh_from_db()
    assert (other.canonical_name, scott.canonical_name) == ("Scott", "黄逸扬")


def test_two_of_one_name_are_told_apart_by_their_memories(scott: Entity) -> None:
    mention = scott.mentions.get(node__description="Scott left.")
    other = split(scott, [], [mention.pk], None, NOW)
    assert (names(other), mentioned_texts(other)) == (["Scott"], {"Scott left."})
    assert "Scott left." not in mentioned_texts(scott)


def test_the_next_session_finds_the_right_one(mira: Persona, scott: Entity) -> None:
    other = split(scott, keys(scott, "黄逸扬"), [], None, NOW)
    for name, expected in (("Scott", scott), ("黄逸扬", other)):
        memory = node(mira, f"{name} 回来了")
        profile = Profile([name], "person", [memory.description], np.eye(1, 384, dtype=np.float32))
        resolved = resolve(mira, MentionedName([name], "person", [memory], profile), candidates_for(mira, [profile]))
        assert resolved is not None
        assert resolved.entity == expected
    assert not MergeProposal.objects.open().exists()


def test_who_was_split_is_never_asked_about_again(mira: Persona, scott: Entity) -> None:
    other = split(scott, keys(scott, "黄逸扬"), [], None, NOW)
    third = entity(mira, "Yang", status="uncertain")
    proposal = merge.propose(mira, other, third, 0.7, ["shared_name"])
    merge.merge(proposal, None, NOW)  # a merge with one keeps apart from the other
    memory = node(mira, "Scott alias 黄逸扬 is here.")
    resolve(mira, MentionedName(["Scott", "黄逸扬"], "person", [memory]))
    assert clarify.settle(mira, "Scott", "黄逸扬", True, NOW) == "nothing"
    assert merge.propose(mira, scott, other, 1.0, ["same_name"]).status == "kept_apart"
    assert not MergeProposal.objects.open().exists()


def test_they_can_be_made_one_again(scott: Entity) -> None:
    before = mentioned_texts(scott), set(names(scott))
    other = split(scott, keys(scott, "黄逸扬"), [], None, NOW)
    merge.merge_pair(other, scott, None, NOW)
    assert (mentioned_texts(scott), set(names(scott))) == before


def test_a_merge_before_a_split_can_still_be_undone(mira: Persona, scott: Entity) -> None:
    yang = entity(mira, "Yang", "Yangyang")
    for text in ("Yang sings.", "Yangyang dances."):
        yang.mentions.create(node=node(mira, text))
    merged = merge.merge_pair(scott, yang, None, NOW)
    other = split(scott, keys(scott, "Yangyang"), [], None, NOW)
    assert merge.undo(merged, None, NOW)
    assert [(names(entity), mentioned_texts(entity)) for entity in (yang, other)] == [
        (["Yang"], {"Yang sings."}),
        (["Yangyang"], {"Yangyang dances."}),
    ]
    assert set(MEMORIES.values()) == mentioned_texts(scott)


def test_who_was_split_off_whole_is_gone_when_the_merge_is_undone(mira: Persona, scott: Entity) -> None:
    yang = entity(mira, "Yang")
    yang.mentions.create(node=node(mira, "Yang sings."))
    merged = merge.merge_pair(scott, yang, None, NOW)
    other = split(scott, keys(scott, "Yang"), [], None, NOW)
    assert merge.undo(merged, None, NOW)
    assert not Entity.objects.filter(pk=yang.pk).exists()
    assert set(mira.entities.all()) == {scott, other}


def test_a_merged_entity_cannot_be_split(mira: Persona, scott: Entity) -> None:
    other = entity(mira, "Yang")
    merge.merge_pair(scott, other, None, NOW)
    with pytest.raises(NotSplit, match="merged into another"):
        split(other, [1], [], None, NOW)


@settings(max_examples=10)
@given(seed=st.integers(0, 10**9))
def test_whatever_is_split_every_mention_is_literal_and_nobody_is_without_one(mira: Persona, seed: int) -> None:
    dice = random.Random(seed)
    pool = ["Scott", "黄逸扬", "Yang", "逸扬"]
    with transaction.atomic():
        person = entity(mira, *dice.sample(pool, dice.randint(1, 4)))
        for _ in range(dice.randint(2, 6)):
            text = " / ".join(dice.sample(names(person), dice.randint(1, len(names(person)))))
            person.mentions.create(node=node(mira, text))
        every = set(person.mentions.values_list("node", flat=True))
        for _ in range(3):
            entity_to_split = dice.choice(list(mira.entities.all()))
            some = [
                list(rows.values_list("pk", flat=True)) for rows in (entity_to_split.aliases, entity_to_split.mentions)
            ]
            try:
                split(entity_to_split, *(dice.sample(own, dice.randint(0, len(own))) for own in some), None, NOW)
            except NotSplit:
                continue
        assert set(Mention.objects.values_list("node", flat=True)) == every
        for each_person in mira.entities.all():
            assert each_person.mentions.exists()
            assert each_person.canonical_name in names(each_person)
            assert all(any(occurs(name, text) for name in names(each_person)) for text in mentioned_texts(each_person))
        transaction.set_rollback(True)
