"""Stories over whole installations, real processes and real signals."""

from pathlib import Path

import pytest

from tests.installation import Installation


@pytest.fixture(scope="session")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of an installation that was never used."""
    return Installation.unused(tmp_path_factory.mktemp("empty"))
