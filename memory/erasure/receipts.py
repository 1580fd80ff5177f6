"""After forgetting is committed: erase the bytes from the file and its log, the arrays and caches from memory.

A receipt is pending until the whole file was rewritten and its log emptied: immediately if the file is small, else by a
job. If that fails (a reader is active, the disk is full, the process died), the job of every minute does it; one
rewrite serves all receipts that existed when it began.

A receipt stores fingerprints of forgotten text, by which traces of it are found without knowing it: keyed digests of
eight consecutive words. Without the installation's key no text can be tried against them, and a text of less than eight
words leaves none.
"""

import hashlib
import logging
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice

from django.conf import settings
from django.db import OperationalError, connection
from django.db.models import F
from django_q.tasks import async_task

from echovessel.db.sqlite import erasure
from echovessel.language import tokenizer
from echovessel.process import word_caches
from echovessel.process.redaction import format_exception
from memory import knobs
from memory.models import Receipt
from persona.models import Persona

logger = logging.getLogger(__name__)

WINDOW = 8
MAX_FINGERPRINTS = 200
_BYTES = 8
_PENDING, _DONE = Receipt.Status.PENDING, Receipt.Status.DONE


def fingerprints_of(texts: Iterable[str], excluded_texts: Iterable[str] = ()) -> list[str]:
    """At most 200 fingerprints, taken evenly from these texts, without those of `excluded_texts`."""
    excluded = {key for text in excluded_texts for key in fingerprints_in(tokenizer.tokenize(text))}
    fingerprints = dict.fromkeys(
        key for text in texts for key in fingerprints_in(tokenizer.tokenize(text)) if key not in excluded
    )
    step = -(-len(fingerprints) // MAX_FINGERPRINTS) or 1
    return list(fingerprints)[::step]


def fingerprints_in(tokens: list[str]) -> Iterator[str]:
    """The fingerprint of each window of eight words of a tokenized text."""
    key = hashlib.sha256(f"memory.forgetting.prints {settings.TOMBSTONE_KEY}".encode()).digest()
    for window in zip(*(islice(tokens, first, None) for first in range(WINDOW)), strict=False):
        yield hashlib.blake2b(" ".join(window).encode(), key=key, digest_size=_BYTES).hexdigest()


def finish(receipt: Receipt, now: datetime) -> bool:
    """Erase the bytes of the rows that `receipt` reports. False if it stays pending: the database is large and a job
    does it, or it cannot be done now and the job of every minute does it. Nothing can be erased inside a
    transaction."""
    word_caches.clear(receipt.persona_id)
    if connection.in_atomic_block:
        return False
    if erasure.size_mb(connection) > knobs.vacuum_at_once_mb():
        async_task("memory.tasks.finish_erasures")
        return False
    finish_pending(now)
    receipt.refresh_from_db(fields=["status", "finished_at", "attempts"])
    return receipt.status == _DONE


def finish_pending(now: datetime) -> int:
    """Erase the bytes for all pending receipts; returns how many are finished."""
    pending = dict(Receipt.objects.filter(status=_PENDING).values_list("pk", "persona"))
    if not pending or connection.in_atomic_block:
        return 0
    for persona_id in set(pending.values()):
        word_caches.clear(persona_id)
    receipts = Receipt.objects.filter(pk__in=pending, status=_PENDING)
    if not _erase_bytes(list(pending)):
        receipts.update(attempts=F("attempts") + 1)
        return 0
    is_finished = receipts.update(status=_DONE, finished_at=now, attempts=F("attempts") + 1)
    erasure.checkpoint(connection)  # only for this update, so that the log is left empty
    return is_finished


def erase_refused(*, was_refused: bool) -> bool:
    """Erase the bytes of a file that was read and deleted: nothing of refused messages may be left in the write-ahead
    log or between the rows. False if a job does it, or a reader is active all the time; then the next job that empties
    the log does it. Nothing can be erased inside a transaction."""
    if connection.in_atomic_block:
        return False
    if was_refused and erasure.size_mb(connection) > knobs.vacuum_at_once_mb():
        async_task("memory.tasks.erase_refused")
        return erasure.checkpoint(connection)
    return _erase_bytes([]) if was_refused else erasure.checkpoint(connection)


def rewrite_database() -> bool:
    """Rewrite every page and empty the log; False if it cannot be done now."""
    return not connection.in_atomic_block and _erase_bytes([])


def note_erasure(persona: Persona, kind: str, counts: Mapping[str, int], now: datetime) -> Receipt:
    """A receipt for a deletion without a plan, such as of a session off the record. Call it in the transaction that
    deletes, and `finish` after it."""
    return Receipt.objects.create(
        persona=persona,
        persona_uuid=persona.uuid,
        owner_id=persona.owner_id,
        targets=[[kind, str(persona.uuid)]],
        counts=dict(counts),
        at=now,
    )


def _erase_bytes(receipts: list[int]) -> bool:
    try:
        erasure.vacuum(connection, knobs.vacuum_at_once_mb())
        is_log_empty = erasure.checkpoint(connection)
    except OperationalError as error:
        logger.warning("receipts %s stay pending: %s", receipts or "of no forgetting", format_exception(error))
        return False
    if not is_log_empty:
        logger.info("receipts %s stay pending: somebody is reading", receipts)
    return is_log_empty
