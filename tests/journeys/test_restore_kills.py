"""An archive that is restored, whenever the process is killed: brought again, all of it is there, once."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installation import ROOT, Installation

pytestmark = pytest.mark.installation


@pytest.mark.parametrize("deaths", [2, pytest.param(300, marks=pytest.mark.campaign)])
def test_killed_at_any_moment_an_archive_is_restored_to_the_same_end(tmp_path: Path, empty: Path, deaths: int) -> None:
    shutil.copy(empty / "echovessel.sqlite3", tmp_path / "life.sqlite3")
    command = [sys.executable, "-m", "tests.journeys.restore_process", str(tmp_path), str(deaths)]
    done = subprocess.run(command, cwd=ROOT, env=Installation(tmp_path).env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    undisturbed, *told = json.loads(done.stdout)
    assert not undisturbed["killed"]
    assert undisturbed["remains"]["broken"] == {}
    assert undisturbed["remains"]["lines"] > 70
    assert len(told) >= min(deaths, 100)
    for death in told:
        assert death["killed"], death
        assert death["half"] == {}, death
        assert death["remains"] == undisturbed["remains"], death["moment"]
