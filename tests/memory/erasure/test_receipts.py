"""After a forgetting the bytes are gone: at once, or as soon as nobody stands in the way."""

import gc
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from django_q.models import OrmQ

from chat.messages import receive_message
from echovessel import schedule
from echovessel.db.sqlite import erasure
from echovessel.embeddings import embedding
from echovessel.outbox.models import OutboxEvent
from echovessel.process import word_caches
from memory import tasks
from memory.erasure import receipts
from memory.models import ConceptNode, Evidence, Receipt
from memory.recall import snapshot
from memory.store import vectors
from persona.models import Persona

NOW = timezone.now()
WORDS = "the zebra quilt of Qoloba"
Remember = Callable[..., ConceptNode]

erases = pytest.mark.django_db(transaction=True)


@pytest.fixture
def secret(mira: Persona, remember: Remember) -> ConceptNode:
    """An event about something that nobody else speaks of, the line it rests on, and others beside it."""
    for number in range(8):
        remember(mira, f"Ana keeps bee number {number}.")
    message = receive_message(mira, f"I have {WORDS}.", None, "web", NOW).message
    node = remember(mira, f"Ana has {WORDS}.")
    Evidence.objects.create(node=node, message=message, quote=WORDS, start=7, end=7 + len(WORDS))
    return node


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erasure, "PATIENCE_MS", 10)


@pytest.fixture
def reader() -> Iterator[Callable[[], None]]:
    """Somebody in another connection who reads, until told to stop."""
    other = connection.copy("reader")
    reading = other.cursor().execute("SELECT id FROM memory_conceptnode")
    assert reading.fetchone()
    yield other.close
    other.close()


def forgotten(node: ConceptNode) -> Receipt:
    """Delete the node and its line, as one transaction, and say so."""
    with transaction.atomic():
        for evidence in node.evidence.all():
            evidence.message.session.delete()
        OutboxEvent.objects.all().delete()
        ConceptNode.objects.filter(pk=node.pk).delete()
        return receipts.note_erasure(node.persona, "node", {"memory_conceptnode": 1}, NOW)


def in_the_files() -> dict[bytes, list[Path]]:
    words = [WORDS.encode(), b"zebra", b"quilt of", b"Qoloba", b"qoloba"]
    return erasure.traces(erasure.files(connection), words)


def log_size() -> int:
    return erasure.files(connection)[1].stat().st_size


@erases
def test_nothing_is_left_in_the_files_and_what_stays_is_found_as_before(mira: Persona, secret: ConceptNode) -> None:
    def found() -> tuple[Any, ...]:
        with connection.cursor() as cursor:
            bits = "vec_quantize_binary(%s)"
            cursor.execute(
                f"SELECT node_id FROM memory_nodevec WHERE signs MATCH {bits} AND k = 20 AND persona_id = %s",
                [bees.tobytes(), mira.pk],
            )
            by_sign = [node for (node,) in cursor.fetchall() if node != secret.pk]
        held = [one for one in vectors.nearest(mira.pk, bees, 20) if one[0] != secret.pk]
        words = vectors.find_by_terms(mira.pk, ["bee"], 20)["bee"].tolist()
        return by_sign, held, words, vectors.SUBSTRINGS.find(connection, "number 3", 5)

    bees = embedding.embed(["Ana keeps bee number 3."])[0]
    before = found()
    assert in_the_files()
    receipt = forgotten(secret)
    assert in_the_files()
    assert receipts.finish(receipt, NOW)
    assert (in_the_files(), log_size()) == ({}, 0)
    assert (receipt.status, receipt.finished_at, receipt.attempts) == ("done", NOW, 1)
    assert found() == before


@erases
@pytest.mark.usefixtures("impatient")
def test_who_reads_holds_it_up_and_the_job_of_the_minute_ends_it(
    secret: ConceptNode, reader: Callable[[], None]
) -> None:
    receipt = forgotten(secret)
    assert not receipts.finish(receipt, NOW)
    assert (receipt.status, receipt.attempts) == ("pending", 1)
    reader()
    gc.collect()
    another = receipts.note_erasure(secret.persona, "off_record", {}, NOW)  # whose process died before it could finish
    assert schedule.minute()["erased"] == 2
    assert (in_the_files(), log_size()) == ({}, 0)
    another.refresh_from_db()
    assert another.status == "done"
    assert schedule.minute()["erased"] == 0


@erases
def test_a_large_database_is_left_to_a_job(secret: ConceptNode, settings: Any) -> None:
    settings.KNOBS = {"memory.vacuum_at_once_mb": 0}
    receipt = forgotten(secret)
    assert not receipts.finish(receipt, NOW)
    assert [queued.func() for queued in OrmQ.objects.all()] == ["memory.tasks.finish_erasures"]
    assert tasks.finish_erasures() == 1
    assert in_the_files() == {}


@erases
def test_what_is_forgotten_while_another_is_erased_waits_for_the_next(
    secret: ConceptNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def vacuum(*_: Any) -> None:
        receipts.note_erasure(secret.persona, "off_record", {}, NOW)

    receipts.note_erasure(secret.persona, "off_record", {}, NOW)
    monkeypatch.setattr(erasure, "vacuum", vacuum)
    assert receipts.finish_pending(NOW) == 1
    assert sorted(Receipt.objects.values_list("status", flat=True)) == ["done", "pending"]


@pytest.mark.django_db
def test_inside_a_transaction_it_stays_pending(mira: Persona) -> None:
    receipt = receipts.note_erasure(mira, "off_record", {}, NOW)
    assert not receipts.finish(receipt, NOW)
    assert receipts.finish_pending(NOW) == 0
    assert (receipt.status, receipt.attempts) == ("pending", 0)


@erases
def test_a_full_disk_is_told_without_words_and_tried_again(
    mira: Persona, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def vacuum(*_: Any) -> None:
        raise OperationalError(f"database or disk is full: {WORDS}")

    receipt = receipts.note_erasure(mira, "off_record", {}, NOW)
    monkeypatch.setattr(erasure, "vacuum", vacuum)
    with caplog.at_level(logging.WARNING):
        assert not receipts.finish(receipt, NOW)
    assert (receipt.status, receipt.attempts) == ("pending", 1)
    assert str(receipt.pk) in caplog.text
    assert "zebra" not in caplog.text


@erases
def test_what_this_process_holds_of_the_persona_is_let_go(
    mira: Persona, otto: Persona, remember: Remember, secret: ConceptNode
) -> None:
    remember(otto, "Ben fishes.")
    for persona in (mira, otto):
        snapshot.prepare(persona.pk)
        vectors.nearest(persona.pk, embedding.embed([WORDS])[0], 3)
    assert vectors.cached_persona_ids() == [mira.pk, otto.pk]
    word_caches.clear(mira.pk)
    assert (vectors.cached_persona_ids(), snapshot.of(mira.pk)) == ([otto.pk], None)
    assert snapshot.of(otto.pk) is not None
    assert embedding._recent_vectors.recall(embedding.name(), WORDS) is None


@erases
def test_a_persona_that_another_process_deleted_is_let_go_after_the_next_turn_of_anybody(
    mira: Persona, otto: Persona, secret: ConceptNode
) -> None:
    snapshot.prepare(mira.pk)
    vectors.nearest(mira.pk, embedding.embed([WORDS])[0], 3)
    Persona.objects.filter(pk=mira.pk).delete()
    snapshot.prepare(otto.pk)
    assert mira.pk not in vectors.cached_persona_ids()
    assert mira.pk not in set(snapshot._cache.keys())
