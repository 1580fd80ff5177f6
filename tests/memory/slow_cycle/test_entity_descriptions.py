"""Descriptions of entities, written from their events."""

from typing import Any

import pytest

from echovessel.llm import LLMError
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory import forgetting
from memory.curation import actions
from memory.entities import merge
from memory.entities.resolve import learn_aliases, link
from memory.models import ConceptNode, Entity, MergeProposal, ModelReply
from memory.slow_cycle import runner
from memory.slow_cycle.entity_descriptions import MAX_LENGTH, due_subjects, shorten_description
from memory.slow_cycle.runner import Outcome
from memory.store import tombstones
from memory.store.tombstones import TombstoneSource
from persona.models import Persona
from tests.memory.sessions import NOW, Clock
from tests.memory.slow_cycle.slow_cycles import (
    Remember,
    answer,
    description,
    dropped_items,
    key,
    last_run,
    request_cycle,
)
from tests.scripted import Script

STORIES = ("sails a small boat", "plays the cello at night", "has a bakery by the river", "is afraid of storms")


def create_entity(remember: Remember, persona: Persona, name: str, events: int = 3, **fields: Any) -> Entity:
    """An entity with this number of events."""
    entity = Entity.objects.create(persona=persona, canonical_name=name, kind="person", **fields)
    learn_aliases(entity, [name])
    link(entity, [remember(persona, f"{name} {story}.") for story in STORIES[:events]])
    return entity


def events_of(entity: Entity) -> list[ConceptNode]:
    return list(ConceptNode.objects.filter(mentions__entity=entity).order_by("pk"))


def run(persona: Persona, clock: Clock, model: Script, *descriptions: Any) -> Outcome:
    """A run without thoughts, in which the model answers with these descriptions."""
    model.answers(answer(), *descriptions)
    request_cycle(persona, clock.now)
    outcome = runner.run(persona.pk, clock)
    clock.forward(minutes=31)
    return outcome


def described_names(model: Script) -> list[str]:
    """The names of the entities in the requests to models."""
    return [request.material["name"] for request in model.requests if request.purpose == "entity"]


def test_somebody_of_whom_enough_is_told_is_described(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    omar = create_entity(remember, mira, "Omar")
    create_entity(remember, mira, "Noor", events=2)
    memories = events_of(omar)
    text = "Omar is a baker by the river. At night he plays the cello."
    assert run(mira, clock, model, description(text, memories[1], memories[2], "e999999")) == Outcome.DONE
    omar.refresh_from_db()
    assert (omar.description, omar.described_by, omar.described_through) == (text, "slow_cycle", memories[-1].pk)
    assert described_names(model) == ["Omar"]
    assert last_run().given["entities"] == [omar.pk]
    assert last_run().made == [{"kind": "description", "id": omar.pk, "by": [memories[1].pk, memories[2].pk]}]
    [told_of] = OutboxEvent.objects.filter(name="memory.entity.description_updated")
    assert told_of.data == {
        "entity_id": str(omar.uuid), "canonical_name": "Omar", "description": text, "source": "slow_cycle",
    }  # fmt: skip
    assert list(LLMCall.objects.order_by("id").values_list("purpose", flat=True)) == ["slow_cycle", "entity"]
    assert (last_run().tokens_in, last_run().tokens_out) == (20, 10)
    assert not ModelReply.objects.exists()


def test_it_is_described_anew_where_something_new_is_told_and_not_else(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    omar = create_entity(remember, mira, "Omar")
    run(mira, clock, model, description("Omar sails.", key(events_of(omar)[0])))
    remember(mira, "Ana is tired.")
    run(mira, clock, model)
    assert described_names(model) == ["Omar"]
    link(omar, [remember(mira, "Omar sold the boat.")])
    run(mira, clock, model, description("Omar sailed once.", key(events_of(omar)[-1])))
    omar.refresh_from_db()
    assert omar.description == "Omar sailed once."
    assert model.requests[-1].material["description"] == "Omar sails."


@pytest.mark.parametrize(
    "fields",
    [
        {"description": "My brother.", "described_by": "person"},
        {"description": "From an archive that does not say by whom."},
        {"status": "uncertain"},
    ],
)
def test_what_a_person_wrote_stays_and_who_is_in_question_is_not_described(
    mira: Persona, model: Script, clock: Clock, remember: Remember, fields: Any
) -> None:
    create_entity(remember, mira, "Omar", **fields)
    run(mira, clock, model)
    assert described_names(model) == []


def test_what_a_person_writes_while_the_model_thinks_stays(
    mira: Persona, model: Script, clock: Clock, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    omar = create_entity(remember, mira, "Omar")
    describe = runner.describe

    def meanwhile(*args: Any) -> Any:
        result = describe(*args)
        Entity.objects.filter(pk=omar.pk).update(description="My brother.", described_by="person")
        return result

    monkeypatch.setattr(runner, "describe", meanwhile)
    run(mira, clock, model, description("Omar sails.", key(events_of(omar)[0])))
    omar.refresh_from_db()
    assert (omar.description, omar.described_by, omar.described_through) == ("My brother.", "person", 0)
    assert dropped_items() == [("description", "changed")]


@pytest.mark.parametrize("action", ["hide", "correct"])
def test_what_is_put_right_or_away_while_the_model_thinks_is_not_written_and_soon_asked_anew(
    mira: Persona, model: Script, clock: Clock, remember: Remember, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    omar = create_entity(remember, mira, "Omar", events=4)
    boat = events_of(omar)[0]
    describe = runner.describe

    def meanwhile(*args: Any) -> Any:
        result = describe(*args)
        if action == "hide":
            actions.hide(boat)
        else:
            ConceptNode.objects.filter(pk=boat.pk).update(description="Omar never sails.")
        return result

    with monkeypatch.context() as patched:
        patched.setattr(runner, "describe", meanwhile)
        run(mira, clock, model, description("Omar sails.", key(boat)))
    omar.refresh_from_db()
    assert omar.description == ""
    remember(mira, "Ana is tired.")
    run(mira, clock, model, description("Omar plays.", key(events_of(omar)[1])))
    omar.refresh_from_db()
    assert omar.description == "Omar plays."


def test_what_cites_nothing_given_is_dropped_and_not_asked_again_for_the_same_events(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    omar = create_entity(remember, mira, "Omar")
    run(mira, clock, model, description("Omar is a king.", "e999999"))
    assert dropped_items() == [("description", "no_ground")]
    remember(mira, "Ana is tired.")
    run(mira, clock, model)
    omar.refresh_from_db()
    assert (omar.description, described_names(model)) == ("", ["Omar"])


def test_where_no_description_can_be_had_the_thoughts_stay_and_it_is_asked_for_again(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    omar, _noor = create_entity(remember, mira, "Omar"), create_entity(remember, mira, "Noor")
    busy = LLMError("busy", code="timeout", permanent=False)
    assert run(mira, clock, model, busy) == Outcome.DONE
    assert dropped_items() == [("description", "timeout")]  # and no request followed for the other
    remember(mira, "Ana is tired.")
    texts = [description(f"{name}.", "e999999") for name in ("Noor", "Omar")]
    run(mira, clock, model, *texts)
    assert sorted(described_names(model)[1:]) == ["Noor", "Omar"]
    assert omar.described_through == 0


def test_three_are_described_in_a_run_the_latest_spoken_of_first(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    for name in ("Omar", "Noor", "Rosa", "Tomas"):
        create_entity(remember, mira, name)
    run(mira, clock, model, *[description("Somebody.", "e999999")] * 3)
    assert described_names(model) == ["Tomas", "Rosa", "Noor"]


def test_descriptions_keep_within_the_tokens_of_the_run(
    mira: Persona, model: Script, clock: Clock, remember: Remember, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"slow_cycle.run_tokens": 4_000}
    for name in ("Omar", "Noor", "Rosa"):
        create_entity(remember, mira, name)
    remember(mira, "A long day. " * 80)
    run(mira, clock, model, *[description("Somebody.", "e999999")] * 3)
    assert len(described_names(model)) < 3
    requests = [request for request in model.requests if request.purpose in ("slow_cycle", "entity")]
    assert sum(len((request.system + request.user).encode()) / 4 + request.max_tokens for request in requests) <= 4_000


def test_nothing_forgotten_comes_back_in_it(mira: Persona, model: Script, clock: Clock, remember: Remember) -> None:
    omar, noor = create_entity(remember, mira, "Omar"), create_entity(remember, mira, "Noor")
    tombstones.add_tombstone(mira, "Noor stole a book from the old library.")
    tombstones.add_tombstones(mira, [TombstoneSource("name", "Tom"), TombstoneSource("name", "Omar")])
    run(
        mira, clock, model,
        description("Noor stole a book from the old library.", key(events_of(noor)[0])),
        description("Omar sails with Tom.", key(events_of(omar)[0])),
    )  # fmt: skip
    assert dropped_items() == [("description", "forgotten")] * 2
    assert not Entity.objects.exclude(description="").exists()


def test_hiding_or_forgetting_what_it_was_written_from_erases_it(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    omar = create_entity(remember, mira, "Omar", events=4)
    boat, cello, *_ = events_of(omar)
    run(mira, clock, model, description("Omar sails.", key(boat)))
    actions.hide(boat)
    omar.refresh_from_db()
    assert (omar.description, omar.described_through) == ("", 0)

    remember(mira, "Ana is tired.")
    run(mira, clock, model, description("Omar plays the cello.", key(cello)))
    forgetting.forget(forgetting.plan([forgetting.Target("node", cello.pk)]), None, clock.now)
    omar.refresh_from_db()
    assert (omar.description, omar.described_by, omar.described_through) == ("", "", 0)
    assert not OutboxEvent.objects.filter(name="memory.entity.description_updated").exists()


def test_it_is_shortened_to_whole_sentences() -> None:
    assert shorten_description("Omar sails.") == "Omar sails."
    long = "Omar sails. " + "He bakes bread " * 40
    assert shorten_description(long) == "Omar sails."
    assert shorten_description("奥马尔会开船。他" + "烤面包" * 200) == "奥马尔会开船。"
    assert len(shorten_description("bread " * 200)) <= MAX_LENGTH


def test_whom_two_entities_turn_out_to_be_is_described_by_all_that_is_told(
    mira: Persona, model: Script, clock: Clock, remember: Remember
) -> None:
    omar, omi = create_entity(remember, mira, "Omar", events=2), create_entity(remember, mira, "Omi", events=1)
    assert due_subjects(mira) == []
    first, other = sorted([omar, omi], key=lambda entity: entity.pk)
    proposal = MergeProposal.objects.create(a=first, b=other, score=0.9, reasons=["same_name"])
    merge.merge(proposal, None, NOW)
    [subject] = due_subjects(mira)
    assert len(subject.events) == 3
