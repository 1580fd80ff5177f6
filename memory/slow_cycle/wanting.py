"""Wanting: a talk that has ended leaves the wish to think about it, and a job that does so."""

from datetime import datetime

from django_q.tasks import async_task, queue_size

from chat.models import Session
from memory import knobs
from memory.claims import free_from_the_dead
from memory.models import SlowCycle
from memory.slow_cycle.fresh import fresh_events
from persona.models import Persona

JOB = "memory.tasks.slow_cycle"


def want(session: Session, now: datetime) -> bool:
    """Have her think about what the talk left, as soon as she may; False where it left nothing new. Call in the
    transaction that closes the session: the job is queued with it.

    Something new may be too heavy to wait for: a rest is not kept from being looked at again, a pause after a fault is.
    """
    if not wish(session.persona, session, now):
        return False
    async_task(JOB, session.persona_id)
    return True


def wish(persona: Persona, session: Session | None, now: datetime) -> bool:
    """Note that there is something to think about, and which talk brought it; False where nothing is new."""
    cycle, _made = SlowCycle.objects.get_or_create(persona=persona)
    if not fresh_events(cycle, now).exists():
        return False
    mine = SlowCycle.objects.filter(pk=cycle.pk)
    mine.update(wanted_at=now, wanted_by=session)
    mine.filter(holder="", attempts=0).update(lease_until=None)
    return True


def sweep(now: datetime) -> int:
    """Queue those that wait, whose rest or pause is over, or whose worker is gone; returns how many. It fills the queue
    up to a bound only; where nothing waits it costs two small queries."""
    free_from_the_dead(SlowCycle.objects.exclude(wanted_at=None))
    waiting = SlowCycle.objects.waiting(now).order_by("wanted_at", "pk").values_list("pk", flat=True)
    found = list(waiting[: knobs.queue_room()])
    room = max(0, knobs.queue_room() - queue_size()) if found else 0
    for persona_id in found[:room]:
        async_task(JOB, persona_id)
    return len(found[:room])
