"""The table of durable events: append, read on from an id, prune."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db.models import Max
from django.utils import timezone

from echovessel.db.compiled_queries import Query, insert
from echovessel.outbox import knobs
from echovessel.outbox.models import OutboxEvent

MOST_AT_ONCE = 1_000

_after: Query[OutboxEvent] = Query(lambda last: OutboxEvent.objects.filter(id__gt=last)[:MOST_AT_ONCE])
_after_in: Query[OutboxEvent] = Query(
    lambda last, stream: OutboxEvent.objects.filter(id__gt=last, stream=stream)[:MOST_AT_ONCE]
)


@dataclass(frozen=True)
class Frame:
    """One event as a socket sends it; `id` is None when it is ephemeral."""

    event: str
    data: dict[str, Any]
    at: datetime
    id: int | None = None

    def as_json(self) -> dict[str, Any]:
        return {"event": self.event, "id": self.id, "at": self.at.isoformat(), "data": self.data}


def append(stream: UUID, name: str, data: dict[str, Any]) -> OutboxEvent:
    event = OutboxEvent(stream=stream, name=name, data=data, at=timezone.now())
    insert(event)
    return event


def after(last_id: int, stream: UUID | None = None) -> list[tuple[UUID, Frame]]:
    """The events that follow `last_id`, oldest first, each with its stream; at most MOST_AT_ONCE."""
    found = _after(last_id) if stream is None else _after_in(last_id, stream)
    return [(event.stream, Frame(event.name, event.data, event.at, event.id)) for event in found]


def last_id(stream: UUID | None = None) -> int:
    """The id of the newest event, or 0."""
    found = OutboxEvent.objects.all() if stream is None else OutboxEvent.objects.filter(stream=stream)
    return found.aggregate(last=Max("id"))["last"] or 0


def holds(event_id: int, stream: UUID) -> bool:
    """Whether this event of `stream` is still kept; when not, what followed it may be gone, too."""
    return OutboxEvent.objects.filter(id=event_id, stream=stream).exists()


def prune(now: datetime) -> int:
    """Delete what is older than the knob allows; return how many rows went."""
    return OutboxEvent.objects.filter(at__lt=now - timedelta(days=knobs.keep_days())).delete()[0]
