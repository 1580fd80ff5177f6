"""Backups and restores of one data folder, with real processes beside them that write, and real deaths.

    python -m tests.journeys.backup_process writers HOW_MANY   what a backup holds that was made while so many wrote
    python -m tests.journeys.backup_process deaths HOW_MANY    what became of restores and backups that were killed

DATA_DIR is that of an installation in which nobody lives yet.
"""

import io
import json
import os
import shutil
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, connections, transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from chat.messages import receive_message  # noqa: E402
from chat.models import Message  # noqa: E402
from chat.turns import turn as turns  # noqa: E402
from echovessel.backup import create, data_dir_lock, package, swap  # noqa: E402
from memory import forgetting  # noqa: E402
from memory.forgetting import Target  # noqa: E402
from memory.models import ConceptNode  # noqa: E402
from memory.store import checks  # noqa: E402
from persona.models import Persona  # noqa: E402
from persona.onboarding.creation import create_persona  # noqa: E402
from tests.echovessel.backup.installations import at  # noqa: E402
from tests.memory.forgetting.life import lived  # noqa: E402

DATA = Path(settings.DATA_DIR)
BACKUPS = DATA.parent / "backups"
FILE_EVENTS = {"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.rmtree"}


# --- written meanwhile ----------------------------------------------------------------------------------------------
def writers(count: int) -> dict[str, Any]:
    """The lines are numbered by the order in which they are committed, whoever says them."""
    ana = User.objects.create_superuser("ana")
    personas = [create_persona(ana, f"Mira {number}").pk for number in range(count)]
    BACKUPS.mkdir()
    stop = BACKUPS / "stop"
    connections.close_all()
    children = [_forked(lambda pk=pk: _write(pk, stop)) for pk in personas]
    files = [_while_it_grows(number) for number in range(3)]
    stop.touch()
    ended = [os.waitpid(child, 0)[1] for child in children]
    stop.unlink()
    return {"ended": ended, "said": _said(), "backups": [_restored(file) for file in files]}


def _write(persona: int, stop: Path) -> None:
    """A line and its reply, again and again."""
    mira = Persona.objects.get(pk=persona)
    while not stop.exists():
        with transaction.atomic():
            number = Message.objects.filter(role=Message.Role.USER).count()
            receive_message(mira, f"This is line {number}.", None, "web", timezone.now())
            turn = turns.claim(mira.pk, timezone.now())
            assert turn
            turns.finish(turn, f"I heard {number}.", stopped=False, first_token_at=None, xray={}, now=timezone.now())


def _while_it_grows(number: int) -> Path:
    """A backup that is made when ten more lines were said."""
    before = _said()
    while _said() < before + 10:
        connections.close_all()
    file = BACKUPS / f"{number}.tar"
    call_command("backup", str(file), stdout=io.StringIO(), stderr=io.StringIO())
    return file


def _restored(file: Path) -> dict[str, Any]:
    call_command("restore", str(file), "--force", stdout=io.StringIO(), stderr=io.StringIO())
    lines = Message.objects.filter(role=Message.Role.USER).order_by("pk").values_list("content", flat=True)
    return {
        "lines": len(lines),
        "in_order": list(lines) == [f"This is line {number}." for number in range(len(lines))],
        "replies": Message.objects.filter(role=Message.Role.PERSONA).count(),
        "counted": package.manifest_of(file).counts["chat_message"] == Message.objects.count(),
        "broken": checks.broken_invariants(timezone.now()),
    }


def _said() -> int:
    return Message.objects.filter(role=Message.Role.USER).count()


# --- deaths ---------------------------------------------------------------------------------------------------------
def deaths(count: int) -> dict[str, Any]:
    """A house whose backup is older than it is: with another knob, without Ben, and with what was forgotten since."""
    (DATA / "knobs.toml").write_text('"chat.idle_minutes" = 20\n')
    life = lived(create_persona(User.objects.create_superuser("ana"), "Mira", user_name="Ana"))
    call_command("backup", str(DATA.parent / "old.tar"), stdout=io.StringIO(), stderr=io.StringIO())
    (DATA / "knobs.toml").write_text('"chat.idle_minutes" = 40\n')
    User.objects.create_user("ben")
    forgetting.forget(forgetting.plan([Target("node", life.milo.pk)]), None, timezone.now())
    connections.close_all()
    moments = _moments(_restore, count)
    return {
        "restores": [_after_a_death(_restore, moment) for moment in moments],
        "last": _after_a_death(_restore, 1_000_000),
        "backups": [_after_a_death(_back_up, moment) for moment in _moments(_back_up, max(2, count // 2))],
    }


def _restore() -> None:
    call_command("restore", str(DATA.parent / "old.tar"), "--force", stdout=io.StringIO(), stderr=io.StringIO())


def _back_up() -> None:
    call_command("backup", str(settings.DATA_DIR / "backups" / "new.tar"), stdout=io.StringIO(), stderr=io.StringIO())


def _moments(action: Callable[[], None], count: int) -> list[int]:
    """Half of them spread over the whole, half at its end, where the one takes the other's place."""
    whole = _after_a_death(action, 1_000_000)["events"]
    spread = {round(1 + at * (whole - 1) / (count // 2)) for at in range(count // 2)}
    return sorted(spread | set(range(max(1, whole - 2 * count), whole, 4)))


def _after_a_death(action: Callable[[], None], moment: int) -> dict[str, Any]:
    """What is there when a process has died before its n-th action with files, and somebody comes by."""
    folder = DATA.parent / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(DATA, folder)
    noted = DATA.parent / "events"
    noted.unlink(missing_ok=True)
    with at(folder):
        how = os.waitpid(_forked(lambda: _dying(action, moment, folder, noted)), 0)[1]
        begun = swap.is_begun(folder)
        data_dir_lock.acquire_shared(folder)
        with data_dir_lock.acquire_exclusive(folder):
            return {"killed": how == signal.SIGKILL, "begun": begun, **_state(folder)} | {
                "events": int(noted.read_text()) if noted.exists() else None
            }


def _state(folder: Path) -> dict[str, Any]:
    knob = (folder / "knobs.toml").read_text().split()[-1]
    backup = folder / "backups" / "new.tar"
    left = [path.name for path in folder.glob("backups/*") if path != backup]
    return {
        "knob": int(knob),
        "ben": User.objects.filter(username="ben").exists(),
        "milo": ConceptNode.objects.filter(description__contains="Milo").exists(),
        "broken": checks.broken_invariants(timezone.now()),
        "backup": package.manifest_of(backup).counts["auth_user"] if backup.exists() else None,
        "left": [name for name in left if not name.startswith(create.PART)],
    }


def _dying(action: Callable[[], None], moment: int, folder: Path, noted: Path) -> None:
    """Do it, and die before the n-th touch of a file in the folder; how many there were is noted."""
    seen: Counter[str] = Counter()
    text = str(folder)

    def at_event(event: str, args: tuple[Any, ...]) -> None:
        if event in FILE_EVENTS and str(args[0]).startswith(text):
            seen["events"] += 1
            if seen["events"] == moment:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(at_event)
    action()
    noted.write_text(str(seen["events"]))


def _forked(action: Callable[[], None]) -> int:
    connections.close_all()
    child = os.fork()
    if child:
        return child
    try:
        action()
    except Exception:  # noqa: BLE001  (the edge of a process)
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    connection.close()
    os._exit(0)


if __name__ == "__main__":
    told = {"writers": writers, "deaths": deaths}[sys.argv[1]](int(sys.argv[2]))
    json.dump(told, sys.stdout)
