"""Requests for the slow cycle: a session that has ended requests a run, and enqueues its job."""

from datetime import datetime, timedelta

from django.db.models import Q
from django_q.tasks import async_task

from chat.models import Session
from echovessel.jobs import runner
from memory import knobs
from memory.models import ConceptNode, SlowCycle
from memory.models.node import NodeQuerySet
from persona.models import Persona


def request_run(session: Session, now: datetime) -> bool:
    """Request a slow cycle about the session's new events, as soon as the gate allows it; False if there are none. Call
    in the transaction that closes the session: the job is queued with it."""
    requested = note_request(session.persona, session, now)
    if requested:
        enqueue(SlowCycle(pk=session.persona_id))
    return requested


def note_request(persona: Persona, session: Session | None, now: datetime) -> bool:
    """Store the request with the session that made it; False if there are no new events.

    A new event may be too heavy to wait for: the request ends a rest, but no pause after a failure.
    """
    cycle, _is_new = SlowCycle.objects.get_or_create(persona=persona)
    if not fresh_events(cycle, now).exists():
        return False
    row = SlowCycle.objects.filter(pk=cycle.pk)
    row.update(requested_at=now, requested_by=session)
    row.filter(holder="", attempts=0).update(lease_until=None)
    return True


def clear_request(cycle: SlowCycle) -> None:
    """Clear the request, unless it was made again since `cycle` was read. Call in the transaction that releases the
    lease."""
    SlowCycle.objects.filter(pk=cycle.pk, requested_at=cycle.requested_at).update(requested_at=None, requested_by=None)


def requeue_stale(now: datetime) -> int:
    """Enqueue waiting slow cycles; returns how many."""
    requested = SlowCycle.objects.exclude(requested_at=None)
    return runner.requeue_stale(
        requested, SlowCycle.objects.waiting(now).order_by("requested_at", "pk"), enqueue=enqueue
    )


def enqueue(cycle: SlowCycle) -> None:
    async_task("memory.tasks.slow_cycle", cycle.pk)


def fresh_events(cycle: SlowCycle, now: datetime) -> NodeQuerySet:
    """The recallable events after the last run's watermark, oldest first. Events older than some days count only after
    the first run, and only if they were not imported."""
    events = ConceptNode.objects.filter(persona=cycle.persona_id, kind=ConceptNode.Kind.EVENT).recallable()
    condition = Q(created_at__gte=now - timedelta(days=knobs.slow_cycle_first_days()))
    if cycle.through:
        condition |= Q(import_uuid=None)
    return events.filter(condition, pk__gt=cycle.through).order_by("pk")
