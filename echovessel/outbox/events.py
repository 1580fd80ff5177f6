"""The single door to browsers and streams: publish what lasts, broadcast what does not."""

from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from echovessel.outbox import hub, log
from echovessel.outbox.log import Frame
from echovessel.outbox.models import OutboxEvent


def publish(stream: UUID, name: str, **data: Any) -> OutboxEvent:
    """Write a durable event; sockets get it when the surrounding transaction commits."""
    event = log.append(stream, name, data)
    transaction.on_commit(hub.wake)
    return event


def broadcast(stream: UUID, name: str, **data: Any) -> None:
    """Offer an ephemeral event to the sockets of this process. Call it from the event loop."""
    hub.get_hub().broadcast(stream, Frame(name, data, timezone.now()))
