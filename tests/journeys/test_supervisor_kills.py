"""`up` is killed, at any moment of its life: soon nothing of it is left, and a backup can be restored."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from tests.installation import ROOT, free_port
from tests.journeys.test_kill_campaign import Household, end

pytestmark = pytest.mark.installation

LEFT_SECONDS = 8  # three of grace, and the rest for a machine that has other things to do
CLUSTER = 5  # processes of the job worker: its parent, guard, worker, pusher and monitor
SEED, KILLS = 15, 24


def wait_until(condition: Callable[[], object], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.01)
    return False


def of_house(house: Household) -> set[int]:
    return house.processes("worker") | house.processes("up") | house.processes("echovessel.asgi:application")


def kill_up(house: Household, stage: str, pause: float) -> None:
    """Start `up`, and kill it alone: a while after its job worker was started, or after that was complete."""
    up = house.start("up")
    try:
        least = {"started": 1, "complete": CLUSTER}[stage]
        assert wait_until(lambda: len(house.processes("worker")) >= least, 60), house.log_of("up")
        time.sleep(pause)
    finally:
        os.kill(up.pid, signal.SIGKILL)
        up.wait()


def moments(count: int) -> list[tuple[str, float]]:
    """Half of them within the time in which the job worker starts, where what must end does not listen yet."""
    chance = random.Random(SEED)
    early = [("started", pause) for pause in (0, 0.01, *(chance.uniform(0, 2.5) for _ in range(count)))]
    late = [("complete", pause) for pause in (0, *(chance.uniform(0, 2) for _ in range(count)))]
    return [pair[number % 2] for number, pair in enumerate(zip(early, late, strict=False))][:count]


BACK_UP = """
from django.core.management import call_command
call_command("backup")
call_command("check_memory")
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, empty: Path) -> Household:
    """A household of which nothing is remembered yet."""
    house = Household(tmp_path_factory.mktemp("household"), empty)
    house.run("household")
    return house


@pytest.mark.campaign  # in every run `test_lifeline` kills an `up` in small
def test_a_killed_supervisor_leaves_nothing_behind_and_a_backup_can_be_restored_at_once(
    made: Household, tmp_path: Path
) -> None:
    """After every second kill while what is left of it still ends."""
    house = Household.copied(made, tmp_path / "house", PORT=str(free_port()), SLOW="0.3")
    backup, counts = manage(house, "shell", "--verbosity", "0", "-c", BACK_UP).stdout.split("\n", 1)
    ended_after = []
    for number, (stage, pause) in enumerate(moments(KILLS)):
        minder = house.start("minder")  # it gives the worker something to do
        try:
            kill_up(house, stage, pause)
        finally:
            end(minder)
        at = time.monotonic()
        if number % 2:
            assert wait_until(lambda: not of_house(house), LEFT_SECONDS), (stage, pause, of_house(house))
            ended_after.append(time.monotonic() - at)
        restored = manage(house, "restore", backup, "--force", "--as-it-is")
        assert restored.stdout == counts, (stage, pause, restored.stderr)
        assert wait_until(lambda: not of_house(house), LEFT_SECONDS), (stage, pause, of_house(house))
    print(f"{KILLS} kills: all gone after {max(ended_after, default=0):.1f} s at the most")  # noqa: T201


@pytest.mark.parametrize("victim", ["parent", pytest.param("guard", marks=pytest.mark.campaign)])
def test_a_job_worker_that_runs_by_itself_leaves_nothing_behind_either(
    made: Household, tmp_path: Path, victim: str
) -> None:
    """As under systemd or in a container: no `up` clears away after it."""
    house = Household.copied(made, tmp_path / "house")
    worker = house.start("worker")
    assert wait_until(lambda: len(house.processes("worker")) >= CLUSTER, 60), house.log_of("worker")
    guard = int(Path(f"/proc/{worker.pid}/task/{worker.pid}/children").read_text().split()[0])
    os.kill(worker.pid if victim == "parent" else guard, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        worker.wait(5)
    assert wait_until(lambda: not of_house(house), LEFT_SECONDS), of_house(house)


def manage(house: Household, *command: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *command], cwd=ROOT, env=house.env, capture_output=True, text=True
    )
