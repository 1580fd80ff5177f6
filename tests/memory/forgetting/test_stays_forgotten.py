"""Forgotten content is not created again by the same session, a reflection, the slow cycle or a request."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from chat.models import Message, Session
from echovessel.embeddings import embedding
from memory.consolidation import runner
from memory.curation.remember import NotRemembered, remember
from memory.forgetting import Choice, Target, forget, plan
from memory.models import ConceptNode, Tombstone
from memory.store.writing import Draft, forgotten_before, write
from persona.models import Persona
from tests.memory.sessions import NOW, Clock, cite, event, extraction, impression, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db

LINES = ("I adopted a white cat called Milo today.", "> Oh!", "He sleeps on my old red sofa.", "Yes.")
EVENT, IMPRESSION = "Ana adopted a white cat, Milo.", "She softens when the cat comes up."


def read(
    persona: Persona, model: Script, clock: Clock, but_first: Callable[[Session], None] = lambda session: None
) -> Any:
    """Consolidate a session of these messages; the model answers with an event and a thought."""
    session = talk(persona, *LINES, at=clock.now)
    but_first(session)
    first = session.messages.all()[0]
    model.structured.clear()
    model.answers(extraction([event(EVENT, cite(first, "a white cat called Milo"))]), impression(IMPRESSION))
    runner.run(session.pk, clock)
    return session


@pytest.fixture
def forgotten_life(mira: Persona, model: Script, clock: Clock) -> Persona:
    """A persona whose owner forgot the event and everything derived from it."""
    read(mira, model, clock)
    node = ConceptNode.objects.get(kind="event")
    clock.forward(hours=1)
    forget(plan([Target("node", node.pk)], Choice()), mira.owner, clock.now)
    assert not ConceptNode.objects.exists()
    return mira


def refusals() -> int:
    return sum(Tombstone.objects.values_list("refused", flat=True))


def mark_imported(session: Session) -> None:
    """Mark the session and its messages as imported."""
    Session.objects.filter(pk=session.pk).update(close_reason="import")
    Message.objects.filter(session=session).update(import_uuid=uuid4())


def test_the_same_session_brought_by_a_file_brings_nothing_back(
    forgotten_life: Persona, model: Script, clock: Clock
) -> None:
    clock.forward(days=3)
    read(forgotten_life, model, clock, but_first=mark_imported)
    assert not ConceptNode.objects.exists()
    assert refusals() > 0


def test_what_the_owner_tells_anew_is_remembered_anew(forgotten_life: Persona, model: Script, clock: Clock) -> None:
    """The owner may change their mind by repeating it; the earlier conclusion stays forgotten."""
    clock.forward(days=3)
    read(forgotten_life, model, clock)
    node = ConceptNode.objects.get()
    assert node.description == EVENT
    assert forgotten_before([node]) == {node.pk}


def test_other_words_of_the_model_for_a_message_told_anew_are_remembered(
    forgotten_life: Persona, model: Script, clock: Clock
) -> None:
    clock.forward(days=3)
    session = talk(forgotten_life, LINES[0], "a", "b", at=clock.now)
    model.structured.clear()
    model.answers(extraction([event("Somebody took in an animal.", cite(session.messages.all()[0], "cat"))]))
    runner.run(session.pk, clock)
    node = ConceptNode.objects.get()
    assert node.description == "Somebody took in an animal."
    assert forgotten_before([node]) == {node.pk}


def test_a_message_that_was_said_before_brings_nothing_back(
    forgotten_life: Persona, model: Script, clock: Clock
) -> None:
    """The message was stored, and consolidated only after the event was forgotten."""
    session = talk(forgotten_life, LINES[0], "a", "b", at=clock.now - timedelta(days=2))
    model.structured.clear()
    model.answers(extraction([event(EVENT, cite(session.messages.all()[0], "cat"))]))
    runner.run(session.pk, clock)
    assert not ConceptNode.objects.exists()
    with pytest.raises(NotRemembered):
        remember(session.messages.all()[0], NOW)


def test_a_message_that_says_nothing_of_it_brings_nothing_back(
    forgotten_life: Persona, model: Script, clock: Clock
) -> None:
    """No message repeats it: only the model does."""
    clock.forward(days=3)
    session = talk(forgotten_life, "Good morning to you!", "I slept well.", "b", at=clock.now)
    model.structured.clear()
    model.answers(extraction([event(EVENT, cite(session.messages.all()[0], "Good morning"))]))
    runner.run(session.pk, clock)
    assert not ConceptNode.objects.exists()


def test_what_was_told_anew_can_be_forgotten_anew(forgotten_life: Persona, model: Script, clock: Clock) -> None:
    clock.forward(days=3)
    read(forgotten_life, model, clock)
    clock.forward(days=1)
    forget(plan([Target("node", ConceptNode.objects.get().pk)]), forgotten_life.owner, clock.now)
    session = talk(forgotten_life, LINES[0], at=clock.now - timedelta(days=1))
    with pytest.raises(NotRemembered):
        remember(session.messages.get(), clock.now)


def test_a_message_told_anew_is_remembered_on_request(forgotten_life: Persona, clock: Clock) -> None:
    clock.forward(days=3)
    node = remember(talk(forgotten_life, LINES[0], at=clock.now).messages.get(), clock.now)
    assert forgotten_before([node]) == {node.pk}


@pytest.mark.parametrize("kind", ["event", "thought"])
def test_the_slow_path_brings_nothing_back(forgotten_life: Persona, kind: str) -> None:
    for words in (EVENT, IMPRESSION.upper()):
        draft = Draft(kind=kind, description=words, source="slow_cycle")
        assert write(forgotten_life, draft, embedding.embed([words])[0], embedding.name(), NOW).outcome == "refused"


def test_what_was_never_forgotten_is_remembered_as_ever(forgotten_life: Persona, model: Script, clock: Clock) -> None:
    session = talk(forgotten_life, "My dog is black.", "Yes.", "He is old.", at=clock.now)
    model.structured.clear()
    model.answers(extraction([event("Ana's dog is black.", cite(session.messages.all()[0]))]))
    runner.run(session.pk, clock)
    node = ConceptNode.objects.get(kind="event")
    assert node.description == "Ana's dog is black."
    assert forgotten_before([node]) == set()
