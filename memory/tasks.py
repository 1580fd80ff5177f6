"""The jobs of memory. The queue carries ids only; each job claims its session in the database first, so that one
that is delivered twice does nothing the second time."""

from datetime import datetime

from django_q.tasks import queue_size

from chat import closing
from chat.models import Session
from memory import knobs
from memory.consolidation import runner


def consolidate_session(session_id: int) -> str:
    """Take one closing session to its end; returns what became of it."""
    return str(runner.run(session_id))


def sweep(now: datetime) -> int:
    """Queue the sessions that wait: whose pause is over, or whose worker is gone; returns how many.

    It fills the queue up to a bound only, so that a slow worker is not buried in repetitions.
    """
    room = max(0, knobs.queue_room() - queue_size())
    waiting = Session.objects.to_consolidate(now).without_turn_in_flight().order_by("closed_at", "id")
    found = list(waiting[:room])
    for session in found:
        closing.hand_over(session)
    return len(found)
