"""A real Chromium before a real installation. Each test process starts one browser and at most one installation of a
kind, for starting one costs six seconds of a core; a test gets it empty, and a browser context of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests import chromium
from tests.browser.sample_life import settle
from tests.installation import Installation
from tests.wire.openai_server import OpenAIServer

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


# A page that comes late on a busy machine is not wrong.
expect.set_options(timeout=15_000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if chromium.path() is None:
                item.add_marker(pytest.mark.skip(reason="no Chromium can be had here"))


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    return {"executable_path": chromium.path(), "args": FLAGS}


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of an installation that was never used."""
    return Installation.unused(tmp_path_factory.mktemp("empty"))


@pytest.fixture(scope="session")
def _offline_house(tmp_path_factory: pytest.TempPathFactory, empty: Path) -> Iterator[Installation]:
    with Installation(tmp_path_factory.mktemp("house"), empty) as installation:
        yield installation


@pytest.fixture
def house(_offline_house: Installation) -> Installation:
    """An installation where nobody lives yet, without a model."""
    _offline_house.empty()
    return _offline_house


@pytest.fixture(scope="session")
def _model_server() -> Iterator[OpenAIServer]:
    server = OpenAIServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def _wired_house(
    tmp_path_factory: pytest.TempPathFactory, empty: Path, _model_server: OpenAIServer
) -> Iterator[Installation]:
    env = {"LLM_PROVIDER": "openai", "LLM_BASE_URL": _model_server.url, "LLM_API_KEY": "test"}
    with Installation(tmp_path_factory.mktemp("wired"), empty, **env) as installation:
        yield installation


@pytest.fixture
def model(_model_server: OpenAIServer) -> OpenAIServer:
    """The model of `wired`: says what the test tells it to."""
    _model_server.reset()
    return _model_server


@pytest.fixture
def wired(_wired_house: Installation, model: OpenAIServer) -> Installation:
    """An installation where nobody lives yet, with `model`."""
    _wired_house.empty()
    return _wired_house


@pytest.fixture(scope="session")
def lived_in(tmp_path_factory: pytest.TempPathFactory, empty: Path) -> Iterator[Installation]:
    """An installation with a year behind it; tests add little to it, and take nothing away."""
    with Installation(tmp_path_factory.mktemp("lived-in"), empty) as house:
        yield house


@pytest.fixture(scope="session")
def keys(lived_in: Installation) -> dict[str, str]:
    """Of whom and what pages of `lived_in` show."""
    return settle(lived_in)
