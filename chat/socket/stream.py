"""The events of one persona as frames: the missed ones, then the live ones, without a gap and each once."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, TypeVar

from django.utils import timezone

from chat import knobs
from chat.turns import runner
from echovessel.outbox import events
from echovessel.outbox.events import Frame
from echovessel.process.threads import in_thread
from echovessel.web import access_revocation
from echovessel.web.admission import Login
from persona.models import Persona

T = TypeVar("T")

ENDINGS = ("chat.message.done", "chat.turn.failed")


class SeenFrames:
    """What one reader has received, to tell which frames are new to it."""

    def __init__(self, last_id: int) -> None:
        self.last_id = last_id
        self._seq: dict[str, int] = {}
        self._ended = ""

    def is_new(self, frame: Frame) -> bool:
        """Whether `frame` is to be sent; it is then counted as sent. Ephemeral frames are always new, except tokens: a
        token is new only if it directly follows the last one this reader saw, in a reply that has not ended. A reader
        that missed the beginning gets a snapshot, or the whole reply at its end."""
        if frame.id is not None:
            is_later = frame.id > self.last_id
            self.note(frame)
            return is_later
        if frame.event == "chat.turn.snapshot":
            self.note_snapshot(frame.data)
        elif frame.event == "chat.message.token":
            turn_id = frame.data["turn_id"]
            seq = frame.data["seq"]
            if seq != self._seq.get(turn_id, 0) + 1 or turn_id == self._ended:
                return False
            self._seq = {turn_id: seq}
            return True
        return True

    def note(self, frame: Frame) -> None:
        """Count a durable frame as sent."""
        self.last_id = max(self.last_id, frame.id or 0)
        if frame.event in ENDINGS:
            self._ended = frame.data["turn_id"]

    def note_snapshot(self, snapshot: dict[str, Any]) -> None:
        self._seq, self._ended = {snapshot["turn_id"]: snapshot["seq"]}, ""


def ready(persona: Persona, last_event_id: int) -> Frame:
    """The first frame of every stream, with the stream's position."""
    data = {
        "persona_id": str(persona.uuid),
        "last_event_id": last_event_id,
        "heartbeat_s": knobs.heartbeat_seconds(),
    }
    return Frame("chat.connection.ready", data, timezone.now())


async def follow(persona: Persona, after: int | None) -> AsyncGenerator[Frame, None]:
    """Yield `ready`; the events kept after `after`, none if it is None; the running reply so far; then the live frames.
    A reader too slow for them gets the durable ones from the table, and a snapshot.

    `access_revocation.CHANGED` among them is for the caller alone, to check again whether the reader may go on.

    An `after` that is no longer kept yields the error `too_old` instead of the missed events. The subscription exists
    when `ready` is yielded. Close it through `contextlib.aclosing`.
    """
    subscription = await events.get_hub().subscribe(persona.uuid, access_revocation.stream_of(persona.owner_id))
    try:
        newest = await in_thread(events.last_id, persona.uuid)
        yield ready(persona, newest)
        if after and not await in_thread(events.holds, after, persona.uuid):
            # It carries the id from which the stream continues, so that a reader that reconnects does not get the error
            # again.
            data = {"code": "too_old", "message": "Too much has happened since. Load the messages again."}
            yield Frame("error", data, timezone.now(), newest)
            after = None
        seen_frames = SeenFrames(newest if after is None else after)
        async for frame in _replay_missed(persona, seen_frames, newest):
            yield frame
        while True:
            frame = await subscription.take()
            if subscription.overflowed:
                subscription.overflowed = False
                async for missed_frame in _replay_missed(persona, seen_frames, None):
                    yield missed_frame
                # CHANGED may have been among the dropped frames.
                yield Frame(access_revocation.CHANGED, {}, timezone.now())
            if seen_frames.is_new(frame):
                yield frame
    finally:
        events.get_hub().unsubscribe(subscription)


async def with_beats(items: AsyncIterator[T], seconds: float) -> AsyncGenerator[T | None, None]:
    """`items` as they come, and None every `seconds`. Close it through `contextlib.aclosing`."""
    clock = asyncio.get_running_loop().time
    beat, next_item = clock() + seconds, None
    try:
        while True:
            next_item = next_item or asyncio.ensure_future(anext(items))
            await asyncio.wait({next_item}, timeout=max(0, beat - clock()))
            if clock() >= beat:
                beat = clock() + seconds
                yield None
            if next_item.done():
                task, next_item = next_item, None
                try:
                    item = task.result()
                except StopAsyncIteration:
                    return
                yield item
    finally:
        if next_item is not None:
            next_item.cancel()
            with contextlib.suppress(asyncio.CancelledError, StopAsyncIteration):
                await next_item


async def _replay_missed(persona: Persona, seen_frames: SeenFrames, until: int | None) -> AsyncGenerator[Frame, None]:
    """The durable frames after the last one seen, up to the id `until` or to the newest; then the running reply so
    far."""
    while until is None or seen_frames.last_id < until:
        rows = await in_thread(events.after, seen_frames.last_id, persona.uuid)
        frames = [frame for _stream, frame in rows if until is None or (frame.id or 0) <= until]
        for frame in frames:
            seen_frames.note(frame)
            yield frame
        if not frames:
            break
    snapshot = runner.get_runner().snapshot(persona.uuid)
    if snapshot is not None:
        seen_frames.note_snapshot(snapshot)
        yield Frame("chat.turn.snapshot", snapshot, timezone.now())


def may_follow(login: Login, persona: Persona) -> bool:
    """Whether the reader's login is still valid and the persona is still theirs."""
    personas = Persona.objects.filter(pk=persona.pk, owner_id=login.user_id)
    return login.stands(timezone.now()) and personas.exists()
