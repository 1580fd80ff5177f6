"""The hub of one server process: what is published reaches the sockets that subscribed.

Durable events come from the table, whoever wrote them, by one task that tails it: woken at once by a commit in
this process, and within `outbox.poll_seconds` by one in another. Ephemeral ones (tokens) are offered directly.
"""

import asyncio
import contextlib
import logging
import weakref
from collections import deque
from collections.abc import Collection
from uuid import UUID

from echovessel.outbox import knobs, log
from echovessel.outbox.log import Frame
from echovessel.process import redaction
from echovessel.process.threads import in_thread

logger = logging.getLogger(__name__)


class Subscription:
    """The frames of some streams on their way to one socket, bounded: a reader too slow is told so."""

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
        """The next frame. When `overflowed` is set, frames before it were dropped: replay, then clear the mark."""
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
        self._seen = 0
        self._reading = asyncio.Lock()
        self._asked = self._answered = 0
        self._joining = asyncio.Lock()

    async def subscribe(self, *streams: UUID) -> Subscription:
        """Frames of these streams from now on, in one order. Give it back with `unsubscribe`."""
        async with self._joining:
            if not self._subscriptions:
                self._seen = await in_thread(log.last_id)
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
        """Deliver every durable event that is committed now, in order, once."""
        self._asked += 1
        mine = self._asked
        async with self._reading:
            if not self._subscriptions or self._answered >= mine:
                return  # somebody has read since we asked
            answering = self._asked
            while rows := await in_thread(log.after, self._seen):
                for stream, frame in rows:
                    self.broadcast(stream, frame)
                    self._seen = frame.id or self._seen
                if len(rows) < log.MOST_AT_ONCE:
                    break
            self._answered = answering

    def wake_threadsafe(self) -> None:
        loop = self._loop()
        if loop is not None and not loop.is_closed():
            with contextlib.suppress(RuntimeError):  # the loop may close between the question and the call
                loop.call_soon_threadsafe(self._news.set)

    async def _follow(self) -> None:
        while True:
            try:
                await self.catch_up()
            except Exception as error:  # noqa: BLE001  (the edge of a job: without it every page here would go deaf)
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
    """Tell every hub of this process, from any thread, that the table has news."""
    for found in tuple(_hubs.values()):
        found.wake_threadsafe()
