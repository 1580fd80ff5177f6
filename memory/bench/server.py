"""The server as a process: its memory after the first turn, and the time of a start and of a check."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.urls import reverse
from websockets.asyncio.client import connect
from websockets.typing import Origin

from persona.models import Persona

TIMEOUT_SECONDS = 60
IDLE_SECONDS = 4
REPETITIONS = 3
DAPHNE = ("-m", "daphne", "-v", "0", "echovessel.asgi:application")
UP = ("manage.py", "up")
WORKER = ("manage.py", "worker")


def rss_mb(path: Path, persona: Persona, text: str) -> float:
    """Memory in megabytes of a web server on the database in `path`, idle after its first turn."""
    cookie = create_session_key(persona.owner)
    with run_server(path, DAPHNE, {}) as (server, port):
        wait_for(f"http://127.0.0.1:{port}/healthz")
        asyncio.run(take_turn(port, persona, cookie, text))
        time.sleep(IDLE_SECONDS)
        output = subprocess.run(
            ["ps", "-o", "rss=", "-p", str(server.pid)], check=True, capture_output=True, text=True
        ).stdout
        return round(int(output) * 1024 / 1e6, 1)


def start_seconds(path: Path) -> float:
    """Seconds from `manage.py up` to its first page. It has been started once before, so the preparations of a first
    start are done."""
    with TemporaryDirectory(prefix="echovessel-bench-") as folder:
        for _ in range(2):
            started = time.perf_counter()
            with run_server(path, UP, {"DATA_DIR": folder}) as (_server, port):
                wait_for(f"http://127.0.0.1:{port}{reverse('login')}")
                seconds = time.perf_counter() - started
    return round(seconds, 2)


def check_seconds(path: Path) -> tuple[float, float]:
    """Seconds of `manage.py check`, wall-clock and processor time: the least of several runs, because anything above it
    is due to other processes."""
    command = [sys.executable, "manage.py", "check"]
    walls, cpus = [], []
    for _ in range(REPETITIONS):
        started, used = time.perf_counter(), _children_cpu_seconds()
        subprocess.run(command, cwd=settings.BASE_DIR, env=_environment(path, {}), check=True, capture_output=True)
        walls.append(time.perf_counter() - started)
        cpus.append(_children_cpu_seconds() - used)
    return round(min(walls), 2), round(min(cpus), 2)


@contextmanager
def run_server(
    path: Path, command: Sequence[str], env: Mapping[str, str]
) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    """A process of this project that listens on a free port, and the port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = _start_process(path, [*command, "--port", str(port)], env)
    try:
        yield server, port
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


@contextmanager
def run_worker(path: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """The job worker with its processes, which are killed at the end even if they are busy."""
    process = _start_process(path, WORKER, {}, start_new_session=True)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _start_process(
    path: Path, command: Sequence[str], env: Mapping[str, str], *, start_new_session: bool = False
) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=settings.BASE_DIR,
        env=_environment(path, env),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=start_new_session,
    )


def _environment(path: Path, more: Mapping[str, str]) -> dict[str, str]:
    knobs = json.dumps(settings.KNOBS | {"chat.debounce_seconds": 0, "chat.lines_per_minute": 600})
    ours = {"DATABASE_URL": f"sqlite:///{path}", "ECHOVESSEL_KNOBS": knobs, "LLM_PROVIDER": "offline"}
    return {**os.environ, **ours, "ALLOWED_HOSTS": "127.0.0.1", "HTTPS": "off", **more}


def wait_for(url: str) -> None:
    """Wait until a page answers, whatever the response."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while True:
        try:
            urllib.request.urlopen(url, timeout=5).close()
            return
        except urllib.error.HTTPError:
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def create_session_key(owner: Any) -> str:
    """The session key of a signed-in `owner`."""
    session = SessionStore()
    session[SESSION_KEY] = str(owner.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
    session[HASH_SESSION_KEY] = owner.get_session_auth_hash()
    session.save()
    return str(session.session_key)


async def take_turn(port: int, persona: Persona, cookie: str, text: str) -> None:
    """Send a message, and wait for the end of its reply."""
    address = f"127.0.0.1:{port}"
    async with (
        asyncio.timeout(TIMEOUT_SECONDS),
        connect(
            f"ws://{address}/ws/chat/{persona.uuid}/",
            origin=Origin(f"http://{address}"),
            additional_headers={"Cookie": f"{settings.SESSION_COOKIE_NAME}={cookie}"},
            proxy=None,
        ) as websocket,
    ):
        await websocket.send(json.dumps({"type": "message", "client_id": str(uuid4()), "content": text}))
        while json.loads(await websocket.recv())["event"] != "chat.message.done":
            pass


def _children_cpu_seconds() -> float:
    """Seconds of processor time of the ended child processes."""
    times = os.times()
    return times.children_user + times.children_system
