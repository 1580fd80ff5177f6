"""Sends long answers only as fast as they are read: daphne itself buffers everything in memory.

Measured for a socket (2026-11): a reader that does not read took daphne from 77 to 477 MB. Twisted, on which daphne is
built, reports a full buffer to the registered producer of an answer; this module registers one. With another server,
which applies backpressure itself, nothing is added.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

logger = logging.getLogger(__name__)

STALLED_AFTER_SECONDS = 60

Send = Callable[[Any], Awaitable[None]]


class FlowControlledSend:
    """`send` for one answer, which waits while the reader is behind. Also a push producer as defined by twisted."""

    def __init__(self, send: Send, answer: Any) -> None:
        self._send, self._answer = send, answer
        self._room = asyncio.Event()
        self._room.set()
        self._registered = False

    async def __call__(self, message: Any) -> None:
        is_last = message["type"] != "http.response.start" and not message.get("more_body", False)
        if is_last:
            if self._registered and self._answer.channel is not None:
                self._answer.unregisterProducer()
            self._registered = False
        elif message["type"] == "http.response.body":
            if not self._registered and self._answer.channel is not None:
                self._answer.registerProducer(self, True)
                self._registered = True
            # A reader that takes nothing for this long is gone, or is an attacker.
            try:
                await asyncio.wait_for(self._room.wait(), STALLED_AFTER_SECONDS)
            except TimeoutError:
                logger.warning("a reader took nothing for %s seconds; its connection is closed", STALLED_AFTER_SECONDS)
                self._answer.transport.abortConnection()
        await self._send(message)

    def pauseProducing(self) -> None:  # noqa: N802  (twisted's names)
        """The buffer is full."""
        self._room.clear()

    def resumeProducing(self) -> None:  # noqa: N802
        """There is room again."""
        self._room.set()

    def stopProducing(self) -> None:  # noqa: N802
        """The connection is closed; whatever is sent now is dropped."""
        self._room.set()


def with_flow_control(send: Send) -> Send:
    """`send` with flow control if it is daphne's: a partial whose first argument is twisted's request."""
    answer = next(iter(getattr(send, "args", ())), None)
    return FlowControlledSend(send, answer) if hasattr(answer, "registerProducer") else send
