"""Killed anywhere, by itself or from outside: what is remembered in the end is what an undisturbed run remembers.

In every run `tests/echovessel/jobs/test_kill_matrix.py` kills the workers of a small job, and each job has its sweep.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, Self

import pytest

from tests.installation import ROOT, Installation, free_port
from tests.journeys.kill_process import MOMENTS

pytestmark = pytest.mark.installation
PATIENCE_SECONDS = 90


class Household:
    """A data folder of many talks, and the processes that remember them."""

    def __init__(self, folder: Path, empty: Path | None = None, **env: str) -> None:
        self.data = folder / "data"
        self.env = {
            **Installation(folder, empty).env,
            "LLM_PROVIDER": "tests.journeys.kill_process.PureProvider",
            "ECHOVESSEL_KNOBS": json.dumps({"consolidate.chunk_tokens": 1000, "slow_cycle.runs_per_day": 0}),
            "OMP_NUM_THREADS": "1",
            **env,
        }
        self.worker: subprocess.Popen[bytes] | None = None
        self.kills = 0

    @classmethod
    def copied(cls, made: "Household", folder: Path, **env: str) -> Self:
        folder.mkdir()
        shutil.copytree(made.data, folder / "data")
        (folder / "data" / "graves").mkdir()
        return cls(folder, **env)

    def run(self, what: str) -> str:
        return subprocess.run(
            self.command(what), cwd=ROOT, env=self.env, stdout=subprocess.PIPE, text=True, check=True
        ).stdout

    def start(self, what: str) -> "subprocess.Popen[bytes]":
        with (self.data / f"{what}.log").open("ab") as log:
            return subprocess.Popen(
                self.command(what), cwd=ROOT, env=self.env, start_new_session=True, stdout=log, stderr=log
            )

    @staticmethod
    def command(what: str) -> list[str]:
        return [sys.executable, "-m", "tests.journeys.kill_process", what]

    def remember_all(
        self,
        disturb: Callable[[Self], None] = lambda _: None,
        seconds: float = PATIENCE_SECONDS,
        what: Literal["worker", "up"] = "worker",
    ) -> Any:
        """Let the worker remember every talk while `disturb` is called again and again; start it anew when it died.
        Returns what remains."""
        minder = self.start("minder")
        deadline = time.monotonic() + seconds
        try:
            while minder.poll() is None:
                assert time.monotonic() < deadline, self.log_of(what)
                if self.worker is None or self.worker.poll() is not None:
                    assert self.worker is None or self.worker.returncode < 0, self.log_of(what)
                    self.bury()
                    self.worker = self.start(what)
                disturb(self)
                time.sleep(0.02)
            assert minder.returncode == 0, self.log_of("minder")
            return self.remains()
        finally:
            end(minder)
            self.bury()

    def log_of(self, what: str) -> str:
        return (self.data / f"{what}.log").read_text()[-4000:]

    def bury(self) -> None:
        """What `up` does when the cluster has died: nobody of its group stays behind."""
        if self.worker is not None:
            end(self.worker)

    def worker_pid(self) -> int:
        """The process that does the work now; 0 before there is one."""
        try:
            return int((self.data / "worker.pid").read_text() or 0)
        except FileNotFoundError:
            return 0

    def kill_worker(self) -> None:
        os.kill(self.worker_pid(), signal.SIGKILL)
        self.kills += 1

    def kill_tree(self) -> None:
        self.bury()
        self.kills += 1

    def processes(self, word: str) -> set[int]:
        """The processes of this household in whose command line a word stands."""
        marker = f"DATA_DIR={self.env['DATA_DIR']}".encode()
        found = set()
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):  # it ended while we looked
                environ, cmdline = ((folder / name).read_bytes().split(b"\0") for name in ("environ", "cmdline"))
                if marker in environ and word.encode() in cmdline:
                    found.add(int(folder.name))
        return found

    def remains(self) -> Any:
        """What the minder found in the end."""
        return json.loads((self.data / "remains.json").read_text())

    def kill_while_idle(self) -> None:
        """Start a worker and kill it while it waits for work, with the lock of the queue in its hands."""
        self.worker = self.start("worker")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not (len(self.processes("worker")) >= 5 and self.worker_pid()):
            assert time.monotonic() < deadline, self.log_of("worker")
            time.sleep(0.05)
        time.sleep(0.5)
        self.kill_worker()

    def moments(self) -> list[str]:
        """At which points the worker has died."""
        return sorted(path.name.rsplit(" of ", 1)[0] for path in (self.data / "graves").iterdir())


def end(process: "subprocess.Popen[bytes]") -> None:
    """SIGKILL for a process and all of its group."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, empty: Path) -> Household:
    """Thirty talks of six personas, of which nothing is remembered yet."""
    house = Household(tmp_path_factory.mktemp("household"), empty)
    house.run("household")
    return house


@pytest.fixture(scope="module")
def undisturbed(made: Household, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What remains when nobody disturbs."""
    house = Household.copied(made, tmp_path_factory.mktemp("undisturbed") / "house")
    return house.remember_all()


def at_random_moments(kills: int, seed: int) -> Callable[[Household], None]:
    """Kills from outside, now the worker alone and now its whole tree, each a random while after a worker was there."""
    chance = random.Random(seed)
    state = {"worker": 0, "due": 0.0}

    def disturb(house: Household) -> None:
        worker = house.worker_pid()
        if worker != state["worker"]:
            state.update(worker=worker, due=time.monotonic() + chance.uniform(0.05, 1.5))
        elif house.kills < kills and worker and time.monotonic() >= state["due"]:
            state["due"] = float("inf")  # until another worker is there
            house.kill_tree() if chance.random() < 0.5 else house.kill_worker()

    return disturb


def assert_same(found: Any, expected: Any) -> None:
    for part in expected:
        assert found[part] == expected[part], part


@pytest.mark.campaign
def test_the_household_is_worth_the_trouble(undisturbed: Any) -> None:
    """It has something of everything that a consolidation can leave."""
    statuses = [row[2] for row in undisturbed["sessions"]]
    assert (len(statuses), set(statuses)) == (29, {"closed"})
    assert [row[3] for row in undisturbed["sessions"]].count("True") == 1
    assert max(int(row[1]) for row in undisturbed["readings"]) >= 1
    assert {row[2] for row in undisturbed["reflections"]} >= {"timer", "shock", "not_due"}
    assert max(int(row[14]) for row in undisturbed["nodes"]) >= 3
    assert len(undisturbed["proposals"]) >= 3
    for part in ("evidence", "filling", "entities", "aliases", "mentions", "moods", "ledger", "vectors", "words"):
        assert len(undisturbed[part]) >= 12, part
    assert len(undisturbed["vectors"]) == len(undisturbed["searched vectors"]) == len(undisturbed["nodes"])
    assert undisturbed["replies kept"] == 0
    assert undisturbed["all applied"]
    assert undisturbed["integrity"] == [["ok"]]
    assert undisturbed["foreign keys"] == []
    assert undisturbed["index of nodes"]
    assert undisturbed["index of messages"]


@pytest.mark.campaign
def test_killed_while_idle_between_and_within_transactions_nothing_is_lost_and_nothing_is_double(
    made: Household, undisturbed: Any, tmp_path: Path
) -> None:
    house = Household.copied(made, tmp_path / "house", KILL_AT=",".join(MOMENTS))
    house.kill_while_idle()
    assert_same(house.remember_all(), undisturbed)
    assert house.moments() == sorted(MOMENTS)


@pytest.mark.campaign
@pytest.mark.parametrize(("kills", "seed"), [(8, 0), *((10, seed) for seed in range(1, 5))])
def test_killed_at_random_moments_nothing_is_lost_and_nothing_is_double(
    made: Household, undisturbed: Any, tmp_path: Path, kills: int, seed: int
) -> None:
    house = Household.copied(made, tmp_path / "house", SLOW="0.15")
    remains = house.remember_all(at_random_moments(kills, seed), seconds=2 * PATIENCE_SECONDS)
    assert house.kills == kills
    assert_same(remains, undisturbed)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


class Victims:
    """Kills the supervisor, the parent of the cluster, its guard and its worker, one after the other, each while the
    cluster runs; remembers who of those that had to go with it was still there five seconds later."""

    def __init__(self) -> None:
        self.left = ["worker", "guard", "parent", "supervisor"]
        self.orphans: dict[str, set[int]] = {}
        self.due = 0.0

    def __call__(self, house: Household) -> None:
        cluster = house.processes("worker")
        if self.left and time.monotonic() > self.due and len(cluster) >= 5:
            self._kill(self.left.pop(0), house, cluster)

    def _kill(self, victim: str, house: Household, cluster: set[int]) -> None:
        assert house.worker is not None
        parent = min(cluster)
        [guard] = children(parent)
        pid = {"worker": house.worker_pid(), "guard": guard, "parent": parent, "supervisor": house.worker.pid}[victim]
        os.kill(pid, signal.SIGKILL)
        house.kills += 1
        if victim == "supervisor":
            house.worker.wait()
        doomed = {pid} if victim == "worker" else cluster
        deadline = time.monotonic() + 5
        while doomed & house.processes("worker") and time.monotonic() < deadline:
            time.sleep(0.1)
        self.orphans[victim] = doomed & house.processes("worker")
        self.due = time.monotonic() + 1


@pytest.mark.campaign
def test_whichever_process_is_killed_nobody_is_orphaned_and_no_job_is_lost(
    made: Household, undisturbed: Any, tmp_path: Path
) -> None:
    house = Household.copied(made, tmp_path / "house", SLOW="0.2", PORT=str(free_port()))
    victims = Victims()
    remains = house.remember_all(victims, what="up", seconds=2 * PATIENCE_SECONDS)
    assert victims.orphans == {"worker": set(), "guard": set(), "parent": set(), "supervisor": set()}
    assert_same(remains, undisturbed)


@pytest.mark.campaign
def test_a_session_that_kills_its_worker_is_given_up_and_the_others_are_remembered(
    made: Household, undisturbed: Any, tmp_path: Path
) -> None:
    house = Household.copied(made, tmp_path / "house", POISON="Milo gave me 2 apples", PERSONAS="2")
    remains = house.remember_all()
    deaths = (house.data / "deaths").read_text().split()
    assert len(set(deaths)) == 1
    assert len(deaths) == 5
    sessions = remains["sessions"]
    poisoned, *others = [row for row in sessions if row[0] == "Persona0"]
    assert poisoned[2] == "failed"
    assert poisoned[5].startswith("It stopped 5 times")
    assert [row[2] for row in others] == ["closed"] * 4
    neighbours = [row for row in undisturbed["sessions"] if row[0] == "Persona1"]
    assert [row for row in sessions if row[0] == "Persona1"] == neighbours
    page = house.run("desk")
    assert "1 talk" in page
    assert "It stopped 5 times" in page
