"""The deaths of `manage.py forget`: a real process each time, killed before a statement of its own.

    python -m tests.journeys.forget_process FOLDER DEATHS      what became of each, as JSON

Every one begins with a copy of the same life. After its death the job of every minute comes by once.
"""

import io
import itertools
import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, connections  # noqa: E402
from django.utils import timezone  # noqa: E402

from echovessel.db.sqlite import erasure  # noqa: E402
from echovessel.db.sqlite.temporary import temporary_database  # noqa: E402
from memory import forgetting  # noqa: E402
from memory.models import Receipt  # noqa: E402
from memory.store import checks  # noqa: E402
from persona.onboarding.creation import create_persona  # noqa: E402
from tests.memory.forgetting.life import lived  # noqa: E402
from tests.memory.forgetting.totals import rows_of, totals, went  # noqa: E402


def main(folder: Path, count: int) -> None:
    life = folder / "life.sqlite3"
    ids = begin(life)
    with opened(life):
        before = totals()
    _, statements = counted(life, ids), counted(life, ids)  # the second time, as each child, it has looked some up
    moments = sorted({round(1 + at * (statements - 1) / (count - 1)) for at in range(count)})
    deaths = [after_a_death(life, ids, moment, before) for moment in moments]
    json.dump({"statements": statements, "deaths": deaths}, sys.stdout)


def begin(life: Path) -> tuple[str, str]:
    """Make a life; the ids of the persona, and of what is to be forgotten."""
    with temporary_database(life):
        persona = create_persona(User.objects.create_user("ana"), "Mira", user_name="Ana")
        ids = str(persona.uuid), str(lived(persona).milo.uuid)
        erasure.checkpoint(connection)
    return ids


@contextmanager
def opened(path: Path) -> Iterator[None]:
    """While this lasts the database is that file."""
    connections.close_all()
    usual, connection.settings_dict["NAME"] = connection.settings_dict["NAME"], str(path)
    try:
        yield
    finally:
        connections.close_all()
        connection.settings_dict["NAME"] = usual


def copied(life: Path) -> Path:
    for suffix in ("-wal", "-shm"):
        life.with_name(f"copy.sqlite3{suffix}").unlink(missing_ok=True)
    return Path(shutil.copy(life, life.with_name("copy.sqlite3")))


def forget(ids: tuple[str, str], at_each_statement: Callable[[int], None]) -> None:
    """What the operator types; `at_each_statement` hears of each before it is run."""
    numbers = itertools.count(1)

    def execute(run: Callable[..., Any], *args: Any) -> Any:
        at_each_statement(next(numbers))
        return run(*args)

    asked = ("--persona", ids[0], "--node", ids[1], "--cascade", "--yes")
    with connection.execute_wrapper(execute):
        call_command("forget", *asked, stdout=io.StringIO())


def counted(life: Path, ids: tuple[str, str]) -> int:
    """How many statements it takes."""
    seen: list[int] = []
    with opened(copied(life)):
        forget(ids, seen.append)
    return len(seen)


def after_a_death(life: Path, ids: tuple[str, str], statement: int, before: dict[str, int]) -> dict[str, Any]:
    """What is there when a process has died before its n-th statement, and the job of every minute has come by."""
    with opened(copied(life)):
        how = killed(ids, statement)
        forgetting.finish_pending(timezone.now())
        receipt = Receipt.objects.first()
        gone = went(before, news=Receipt.objects.count())
        return {
            "killed": how == signal.SIGKILL,
            "whole": gone == (rows_of(receipt.counts) if receipt else {}),
            "done": receipt is not None and receipt.status == Receipt.Status.DONE,
            "pending": Receipt.objects.filter(status=Receipt.Status.PENDING).count(),
            "broken": checks.broken_invariants(timezone.now()),
        }


def killed(ids: tuple[str, str], statement: int) -> int:
    """The signal by which a process ends that forgets, and is killed before its n-th statement."""
    connections.close_all()
    child = os.fork()
    if not child:
        forget(ids, lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == statement else None)
        os._exit(0)
    return os.waitpid(child, 0)[1]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
