"""What people bring comes in whole and once, whenever the worker is killed and whatever the database refuses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.installation import ROOT, Installation

pytestmark = pytest.mark.installation


@pytest.mark.parametrize(("kills", "lives", "faults"), [(20, 1, 1), pytest.param(20, 600, 300, marks=pytest.mark.long)])
def test_killed_at_random_it_is_taken_up_to_the_same_end(
    tmp_path: Path, empty: Path, kills: int, lives: int, faults: int
) -> None:
    shutil.copy(empty / "echovessel.sqlite3", tmp_path / "life.sqlite3")
    command = [sys.executable, "-m", "tests.journeys.import_process", str(tmp_path), *map(str, (kills, lives, faults))]
    done = subprocess.run(command, cwd=ROOT, env=Installation(tmp_path).env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    left = told["undisturbed"]
    assert [(row[0], row[1]) for row in left["jobs"]] == [
        ("WhatsApp Chat with Mira.txt", "done"),
        ("card.json", "done"),
        ("diary.md", "done"),
    ]
    assert left["pieces"] == left["replies"] == 0
    assert {row[2] for row in left["sessions"]} == {"closed"}
    assert min(len(left[what]) for what in ("lines", "nodes", "evidence", "drafts", "chunks", "paid")) > 5
    assert len(told["disturbed"]) >= min(10, 1 + lives + faults)
    for one in told["disturbed"]:
        assert one["happened"], one["moment"]
        assert one["remains"] == left, one["moment"]
