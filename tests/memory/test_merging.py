"""Two become one, or stay two; and every decision can be taken back."""

import random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from echovessel.outbox.models import OutboxEvent
from memory.entities import merging
from memory.entities.merging import LaterMergeStands
from memory.models import Alias, ConceptNode, Entity, Mention, MergeProposal
from persona.models import Persona
from tests.memory.talks import NOW

DECIDED = ("status", "decided_by_id", "decided_at", "snapshot")


def entity(persona: Persona, *names: str, **values: Any) -> Entity:
    made = Entity.objects.create(persona=persona, canonical_name=names[0], **({"kind": "person"} | values))
    for name in names:
        made.aliases.create(persona=persona, text=name, normalized=name.casefold())
    return made


def node(persona: Persona, description: str = "x") -> ConceptNode:
    return ConceptNode.objects.create(persona=persona, kind="event", description=description, source="extraction")


def asked(one: Entity, other: Entity, status: str = "open") -> MergeProposal:
    proposal = merging.propose(one.persona, one, other, 0.7, ["similar_memories"])
    MergeProposal.objects.filter(pk=proposal.pk).update(status=status)
    proposal.refresh_from_db()
    return proposal


def rows(*decided: int) -> dict[str, list[dict[str, Any]]]:
    """Everything about entities, byte for byte; of the proposals `decided`, not what deciding changes."""
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
    proposal = asked(scott, huang)
    assert merging.merge(proposal, ana, NOW)
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
    proposal = asked(scott, huang)
    merging.merge(proposal, None, NOW)
    gone, here = OutboxEvent.objects.order_by("id")
    assert (gone.name, gone.data["change"], gone.data["node_id"]) == ("memory.node.updated", "merged", str(huang.uuid))
    assert (here.name, here.data["merge_status"]) == ("memory.entity.confirmed", "merged")
    assert here.data["entity_id"] == str(scott.uuid)
    proposal.refresh_from_db()
    kept = str(proposal.snapshot)
    assert not [word for word in ("Scott", "黄", "friend") if word in kept]


def test_a_decision_is_made_once(scott: Entity, huang: Entity) -> None:
    proposal = asked(scott, huang)
    assert merging.merge(proposal, None, NOW)
    before = rows()
    assert not merging.merge(proposal, None, NOW)
    assert not merging.keep_apart(proposal, None, NOW)
    assert rows() == before
    assert merging.undo(proposal, None, NOW)
    assert not merging.undo(proposal, None, NOW)


def test_what_a_person_wrote_outlives_what_a_job_wrote(mira: Persona, scott: Entity) -> None:
    Entity.objects.filter(pk=scott.pk).update(description="Written by a job.", described_by="slow_cycle")
    other = entity(mira, "Huang", description="Written by Ana.", described_by="person", status="uncertain")
    proposal = asked(scott, other)
    before = rows(proposal.pk)
    merging.merge(proposal, None, NOW)
    scott.refresh_from_db()
    assert (scott.description, scott.described_by) == ("Written by Ana.", "person")
    merging.undo(proposal, None, NOW)
    assert rows(proposal.pk) == before


def test_whoever_is_merged_keeps_a_description_that_a_person_wrote(mira: Persona, scott: Entity) -> None:
    Entity.objects.filter(pk=scott.pk).update(description="Written by Ana.", described_by="person")
    other = entity(mira, "Huang", description="By Ana, too.", described_by="person", status="uncertain")
    merging.merge(asked(scott, other), None, NOW)
    scott.refresh_from_db()
    assert scott.description == "Written by Ana."


def test_an_unknown_kind_is_learned(mira: Persona, scott: Entity) -> None:
    Entity.objects.filter(pk=scott.pk).update(kind="other")
    proposal = asked(scott, entity(mira, "Huang", status="uncertain"))
    merging.merge(proposal, None, NOW)
    scott.refresh_from_db()
    assert scott.kind == "person"


def test_what_was_learned_after_the_merge_stays_with_the_survivor(mira: Persona, scott: Entity, huang: Entity) -> None:
    proposal = asked(scott, huang)
    merging.merge(proposal, None, NOW)
    later = node(mira)
    scott.mentions.create(node=later)
    scott.aliases.create(persona=mira, text="Yang", normalized="yang")
    Entity.objects.filter(pk=scott.pk).update(description="Written anew.", described_by="person")
    merging.undo(proposal, None, NOW)
    scott.refresh_from_db()
    huang.refresh_from_db()
    assert names(scott) == ["Scott", "Scotty", "Yang"]
    assert names(huang) == ["黄逸扬", "Scotty"]
    assert scott.mentions.get().node == later
    assert (scott.description, huang.description) == ("Written anew.", "")
    assert (huang.status, huang.merged_into) == ("uncertain", None)


def test_what_was_forgotten_meanwhile_does_not_come_back(mira: Persona, scott: Entity, huang: Entity) -> None:
    both = node(mira)
    for mentioned in (scott, huang):
        mentioned.mentions.create(node=both)
    proposal = asked(scott, huang)
    merging.merge(proposal, None, NOW)
    both.delete()
    merging.undo(proposal, None, NOW)
    assert not huang.mentions.exists()


def test_questions_about_the_one_go_on_about_the_other(mira: Persona, scott: Entity, huang: Entity) -> None:
    third = entity(mira, "Yiyang", status="uncertain")
    open_question, proposal = asked(huang, third), asked(scott, huang)
    before = rows(proposal.pk)
    merging.merge(proposal, None, NOW)
    open_question.refresh_from_db()
    assert {open_question.a, open_question.b} == {scott, third}
    merging.undo(proposal, None, NOW)
    assert rows(proposal.pk) == before


def test_who_was_kept_apart_from_the_one_is_kept_apart_from_the_other(
    mira: Persona, scott: Entity, huang: Entity
) -> None:
    third = entity(mira, "Yiyang", status="uncertain")
    known, apart, proposal = asked(scott, third), asked(huang, third, "kept_apart"), asked(scott, huang)
    before = rows(proposal.pk)
    merging.merge(proposal, None, NOW)
    known.refresh_from_db()
    third.refresh_from_db()
    assert (known.status, third.status) == ("kept_apart", "confirmed")
    assert apart.pk in MergeProposal.objects.values_list("pk", flat=True)
    merging.undo(proposal, None, NOW)
    assert rows(proposal.pk) == before


def test_kept_apart_the_uncertain_one_is_confirmed_when_nothing_else_is_asked_of_it(
    mira: Persona, scott: Entity, huang: Entity
) -> None:
    third = entity(mira, "Yiyang")
    first, second = asked(scott, huang), asked(huang, third)
    assert merging.keep_apart(first, None, NOW)
    huang.refresh_from_db()
    assert huang.status == "uncertain"
    assert not OutboxEvent.objects.exists()
    before = rows(second.pk)
    merging.keep_apart(second, None, NOW)
    huang.refresh_from_db()
    assert huang.status == "confirmed"
    assert OutboxEvent.objects.get().data["merge_status"] == "kept_apart"
    merging.undo(second, None, NOW)
    assert rows(second.pk) == before


def test_a_merge_cannot_be_undone_under_a_later_one(mira: Persona, scott: Entity, huang: Entity) -> None:
    third = entity(mira, "Yiyang", status="uncertain")
    first, second = asked(scott, huang), asked(scott, third)
    merging.merge(first, None, NOW)
    merging.merge(second, None, NOW)
    before = rows()
    with pytest.raises(LaterMergeStands):
        merging.undo(first, None, NOW)
    assert rows() == before
    assert merging.undo(second, None, NOW)
    assert merging.undo(first, None, NOW)


def test_only_entities_of_one_persona_can_be_one(scott: Entity, otto: Persona) -> None:
    with pytest.raises(ValueError, match="one persona"):
        merging.propose(scott.persona, scott, entity(otto, "Scott"), 1.0, [])


def test_a_pair_is_asked_about_once(scott: Entity, huang: Entity) -> None:
    proposal = asked(scott, huang)
    merging.keep_apart(proposal, None, NOW)
    again = merging.propose(scott.persona, huang, scott, 0.9, ["same_name"])
    assert (again.pk, again.status, again.score) == (proposal.pk, "kept_apart", 0.7)


def _a_world(persona: Persona, dice: random.Random) -> None:
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
        told = node(persona)
        for mentioned in dice.sample(people, dice.randint(0, 4)):
            mentioned.mentions.create(node=told)
    for at, one in enumerate(people):
        for other in people[at + 1 :]:
            if dice.random() < 0.7:
                asked(one, other, dice.choice(["open", "open", "undone", "kept_apart"]))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**9))
def test_whatever_was_merged_and_undone_in_turn_is_as_it_was(mira: Persona, seed: int) -> None:
    dice = random.Random(seed)
    with transaction.atomic():
        _a_world(mira, dice)
        decided: list[MergeProposal] = []
        states = []
        while (waiting := list(MergeProposal.objects.undecided().order_by("id"))) and len(decided) < 5:
            states.append(rows())
            decided.append(dice.choice(waiting))
            assert dice.choice([merging.merge, merging.merge, merging.keep_apart])(decided[-1], None, NOW)
        touched = {proposal.pk for proposal in decided}
        for proposal, state in zip(reversed(decided), reversed(states), strict=True):
            assert merging.undo(proposal, None, NOW)
            assert _undecided(rows(), touched) == _undecided(state, touched)
        transaction.set_rollback(True)
