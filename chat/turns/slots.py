"""How many things of one owner may run at a time in this process: open streams, requests that wait for a reply."""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class NoSlotFree(Exception):
    """All slots are taken, and the queue is full or the wait was too long."""


class Slots:
    """Counts by owner."""

    def __init__(self) -> None:
        self._taken: Counter[int] = Counter()
        self._queues: defaultdict[int, deque[asyncio.Future[None]]] = defaultdict(deque)

    @contextmanager
    def hold(self, owner_id: int, limit: int) -> Iterator[None]:
        """Hold one of `limit` slots while the block runs. Raises NoSlotFree."""
        if self._taken[owner_id] >= limit:
            raise NoSlotFree
        self._taken[owner_id] += 1
        try:
            yield
        finally:
            self._release(owner_id)

    @asynccontextmanager
    async def wait_and_hold(
        self, owner_id: int, limit: int, *, queue_limit: int, wait_seconds: float
    ) -> AsyncIterator[None]:
        """Hold one of `limit` slots; if none is free, wait for the next one, first come first served. Raises NoSlotFree
        if `queue_limit` wait already, or if none becomes free within `patience_seconds`."""
        if self._taken[owner_id] < limit:
            self._taken[owner_id] += 1
        else:
            # Wait until a slot is handed over.
            queue = self._queues[owner_id]
            if len(queue) >= queue_limit:
                raise NoSlotFree
            slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            queue.append(slot)
            try:
                async with asyncio.timeout(wait_seconds):
                    await asyncio.shield(slot)
            except BaseException as error:
                if slot.done():
                    self._release(owner_id)  # the slot came at the moment of the timeout
                else:
                    queue.remove(slot)
                if isinstance(error, TimeoutError):
                    raise NoSlotFree from error
                raise
        try:
            yield
        finally:
            self._release(owner_id)

    def _release(self, owner_id: int) -> None:
        """Hand the slot to the one that has waited longest, or count it as free."""
        queue = self._queues.get(owner_id)
        if queue:
            queue.popleft().set_result(None)
            return
        self._queues.pop(owner_id, None)
        self._taken[owner_id] -= 1
        if not self._taken[owner_id]:
            del self._taken[owner_id]
