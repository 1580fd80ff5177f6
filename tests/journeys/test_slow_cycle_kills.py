"""What she makes of things between talks, whenever her worker is killed: all of it, once, and paid once."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.installation import ROOT, Installation

pytestmark = pytest.mark.installation


@pytest.mark.parametrize("deaths", [24, pytest.param(1_000, marks=pytest.mark.long)])
def test_killed_at_any_moment_nothing_is_lost_doubled_or_paid_twice(tmp_path: Path, empty: Path, deaths: int) -> None:
    shutil.copy(empty / "echovessel.sqlite3", tmp_path / "life.sqlite3")
    command = [sys.executable, "-m", "tests.journeys.slow_cycle_process", str(tmp_path), str(deaths)]
    done = subprocess.run(command, cwd=ROOT, env=Installation(tmp_path).env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    undisturbed: dict[str, Any]
    undisturbed, *told = json.loads(done.stdout)
    assert not undisturbed["killed"]
    left = undisturbed["remains"]
    assert [row[0] for row in left["ledger"]] == ["entity", "entity", "slow_cycle"]
    assert (len(left["runs"]), len(left["nodes"]), left["replies"]) == (2, 10, [])
    assert [row[1] for row in left["entities"]] == ["Noor sails.", "Omar sails."]
    assert {row[1] for row in left["questions"]} == {"answered", "open"}
    assert len(told) >= min(deaths, 100)
    for death in told:
        assert death["killed"], death
        assert death["remains"] == left, death["moment"]
    assert {death["paid"] for death in told} == {0, 1, 2, 3}
