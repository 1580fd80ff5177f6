"""The jobs of memory. The queue carries ids only; each job claims its session in the database first, so that one
that is delivered twice does nothing the second time."""

from datetime import datetime
from itertools import chain, islice

from django.db.models import Q
from django.utils import timezone
from django_q.tasks import queue_size

from chat import closing
from chat.models import Session
from memory import claims, knobs
from memory.consolidation import runner
from memory.forgetting import finishing
from memory.importing import running as importing
from memory.models import ImportJob
from memory.slow_cycle import running


def consolidate_session(session_id: int) -> str:
    """Take one closing session to its end, or read an open one as far as it goes; returns what became of it."""
    return str(runner.run(session_id))


def slow_cycle(persona_id: int) -> str:
    """Have the persona think about what is new, where she may; returns what became of it."""
    return str(running.run(persona_id))


def import_file(job_id: int) -> str:
    """Take what somebody brought a step further; returns what became of it."""
    return str(importing.run(job_id, slice_seconds=knobs.import_slice_seconds()))


def finish_erasures() -> int:
    """Erase what was forgotten in a database too large to do so at once; returns how many receipts are done by it."""
    return finishing.finish_pending(timezone.now())


def erase_refused() -> bool:
    """Erase the bytes of lines that were refused, in a database too large to do so at once."""
    return finishing.erase_now()


def sweep(now: datetime) -> int:
    """Queue the sessions that wait: whose pause is over, or whose worker is gone, closing ones before those that are to
    be read early, and both before talks from elsewhere; returns how many. Those of an import that is at work, or is
    being cancelled, are the import's own.

    It fills the queue up to a bound only, so that a slow worker is not buried in repetitions.
    """
    claims.free_from_the_dead(Session.objects.all())
    room = max(0, knobs.queue_room() - queue_size())
    waiting = Session.objects.without_turn_in_flight().order_by("closed_at", "id")
    from_elsewhere = Q(close_reason=Session.CloseReason.IMPORT)
    being_erased = Q(status=ImportJob.Status.CANCELLED, finished_at=None)
    theirs = ImportJob.objects.filter(Q(status__in=ImportJob.AT_WORK) | being_erased).values("uuid")
    each = (
        waiting.to_consolidate(now).exclude(from_elsewhere),
        waiting.to_read_early(now),
        waiting.to_consolidate(now).filter(from_elsewhere).exclude(import_uuid__in=theirs),
    )
    found = list(islice(chain.from_iterable(sessions[:room] for sessions in each), room))
    for session in found:
        closing.hand_over(session)
    return len(found)
