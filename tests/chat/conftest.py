"""Chat alone: the prompt without what memory adds, and nothing of memory after a turn."""

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def chat_alone(settings: Any) -> None:
    settings.CHAT_CONTEXT = [path for path in settings.CHAT_CONTEXT if not path.startswith("memory.")]
    settings.CHAT_AFTERWARDS = []
