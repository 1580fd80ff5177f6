"""The deaths of an import: real processes, killed at moments of their own; then others carry on.

    python -m tests.journeys.import_process FOLDER KILLS LIVES FAULTS      what became of each, as JSON

The folder holds a database that was never used, life.sqlite3. In a copy of it a persona is brought a chat, a diary and
a character card. Once nobody is disturbed; then one import of each is killed KILLS times in a row; LIVES begin anew and
are killed once each, at moments spread over the whole; and FAULTS of the database come once each.
"""

import itertools
import json
import os
import random
import signal
import sys
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import OperationalError, connection, connections  # noqa: E402

from chat.models import Message, Session  # noqa: E402
from echovessel.db.sqlite import erasure  # noqa: E402
from echovessel.embeddings import embedding  # noqa: E402
from echovessel.llm.models import LLMCall  # noqa: E402
from memory import imports  # noqa: E402
from memory.imports import runner, store, stored_file  # noqa: E402
from memory.imports.readers import Source  # noqa: E402
from memory.models import (  # noqa: E402
    Alias,
    ConceptNode,
    Entity,
    Evidence,
    Extraction,
    ImportChunk,
    ImportJob,
    ImportPiece,
    ImportRun,
    ModelReply,
    NodeText,
    NodeVector,
)
from persona.models import CoreDraft, DraftQuote, Persona  # noqa: E402
from persona.onboarding.creation import create_persona  # noqa: E402
from tests.journeys.forget_process import copied, opened  # noqa: E402
from tests.journeys.slow_cycle_process import die, embed_outside_transactions  # noqa: E402
from tests.memory.imports.importing_files import FILES, answered, whatsapp  # noqa: E402
from tests.memory.sessions import Clock  # noqa: E402

CLOCK = Clock()
BEGINNING = CLOCK()
DOINGS = ("moved to Lisbon", "got a dog", "lost her ring", "baked bread", "broke a leg", "sailed home")


def diary() -> bytes:
    days = (
        f"## 2023-05-{day:02}\n\nI am proud. Today Noor {doing} near Porto.\n" for day, doing in enumerate(DOINGS, 1)
    )
    return "\n".join(days).encode()


def chat() -> bytes:
    """Six talks, of which one is so long that it is stored and read in parts."""
    names = ("Tomas", "Noor", "Omar", "Rosa")
    told = []
    for number, doing in enumerate(DOINGS):
        told += [f"Ana: I am so happy, my sister {names[number % 4]} {doing}.", "Mira: Oh!", f"Kim: hi {number}"]
        told += [f"Ana: {'Well, you know. ' * 900} {part}" for part in range(3)] * (number == 4)
        told += [str(20 + number)]
    return whatsapp(*told)


def main(folder: Path, kills: int, lives: int, faults: int) -> None:
    settings.LLM_PROVIDER = "offline"
    embedding.embed = embed_outside_transactions
    settings.KNOBS |= {"consolidate.backoff_seconds": 0, "consolidate.trivial_message_count": 0}
    store.LINES_AT_ONCE = 8
    stored_file.PIECE_BYTES = 16_384
    life = folder / "life.sqlite3"
    begin(life)
    with opened(copied(life)):
        statements = counted()
        undisturbed = remains()
    told = [after_many_deaths(life, seed, kills, statements) for seed in range(1 if kills else 0)]
    told += [after(life, moment, killed) for moment in spread(statements, lives)]
    told += [after(life, moment, faulted) for moment in spread(statements, faults)]
    json.dump({"statements": statements, "undisturbed": undisturbed, "disturbed": told}, sys.stdout, default=str)


def spread(statements: int, count: int) -> Sequence[int]:
    return [*dict.fromkeys(round(1 + at * (statements - 1) / max(1, count - 1)) for at in range(count))]


def begin(life: Path) -> None:
    """A life in which three files are handed over."""
    with opened(life):
        persona = create_persona(User.objects.create_user("ana"), "Mira", user_name="Ana", timezone="Asia/Shanghai")
        card = (FILES / "card_v3.json").read_bytes()
        for name, content in (("WhatsApp Chat with Mira.txt", chat()), ("diary.md", diary()), ("card.json", card)):
            with Source(BytesIO(content), name) as source:
                imports.begin(persona.owner, persona, source, CLOCK(), keep=True)
        erasure.checkpoint(connection)


def carried_through() -> None:
    """What the job of every minute, the worker and a person do till everything is over; a slice at a time."""
    runner.requeue_stale(CLOCK())
    for job in ImportJob.objects.order_by("id"):
        while not job.is_over:
            if job.status == ImportJob.Status.ASKING:
                imports.confirm(job, answered(job, {"Kim": "other"} if "WhatsApp" in job.file_name else {}), CLOCK())
            if runner.run(job.pk, CLOCK, slice_seconds=0) in (runner.Outcome.LATER, runner.Outcome.NOT_MINE):
                CLOCK.forward(hours=1)
                runner.requeue_stale(CLOCK())
            job.refresh_from_db()
    runner.requeue_stale(CLOCK())


def disturbed(at_each_statement: Callable[[int], None]) -> None:
    numbers = itertools.count(1)

    def execute(run: Callable[..., Any], *args: Any) -> Any:
        at_each_statement(next(numbers))
        return run(*args)

    with connection.execute_wrapper(execute):
        carried_through()


def counted() -> int:
    """How many statements it takes."""
    seen: list[int] = []
    disturbed(seen.append)
    return len(seen)


def killed(moment: int) -> bool:
    """Whether a process that carries it through was killed at this moment; it may be done before."""
    connections.close_all()
    child = os.fork()
    if not child:
        disturbed(lambda number: die() if number == moment else None)
        connections.close_all()
        os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


def faulted(moment: int) -> bool:
    """The database fails at this moment, and for a while then."""

    def fail(number: int) -> None:
        if moment <= number < moment + 3:
            raise OperationalError("database or disk is full")

    try:
        disturbed(fail)
    except OperationalError:
        CLOCK.forward(hours=1)
    return True


def after(life: Path, moment: int, happens: Callable[[int], bool]) -> dict[str, Any]:
    """What is there in the end, when something has happened at that moment and another has carried on."""
    CLOCK.now = BEGINNING
    with opened(copied(life)):
        happened = happens(moment)
        carried_through()
        return {"moment": f"{happens.__name__} {moment}", "happened": happened, "remains": remains()}


def after_many_deaths(life: Path, seed: int, kills: int, statements: int) -> dict[str, Any]:
    """The same, when it has been killed again and again."""
    chance = random.Random(seed)
    with opened(copied(life)):
        deaths = sum(killed(chance.randint(1, max(2, 6 * statements // (5 * kills)))) for _ in range(kills))
        carried_through()
        return {"moment": f"{deaths} deaths", "happened": deaths == kills, "remains": remains()}


def remains() -> dict[str, Any]:
    """Everything that it leaves, without what differs by its nature: keys, clocks, and how often people were told."""

    def rows(of: Any, *fields: str) -> list[list[str]]:
        return sorted([str(value) for value in row] for row in of.objects.values_list(*fields))

    said, node = "external_id", "node__description"
    return {
        "jobs": rows(
            ImportJob, "file_name", "status", "found", "choices__zone", "counts", "gone_through", "failure", "holder",
            "lease_until", "file_is_here",
        ),
        "pieces": ImportPiece.objects.count(),
        "chunks": rows(ImportChunk, "job__file_name", "number", "digest", "kind", "dated", "session__external_id"),
        "runs": rows(ImportRun, "counts"),
        "sessions": rows(
            Session, said, "channel", "status", "started_at", "last_message_at", "close_reason", "message_count",
            "token_count", "trivial", "summary", "failure", "holder", "lease_until",
        ),
        "lines": rows(Message, "session__external_id", said, "role", "speaker", "content", "created_at", "day"),
        "readings": rows(Extraction, "session__external_id", "chunk", "dropped", "answer"),
        "nodes": rows(
            ConceptNode, "kind", "description", "source", "confidence", "status", "mention_count", "event_time_start",
            "session__external_id",
        ),
        "evidence": rows(Evidence, node, "message__external_id", "quote"),
        "vectors": NodeVector.objects.count(),
        "words": rows(NodeText, node, "body"),
        "entities": rows(Entity, "canonical_name", "kind", "status", "description"),
        "aliases": rows(Alias, "entity__canonical_name", "text"),
        "drafts": rows(CoreDraft, "label", "text", "status"),
        "quotes": rows(DraftQuote, "draft__text", "quote", "where"),
        "paid": rows(LLMCall, "purpose", "outcome"),
        "replies": ModelReply.objects.count(),
        "mood": rows(Persona, "episodic_state"),
    }  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]), *map(int, sys.argv[2:5]))
