"""Years of talk from elsewhere, brought into a whole installation: by a program over HTTP, and by the command."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.installation import ROOT, Installation
from tests.memory.imports.readers.given import FILES

pytestmark = pytest.mark.installation
PATIENCE_SECONDS = 60
CHAT = FILES / "WhatsApp Chat with Mira.txt"


@pytest.fixture
def house(tmp_path: Path, empty: Path) -> Installation:
    made = Installation(tmp_path, empty)
    made.env |= {"DJANGO_SUPERUSER_PASSWORD": "a long word for ana", "DJANGO_SUPERUSER_EMAIL": "ana@example.org"}
    made.env["ECHOVESSEL_KNOBS"] = json.dumps(json.loads(made.env["ECHOVESSEL_KNOBS"]) | {"import.upload_megabytes": 1})
    made.manage("createsuperuser", "--noinput", "--username", "ana")
    return made


def awaited(ask: Callable[[], dict[str, Any]], status: str) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (told := ask())["status"] != status:
        assert time.monotonic() < deadline, told
        time.sleep(0.1)
    return told


def test_a_program_brings_a_chat_and_takes_everything_along_again(house: Installation) -> None:
    persona = house.manage("create_persona", "Mira", "--owner", "ana").stdout.strip()
    key = {"Authorization": f"Bearer {house.manage('create_api_token', 'ana').stdout.strip()}"}
    with house, httpx2.Client(base_url=f"{house.url}/api/personas/{persona}", headers=key, timeout=60) as client:
        handed = client.post("/imports", files={"file": (CHAT.name, CHAT.read_bytes())})
        assert handed.status_code == 202
        here = f"/imports/{handed.json()['id']}"
        found = awaited(lambda: client.get(here).json(), "asking")["found"]
        assert (found["first_day"], [one["name"] for one in found["speakers"]]) == ("2023-12-31", ["Ana", "Mira"])
        assert client.post(f"{here}/confirm", json={"zone": "Asia/Shanghai"}).status_code == 200
        done = awaited(lambda: client.get(here).json(), "done")
        assert (done["counts"]["lines"], done["counts"]["failed"]) == (found["counts"]["lines"], 0)
        lines = client.get("/messages").json()["items"]
        assert "Happy new year!" in {line["content"] for line in lines}

        with client.stream("GET", "/export") as answer:
            archive = [json.loads(line) for line in answer.iter_lines()]
        assert len([one for one in archive if one["type"] == "message"]) == len(lines)
        too_large = client.post("/imports", files={"file": ("big.txt", b"x" * (1024 * 1024 + 1))})
        assert (too_large.status_code, too_large.json()["code"]) == (413, "too_big")


def chat_of_years(days: int) -> str:
    start = datetime(2021, 3, 1, 20, 0)
    said = "[{at:%d/%m/%Y, %H:%M}:00] Ana: On day {day} I planted {day} tulips in the garden.\n"
    answered = "[{at:%d/%m/%Y, %H:%M}:20] Mira: {day} tulips! How do they look?\n"
    return "".join(
        line.format(at=start + timedelta(days=3 * day), day=day) for day in range(days) for line in (said, answered)
    )


@pytest.mark.campaign
def test_the_command_stopped_by_ctrl_c_goes_on_to_the_same_end(house: Installation, tmp_path: Path) -> None:
    file = tmp_path / "_chat.txt"
    file.write_text(chat_of_years(120))
    stopped, undisturbed = (house.manage("create_persona", name, "--owner", "ana").stdout.strip() for name in "AB")
    options = ["--user-is", "Ana", "--persona-is", "Mira", "--zone", "UTC"]
    house.manage("import_memories", str(file), "--persona", undisturbed, *options)
    resume: list[str] = []
    for _time in range(3):
        said = interrupted(house, ["import_memories", str(file), "--persona", stopped, *options, *resume])
        resume = ["--resume", said.rpartition("--resume ")[2].split()[0]] if "--resume" in said else resume
    assert resume
    told = house.manage("import_memories", str(file), "--persona", stopped, *options, *resume, check=False)
    assert told.returncode == 0 or "is over: done" in told.stderr
    assert wordings(house, stopped) == wordings(house, undisturbed)


def interrupted(house: Installation, command: list[str]) -> str:
    """What the command says on stderr when Ctrl-C is pressed while it stores and remembers."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", *command],
        cwd=ROOT,
        env=house.env,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
    )
    assert process.stderr is not None
    heard = []
    for piece in iter(lambda: process.stderr.read(20), ""):  # type: ignore[union-attr]
        heard.append(piece)
        if process.poll() is None and any(f" {part}%" in "".join(heard) for part in range(10, 40)):
            process.send_signal(signal.SIGINT)
            break
    heard.append(process.stderr.read())
    process.wait(PATIENCE_SECONDS)
    return "".join(heard)


def wordings(house: Installation, persona: str) -> list[tuple[str, str]]:
    """What was said and what remains of it, without what differs between two personas."""
    archive: Iterator[Any] = map(json.loads, house.manage("export_archive", persona).stdout.splitlines())
    return sorted(
        (one["type"], one.get("content") or one["description"]) for one in archive if one["type"] in ("message", "node")
    )
