"""`manage.py up`: everything with one command, and nothing left behind."""

import json
import os
import signal
import socket
import sqlite3
import time
import urllib.request
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import httpx2
import numpy as np
import pytest
from django.core.management import CommandError, call_command

from tests.installation import Installation, free_port
from tests.small_setup import block_other_packages

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


OWNER = """
from django.contrib.auth.models import User
from django.core.management import call_command
User.objects.create_user("ana")
call_command("create_persona", "Mira", "--owner", "ana")
call_command("create_api_token", "ana")
"""


@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.campaign)])
def test_it_serves_heals_and_leaves_nothing_behind(tmp_path: Path, empty: Path, is_whole: bool) -> None:
    """With nothing but the packages of the smaller set-up. The whole one migrates from nothing, with the product's own
    settings and its own model."""
    if is_whole:
        installation = Installation(tmp_path, DJANGO_SETTINGS_MODULE="echovessel.settings")
    else:
        installation = Installation(tmp_path, empty, **block_other_packages(tmp_path / "site"))
    with installation as house:
        assert "/welcome/" in house.first_run_link
        with urllib.request.urlopen(house.first_run_link) as page:
            assert page.status == 200
        if is_whole:
            vectors_lie_by_meaning(house)

        house.kill_web()
        time.sleep(0.5)
        house.wait_until_served()
        before = wait_for_workers(house)
        os.kill(min(before), signal.SIGKILL)
        deadline = time.monotonic() + 30
        while not (now := house.workers()) or now & before:
            assert time.monotonic() < deadline, "the old workers are still there, or no new ones came"
            time.sleep(0.2)

        house.process.send_signal(signal.SIGINT)
        assert house.process.wait(30) == 0
        assert gone(house)


def vectors_lie_by_meaning(house: Installation) -> None:
    """Of three memories two are about one thing in other words, and their vectors lie nearer to each other."""
    persona, secret = house.manage("shell", "--verbosity", "0", "-c", OWNER).stdout.split()
    address, key = f"{house.url}/api/personas/{persona}", {"Authorization": f"Bearer {secret}"}
    with httpx2.Client(base_url=address, headers=key, timeout=60) as client:
        said = client.post("/messages", json={"content": "My kitten is white.", "client_id": str(uuid4())}).json()
        for description in ("Ana owns a small white kitten.", "Her cat has pale fur.", "The compiler of Ben is slow."):
            node = {"description": description, "messages": [said["message"]["id"]]}
            assert client.post("/nodes", json=node).status_code == 201
    with closing(sqlite3.connect(house.folder / "data" / "echovessel.sqlite3")) as database:
        rows = database.execute("SELECT embedding FROM memory_nodevector ORDER BY node_id").fetchall()
    kitten, cat, compiler = (np.frombuffer(blob, np.float32) for (blob,) in rows)
    assert kitten @ cat > kitten @ compiler + 0.2


def test_only_what_pages_ask_for_is_collected(empty: Path) -> None:
    names = {path.name for path in (empty / "static").rglob("*.*")}
    assert "swagger-ui-bundle.js" in names
    assert not [name for name in names if name.endswith((".map", ".map.gz")) or name.startswith("redoc")]


def test_a_taken_port_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(CommandError, match=f"Cannot listen on 127.0.0.1:{port}.*--port"):
            call_command("up", port=port)


def test_a_knob_set_wrong_stops_the_start_with_a_sentence(tmp_path: Path, empty: Path) -> None:
    house = Installation(tmp_path, empty, ECHOVESSEL_KNOBS=json.dumps({"chat.idle_minutes": 0}))
    answer = house.manage("up", "--port", str(free_port()), check=False)
    assert answer.returncode != 0
    assert "chat.idle_minutes" in answer.stderr
    assert "Traceback" not in answer.stderr
