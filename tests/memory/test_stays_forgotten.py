"""What was forgotten stays so, whoever would bring it back: the same talk, a reflection, the slow path, a request."""

from typing import Any

import pytest

from echovessel import embedding
from memory.consolidation import runner
from memory.forgetting import Choice, Target, forget, plan
from memory.models import ConceptNode, Tombstone
from memory.remembering import NotRemembered, remember
from memory.writing import Draft, write
from persona.models import Persona
from tests.memory.talks import NOW, Clock, cite, event, extraction, impression, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db

LINES = ("I adopted a white cat called Milo today.", "> Oh!", "He sleeps on my old red sofa.", "Yes.")
EVENT, IMPRESSION = "Ana adopted a white cat, Milo.", "She softens when the cat comes up."


def read(persona: Persona, model: Script, clock: Clock) -> Any:
    """A talk of these lines, and the event and the thought that a model makes of it."""
    session = talk(persona, *LINES, at=clock.now)
    first = session.messages.all()[0]
    model.structured.clear()
    model.answers(extraction([event(EVENT, cite(first, "a white cat called Milo"))]), impression(IMPRESSION))
    runner.run(session.pk, clock)
    return session


@pytest.fixture
def forgotten(mira: Persona, model: Script, clock: Clock) -> Persona:
    """Somebody forgot the event with all that came of it."""
    read(mira, model, clock)
    node = ConceptNode.objects.get(kind="event")
    forget(plan([Target("node", node.pk)], Choice()), mira.owner, clock.now)
    assert not ConceptNode.objects.exists()
    return mira


def refusals() -> int:
    return sum(Tombstone.objects.values_list("refused", flat=True))


def test_the_same_talk_told_and_read_again_brings_nothing_back(forgotten: Persona, model: Script, clock: Clock) -> None:
    clock.forward(days=3)
    read(forgotten, model, clock)
    assert not ConceptNode.objects.exists()
    assert refusals() > 0


def test_other_words_of_the_model_for_the_same_line_bring_nothing_back(
    forgotten: Persona, model: Script, clock: Clock
) -> None:
    session = talk(forgotten, LINES[0], "a", "b", at=clock.now)
    model.structured.clear()
    model.answers(extraction([event("Somebody took in an animal.", cite(session.messages.all()[0], "cat"))]))
    runner.run(session.pk, clock)
    assert not ConceptNode.objects.exists()


def test_a_request_to_remember_the_line_brings_nothing_back(forgotten: Persona, clock: Clock) -> None:
    line = talk(forgotten, LINES[0], at=clock.now).messages.get()
    with pytest.raises(NotRemembered):
        remember(line, NOW)


@pytest.mark.parametrize("kind", ["event", "thought"])
def test_the_slow_path_brings_nothing_back(forgotten: Persona, kind: str) -> None:
    for words in (EVENT, IMPRESSION.upper()):
        draft = Draft(kind=kind, description=words, source="slow_cycle")
        assert write(forgotten, draft, embedding.embed([words])[0], embedding.name(), NOW).outcome == "refused"


def test_what_was_never_forgotten_is_remembered_as_ever(forgotten: Persona, model: Script, clock: Clock) -> None:
    session = talk(forgotten, "My dog is black.", "Yes.", "He is old.", at=clock.now)
    model.structured.clear()
    model.answers(extraction([event("Ana's dog is black.", cite(session.messages.all()[0]))]))
    runner.run(session.pk, clock)
    assert ConceptNode.objects.get(kind="event").description == "Ana's dog is black."
