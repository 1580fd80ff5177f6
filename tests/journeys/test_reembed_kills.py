"""A change of the embedding model that is killed anywhere leaves vectors of one model, and the next run goes on."""

import json
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
    ("before memory.store.reembedding.stage_vectors 3", OLD, 2 * BATCH),
    ("after memory.store.reembedding._still 2", OLD, 3 * BATCH),  # in the transaction of its second batch
    ("before memory.store.vectors.switch_model 1", OLD, ALL),
    ("after memory.store.vectors.switch_model 1", OLD, ALL),  # in the transaction of the switch
    ("before memory.store.reembedding._clear_away 1", NEW, ALL),
)


class House:
    """A data folder, and the processes that work on it."""

    def __init__(self, folder: Path, empty: Path) -> None:
        self.env = Installation(folder, empty).env | {"EMBEDDING_MODEL": OLD}

    def run(self, what: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(command(what), cwd=ROOT, env=self.env | env, capture_output=True, text=True)

    @contextmanager
    def started(self, what: str, **env: str) -> Iterator["subprocess.Popen[str]"]:
        pipe = subprocess.PIPE
        with subprocess.Popen(
            command(what), cwd=ROOT, env=self.env | env, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        ) as process:
            try:
                yield process
            finally:
                process.kill()


def command(what: str) -> list[str]:
    return [sys.executable, "-m", "tests.journeys.reembed_process", what]


def all_are_of(model: str, staged: int) -> dict[str, Any]:
    return {
        "in use": model,
        "nodes": ALL,
        "labels": [model],
        "right": ALL,
        "staged": staged,
        "searched": [ALL, ALL],
        "recalled": [True, True],
        "integrity": "ok",
    }


@pytest.fixture
def house(tmp_path: Path, empty: Path) -> House:
    return House(tmp_path, empty)


@pytest.mark.parametrize("stride", [2, pytest.param(1, marks=pytest.mark.campaign)])
def test_wherever_it_is_killed_there_are_vectors_of_one_model_and_the_next_run_goes_on(
    house: House, stride: int
) -> None:
    deaths = DEATHS[::stride]
    done = house.run("deaths", DEATHS=json.dumps([where for where, _model, _staged in deaths]))
    assert done.returncode == 0, done.stderr
    *ends, (status, said, remains) = json.loads(done.stdout)
    for (where, model, staged), (code, _said, left) in zip(deaths, ends, strict=True):
        assert code == -signal.SIGKILL, where
        assert left == all_are_of(model, staged), where
    assert status == 0
    assert "0 vectors were made" in said
    assert remains == all_are_of(NEW, staged=0)


def answer(server: "subprocess.Popen[str]", line: str) -> Any:
    assert server.stdin is not None
    assert server.stdout is not None
    print(line, file=server.stdin, flush=True)
    return json.loads(server.stdout.readline())


@pytest.mark.campaign  # `test_reembedding` does each part of it in one process
def test_a_second_one_is_refused_after_a_ctrl_c_the_next_goes_on_and_a_server_uses_the_model_in_use(
    house: House,
) -> None:
    line = told("Mira", 7)
    with house.started("server") as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        by, said, relevance = answer(server, line)
        assert (by, said) == (OLD, line)

        with house.started("reembed", WAIT="1") as first:
            assert first.stdout is not None
            assert first.stdout.readline() == "embedding\n"
            second = house.run("reembed")
            assert second.returncode == 1
            assert "Another process is re-embedding" in second.stderr
            first.send_signal(signal.SIGINT)
            _, complaint = first.communicate("\n")
            assert first.returncode == 130
            assert "Vectors made so far are kept" in complaint

        assert json.loads(house.run("remains").stdout) == all_are_of(OLD, staged=2 * BATCH)
        assert answer(server, line) == [OLD, line, pytest.approx(relevance, rel=0.1)]
        assert f"{ALL - 2 * BATCH} vectors were made" in house.run("reembed").stdout
        # Vectors of two models would be strangers: what the words give alone is less than half.
        assert answer(server, line) == [NEW, line, pytest.approx(relevance, rel=0.1)]
