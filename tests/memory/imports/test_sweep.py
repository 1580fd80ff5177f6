"""An import whose worker dies or whose database fails at any statement is completed, and nothing is stored twice."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from django.db import OperationalError, connection

from chat.models import Message, Session
from echovessel.llm.models import LLMCall
from memory import imports
from memory.imports import runner, store, stored_file
from memory.models import (
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
from persona.models import CoreDraft, DraftQuote, Persona
from tests.memory.deaths import Trial, dies_at, undone
from tests.memory.imports.importing_files import FILES, begin_import, choices_for, whatsapp
from tests.memory.sessions import Clock

pytestmark = pytest.mark.django_db

DOINGS = ("moved to Lisbon", "got a dog", "lost her ring")
DIARY = "\n".join(
    f"## 2023-05-{day:02}\n\nI am proud. Today Noor {doing} near Porto.\n" for day, doing in enumerate(DOINGS, 1)
).encode()
CARD = (FILES / "card_v3.json").read_bytes()
# Consolidation acquires a session: a statement outside any transaction of the product.
LEASE = 'UPDATE "chat_session" SET "holder" = %s, "lease_until" = %s,'


def chat() -> bytes:
    """Three sessions, one so long that it is stored and read in parts."""
    chat_lines = []
    for number, doing in enumerate(DOINGS):
        chat_lines += [f"Ana: I am so happy, my sister Rosa {doing}.", "Mira: Oh!", f"Kim: hi {number}"]
        chat_lines += [f"Ana: {'well ' * 2_900} {part}" for part in range(3)] * (number == 1)
        chat_lines += [str(20 + number)]
    return whatsapp(*chat_lines)


def finish_imports(clock: Clock) -> None:
    """Run the minutely job, the worker and the owner's confirmations, a slice at a time, until every import is over."""
    runner.requeue_stale(clock())
    for job in ImportJob.objects.order_by("id"):
        while not job.is_over:
            if job.status == ImportJob.Status.ASKING:
                roles = {"Kim": "other"} if "WhatsApp" in job.file_name else {}
                imports.confirm(job, choices_for(job, roles), clock())
            if runner.run(job.pk, clock, slice_seconds=0) in (runner.Outcome.LATER, runner.Outcome.NOT_MINE):
                clock.forward(hours=1)
                runner.requeue_stale(clock())
            job.refresh_from_db()
    runner.requeue_stale(clock())


def fails_at(statement: int, action: Callable[[], None]) -> bool:
    """Let the database fail at the n-th statement and the two after it; return whether it was reached."""
    statement_count = 0

    def execute(run: Callable[..., Any], sql: str, *args: Any) -> Any:
        nonlocal statement_count
        statement_count += 1
        if statement <= statement_count < statement + 3 and not sql.startswith(("ROLLBACK TO", "RELEASE")):
            raise OperationalError("database or disk is full")
        return run(sql, *args)

    with connection.execute_wrapper(execute), suppress(OperationalError):
        action()
    return statement_count >= statement


def remains() -> dict[str, Any]:
    """Everything that the imports leave, without keys, clocks and counts of publishing."""

    def rows(of: Any, *fields: str) -> list[list[str]]:
        return sorted([str(value) for value in row] for row in of.objects.values_list(*fields))

    external_id, node = "external_id", "node__description"
    return {
        "jobs": rows(
            ImportJob, "file_name", "status", "found", "choices__zone", "counts", "gone_through", "failure", "holder",
            "lease_until", "file_is_here",
        ),
        "pieces": ImportPiece.objects.count(),
        "chunks": rows(ImportChunk, "job__file_name", "number", "digest", "kind", "dated", "session__external_id"),
        "runs": rows(ImportRun, "counts"),
        "sessions": rows(
            Session, external_id, "channel", "status", "started_at", "last_message_at", "close_reason", "message_count",
            "token_count", "trivial", "summary", "failure", "holder", "lease_until",
        ),
        "lines": rows(Message, "session__external_id", external_id, "role", "speaker", "content", "created_at", "day"),
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


@pytest.mark.parametrize("moments", [2, pytest.param(300, marks=pytest.mark.campaign)])
def test_stopped_at_any_statement_it_is_taken_up_to_the_same_end(
    mira: Persona, settings: Any, monkeypatch: pytest.MonkeyPatch, moments: int
) -> None:
    settings.LLM_PROVIDER = "offline"
    settings.KNOBS = {"consolidate.backoff_seconds": 0, "consolidate.trivial_message_count": 0}
    monkeypatch.setattr(store, "MESSAGES_PER_TRANSACTION", 8)
    monkeypatch.setattr(stored_file, "PIECE_BYTES", 16_384)

    def try_out(stops: Callable[[int, Callable[[], None]], bool], statement: int) -> Trial:
        with undone():
            clock = Clock()
            for name, content in (("WhatsApp Chat with Mira.txt", chat()), ("diary.md", DIARY), ("card.json", CARD)):
                begin_import(mira, content, name)
            was_stopped = stops(statement, lambda: finish_imports(clock))
            clock.forward(hours=1)
            finish_imports(clock)
            return remains(), was_stopped

    statements: list[str] = []

    def record(_statement: int, action: Callable[[], None]) -> bool:
        with connection.execute_wrapper(lambda run, sql, *args: (statements.append(sql), run(sql, *args))[1]):
            action()
        return False

    expected, _ = try_out(record, 0)
    assert [row[1] for row in expected["jobs"]] == ["done", "done", "done"]
    assert expected["pieces"] == expected["replies"] == 0
    assert {row[2] for row in expected["sessions"]} == {"closed"}
    assert min(len(expected[what]) for what in ("lines", "nodes", "evidence", "chunks", "paid")) > 4
    assert expected["drafts"]
    lease = next(number for number, sql in enumerate(statements, 1) if sql.startswith(LEASE))
    for number in range(moments):
        stops = dies_at if number % 2 else fails_at
        statement = 1 + number * len(statements) // moments if number else lease
        outcome, _ = try_out(stops, statement)
        assert outcome == expected, (stops.__name__, statement)
