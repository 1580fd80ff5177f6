"""A first word whose worker is killed anywhere is said once: never twice, and never lost once it was shown."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.installation import ROOT, Installation

pytestmark = pytest.mark.installation


@pytest.mark.parametrize("deaths", [16, pytest.param(50, marks=pytest.mark.long)])
def test_killed_at_any_moment_it_is_said_once_and_paid_once(tmp_path: Path, empty: Path, deaths: int) -> None:
    shutil.copy(empty / "echovessel.sqlite3", tmp_path / "life.sqlite3")
    command = [sys.executable, "-m", "tests.journeys.outreach_process", str(tmp_path), str(deaths)]
    done = subprocess.run(command, cwd=ROOT, env=Installation(tmp_path).env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told: list[dict[str, Any]] = json.loads(done.stdout)["deaths"]
    assert len(told) == deaths
    for death in told:
        assert death["killed"], death
        assert death["half"] == [False, False], death
        assert (death["lost"], death["lines"], death["turns"]) == ([], 1, 1), death
        assert (death["told"], death["stamped"]) == (True, ["delivered"]), death
        assert (death["calls"], death["kept"], death["broken"]) == (1, 0, {}), death
        assert death["notices"] <= 1, death
        assert death["second"] == ("not_mine" if death["was said"] else "delivered"), death
    states = {(death["was paid"], death["was said"]) for death in told}
    assert states == {(0, 0), (1, 0), (1, 1)}, "before the model answered, before it was said, and after"
