"""Entities are merged or kept apart, and every decision can be undone."""

import random
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from echovessel.outbox.models import OutboxEvent
from memory import forgetting
from memory.archive import write
from memory.curation import threads
from memory.entities import merge, rename
from memory.entities.merge import LaterMergeStands, LivesOnInAnother, merge_pair
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal, NodeVersion
from memory.store.deduplication import content_hash
from memory.web.presenters.person import facts_about
from persona.models import Persona
from tests.memory.sessions import NOW

DECIDED = ("status", "decided_by_id", "decided_at", "snapshot")


def entity(persona: Persona, *names: str, **values: Any) -> Entity:
    created = Entity.objects.create(persona=persona, canonical_name=names[0], **({"kind": "person"} | values))
    for name in names:
        created.aliases.create(persona=persona, text=name, normalized=name.casefold())
    return created


def node(persona: Persona, description: str = "x") -> ConceptNode:
    return ConceptNode.objects.create(
        persona=persona,
        kind="event",
        description=description,
        source="extraction",
        content_hash=content_hash(description),
    )


def propose_merge(first: Entity, other: Entity, status: str = "open") -> MergeProposal:
    proposal = merge.propose(first.persona, first, other, 0.7, ["similar_memories"])
    MergeProposal.objects.filter(pk=proposal.pk).update(status=status)
    proposal.refresh_from_db()
    return proposal


def rows(*decided: int) -> dict[str, list[dict[str, Any]]]:
    """All rows about entities; of the proposals `decided`, without the fields that a decision changes."""
    tables = {
        model.__name__: list(model.objects.order_by("pk").values()) for model in (Entity, Alias, Mention, MergeProposal)
    }
    return _undecided(tables, set(decided))


def _undecided(tables: dict[str, list[dict[str, Any]]], decided: set[int]) -> dict[str, list[dict[str, Any]]]:
    proposals = [
        {name: value for name, value in row.items() if row["id"] not in decided or name not in DECIDED}
        for row in tables["MergeProposal"]
    ]
    return tables | {"MergeProposal": proposals}


def names(of: Entity) -> list[str]:
    return list(of.aliases.order_by("id").values_list("text", flat=True))


@pytest.fixture
def scott(mira: Persona) -> Entity:
    return entity(mira, "Scott", "Scotty")


@pytest.fixture
def huang(mira: Persona) -> Entity:
    return entity(mira, "黄逸扬", "Scotty", status="uncertain", description="A friend.", described_by="slow_cycle")


def test_all_that_is_known_of_both_is_known_of_one(mira: Persona, scott: Entity, huang: Entity, ana: User) -> None:
    both, theirs = node(mira), node(mira)
    for mentioned in (scott, huang):
        mentioned.mentions.create(node=both)
    huang.mentions.create(node=theirs)
    proposal = propose_merge(scott, huang)
    assert merge.merge(proposal, ana, NOW)
    scott.refresh_from_db()
    huang.refresh_from_db()
    assert names(scott) == ["Scott", "Scotty", "黄逸扬"]
    assert set(scott.mentions.values_list("node", flat=True)) == {both.pk, theirs.pk}
    assert not huang.mentions.exists()
    assert (huang.status, huang.merged_into) == ("merged", scott)
    assert (scott.status, scott.description, scott.described_by) == ("confirmed", "A friend.", "slow_cycle")
    assert huang.description == ""
    assert (proposal.status, proposal.decided_by, proposal.decided_at) == ("merged", ana, NOW)


def test_a_merge_is_told_and_its_snapshot_holds_no_words(scott: Entity, huang: Entity) -> None:
    proposal = propose_merge(scott, huang)
    merge.merge(proposal, None, NOW)
    gone, confirmation = OutboxEvent.objects.order_by("id")
    assert (gone.name, gone.data["change"], gone.data["node_id"]) == ("memory.node.updated", "merged", str(huang.uuid))
    assert (confirmation.name, confirmation.data["merge_status"]) == ("memory.entity.confirmed", "merged")
    assert confirmation.data["entity_id"] == str(scott.uuid)
    proposal.refresh_from_db()
    snapshot_text = str(proposal.snapshot)
    assert not [word for word in ("Scott", "黄", "friend") if word in snapshot_text]


def test_a_decision_is_made_once(scott: Entity, huang: Entity) -> None:
    proposal = propose_merge(scott, huang)
    assert merge.merge(proposal, None, NOW)
    before = rows()
    assert not merge.merge(proposal, None, NOW)
    assert not merge.keep_apart(proposal, None, NOW)
    assert rows() == before
    assert merge.undo(proposal, None, NOW)
    assert not merge.undo(proposal, None, NOW)


def test_a_merge_keeps_the_description_a_person_wrote(mira: Persona, scott: Entity) -> None:
    Entity.objects.filter(pk=scott.pk).update(description="Written by a job.", described_by="slow_cycle")
    other = entity(mira, "Huang", description="Written by Ana.", described_by="person", status="uncertain")
    proposal = propose_merge(scott, other)
    before = rows(proposal.pk)
    merge.merge(proposal, None, NOW)
    scott.refresh_from_db()
    assert (scott.description, scott.described_by) == ("Written by Ana.", "person")
    merge.undo(proposal, None, NOW)
    assert rows(proposal.pk) == before


def test_another_secret_key_changes_no_undo(scott: Entity, huang: Entity, settings: Any) -> None:
    proposal = propose_merge(scott, huang)
    before = rows(proposal.pk)
    merge.merge(proposal, None, NOW)
    settings.SECRET_KEY = "another one"
    merge.undo(proposal, None, NOW)
    assert rows(proposal.pk) == before


def test_whoever_is_merged_keeps_a_description_that_a_person_wrote(mira: Persona, scott: Entity) -> None:
    Entity.objects.filter(pk=scott.pk).update(description="Written by Ana.", described_by="person")
    other = entity(mira, "Huang", description="By Ana, too.", described_by="person", status="uncertain")
    merge.merge(propose_merge(scott, other), None, NOW)
    scott.refresh_from_db()
    assert scott.description == "Written by Ana."


def test_an_unknown_kind_is_learned(mira: Persona, scott: Entity) -> None:
    Entity.objects.filter(pk=scott.pk).update(kind="other")
    proposal = propose_merge(scott, entity(mira, "Huang", status="uncertain"))
    merge.merge(proposal, None, NOW)
    scott.refresh_from_db()
    assert scott.kind == "person"


def test_what_was_learned_after_the_merge_stays_with_the_survivor(mira: Persona, scott: Entity, huang: Entity) -> None:
    proposal = propose_merge(scott, huang)
    merge.merge(proposal, None, NOW)
    later = node(mira)
    scott.mentions.create(node=later)
    scott.aliases.create(persona=mira, text="Yang", normalized="yang")
    Entity.objects.filter(pk=scott.pk).update(description="Written anew.", described_by="person")
    merge.undo(proposal, None, NOW)
    scott.refresh_from_db()
    huang.refresh_from_db()
    assert names(scott) == ["Scott", "Scotty", "Yang"]
    assert names(huang) == ["黄逸扬", "Scotty"]
    assert scott.mentions.get().node == later
    assert (scott.description, huang.description) == ("Written anew.", "")
    assert (huang.status, huang.merged_into) == ("uncertain", None)


def test_what_somebody_is_to_the_owner_moves_where_it_is_not_known_and_returns(
    mira: Persona, scott: Entity, huang: Entity
) -> None:
    Entity.objects.filter(pk=huang.pk).update(relation="colleague")
    proposal = propose_merge(scott, huang)
    before = rows(proposal.pk)
    merge.merge(proposal, None, NOW)
    scott.refresh_from_db()
    huang.refresh_from_db()
    assert (scott.relation, huang.relation) == ("colleague", "")
    proposal.refresh_from_db()
    assert "colleague" not in str(proposal.snapshot)
    merge.undo(proposal, None, NOW)
    assert rows(proposal.pk) == before
    # A relation that was learned after the merge stays with the survivor.
    merge.merge(proposal, None, NOW)
    Entity.objects.filter(pk=scott.pk).update(relation="friend")
    merge.undo(proposal, None, NOW)
    assert list(Entity.objects.order_by("pk").values_list("relation", flat=True)) == ["friend", ""]
    Entity.objects.filter(pk=huang.pk).update(relation="colleague")
    merge.merge(proposal, None, NOW)
    assert list(Entity.objects.order_by("pk").values_list("relation", flat=True)) == ["friend", "colleague"]
    merge.undo(proposal, None, NOW)
    assert list(Entity.objects.order_by("pk").values_list("relation", flat=True)) == ["friend", "colleague"]


def test_what_was_last_heard_what_is_open_and_the_story_lines_move_with_the_memories(
    mira: Persona, scott: Entity, huang: Entity
) -> None:
    last_heard, moved = node(mira, "Huang wrote."), node(mira, "Huang moved out.")
    promise = ConceptNode.objects.create(
        persona=mira, kind="intention", description="Mira asks Huang.", source="extraction", content_hash="p"
    )
    thread = threads.begin(mira, "Huang's move", [last_heard, moved], "open", NOW)
    for mentioned in (last_heard, moved, promise):
        huang.mentions.create(node=mentioned)
    proposal = propose_merge(scott, huang)
    merge.merge(proposal, None, NOW)
    about = facts_about(scott)
    assert (about.last_heard, about.still_open, about.story_lines) == (moved, [promise], [thread])
    merge.undo(proposal, None, NOW)
    about = facts_about(huang)
    assert (about.last_heard, about.still_open, about.story_lines) == (moved, [promise], [thread])
    assert facts_about(scott).last_heard is None


def test_what_was_forgotten_meanwhile_does_not_come_back(mira: Persona, scott: Entity, huang: Entity) -> None:
    both = node(mira)
    for mentioned in (scott, huang):
        mentioned.mentions.create(node=both)
    proposal = propose_merge(scott, huang)
    merge.merge(proposal, None, NOW)
    both.delete()
    merge.undo(proposal, None, NOW)
    assert not huang.mentions.exists()


def test_questions_about_the_one_go_on_about_the_other(mira: Persona, scott: Entity, huang: Entity) -> None:
    third = entity(mira, "Yiyang", status="uncertain")
    open_question, proposal = propose_merge(huang, third), propose_merge(scott, huang)
    before = rows(proposal.pk)
    merge.merge(proposal, None, NOW)
    open_question.refresh_from_db()
    assert {open_question.a, open_question.b} == {scott, third}
    merge.undo(proposal, None, NOW)
    assert rows(proposal.pk) == before


def test_who_was_kept_apart_from_the_one_is_kept_apart_from_the_other(
    mira: Persona, scott: Entity, huang: Entity
) -> None:
    third = entity(mira, "Yiyang", status="uncertain")
    first_proposal, apart, proposal = (
        propose_merge(scott, third),
        propose_merge(huang, third, "kept_apart"),
        propose_merge(scott, huang),
    )
    before = rows(proposal.pk)
    merge.merge(proposal, None, NOW)
    first_proposal.refresh_from_db()
    third.refresh_from_db()
    assert (first_proposal.status, third.status) == ("kept_apart", "confirmed")
    assert apart.pk in MergeProposal.objects.values_list("pk", flat=True)
    merge.undo(proposal, None, NOW)
    assert rows(proposal.pk) == before


def test_kept_apart_the_uncertain_one_is_confirmed_when_nothing_else_is_asked_of_it(
    mira: Persona, scott: Entity, huang: Entity
) -> None:
    third = entity(mira, "Yiyang")
    first, second = propose_merge(scott, huang), propose_merge(huang, third)
    assert merge.keep_apart(first, None, NOW)
    huang.refresh_from_db()
    assert huang.status == "uncertain"
    assert not OutboxEvent.objects.exists()
    before = rows(second.pk)
    merge.keep_apart(second, None, NOW)
    huang.refresh_from_db()
    assert huang.status == "confirmed"
    assert OutboxEvent.objects.get().data["merge_status"] == "kept_apart"
    merge.undo(second, None, NOW)
    assert rows(second.pk) == before


def test_a_merge_cannot_be_undone_under_a_later_one(mira: Persona, scott: Entity, huang: Entity) -> None:
    third = entity(mira, "Yiyang", status="uncertain")
    first, second = propose_merge(scott, huang), propose_merge(scott, third)
    merge.merge(first, None, NOW)
    merge.merge(second, None, NOW)
    before = rows()
    with pytest.raises(LaterMergeStands):
        merge.undo(first, None, NOW)
    assert rows() == before
    assert merge.undo(second, None, NOW)
    assert merge.undo(first, None, NOW)


def test_only_entities_of_one_persona_can_be_one(scott: Entity, otto: Persona) -> None:
    with pytest.raises(ValueError, match="one persona"):
        merge.propose(scott.persona, scott, entity(otto, "Scott"), 1.0, [])


def test_a_pair_is_asked_about_once(scott: Entity, huang: Entity) -> None:
    proposal = propose_merge(scott, huang)
    merge.keep_apart(proposal, None, NOW)
    again = merge.propose(scott.persona, huang, scott, 0.9, ["same_name"])
    assert (again.pk, again.status, again.score) == (proposal.pk, "kept_apart", 0.7)


def export_archive(persona: Persona) -> list[bytes]:
    """The persona's archive without proposals."""
    return [line for line in write.archive_lines(persona, NOW) if not line.startswith(b'{"type":"proposal"')]


def mentioned_texts(of: Entity) -> set[str]:
    return set(of.mentions.values_list("node__description", flat=True))


def add_memories(of: Entity, *texts: str) -> list[ConceptNode]:
    """Create memories that mention the entity."""
    nodes = [node(of.persona, text) for text in texts]
    for memory in nodes:
        of.mentions.create(node=memory)
    return nodes


def correct_memory(memory: ConceptNode, text: str) -> None:
    """Rewrite the memory as a person does, with a version (see memory.curation.correct)."""
    NodeVersion.objects.create(
        node=memory,
        version=1,
        description=memory.description,
        emotional_impact=0,
        verification="unverified",
        edited_at=NOW,
    )
    ConceptNode.objects.filter(pk=memory.pk).update(description=text)


def test_two_of_whom_nobody_asked_are_made_one_and_two_again(mira: Persona, scott: Entity, ana: User) -> None:
    rosa = entity(mira, "Rosa", description="A singer.", described_by="person")
    add_memories(scott, "Scott came.")
    add_memories(rosa, "Rosa sings.")
    before = export_archive(mira), rows()
    proposal = merge_pair(rosa, scott, ana, NOW)
    assert (proposal.status, proposal.decided_by, proposal.reasons) == ("merged", ana, ["by_hand"])
    assert mentioned_texts(scott) == {"Scott came.", "Rosa sings."}
    assert merge_pair(scott, rosa, ana, NOW).pk == proposal.pk
    assert merge.undo(proposal, ana, NOW)
    assert (export_archive(mira), rows() | {"MergeProposal": []}) == before


def test_two_that_were_kept_apart_are_made_one_by_hand_and_kept_apart_again(
    mira: Persona, scott: Entity, huang: Entity, ana: User
) -> None:
    proposal = propose_merge(scott, huang)
    merge.keep_apart(proposal, ana, NOW)
    before = rows()
    later = NOW + timedelta(days=1)
    assert merge_pair(scott, huang, None, later).pk == proposal.pk
    huang.refresh_from_db()
    assert huang.status == "merged"
    assert merge.undo(proposal, None, later)
    assert rows() == before
    assert (proposal.status, proposal.decided_by, proposal.decided_at) == ("kept_apart", ana, NOW)
    assert merge.undo(proposal, None, later)
    huang.refresh_from_db()
    assert (proposal.status, huang.status) == ("undone", "uncertain")


def test_only_two_who_are_there_can_be_made_one(mira: Persona, otto: Persona, scott: Entity, huang: Entity) -> None:
    merge_pair(scott, huang, None, NOW)
    before = rows()
    third = entity(mira, "Yiyang")
    for other, refusal in ((huang, LivesOnInAnother), (third, ValueError), (entity(otto, "Otto"), ValueError)):
        with pytest.raises(refusal), transaction.atomic():
            merge_pair(third, other, None, NOW)
    Entity.objects.exclude(pk__in=[scott.pk, huang.pk]).delete()
    assert rows() == before


def test_a_side_whose_every_memory_was_forgotten_meanwhile_does_not_come_back(
    mira: Persona, scott: Entity, huang: Entity
) -> None:
    [mine], [theirs] = add_memories(scott, "Scott came."), add_memories(huang, "黄逸扬 called.")
    proposal = merge_pair(scott, huang, None, NOW)
    theirs.delete()
    assert merge.undo(proposal, None, NOW)
    assert list(mira.entities.all()) == [scott]
    assert (names(scott), list(scott.nodes.all())) == (["Scott", "Scotty"], [mine])
    assert not MergeProposal.objects.exists()


def test_a_survivor_whose_every_memory_was_forgotten_meanwhile_does_not_come_back_either(
    mira: Persona, scott: Entity, huang: Entity
) -> None:
    [mine], [theirs] = add_memories(scott, "Scott came."), add_memories(huang, "黄逸扬 called.")
    proposal = merge_pair(scott, huang, None, NOW)
    mine.delete()
    assert merge.undo(proposal, None, NOW)
    assert list(mira.entities.all()) == [huang]
    assert list(huang.nodes.all()) == [theirs]


@pytest.mark.parametrize(
    ("forgotten", "remaining"),
    [
        ("黄逸扬 called.", {"黄逸扬 slept.", "Scott met 黄逸扬."}),
        ("Scott met 黄逸扬.", {"黄逸扬 called.", "黄逸扬 slept."}),
    ],
)
def test_what_was_forgotten_for_good_meanwhile_stays_forgotten(
    mira: Persona, scott: Entity, huang: Entity, forgotten: str, remaining: set[str]
) -> None:
    add_memories(scott, "Scott came.")
    [both] = add_memories(huang, "黄逸扬 called.", "黄逸扬 slept.", "Scott met 黄逸扬.")[2:]
    scott.mentions.create(node=both)
    proposal = merge_pair(scott, huang, None, NOW)
    target = forgetting.target_of(mira, "node", str(mira.nodes.get(description=forgotten).uuid))
    forgetting.forget(forgetting.plan([target]), None, NOW)
    assert merge.undo(proposal, None, NOW)
    assert mentioned_texts(huang) == remaining
    assert mentioned_texts(scott) == {"Scott came.", "Scott met 黄逸扬."} - {forgotten}


def test_a_name_that_was_forgotten_for_good_with_its_memories_comes_back_nowhere(
    mira: Persona, scott: Entity, huang: Entity
) -> None:
    add_memories(scott, "Scott came.")
    [theirs] = add_memories(huang, "黄逸扬 called.")
    proposal = merge_pair(scott, huang, None, NOW)
    target = forgetting.target_of(mira, "node", str(theirs.uuid))
    forgetting.forget(forgetting.plan([target]), None, NOW)
    assert "黄" not in str(rows())
    merge.undo(proposal, None, NOW)
    assert "黄" not in str(rows())
    assert list(mira.entities.exclude(status="merged")) == [scott]


def test_whom_a_person_described_comes_back_without_a_memory(mira: Persona, scott: Entity, huang: Entity) -> None:
    add_memories(scott, "Scott came.")
    [theirs] = add_memories(huang, "黄逸扬 called.")
    Entity.objects.filter(pk=huang.pk).update(described_by="person")
    proposal = merge_pair(scott, huang, None, NOW)
    theirs.delete()
    merge.undo(proposal, None, NOW)
    huang.refresh_from_db()
    assert (huang.status, huang.description) == ("uncertain", "A friend.")


def test_what_was_told_after_the_merge_is_of_whom_it_names(mira: Persona, scott: Entity, huang: Entity) -> None:
    [mine], [theirs] = add_memories(scott, "Scott came."), add_memories(huang, "黄逸扬 called.")
    proposal = merge_pair(scott, huang, None, NOW)
    add_memories(scott, "黄逸扬 paints.", "Scott met 黄逸扬.", "Scott sings.")
    correct_memory(mine, "黄逸扬 came.")
    correct_memory(theirs, "Scott called.")
    add_memories(scott, "Scott wept.")
    merge.undo(proposal, None, NOW)
    assert mentioned_texts(huang) == {"黄逸扬 paints.", "Scott met 黄逸扬.", "黄逸扬 came."}
    assert mentioned_texts(scott) == {"Scott met 黄逸扬.", "Scott sings.", "Scott called.", "Scott wept."}


def test_a_name_that_was_taken_away_meanwhile_stays_away(mira: Persona, scott: Entity) -> None:
    yang = entity(mira, "Yiyang", "Yang")
    add_memories(scott, "Scott came.")
    add_memories(yang, "Yang called.", "Yiyang slept.", "Yiyang is Scott.")
    proposal = merge_pair(scott, yang, None, NOW)
    rename.remove_alias(scott.aliases.get(text="Yiyang"))
    merge.undo(proposal, None, NOW)
    yang.refresh_from_db()
    assert (yang.canonical_name, names(yang), mentioned_texts(yang)) == ("Yang", ["Yang"], {"Yang called."})
    assert mentioned_texts(scott) == {"Scott came.", "Yiyang is Scott."}


def test_merges_beside_each_other_can_be_undone_in_any_order(mira: Persona, scott: Entity, huang: Entity) -> None:
    rosa, rosalind = entity(mira, "Rosa"), entity(mira, "Rosalind", status="uncertain")
    question = propose_merge(huang, rosalind)
    first, second = propose_merge(scott, huang), propose_merge(rosa, rosalind)
    before = rows(first.pk, second.pk)
    merge.merge(first, None, NOW)
    merge.merge(second, None, NOW)
    question.refresh_from_db()
    assert {question.a, question.b} == {scott, rosa}
    assert merge.undo(first, None, NOW)
    question.refresh_from_db()
    assert {question.a, question.b} == {huang, rosa}
    assert merge.undo(second, None, NOW)
    assert rows(first.pk, second.pk) == before


def test_of_two_questions_that_became_one_the_pair_keeps_its_own(mira: Persona, scott: Entity, huang: Entity) -> None:
    rose, rosalind, rosa = (entity(mira, name) for name in ("Rose", "Rosalind", "Rosa"))
    question, own = propose_merge(huang, rosa), propose_merge(huang, rosalind)
    early = merge_pair(rosalind, rose, None, NOW)
    merged = merge_pair(scott, huang, None, NOW)
    merge.undo(early, None, NOW)
    merge_pair(rosalind, rosa, None, NOW)
    assert merge.undo(merged, None, NOW)
    own.refresh_from_db()
    assert {own.a, own.b} == {huang, rosalind}
    assert MergeProposal.objects.filter(pk=question.pk).exists()


def test_a_question_about_whoever_was_forgotten_meanwhile_is_gone(mira: Persona, scott: Entity, huang: Entity) -> None:
    rosa = entity(mira, "Rosa")
    add_memories(scott, "Scott came.")
    add_memories(huang, "黄逸扬 called.")
    [sung] = add_memories(rosa, "Rosa sings.")
    propose_merge(huang, rosa)
    proposal = propose_merge(scott, huang)
    merge.merge(proposal, None, NOW)
    sung.delete()
    assert merge.undo(proposal, None, NOW)
    assert list(MergeProposal.objects.all()) == [proposal]


def _create_people(persona: Persona, dice: random.Random) -> None:
    pool = ["Scott", "Scotty", "Huang", "Yiyang", "黄逸扬", "逸扬"]
    people = [
        entity(
            persona,
            *dice.sample(pool, dice.randint(1, 3)),
            kind=dice.choice(["person", "other"]),
            status=dice.choice(["confirmed", "uncertain"]),
            **dice.choice(
                [{}, {"description": "a", "described_by": "person"}, {"description": "b", "described_by": "slow_cycle"}]
            ),
        )
        for _ in range(5)
    ]
    for _ in range(4):
        memory = node(persona)
        for mentioned in dice.sample(people, dice.randint(0, 4)):
            mentioned.mentions.create(node=memory)
    for at, person in enumerate(people):
        for other in people[at + 1 :]:
            if dice.random() < 0.7:
                propose_merge(person, other, dice.choice(["open", "open", "undone", "kept_apart"]))


@hypothesis_settings(max_examples=10)
@given(seed=st.integers(0, 10**9))
def test_undoing_random_merges_in_reverse_restores_every_state(mira: Persona, seed: int) -> None:
    dice = random.Random(seed)
    with transaction.atomic():
        _create_people(mira, dice)
        decided: list[MergeProposal] = []
        states = []
        while (waiting := list(MergeProposal.objects.undecided().order_by("id"))) and len(decided) < 5:
            states.append(rows())
            decided.append(dice.choice(waiting))
            assert dice.choice([merge.merge, merge.merge, merge.keep_apart])(decided[-1], None, NOW)
        touched = {proposal.pk for proposal in decided}
        for proposal, state in zip(reversed(decided), reversed(states), strict=True):
            assert merge.undo(proposal, None, NOW)
            assert _undecided(rows(), touched) == _undecided(state, touched)
        transaction.set_rollback(True)


@hypothesis_settings(max_examples=3)
@given(seed=st.integers(0, 10**9))
def test_the_archive_of_any_life_is_the_same_after_merges_undone_in_turn(mira: Persona, seed: int) -> None:
    dice = random.Random(seed)
    with transaction.atomic():
        _create_people(mira, dice)
        states = [export_archive(mira)]
        decided: list[MergeProposal] = []
        while len(living := list(mira.entities.exclude(status="merged").order_by("id"))) > 1 and len(decided) < 4:
            decided.append(merge_pair(*dice.sample(living, 2), None, NOW + timedelta(hours=len(decided))))
            states.append(export_archive(mira))
            assert states[-1] != states[-2]
        for proposal in reversed(decided):
            states.pop()
            assert merge.undo(proposal, None, NOW)
            assert export_archive(mira) == states[-1]
        transaction.set_rollback(True)
