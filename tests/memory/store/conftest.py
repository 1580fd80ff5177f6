"""A server of embeddings, and memories to search by it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from echovessel.embeddings import embedding
from memory.models import ConceptNode
from persona.models import Persona
from tests.wire.embedding_server import EmbeddingServer

TOLD = (
    "Ana keeps bees behind her house.",
    "Ana's grandmother died in spring.",
    "Ana wants to learn the violin.",
    "Ana moved to Lyon with her cat Milo.",
    "Ana is afraid of the dentist.",
)


@pytest.fixture
def server(settings: Any) -> Iterator[EmbeddingServer]:
    running = EmbeddingServer(1_024)
    settings.EMBEDDING_BASE_URL = running.url
    settings.KNOBS = settings.KNOBS | {
        "embeddings.query_seconds": 0.5,
        "embeddings.batch_seconds": 1.0,
        "embeddings.attempts": 1,
        "embeddings.pause_seconds": 0,
    }
    forget_servers()
    yield running
    running.close()
    forget_servers()


def forget_servers() -> None:
    embedding.use("")
    embedding._recent_vectors.clear()
    embedding._server_of.cache_clear()


@pytest.fixture
def five(mira: Persona, remember: Callable[..., ConceptNode]) -> list[ConceptNode]:
    return [remember(mira, text) for text in TOLD]
