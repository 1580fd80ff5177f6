"""Whatever happens to a worker at whatever statement, the next one resumes: nothing is lost, doubled or paid twice.

The matrix runs over a small job (`errands`), with real processes and a real SIGKILL: what is proven here holds for
every job on the engine. That each step of a job commits what belongs together is proven by its own statement sweep.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import template_database
from tests.installation import ROOT


@pytest.mark.parametrize("stride", [11, pytest.param(1, marks=pytest.mark.campaign)])
def test_the_next_worker_resumes_wherever_the_one_before_was_stopped(tmp_path: Path, stride: int) -> None:
    database = tmp_path / "life.sqlite3"
    template_database.copy_to(database)
    command = [sys.executable, "-m", "tests.echovessel.jobs.errands", str(database), str(stride)]
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    undisturbed, left = told["undisturbed"], told["undisturbed"]["remains"]
    assert undisturbed["outcome"] == "done"
    assert left["errands"] == [["done", "", "", None, 0]]
    assert [step for step, _ in left["results"]] == ["what", "where", "when"]
    assert (left["replies"], len(left["paid"])) == (0, 4)

    for one in told["disturbed"]:
        paid = one["remains"].pop("paid")
        assert one["remains"] == {name: left[name] for name in one["remains"]}, one
        # The question that a slow worker is at is paid for and answered too late; a ledger that cannot be written is
        # no reason to ask again.
        expected = {"after_being_overtaken": (0, 2), "after_a_fault": (-1, 0)}.get(one["what"], (0, 0))
        assert expected[0] <= len(paid) - len(left["paid"]) <= expected[1], one
        if "killed" in one:
            assert one["killed"], one
            is_done = one["status"] == "done"
            assert (one["requeued"], one["outcome"]) == ((0, "not_mine") if is_done else (1, "done")), one
        elif one.get("overtook"):
            assert (one["overtook"], one["outcome"]) == (["done"], "not_mine"), one
    ways = [one["what"] for one in told["disturbed"]]
    assert min(ways.count(way) for way in set(ways)) >= undisturbed["statements"] // stride > 3
    assert len([one for one in told["disturbed"] if one.get("overtook")]) > 2

    given_up = told["given up"]
    assert (given_up["deaths"], given_up["status"], given_up["failure"]) == (5, "failed", "stopped")
    assert given_up["remains"]["paid"] == []
