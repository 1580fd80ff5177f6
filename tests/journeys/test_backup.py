"""A backup that is made while people talk is of one moment; a restore that is killed leaves the old or the new."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.installation import ROOT, Installation

pytestmark = pytest.mark.installation
OLD = {"knob": 40, "ben": True, "milo": False}
NEW = {"knob": 20, "ben": False, "milo": False}


def told(tmp_path: Path, empty: Path, *asked: str) -> dict[str, Any]:
    house = Installation(tmp_path, empty)
    command = [sys.executable, "-m", "tests.journeys.backup_process", *asked]
    done = subprocess.run(command, cwd=ROOT, env=house.env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("count", [2, pytest.param(6, marks=pytest.mark.campaign)])
def test_a_backup_made_while_several_write_is_of_one_moment(tmp_path: Path, empty: Path, count: int) -> None:
    found = told(tmp_path, empty, "writers", str(count))
    assert found["ended"] == [0] * count
    sizes = [backup["lines"] for backup in found["backups"]]
    assert sizes == sorted(set(sizes))
    assert sizes[-1] <= found["said"]
    for backup in found["backups"]:
        assert backup["in_order"]
        assert backup["replies"] == backup["lines"]
        assert backup["counted"]
        assert backup["broken"] == {}


@pytest.mark.parametrize("count", [2, pytest.param(60, marks=pytest.mark.campaign)])
def test_killed_at_any_moment_there_is_the_old_or_the_new(tmp_path: Path, empty: Path, count: int) -> None:
    found = told(tmp_path, empty, "deaths", str(count))
    restores, backups = found["restores"], found["backups"]
    assert all(one["killed"] for one in [*restores, *backups])
    states = [{key: one[key] for key in OLD} for one in restores]
    assert all(state in (OLD, NEW) for state in states)
    assert states == sorted(states, key=[OLD, NEW].index)
    assert {key: found["last"][key] for key in NEW} == NEW
    assert any(one["begun"] for one in restores)
    assert [one["broken"] for one in [*restores, *backups]] == [{}] * len([*restores, *backups])
    assert {one["backup"] for one in backups} <= {None, 2}
    assert [one["left"] for one in backups] == [[]] * len(backups)


@pytest.mark.campaign
def test_nothing_is_restored_while_echovessel_runs(tmp_path: Path, empty: Path) -> None:
    with Installation(tmp_path, empty) as house:
        file = house.manage("backup").stdout.strip()
        refused = house.manage("restore", file, "--force", check=False)
        assert refused.returncode == 1
        assert "EchoVessel is running" in refused.stderr
    done = house.manage("restore", file)
    assert {line.split()[-1] for line in done.stdout.splitlines()} == {"0"}
