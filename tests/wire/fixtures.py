"""Scripted model servers as fixtures, and settings that lead to them."""

from collections.abc import Iterator
from typing import Any

import pytest

from echovessel.llm import providers
from tests.wire.anthropic_server import AnthropicServer
from tests.wire.openai_server import OpenAIServer


@pytest.fixture(autouse=True)
def _nothing_learned_of_servers() -> None:
    """A port may come back in a later test with a server of other manners."""
    providers.forget_endpoints()


@pytest.fixture
def openai_server(settings: Any) -> Iterator[OpenAIServer]:
    """A running server, and the settings to use it."""
    server = OpenAIServer()
    settings.LLM_PROVIDER, settings.LLM_BASE_URL, settings.LLM_API_KEY = "openai", server.url, "test-key"
    yield server
    server.close()


@pytest.fixture
def anthropic_server(settings: Any) -> Iterator[AnthropicServer]:
    """A running server, and the settings to use it."""
    server = AnthropicServer()
    settings.LLM_PROVIDER, settings.LLM_BASE_URL, settings.LLM_API_KEY = "anthropic", server.url, "test-key"
    yield server
    server.close()
