"""What was forgotten does not come back by the gate, whoever brings it, and its tombstone tells nobody what it was."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.consolidation import runner
from memory.models import ConceptNode, Mention, Tombstone
from memory.sameness import normalized
from memory.tombstones import bury, lift, refuses
from persona.models import Persona
from tests.memory.talks import Clock, cite, event, extraction, impression, talk
from tests.memory.test_writing import put, quote, toward
from tests.scripted import Script

pytestmark = pytest.mark.django_db

many = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


@many
@given(st.text(min_size=1).filter(normalized))
def test_a_buried_text_is_refused_in_every_form_and_no_other_until_it_is_lifted(mira: Persona, text: str) -> None:
    Tombstone.objects.all().delete()
    assert not refuses(mira, [text])
    bury(mira, text)
    bury(mira, text)
    assert refuses(mira, [text])
    assert refuses(mira, [f"  {normalized(text)} "])
    assert not refuses(mira, [f"{text} and more"])
    assert not refuses(mira, ["", "something else entirely"])
    assert lift(mira, text)
    assert not lift(mira, text)
    assert not refuses(mira, [text])


@many
@given(st.text(alphabet="abcdefgh 记住", min_size=4).filter(lambda text: len(normalized(text)) > 3))
def test_a_tombstone_holds_no_words_and_is_of_one_persona_and_one_installation(
    mira: Persona, otto: Persona, settings: Any, text: str
) -> None:
    settings.SECRET_KEY = "the key of this house"
    Tombstone.objects.all().delete()
    stone = bury(mira, text)
    assert normalized(text) not in str([*Tombstone.objects.values_list()])
    assert not refuses(otto, [text])
    assert bury(otto, text).digest != stone.digest
    settings.SECRET_KEY = "the key of another"
    assert not refuses(mira, [text])


def test_there_is_nothing_to_bury_in_nothing(mira: Persona) -> None:
    with pytest.raises(ValueError, match="empty"):
        bury(mira, " \n ")


def test_the_gate_refuses_what_is_buried_and_counts(mira: Persona) -> None:
    stone = bury(mira, "Ana has a cat.")
    refused = put(mira, "ANA has a  cat！")
    assert (refused.node, refused.outcome) == (None, "refused")
    assert put(mira, "Ana has a dog.").outcome == "new"
    stone.refresh_from_db()
    assert stone.refused == 1
    lift(mira, "Ana has a cat.")
    assert put(mira, "Ana has a cat.").outcome == "new"


@pytest.mark.parametrize("buried", ["a white cat", "I have a white cat."])
def test_the_gate_refuses_what_rests_on_buried_words_or_on_a_buried_line(mira: Persona, buried: str) -> None:
    """A forgotten line that is imported again brings nothing back, however it is told."""
    message = talk(mira, "I have a white cat.").messages.get()
    bury(mira, buried)
    draft = {"evidence": [quote(message, "a white cat")]}
    assert put(mira, "Somebody keeps an animal.", **draft).outcome == "refused"
    other = talk(mira, "My dog is black.").messages.get()
    assert put(mira, "There is a dog.", toward(3), evidence=[quote(other, "dog")]).outcome == "new"


def test_a_refused_event_shifts_nobodys_place(mira: Persona, model: Script, clock: Clock) -> None:
    """The names of an answer still belong to the events they were given with."""
    session = talk(mira, "Tom from work hit me.", "Tom, my brother, cooked for me.", "So it was.", "Yes.")
    first, second, *_ = session.messages.all()
    bury(mira, "Ana was hit by Tom.")
    model.answers(
        extraction(
            [
                event("Ana was hit by Tom.", cite(first), emotional_impact=-8),
                event("Tom cooked for Ana.", cite(second)),
            ],
            mentioned_entities=[
                {"canonical_name": "Tom", "aliases": [], "kind": "person", "in_events": [0]},
                {"canonical_name": "Tom", "aliases": [], "kind": "person", "in_events": [1]},
            ],
        )
    )
    assert runner.run(session.pk, clock) == "closed"
    node = ConceptNode.objects.get(kind="event")
    assert node.description == "Tom cooked for Ana."
    assert list(Mention.objects.values_list("node", flat=True)) == [node.pk]
    assert Tombstone.objects.get().refused == 1


def test_a_refused_thought_is_counted_as_dropped(mira: Persona, model: Script, clock: Clock) -> None:
    session = talk(mira, "I adopted a white cat called Milo today.", "He is lovely.", "I am so glad.")
    bury(mira, "She softens when the cat comes up.")
    model.answers(extraction([event("Ana adopted a white cat, Milo.", cite(session.messages.all()[0]))]), impression())
    assert runner.run(session.pk, clock) == "closed"
    assert not ConceptNode.objects.filter(kind="thought").exists()
    run = session.reflection_run
    assert (run.thoughts, run.dropped) == (0, 1)
