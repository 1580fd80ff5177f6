"""The deaths of a restoring: a real process each time, killed at a statement of its own; then the archive comes again.

    python -m tests.journeys.restore_process FOLDER DEATHS      what became of each, as JSON

The folder holds a database that was never used, life.sqlite3. Into a copy of its own an archive is restored each time,
a few lines in a transaction.
"""

import hashlib
import io
import itertools
import json
import os
import random
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, connections  # noqa: E402

from echovessel.embeddings import embedding  # noqa: E402
from memory.archive import import_archive, schema, write  # noqa: E402
from memory.models import ImportRun  # noqa: E402
from memory.store import checks  # noqa: E402
from persona.models import Persona  # noqa: E402
from tests.journeys.forget_process import copied, opened  # noqa: E402
from tests.journeys.kill_process import embed  # noqa: E402
from tests.memory.archive.archives import HEADER, PERSONA, entity, message, node, session  # noqa: E402
from tests.memory.sessions import NOW  # noqa: E402

SEED = 7
TALKS, LINES, A_TRANSACTION = 4, 6, 5
FILE = "01234567-89ab-4cde-8f01-23456789abcd"


def main(folder: Path, deaths: int) -> None:
    schema.BATCH = A_TRANSACTION
    embedding.embed = embed
    life = folder / "life.sqlite3"
    with opened(life):
        User.objects.create_user("ana")
    statements = counted(life)
    dice = random.Random(SEED)
    moments = sorted(dice.sample(range(1, statements + 1), min(deaths, statements)))
    json.dump([after_a_death(life, moment) for moment in (None, *moments)], sys.stdout)


def archive() -> Iterator[dict[str, Any]]:
    """Talks with memories that rest on them and on each other, people, and what came of a file."""
    at = NOW.isoformat()
    yield from (HEADER, PERSONA)
    yield {"type": "file", "id": FILE, "format": "whatsapp", "created_at": at, "confirmed_at": at}
    for talk in range(TALKS):
        yield session(f"s{talk}", file=FILE if talk % 2 else None)
        turn = {"type": "turn", "id": f"t{talk}", "session": f"s{talk}", "created_at": at}
        yield turn
        for place in range(LINES):
            said = f"Line {place} of talk {talk} tells of the harbour and the old boat."
            yield message(f"s{talk}m{place}", said, of=f"s{talk}", turn=f"t{talk}" if place == 0 else None)
            yield node(f"s{talk}n{place}", f"Ana tells of boat {talk}, {place}.", messages=[f"s{talk}m{place}"])
        concluded = [f"s{talk}n{place}" for place in range(LINES)]
        yield node(f"t{talk}", f"Ana loves boat {talk}.", kind="thought", filling=concluded)
        yield entity(f"e{talk}", f"Boat {talk}", nodes=concluded, aliases=[f"Ship {talk}"])
        piece = {"type": "piece", "file": FILE, "number": talk, "digest": f"{talk:064}", "kind": "talk"}
        yield piece | {"session": f"s{talk}"}
    quotes = [{"quote": "the old boat", "message": "s0m0"}]
    draft = {"type": "draft", "id": "d0", "label": "user", "text": "Ana has a boat.", "file": FILE, "created_at": at}
    yield draft | {"quotes": quotes}


def restored(at_each_statement: Callable[[int], None] = lambda number: None) -> None:
    """The import; `at_each_statement` hears of each statement before it is run."""
    numbers = itertools.count(1)

    def execute(run: Callable[..., Any], *args: Any) -> Any:
        at_each_statement(next(numbers))
        return run(*args)

    file = io.BytesIO("\n".join(map(json.dumps, archive())).encode())
    with connection.execute_wrapper(execute):
        import_archive(file, User.objects.get())


def counted(life: Path) -> int:
    """How many statements it takes."""
    seen: list[int] = []
    with opened(copied(life)):
        restored(seen.append)
    return len(seen)


def after_a_death(life: Path, moment: int | None) -> dict[str, Any]:
    """What is there in the end, when a process has died before that statement and another has restored it again."""
    with opened(copied(life)):
        how = killed(moment)
        found = checks.broken_invariants(NOW)
        restored()
        return {"moment": moment, "killed": how == signal.SIGKILL, "half": found, "remains": remains()}


def killed(moment: int | None) -> int:
    """How a process ends that restores, and is killed at this moment."""
    connections.close_all()
    child = os.fork()
    if not child:
        restored(lambda number: os.kill(os.getpid(), signal.SIGKILL) if number == moment else None)
        connections.close_all()
        os._exit(0)
    return os.waitpid(child, 0)[1]


def remains() -> dict[str, Any]:
    """All that she is and remembers, and what is broken of it; without what every installation makes for itself."""
    lines = [json.loads(line) for line in write.archive_lines(Persona.objects.get(), NOW)]
    for line in lines:
        for own in ("uuid", "embedding"):
            line.pop(own, None)
        if line["type"] in ("persona", "entity"):
            line.pop("created_at")
        if line["type"] == "block_version":
            line.pop("edited_at")
    said = hashlib.sha256(json.dumps(lines).encode()).hexdigest()
    # A run that broke off before it noted what came of it stays with nothing said of it.
    return {"lines": len(lines), "said": said, "broken": checks.broken_invariants(NOW), "file": str(_run_of_the_file())}


def _run_of_the_file() -> list[str]:
    return [str(run.uuid) for run in ImportRun.objects.filter(uuid=FILE)]


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
