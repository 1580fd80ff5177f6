"""Consolidates imported sessions like any closed ones, oldest first, for a slice of time.

Live sessions do not wait for years of imported ones: after the slice the import gives way to other jobs, and
`requeue_stale` of ordinary sessions leaves imported ones to the import. A session that fails stays failed, with its
reason, and the next one follows; one that has to wait (for a budget, or an unavailable model) holds up the others,
which would wait as well.
"""

from datetime import datetime

from django.db import transaction

from echovessel.jobs.lease import reclaim_dead
from memory.consolidation import runner
from memory.consolidation.runner import Outcome
from memory.imports import summary
from memory.imports.leases import ImportLease
from memory.imports.unread import next_of, unread_sessions, waits_until


def remember(lease: ImportLease, until: datetime) -> bool:
    """Consolidate until `until`; True if no session is left, False if the slice is over or the next one has to wait
    (`unread.waits_until`). Raises LeaseLost.

    No transaction may be open, because models and the embedder are called.
    """
    reclaim_dead(unread_sessions(lease.row))
    while session := next_of(lease.row):
        if waits_until(lease.row, lease.clock()):
            return False
        outcome = runner.run(session.pk, lease.clock)
        with transaction.atomic():
            lease.checkpoint()
            summary.publish_progress(lease)
        if outcome == Outcome.NOT_MINE or lease.clock() >= until:
            break
    return not unread_sessions(lease.row).exists()
