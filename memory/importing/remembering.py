"""Remembering what was imported: its talks are read like any that has ended, the oldest first, for a slice of time.

What is said meanwhile does not wait for years of talk: after the slice the import lets others have the worker, and the
sweep of ordinary talks leaves these to it. A talk that cannot be read stays failed, with its reason, and the next one
is read; one that has to wait (for a budget, for a model out of reach) holds up those after it: they would wait as well.
"""

from datetime import datetime

from django.db import transaction

from memory.claims import free_from_the_dead
from memory.consolidation import runner
from memory.consolidation.runner import Outcome
from memory.importing import telling
from memory.importing.claims import Claim
from memory.importing.unread import next_of, unread, waits_until


def remember(claim: Claim, until: datetime) -> bool:
    """Read the talks till `until`; True where none is left unread. False where the slice is over, or the next one has
    to wait (`unread.waits_until`). Raises Lost.

    No transaction may be open: models and the embedder work in here.
    """
    free_from_the_dead(unread(claim.job))
    while session := next_of(claim.job):
        if waits_until(claim.job, claim.clock()):
            return False
        outcome = runner.run(session.pk, claim.clock)
        _note_progress(claim)
        if outcome == Outcome.NOT_MINE or claim.clock() >= until:
            break
    return not unread(claim.job).exists()


def _note_progress(claim: Claim) -> None:
    with transaction.atomic():
        claim.forward()
        telling.publish_progress(claim)
