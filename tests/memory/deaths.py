"""Processes that die at a given statement, and everything that a consolidation leaves, to be compared."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

from django.db import connection, transaction

from chat.models import Session
from echovessel.llm.models import LLMCall
from echovessel.outbox.models import OutboxEvent
from memory.models import (
    Alias,
    ConceptNode,
    Entity,
    Evidence,
    Extraction,
    Filling,
    Mention,
    ModelReply,
    NodeText,
    NodeVector,
    ReflectionRun,
)
from persona.models import MoodChange, Persona

Trial = tuple[dict[str, Any], bool]  # what remains, and whether anybody died


class Killed(BaseException):
    """The process is gone."""


@contextmanager
def undone() -> Iterator[None]:
    """A try-out of which no row stays. It is a transaction, unlike what the product does in it: a statement outside the
    product's own transactions fails alone, and the next one may follow."""
    mark_for_rollback = transaction.mark_for_rollback_on_error

    def mark_inside(using: str | None = None) -> AbstractContextManager[None]:
        return nullcontext() if len(connection.atomic_blocks) == depth else mark_for_rollback(using)

    with transaction.atomic(), patch.object(transaction, "mark_for_rollback_on_error", mark_inside):
        depth = len(connection.atomic_blocks)
        point = transaction.savepoint()
        yield
        transaction.savepoint_rollback(point)


def dies_at(statement: int, action: Callable[[], Any]) -> bool:
    """Do it, and die before the n-th statement (from 1) reaches the database; whether it came to that."""
    try:
        with killed_at(statement):
            action()
    except Killed:
        return True
    return False


def same_wherever_it_dies(try_out: Callable[[int], Trial], stride: int) -> int:
    """Try out a death at every `stride`-th statement, and find the same each time; returns how many there are."""
    undisturbed, _ = try_out(0)
    statement, died = 1, True
    while died:
        found, died = try_out(statement)
        assert found == undisturbed, statement
        statement += stride
    return statement


def remains(session: Session) -> dict[str, Any]:
    """Everything that a consolidation leaves, in a form that two runs can be compared by."""
    session.refresh_from_db()
    return {
        "session": (session.status, session.summary, session.failure, session.trivial, session.attempts),
        "held": (session.holder, session.lease_until, session.waiting_for, session.early_consolidation_requested_at),
        "nodes": list(
            ConceptNode.objects.order_by("description").values_list("description", "mention_count", "status")
        ),
        "evidence": sorted(Evidence.objects.values_list("node__description", "quote", "start", "end")),
        "filling": sorted(Filling.objects.values_list("parent__description", "child__description")),
        "entities": sorted(Entity.objects.values_list("canonical_name", "status")),
        "mentions": sorted(Mention.objects.values_list("entity__canonical_name", "node__description")),
        "vectors": sorted((one.node.description, bytes(one.embedding)) for one in NodeVector.objects.all()),
        "words": sorted(NodeText.objects.values_list("node__description", "body")),
        "mood": [*MoodChange.objects.values_list("mood", "energy"), mood_of(session)],
        "runs": list(ReflectionRun.objects.values_list("reason", "thoughts", "dropped")),
        "readings": list(Extraction.objects.values_list("chunk", "dropped")),
        "counts": [one.objects.count() for one in (Alias, ModelReply)],
        "told": Counter(OutboxEvent.objects.values_list("name", flat=True)),
        "ledger": list(LLMCall.objects.order_by("id").values_list("purpose", "outcome", "tokens_in", "tokens_out")),
    }


def mood_of(session: Session) -> Any:
    state = Persona.objects.get(pk=session.persona_id).episodic_state
    return state and (state["mood"], state["energy"])


@contextmanager
def killed_at(statement: int) -> Iterator[None]:
    """Dies before the n-th statement reaches the database, and says no word to it after that; what it has begun is
    undone, as the database does for the dead."""
    seen = 0

    def execute(run: Callable[..., Any], sql: str, *args: Any) -> Any:
        nonlocal seen
        seen += 1
        undoing = sql.startswith(("ROLLBACK TO", "RELEASE")) and seen > statement
        if 0 < statement <= seen and not undoing:
            raise Killed
        return run(sql, *args)

    with connection.execute_wrapper(execute):
        yield
