"""A change of the embedding model that is killed anywhere leaves vectors of one model, and the next run goes on."""

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.installation import ROOT, Installation
from tests.journeys.reembed_process import BATCH, MEMORIES, told
from tests.memory.store.two_models import NEW, OLD

pytestmark = pytest.mark.installation
ALL = 2 * MEMORIES
# Where it dies, one run after the other, and what it leaves: the model in use, and how many vectors are staged.
DEATHS = (
    ("before memory.store.reembedding._stage 3", OLD, 2 * BATCH),
    ("after memory.store.reembedding._still 2", OLD, 3 * BATCH),  # in the transaction of its second batch
    ("before memory.store.vectors.put_in_use 1", OLD, ALL),
    ("after memory.store.vectors.put_in_use 1", OLD, ALL),  # in the transaction of the switch
    ("before memory.store.reembedding._clear_away 1", NEW, ALL),
)


class House:
    """A data folder with memories, and the processes that work on it."""

    def __init__(self, folder: Path) -> None:
        self.env = Installation(folder).env | {"EMBEDDING_MODEL": OLD}

    def command(self, what: str) -> list[str]:
        return [sys.executable, "-m", "tests.journeys.reembed_process", what]

    def run(self, what: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(self.command(what), cwd=ROOT, env=self.env | env, capture_output=True, text=True)

    def remains(self) -> Any:
        done = self.run("remains")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def assert_all_are_of(self, model: str, staged: int) -> None:
        assert self.remains() == {
            "in use": model,
            "nodes": ALL,
            "labels": [model],
            "right": ALL,
            "staged": staged,
            "searched": [ALL, ALL],
            "recalled": [True, True],
            "integrity": "ok",
        }


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    done = House(folder).run("house")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def house(made: Path, tmp_path: Path) -> House:
    shutil.copytree(made / "data", tmp_path / "data")
    return House(tmp_path)


def test_wherever_it_is_killed_there_are_vectors_of_one_model_and_the_next_run_goes_on(house: House) -> None:
    house.assert_all_are_of(OLD, staged=0)
    for where, model, staged in DEATHS:
        assert house.run("reembed", KILL_AT=where).returncode == -signal.SIGKILL, where
        house.assert_all_are_of(model, staged)
    done = house.run("reembed")
    assert done.returncode == 0, done.stderr
    assert "0 vectors were made" in done.stdout
    house.assert_all_are_of(NEW, staged=0)


@contextmanager
def half_done(house: House) -> Iterator["subprocess.Popen[str]"]:
    """One that has staged two batches, and embeds the third as long as this lasts."""
    pipe, env = subprocess.PIPE, house.env | {"WAIT": "1"}
    with subprocess.Popen(
        house.command("reembed"), cwd=ROOT, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "embedding\n"
            yield process
        finally:
            process.kill()


def test_after_a_ctrl_c_the_next_run_goes_on(house: House) -> None:
    with half_done(house) as process:
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate("\n")
        assert process.returncode == 130
        assert "Nothing that was made is lost" in complaint
    house.assert_all_are_of(OLD, staged=2 * BATCH)
    assert f"{ALL - 2 * BATCH} vectors were made" in house.run("reembed").stdout


def answer(server: "subprocess.Popen[str]", line: str) -> Any:
    assert server.stdin is not None
    assert server.stdout is not None
    print(line, file=server.stdin, flush=True)
    return json.loads(server.stdout.readline())


def test_a_server_that_runs_meanwhile_recalls_by_the_model_in_use(house: House) -> None:
    command, pipe, line = house.command("server"), subprocess.PIPE, told("Mira", 7)
    with subprocess.Popen(command, cwd=ROOT, env=house.env, stdin=pipe, stdout=pipe, text=True) as server:
        try:
            by, said, relevance = answer(server, line)
            assert (by, said) == (OLD, line)
            assert house.run("reembed").returncode == 0
            # Vectors of two models would be strangers: what the words give alone is less than half.
            assert answer(server, line) == [NEW, line, pytest.approx(relevance, rel=0.1)]
        finally:
            server.kill()


def test_a_second_one_is_refused_until_the_first_is_dead(house: House) -> None:
    with half_done(house):
        second = house.run("reembed")
        assert second.returncode == 1
        assert "Another process makes vectors anew" in second.stderr
        house.assert_all_are_of(OLD, staged=2 * BATCH)
    done = house.run("reembed")
    assert done.returncode == 0, done.stderr
    assert f"{ALL - 2 * BATCH} vectors were made" in done.stdout
    house.assert_all_are_of(NEW, staged=0)
