"""The people of the tests, and their personas."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat import rate
from echovessel import embedding
from memory import vectors
from memory.models import ConceptNode
from persona.models import Persona
from persona.onboarding import create_persona
from tests.memory.talks import Clock
from tests.scripted import PATH, Script, script


@pytest.fixture
def ana(db: None) -> User:
    """The owner."""
    return User.objects.create_user("ana", password="a long word for ana")


@pytest.fixture
def ben(db: None) -> User:
    """Somebody else with a persona of his own: the stranger."""
    return User.objects.create_user("ben", password="a long word for ben")


@pytest.fixture
def mira(ana: User) -> Persona:
    """Ana's persona."""
    return create_persona(
        ana,
        "Mira",
        user_name="Ana",
        timezone="Asia/Shanghai",
        blocks={
            "persona": "Mira is a calm listener who loves the sea.",
            "user": "Ana lives in Shanghai.",
            "style": "Short sentences.",
        },
    )


@pytest.fixture
def otto(ben: User) -> Persona:
    """Ben's persona."""
    return create_persona(ben, "Otto", user_name="Ben")


@pytest.fixture
def scripted(settings: Any) -> Iterator[Script]:
    """The model says what the test tells it to, at once: no debounce."""
    settings.LLM_PROVIDER = PATH
    settings.KNOBS = {"chat.debounce_seconds": 0, "outbox.poll_seconds": 0.02}
    script.reset()
    rate.forget()
    yield script
    script.reset()


@pytest.fixture
def model(scripted: Script, settings: Any) -> Script:
    """Says what the test tells it to; an answer may be a function of the request."""
    settings.LLM_PROVIDER = "tests.memory.talks.ListeningProvider"
    return scripted


@pytest.fixture
def clock() -> Clock:
    """Half an hour after the talk, and standing still."""
    return Clock()


@pytest.fixture
def remember(db: None) -> Callable[..., ConceptNode]:
    """A function that gives a persona an event, with its vector and words, as consolidation would."""

    def make(persona: Persona, description: str, **fields: Any) -> ConceptNode:
        fields = {"kind": "event", "source": "extraction", "content_hash": description[:64]} | fields
        node = ConceptNode.objects.create(
            persona=persona, description=description, embedding_model=embedding.name(), **fields
        )
        vectors.index([node], embedding.embed([description]))
        return node

    return make
