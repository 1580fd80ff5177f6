"""Years of talk from elsewhere, brought into a whole installation by the command; `test_other_programs` does it over
HTTP."""

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.installation import ROOT, Installation

pytestmark = pytest.mark.installation
PATIENCE_SECONDS = 60


@pytest.fixture
def house(tmp_path: Path, empty: Path) -> Installation:
    made = Installation(tmp_path, empty)
    made.env |= {"DJANGO_SUPERUSER_PASSWORD": "a long word for ana", "DJANGO_SUPERUSER_EMAIL": "ana@example.org"}
    made.manage("createsuperuser", "--noinput", "--username", "ana")
    return made


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
