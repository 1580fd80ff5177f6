"""The turns of one server process: each persona's one after another, alive whether or not a page watches.

The turn belongs to the server, not to the socket. A socket subscribes to what happens; closing it stops nothing.
"""

import asyncio
import contextlib
import logging
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone
from django.utils.module_loading import import_string

from chat import knobs
from chat.models import Turn
from chat.prompt import assemble
from chat.turns import turn as turns
from echovessel import llm
from echovessel.embeddings import embedding
from echovessel.outbox import events
from echovessel.process import redaction
from echovessel.process.threads import in_thread

logger = logging.getLogger(__name__)

# Seconds between attempts to store a reply; each attempt itself waits for a locked database.
PAUSES = (1, 3, 10, 30)
# The turns that this process runs, by their keys. It knows better than any lease whether they are alive: under load a
# lease lapses before it can be renewed.
_in_hand: set[int] = set()
# Prompts that are assembled at the same time. It is work for the processor, and threads that take turns on it finish
# late all together; who came first is served first.
ASSEMBLED_TOGETHER = 2


@dataclass
class RunningTurn:
    """A reply while it is being made."""

    turn: Turn
    text: str = ""
    seq: int = 0
    unsent: str = ""
    stopped: bool = False
    is_thinking: bool = False
    is_waking: bool = False
    is_cut: bool = False
    first_token_at: datetime | None = None
    explain: Callable[[], dict[str, Any]] = dict
    speaking: "asyncio.Task[None] | None" = None
    flush: asyncio.TimerHandle | None = None

    def snapshot(self) -> dict[str, Any]:
        """The text up to the last token event that was sent. `thinking`: the model has said nothing so far, and it
        thinks. `waking`: what the persona remembers with is still being loaded."""
        return {
            "turn_id": str(self.turn.uuid),
            "session_id": str(self.turn.session.uuid),
            "text": self.text[: len(self.text) - len(self.unsent)],
            "seq": self.seq,
            "thinking": self.is_thinking and not self.text,
            "waking": self.is_waking,
            "original_turn_id": str(self.turn.original.uuid) if self.turn.original else None,
        }


class Runner:
    """The turns of one event loop."""

    def __init__(self) -> None:
        self._serving: dict[int, asyncio.Task[None]] = {}
        self._last_line: dict[int, float] = {}
        self._live: dict[UUID, RunningTurn] = {}
        self._afterwards: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.Task[None] | None = None
        self._assembling = asyncio.Semaphore(ASSEMBLED_TOGETHER)

    def nudge(self, persona_id: int, *, at_once: bool = False) -> None:
        """A message of this persona has come in, or waits to be answered again."""
        self._last_line[persona_id] = asyncio.get_running_loop().time() - (60 if at_once else 0)
        task = self._serving.get(persona_id)
        if task is None or task.done():
            self._serving[persona_id] = asyncio.create_task(self._serve(persona_id), name=f"persona-{persona_id}")

    def stop(self, persona_uuid: UUID, turn_uuid: UUID) -> bool:
        """End the running turn, keeping what was said so far; False when it does not run here."""
        live = self._live.get(persona_uuid)
        if live is None or live.turn.uuid != turn_uuid:
            return False
        live.stopped = True
        if live.speaking is not None:
            live.speaking.cancel()
        return True

    def snapshot(self, persona_uuid: UUID) -> dict[str, Any] | None:
        """The running turn's text so far, or None."""
        live = self._live.get(persona_uuid)
        return live.snapshot() if live else None

    def watch(self) -> None:
        """Look, from now on, for turns that a dead server left running or waiting."""
        if self._sweeper is None or self._sweeper.done():
            self._sweeper = asyncio.create_task(self._sweep(), name="turn-sweeper")

    async def _sweep(self) -> None:
        while True:
            try:
                now = timezone.now()
                await in_thread(abandon_dead, now)
                patience = timedelta(seconds=knobs.debounce_seconds() + 2 * knobs.sweep_seconds())
                for persona_id in await in_thread(turns.waiting_personas, now - patience):
                    if persona_id not in self._serving:
                        self.nudge(persona_id)
            except Exception as error:  # noqa: BLE001  (the edge of a job: it must outlive any fault)
                logger.error("looking for abandoned turns failed; trying again: %s", redaction.format_exception(error))
            await asyncio.sleep(knobs.sweep_seconds())

    async def _serve(self, persona_id: int) -> None:
        """Run the persona's waiting turns, oldest first, until none is left."""
        try:
            while True:
                # Wait until no line has come for a moment; return when the last one came.
                loop = asyncio.get_running_loop()
                while (wait := self._last_line[persona_id] + knobs.debounce_seconds() - loop.time()) > 0:
                    await asyncio.sleep(wait)
                seen_at = self._last_line[persona_id]
                turn = await in_thread(_claim, persona_id)
                if turn is not None:
                    await self._run(turn)
                elif seen_at == self._last_line.get(persona_id):
                    return
        finally:
            self._serving.pop(persona_id, None)

    async def _run(self, turn: Turn) -> None:
        live = self._live[turn.persona.uuid] = RunningTurn(turn)
        renewing = asyncio.create_task(self._renew(live), name=f"lease-{turn.pk}")
        code = "internal"
        try:
            with contextlib.suppress(DatabaseError):  # else they come by the tail, in an order pages can cope with
                await events.get_hub().catch_up()  # the user's line is seen before the reply to it
            self._broadcast(live, "chat.turn.snapshot", live.snapshot())
            code = await self._await_outcome(live)
        finally:
            try:
                await self._store_outcome(live, code)
            finally:
                renewing.cancel()
                self._live.pop(turn.persona.uuid, None)
                _in_hand.discard(turn.pk)
                # Off the hot path: neither the reply nor the next turn waits for it.
                task = asyncio.create_task(self._afterwards_of(turn), name=f"after-{turn.pk}")
                self._afterwards.add(task)  # the loop itself would not keep it alive
                task.add_done_callback(self._afterwards.discard)

    async def _afterwards_of(self, turn: Turn) -> None:
        await self._give_way()
        await _run_hooks(settings.CHAT_AFTERWARDS, turn.pk)

    async def _give_way(self) -> None:
        """Let those go first who wait for the first word of a reply by now: what follows the last word is less urgent.
        Whoever comes later does not hold it up."""
        async with self._assembling:
            pass

    async def _await_outcome(self, live: RunningTurn) -> str:
        """Let the model speak to the end; an error code, or an empty string when all was said."""
        live.speaking = asyncio.create_task(self._speak(live), name=f"turn-{live.turn.pk}")
        if live.stopped:
            live.speaking.cancel()
        await asyncio.wait({live.speaking})
        if live.speaking.cancelled():
            return "" if live.stopped else "internal"
        error = live.speaking.exception()
        if isinstance(error, llm.LLMError):
            logger.warning("turn %s failed: %s", live.turn.pk, error.code)
            return error.code
        if error is not None:
            logger.error("turn %s broke: %s", live.turn.pk, redaction.format_exception(error))
            return "internal"
        return ""

    async def _speak(self, live: RunningTurn) -> None:
        # Wait for a model that is still loading here, not in one of the few threads that serve the database.
        warmth = embedding.warm()
        if not warmth.done():
            live.is_waking = True
            self._broadcast(live, "chat.turn.snapshot", live.snapshot())
            await asyncio.wrap_future(warmth)
            live.is_waking = False
            self._broadcast(live, "chat.turn.snapshot", live.snapshot())
        async with self._assembling:
            await _run_hooks(settings.CHAT_BEFOREHAND, live.turn.pk)
            if await self._answer(live):
                return
            prompt = await in_thread(assemble.assemble, live.turn, timezone.now())
        live.explain = lambda: prompt.xray
        async with contextlib.aclosing(llm.stream(_make_request(live.turn, prompt))) as pieces:
            async for piece in pieces:
                match piece:
                    case str():
                        self._add(live, piece)
                    case llm.Thinking():
                        # Say that the model thinks. Its reasoning itself is shown to nobody.
                        live.is_thinking = True
                        data = {"turn_id": str(live.turn.uuid), "source_channel_id": live.turn.session.channel}
                        self._broadcast(live, "chat.turn.thinking", data)
                    case llm.Withdrawn():
                        # All text so far was reasoning: replace it by nothing, until the reply itself comes.
                        live.text = live.unsent = ""
                        live.first_token_at, live.is_thinking = None, True
                        self._broadcast(live, "chat.turn.snapshot", live.snapshot() | {"withdrawn": True})
                    case llm.CutOff():
                        live.is_cut = True

    async def _answer(self, live: RunningTurn) -> bool:
        """Give the reply that others have ready, if any: no model is asked then. A fault of theirs costs no reply."""
        for path in settings.CHAT_ANSWERS:
            try:
                text, xray = await in_thread(import_string(path), live.turn, timezone.now())
            except Exception as error:  # noqa: BLE001  (the edge of a hook: the model replies instead)
                logger.error("%s failed for turn %s: %s", path, live.turn.pk, redaction.format_exception(error))
                continue
            if text:
                live.explain = partial(dict, xray)
                self._add(live, text)
                return True
        return False

    def _add(self, live: RunningTurn, piece: str) -> None:
        live.first_token_at = live.first_token_at or timezone.now()
        live.text += piece
        live.unsent += piece
        if live.flush is None:
            self._send(live)
            loop = asyncio.get_running_loop()
            live.flush = loop.call_later(knobs.token_interval_seconds(), self._send, live)

    def _send(self, live: RunningTurn) -> None:
        """Send the tokens that have gathered, as one event."""
        live.flush = None
        if not live.unsent:
            return
        live.seq += 1
        delta, live.unsent = live.unsent, ""
        self._broadcast(
            live,
            "chat.message.token",
            {
                "turn_id": str(live.turn.uuid),
                "delta": delta,
                "seq": live.seq,
                "source_channel_id": live.turn.session.channel,
            },
        )

    async def _store_outcome(self, live: RunningTurn, code: str) -> None:
        """Store the outcome, again and again while the database is busy: storing twice does no harm."""
        if live.flush is not None:
            live.flush.cancel()
        self._send(live)
        await self._give_way()
        try:
            xray = await in_thread(live.explain)
        except Exception as error:  # noqa: BLE001  (the edge of a job: a reply is kept, explained or not)
            logger.error("turn %s could not be explained: %s", live.turn.pk, redaction.format_exception(error))
            xray = {}
        for pause in PAUSES:
            try:
                now = timezone.now()
                if code or not (live.text or live.stopped):
                    is_stored = await in_thread(turns.fail, live.turn, code or "provider_unavailable", live.text, now)
                else:
                    is_stored = await in_thread(
                        turns.finish,
                        live.turn,
                        live.text,
                        stopped=live.stopped,
                        is_cut=live.is_cut,
                        first_token_at=live.first_token_at,
                        xray=xray,
                        now=now,
                    )
                if not is_stored:
                    logger.warning("turn %s was taken away while it ran; its reply is dropped", live.turn.pk)
                break
            except Exception as error:  # noqa: BLE001  (the edge of a job: a reply that was seen must be kept)
                logger.error("turn %s could not be stored: %s", live.turn.pk, redaction.format_exception(error))
                await asyncio.sleep(pause)
        else:
            logger.error("turn %s is given up; its lease will lapse and it can be retried", live.turn.pk)
        with contextlib.suppress(Exception):  # the tail will find the event anyway
            await events.get_hub().catch_up()

    async def _renew(self, live: RunningTurn) -> None:
        """Keep the lease while the model speaks; stop speaking when it was lost."""
        while True:
            await asyncio.sleep(knobs.lease_seconds() / 3)
            try:
                is_renewed = await in_thread(turns.renew, live.turn, live.text, timezone.now())
            except DatabaseError as error:
                logger.error(
                    "the lease of turn %s was not renewed; trying again: %s",
                    live.turn.pk,
                    redaction.format_exception(error),
                )
                continue
            if not is_renewed:
                if live.speaking is not None:
                    live.speaking.cancel()
                return

    def _broadcast(self, live: RunningTurn, name: str, data: dict[str, Any]) -> None:
        events.broadcast(live.turn.persona.uuid, name, **data)


def abandon_dead(now: datetime) -> None:
    """Mark the turns of dead servers as failed; those that this process runs are alive."""
    turns.abandon(now, sparing=frozenset(_in_hand))


def _claim(persona_id: int) -> Turn | None:
    """In the thread of the transaction: nobody sees a turn of ours that is not yet known to be in hand."""
    turn = turns.claim(persona_id, timezone.now())
    if turn is not None:
        _in_hand.add(turn.pk)
    return turn


async def _run_hooks(paths: Sequence[str], turn_pk: int) -> None:
    """What others want to do before the prompt of a turn, or once it has ended; a fault of one is neither shown nor any
    matter of the next."""
    for path in paths:
        try:
            await in_thread(import_string(path), turn_pk, timezone.now())
        except Exception as error:  # noqa: BLE001  (the edge of a job: the reply does not depend on it)
            logger.error("%s failed at turn %s: %s", path, turn_pk, redaction.format_exception(error))


def _make_request(turn: Turn, prompt: assemble.Prompt) -> llm.Request:
    return llm.Request(
        system=prompt.system,
        user=prompt.user,
        tier="large",
        purpose="chat",
        material=prompt.material,
        max_tokens=knobs.reply_tokens(),
        max_characters=knobs.reply_characters(),
        owner_id=turn.persona.owner_id,
        persona_uuid=turn.persona.uuid,
        session_uuid=turn.session.uuid,
        turn_uuid=turn.uuid,
    )


_runners: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Runner]" = weakref.WeakKeyDictionary()


def get_runner() -> Runner:
    """The runner of the running event loop."""
    return _runners.setdefault(asyncio.get_running_loop(), Runner())
