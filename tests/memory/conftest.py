"""What the tests of memory share: a model that listens before it answers, and a clock."""

from typing import Any

import pytest

from tests.memory.talks import Clock
from tests.scripted import Script


@pytest.fixture
def model(scripted: Script, settings: Any) -> Script:
    """Says what the test tells it to; an answer may be a function of the request."""
    settings.LLM_PROVIDER = "tests.memory.talks.ListeningProvider"
    return scripted


@pytest.fixture
def clock() -> Clock:
    """Half an hour after the talk, and standing still."""
    return Clock()
