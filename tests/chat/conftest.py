"""Chat alone: the prompt without what memory adds, and nothing of memory after a turn."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from echovessel.api.tokens import bearer
from echovessel.api.tokens.secret import create
from tests.live_server import LiveServer
from tests.scripted import Script


@pytest.fixture(autouse=True)
def chat_alone(settings: Any) -> None:
    settings.CHAT_CONTEXT = [path for path in settings.CHAT_CONTEXT if not path.startswith("memory.")]
    settings.CHAT_AFTERWARDS = []
    settings.CHAT_ANSWERS = []


@pytest.fixture
async def server(scripted: Script) -> AsyncIterator[LiveServer]:
    """The whole site, served on a port of its own."""
    bearer.forget_failures()
    async with LiveServer() as serving:
        yield serving


@pytest.fixture
def secret(ana: User) -> str:
    """A token of Ana's."""
    return create(ana, "tests", timezone.now())[1]
