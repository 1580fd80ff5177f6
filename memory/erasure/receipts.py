"""After a forgetting is committed: the bytes go from the file and its log, the arrays and caches from memory.

A receipt is pending until the whole file was written anew and its log emptied. That is done together where the file is
small, else by a job; whatever did not come to it (somebody was reading, the disk was full, the process died) is done by
the job of every minute, and one writing serves all receipts that were there when it began.

A receipt keeps fingerprints of forgotten text, by which it is known again though nobody knows what it was: keyed
digests of eight words that followed each other. Without the installation's key no text can be tried against them, and a
text of less than eight words leaves none.
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


def fingerprints_of(texts: Iterable[str], but: Iterable[str] = ()) -> list[str]:
    """At most 200 fingerprints, taken evenly from these texts, without those of a text of `but`."""
    kept_keys = {key for text in but for key in fingerprints_in(tokenizer.tokenize(text))}
    new_keys = dict.fromkeys(
        key for text in texts for key in fingerprints_in(tokenizer.tokenize(text)) if key not in kept_keys
    )
    step = -(-len(new_keys) // MAX_FINGERPRINTS) or 1
    return list(new_keys)[::step]


def fingerprints_in(tokens: list[str]) -> Iterator[str]:
    """The fingerprint of each window of eight words of a tokenized text."""
    key = hashlib.sha256(f"memory.forgetting.prints {settings.TOMBSTONE_KEY}".encode()).digest()
    for window in zip(*(islice(tokens, first, None) for first in range(WINDOW)), strict=False):
        yield hashlib.blake2b(" ".join(window).encode(), key=key, digest_size=_BYTES).hexdigest()


def finish(receipt: Receipt, now: datetime) -> bool:
    """Erase the bytes of what `receipt` tells. False where it stays pending: the database is large, and a job does it;
    or it cannot be done now, and the job of every minute does. Inside a transaction nothing can be erased."""
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
    """Erase the bytes of all that was forgotten and is pending; returns how many receipts are done by it."""
    pending = dict(Receipt.objects.filter(status=_PENDING).values_list("pk", "persona"))
    if not pending or connection.in_atomic_block:
        return 0
    for persona_id in set(pending.values()):
        word_caches.clear(persona_id)
    receipts = Receipt.objects.filter(pk__in=pending, status=_PENDING)
    if not _erased(list(pending)):
        receipts.update(attempts=F("attempts") + 1)
        return 0
    is_finished = receipts.update(status=_DONE, finished_at=now, attempts=F("attempts") + 1)
    erasure.checkpoint(connection)  # of this note alone, so that the log is left empty
    return is_finished


def erase_refused(*, was_refused: bool) -> bool:
    """Erase the bytes of a file that was read and is gone: of messages that were refused, nothing may be left in the
    write-ahead log, nor between the rows. False where a job does it, or somebody reads all the while; then whatever
    empties the log next does. Inside a transaction nothing can be erased."""
    if connection.in_atomic_block:
        return False
    if was_refused and erasure.size_mb(connection) > knobs.vacuum_at_once_mb():
        async_task("memory.tasks.erase_refused")
        return erasure.checkpoint(connection)
    return _erased([]) if was_refused else erasure.checkpoint(connection)


def erase_now() -> bool:
    """Write every page anew, and empty the log; False where it cannot be done now."""
    return not connection.in_atomic_block and _erased([])


def note_erasure(persona: Persona, kind: str, counts: Mapping[str, int], now: datetime) -> Receipt:
    """A receipt for what is deleted without a plan, such as a session off the record. Call it in the transaction that
    deletes, and `finish` after it."""
    return Receipt.objects.create(
        persona=persona,
        persona_uuid=persona.uuid,
        owner_id=persona.owner_id,
        targets=[[kind, str(persona.uuid)]],
        counts=dict(counts),
        at=now,
    )


def _erased(receipts: list[int]) -> bool:
    try:
        erasure.vacuum(connection, knobs.vacuum_at_once_mb())
        empty = erasure.checkpoint(connection)
    except OperationalError as error:
        logger.warning("receipts %s stay pending: %s", receipts or "of no forgetting", format_exception(error))
        return False
    if not empty:
        logger.info("receipts %s stay pending: somebody is reading", receipts)
    return empty
