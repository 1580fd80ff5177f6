"""`manage.py up`: everything with one command, and nothing left behind."""

import json
import os
import signal
import socket
import time
import urllib.request
from pathlib import Path

import pytest

from tests.installation import Installation, free_port

pytestmark = pytest.mark.installation


def wait_for_workers(house: Installation) -> set[int]:
    """The processes of the job worker, once all of them run: its parent, guard, worker, pusher and monitor."""
    deadline = time.monotonic() + 30
    while len(house.workers()) < 5 and time.monotonic() < deadline:
        time.sleep(0.2)
    return house.workers()


def gone(house: Installation, seconds: float = 20) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not house.processes():
            return True
        time.sleep(0.2)
    return False


def test_it_serves_from_nothing_heals_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with Installation(tmp_path) as house:
        assert "/welcome/" in house.first_run_link
        with urllib.request.urlopen(house.first_run_link) as page:
            assert page.status == 200
        house.kill_web()
        time.sleep(0.5)
        house.wait_until_served()
        house.process.send_signal(signal.SIGINT)
        assert house.process.wait(30) == 0
        assert gone(house)


def test_a_killed_supervisor_leaves_no_orphans(tmp_path: Path, empty: Path) -> None:
    with Installation(tmp_path, empty) as house:
        wait_for_workers(house)
        os.kill(house.process.pid, signal.SIGKILL)
        house.process.wait()
        assert gone(house)


def test_a_killed_job_worker_is_started_again_without_orphans(tmp_path: Path, empty: Path) -> None:
    with Installation(tmp_path, empty) as house:
        before = wait_for_workers(house)
        os.kill(min(before), signal.SIGKILL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            now = house.workers()
            if now and not now & before:
                return
            time.sleep(0.2)
        pytest.fail("the old workers are still there, or no new ones came")


def test_a_taken_port_is_said(tmp_path: Path, empty: Path) -> None:
    house = Installation(tmp_path, empty)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        house.port = taken.getsockname()[1]
        answer = house.manage("up", "--port", str(house.port), check=False)
    assert answer.returncode != 0
    assert f"Cannot listen on 127.0.0.1:{house.port}" in answer.stderr
    assert "--port" in answer.stderr


def test_a_knob_set_wrong_stops_the_start_with_a_sentence(tmp_path: Path, empty: Path) -> None:
    house = Installation(tmp_path, empty, ECHOVESSEL_KNOBS=json.dumps({"chat.idle_minutes": 0}))
    answer = house.manage("up", "--port", str(free_port()), check=False)
    assert answer.returncode != 0
    assert "chat.idle_minutes" in answer.stderr
    assert "Traceback" not in answer.stderr
