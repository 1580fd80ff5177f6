"""Events to browsers and streams: `publish` for durable ones, `broadcast` for ephemeral ones.

Durable events are rows of a table, written in the transaction that makes them true. The hub of each server process
passes them to subscribed sockets, whichever process wrote them, with one task that tails the table: it is woken
immediately by a commit in this process, and within `outbox.poll_seconds` by one in another. Ephemeral events (tokens)
are offered directly.
"""

import asyncio
import contextlib
import logging
import weakref
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from echovessel.db.compiled_queries import Query, insert
from echovessel.outbox import knobs
from echovessel.outbox.models import OutboxEvent
from echovessel.process import redaction
from echovessel.process.threads import in_thread

# Events read together: each may have tens of kilobytes, several times over while it is sent to each reader.
MAX_AT_ONCE = 200

_after: Query[OutboxEvent] = Query(lambda last: OutboxEvent.objects.filter(id__gt=last)[:MAX_AT_ONCE])
_after_in: Query[OutboxEvent] = Query(
    lambda last, stream: OutboxEvent.objects.filter(id__gt=last, stream=stream)[:MAX_AT_ONCE]
)


@dataclass(frozen=True)
class Frame:
    """One event as a socket sends it; `id` is None for an ephemeral event."""

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
    """The events after `last_id`, oldest first, each with its stream; at most MAX_AT_ONCE."""
    events = _after(last_id) if stream is None else _after_in(last_id, stream)
    return [(event.stream, Frame(event.name, event.data, event.at, event.id)) for event in events]


def last_id(stream: UUID | None = None) -> int:
    """The id of the newest event, or 0."""
    events = OutboxEvent.objects.all() if stream is None else OutboxEvent.objects.filter(stream=stream)
    return events.aggregate(last=Max("id"))["last"] or 0


def holds(event_id: int, stream: UUID) -> bool:
    """Whether this event of `stream` is still stored; if not, later events may have been deleted too."""
    return OutboxEvent.objects.filter(id=event_id, stream=stream).exists()


def prune(now: datetime) -> int:
    """Delete events older than the knob allows; return how many rows were deleted."""
    return OutboxEvent.objects.filter(at__lt=now - timedelta(days=knobs.keep_days())).delete()[0]


# --- the hub of a process ---
logger = logging.getLogger(__name__)


class Subscription:
    """The queue of frames for one socket. It is bounded: if the reader is too slow, `overflowed` is set."""

    def __init__(self, streams: Collection[UUID], limit: int) -> None:
        self.streams = streams
        self.limit = limit
        self.overflowed = False
        self._frames: deque[Frame] = deque()
        self._ready = asyncio.Event()

    def offer(self, frame: Frame) -> None:
        if len(self._frames) >= self.limit:
            self._frames.clear()
            self.overflowed = True
        self._frames.append(frame)
        self._ready.set()

    async def take(self) -> Frame:
        """The next frame. If `overflowed` is set, frames before it were dropped: replay, then clear the mark."""
        while not self._frames:
            self._ready.clear()
            await self._ready.wait()
        return self._frames.popleft()


class Hub:
    """The subscriptions of one event loop, and the task that tails the table for them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = weakref.ref(loop)
        self._subscriptions: dict[UUID, set[Subscription]] = {}
        self._news = asyncio.Event()
        self._tail: asyncio.Task[None] | None = None
        self._last_seen_id = 0
        self._read_lock = asyncio.Lock()
        self._requested = self._completed = 0
        self._subscribe_lock = asyncio.Lock()

    async def subscribe(self, *streams: UUID) -> Subscription:
        """Subscribe to these streams from now on, in one order. End it with `unsubscribe`."""
        async with self._subscribe_lock:
            if not self._subscriptions:
                self._last_seen_id = await in_thread(last_id)
            if self._tail is None or self._tail.done():
                self._tail = asyncio.create_task(self._follow(), name="outbox-tail")
            subscription = Subscription(streams, knobs.queue_length())
            for stream in streams:
                self._subscriptions.setdefault(stream, set()).add(subscription)
            return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        for stream in subscription.streams:
            remaining = self._subscriptions.get(stream, set())
            remaining.discard(subscription)
            if not remaining:
                self._subscriptions.pop(stream, None)
        if not self._subscriptions and self._tail is not None:
            self._tail.cancel()
            self._tail = None

    def broadcast(self, stream: UUID, frame: Frame) -> None:
        for subscription in tuple(self._subscriptions.get(stream, ())):
            subscription.offer(frame)

    async def catch_up(self) -> None:
        """Deliver every durable event committed so far, in order and once."""
        self._requested += 1
        request_number = self._requested
        async with self._read_lock:
            if not self._subscriptions or self._completed >= request_number:
                return  # another task has read the table since this call
            answering = self._requested
            while rows := await in_thread(after, self._last_seen_id):
                for stream, frame in rows:
                    self.broadcast(stream, frame)
                    self._last_seen_id = frame.id or self._last_seen_id
                if len(rows) < MAX_AT_ONCE:
                    break
            self._completed = answering

    def wake_threadsafe(self) -> None:
        loop = self._loop()
        if loop is not None and not loop.is_closed():
            with contextlib.suppress(RuntimeError):  # the loop may close between the check and the call
                loop.call_soon_threadsafe(self._news.set)

    async def _follow(self) -> None:
        while True:
            try:
                await self.catch_up()
            except Exception as error:  # noqa: BLE001  (the task must survive: pages get no events without it)
                logger.error("the event log could not be read; trying again: %s", redaction.format_exception(error))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), knobs.poll_seconds())
            self._news.clear()


_hubs: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Hub]" = weakref.WeakKeyDictionary()


def get_hub() -> Hub:
    """The hub of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(loop)
    return _hubs[loop]


def wake() -> None:
    """Wake every hub of this process, from any thread: the table has new events."""
    for hub in tuple(_hubs.values()):
        hub.wake_threadsafe()


def publish(stream: UUID, name: str, **data: Any) -> OutboxEvent:
    """Write a durable event; sockets get it when the surrounding transaction commits."""
    event = append(stream, name, data)
    transaction.on_commit(wake)
    return event


def broadcast(stream: UUID, name: str, **data: Any) -> None:
    """Offer an ephemeral event to the sockets of this process. Call it from the event loop."""
    get_hub().broadcast(stream, Frame(name, data, timezone.now()))
