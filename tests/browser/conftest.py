"""A real Chromium before a real installation."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import chromium
from tests.installation import Installation

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


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


@pytest.fixture
def house(tmp_path: Path, empty: Path) -> Iterator[Installation]:
    """An installation where nobody lives yet, without a model."""
    with Installation(tmp_path, empty) as installation:
        yield installation
