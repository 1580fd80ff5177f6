"""`manage.py forget` that is killed anywhere has forgotten everything or nothing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.installation import ROOT, Installation

pytestmark = pytest.mark.installation


@pytest.mark.parametrize("count", [2, pytest.param(20, marks=pytest.mark.campaign)])
def test_killed_at_any_moment_it_has_done_all_or_nothing(tmp_path: Path, count: int) -> None:
    command = [sys.executable, "-m", "tests.journeys.forget_process", str(tmp_path), str(count)]
    done = subprocess.run(command, cwd=ROOT, env=Installation(tmp_path).env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    deaths = told["deaths"]
    assert len(deaths) == count
    assert all(death["killed"] and death["whole"] for death in deaths)
    assert [death["broken"] for death in deaths] == [{}] * count
    assert sum(death["pending"] for death in deaths) == 0
    assert [death["done"] for death in deaths] == sorted(death["done"] for death in deaths)
    assert {death["done"] for death in deaths} == {False, True}
