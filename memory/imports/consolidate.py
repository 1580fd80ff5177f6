"""Remembering what was imported: its talks are read like any that has ended, the oldest first, for a slice of time.

What is said meanwhile does not wait for years of talk: after the slice the import lets others have the worker, and the
sweep of ordinary talks leaves these to it. A talk that cannot be read stays failed, with its reason, and the next one
is read; one that has to wait (for a budget, for a model out of reach) holds up those after it: they would wait as well.
"""

from datetime import datetime

from django.db import transaction

from echovessel.jobs.lease import reclaim_dead
from memory.consolidation import runner
from memory.consolidation.runner import Outcome
from memory.imports import summary
from memory.imports.leases import ImportLease
from memory.imports.unread import next_of, unread, waits_until


def remember(lease: ImportLease, until: datetime) -> bool:
    """Read the talks till `until`; True where none is left unread. False where the slice is over, or the next one has
    to wait (`unread.waits_until`). Raises LeaseLost.

    No transaction may be open: models and the embedder work in here.
    """
    reclaim_dead(unread(lease.row))
    while session := next_of(lease.row):
        if waits_until(lease.row, lease.clock()):
            return False
        outcome = runner.run(session.pk, lease.clock)
        _note_progress(lease)
        if outcome == Outcome.NOT_MINE or lease.clock() >= until:
            break
    return not unread(lease.row).exists()


def _note_progress(lease: ImportLease) -> None:
    with transaction.atomic():
        lease.checkpoint()
        summary.publish_progress(lease)
