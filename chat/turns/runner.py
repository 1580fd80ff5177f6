"""The turns of one server process: one at a time for each persona, whether or not a page watches.

The turn belongs to the server, not to the socket. A socket subscribes to events; closing it stops nothing.
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
# Keys of the turns that this process runs. They are more reliable than leases: under load a lease lapses before it can
# be renewed.
_running_turns: set[int] = set()
# How many prompts are assembled at a time. Assembly is CPU-bound: threads that share the processor all finish late, so
# requests are served in order instead.
ASSEMBLED_TOGETHER = 2


@dataclass
class RunningTurn:
    """A turn that runs in this process, with its reply so far."""

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
    announcing: "asyncio.Task[None] | None" = None
    speaking: "asyncio.Task[None] | None" = None
    flush: asyncio.TimerHandle | None = None

    def snapshot(self) -> dict[str, Any]:
        """The text up to the last token event that was sent. `thinking`: the model is reasoning and has written no text
        yet. `waking`: the embedding model is still being loaded."""
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
        self._last_message_at: dict[int, float] = {}
        self._live: dict[UUID, RunningTurn] = {}
        self._afterwards: set[asyncio.Task[None]] = set()
        self._sweeper: asyncio.Task[None] | None = None
        self._assembling = asyncio.Semaphore(ASSEMBLED_TOGETHER)

    def nudge(self, persona_id: int, *, at_once: bool = False) -> None:
        """Schedule the persona's turns: a message has come in, or a turn is to be retried. `at_once` skips the
        debounce."""
        self._last_message_at[persona_id] = asyncio.get_running_loop().time() - (60 if at_once else 0)
        task = self._serving.get(persona_id)
        if task is None or task.done():
            self._serving[persona_id] = asyncio.create_task(self._serve(persona_id), name=f"persona-{persona_id}")

    def stop(self, persona_uuid: UUID, turn_uuid: UUID) -> bool:
        """Stop the running turn and keep its text so far; False if it does not run here."""
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
        """Look, from now on, for turns that a dead server left running or waiting. Idempotent."""
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
                # Wait until no message has come for the debounce time. Remember when the last one came.
                loop = asyncio.get_running_loop()
                while (wait := self._last_message_at[persona_id] + knobs.debounce_seconds() - loop.time()) > 0:
                    await asyncio.sleep(wait)
                seen_at = self._last_message_at[persona_id]
                turn = await in_thread(_claim, persona_id)
                if turn is not None:
                    await self._run(turn)
                elif seen_at == self._last_message_at.get(persona_id):
                    return
        finally:
            self._serving.pop(persona_id, None)

    async def _run(self, turn: Turn) -> None:
        live = self._live[turn.persona.uuid] = RunningTurn(turn)
        renewing = asyncio.create_task(self._renew(live), name=f"lease-{turn.pk}")
        live.announcing = asyncio.create_task(self._announce(live), name=f"announce-{turn.pk}")
        code = "internal"
        try:
            code = await self._await_outcome(live)
        finally:
            try:
                await self._wait_until_announced(live)
                await self._store_outcome(live, code)
            finally:
                renewing.cancel()
                self._live.pop(turn.persona.uuid, None)
                _running_turns.discard(turn.pk)
                # Off the hot path: neither the reply nor the next turn waits for these hooks.
                task = asyncio.create_task(self._run_after_hooks(turn), name=f"after-{turn.pk}")
                self._afterwards.add(task)  # the loop itself holds only a weak reference
                task.add_done_callback(self._afterwards.discard)

    async def _announce(self, live: RunningTurn) -> None:
        """Deliver the owner's message to the pages, then that the turn runs. The reply waits for it, its prompt does
        not."""
        with contextlib.suppress(DatabaseError):  # else polling delivers them, in an order that pages can handle
            await events.get_hub().catch_up()
        self._broadcast(live, "chat.turn.snapshot", live.snapshot())

    async def _wait_until_announced(self, live: RunningTurn) -> None:
        if live.announcing is not None:
            await asyncio.wait({live.announcing})

    async def _run_after_hooks(self, turn: Turn) -> None:
        await self._yield_to_waiting()
        await in_thread(_run_hooks, settings.CHAT_AFTERWARDS, turn.pk)

    async def _yield_to_waiting(self) -> None:
        """Yield to turns that already wait for their first token: work after the last token is less urgent. Later
        arrivals do not delay it."""
        async with self._assembling:
            pass

    async def _await_outcome(self, live: RunningTurn) -> str:
        """Run the model until it ends. Returns an error code, or "" if it succeeded or was stopped."""
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
        # Wait for an embedding model that is still loading here, not in one of the few threads that serve the database.
        warmth = embedding.warm()
        if not warmth.done():
            live.is_waking = True
            await self._wait_until_announced(live)
            self._broadcast(live, "chat.turn.snapshot", live.snapshot())
            await asyncio.wrap_future(warmth)
            live.is_waking = False
            self._broadcast(live, "chat.turn.snapshot", live.snapshot())
        async with self._assembling:
            answer = await in_thread(_answer_or_prompt, live.turn)
        await self._wait_until_announced(live)
        if isinstance(answer, tuple):
            text, xray = answer
            live.explain = partial(dict, xray)
            self._add(live, text)
            return
        live.explain = partial(getattr, answer, "xray")
        async with contextlib.aclosing(llm.stream(_make_request(live.turn, answer))) as pieces:
            async for piece in pieces:
                match piece:
                    case str():
                        self._add(live, piece)
                    case llm.Thinking():
                        # Publish that the model is thinking. The reasoning itself is never shown.
                        live.is_thinking = True
                        data = {"turn_id": str(live.turn.uuid), "source_channel_id": live.turn.session.channel}
                        self._broadcast(live, "chat.turn.thinking", data)
                    case llm.Withdrawal():
                        # All text so far was reasoning: clear it until the reply itself comes.
                        live.text = live.unsent = ""
                        live.first_token_at, live.is_thinking = None, True
                        self._broadcast(live, "chat.turn.snapshot", live.snapshot() | {"withdrawn": True})
                    case llm.CutOff():
                        live.is_cut = True

    def _add(self, live: RunningTurn, piece: str) -> None:
        live.first_token_at = live.first_token_at or timezone.now()
        live.text += piece
        live.unsent += piece
        if live.flush is None:
            self._send(live)
            loop = asyncio.get_running_loop()
            live.flush = loop.call_later(knobs.token_interval_seconds(), self._send, live)

    def _send(self, live: RunningTurn) -> None:
        """Send the unsent tokens as one event."""
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
        """Store the outcome, and retry while the database is busy: storing twice does no harm."""
        if live.flush is not None:
            live.flush.cancel()
        self._send(live)
        await self._yield_to_waiting()
        for pause in PAUSES:
            try:
                if not await in_thread(_store, live, code):
                    logger.warning("turn %s was taken away while it ran; its reply is dropped", live.turn.pk)
                break
            except Exception as error:  # noqa: BLE001  (the edge of a job: a reply that was seen must be kept)
                logger.error("turn %s could not be stored: %s", live.turn.pk, redaction.format_exception(error))
                await asyncio.sleep(pause)
        else:
            logger.error("turn %s is given up; its lease will lapse and it can be retried", live.turn.pk)
        with contextlib.suppress(Exception):  # the hub's polling will find the event anyway
            await events.get_hub().catch_up()

    async def _renew(self, live: RunningTurn) -> None:
        """Renew the lease while the model writes; cancel the model when the lease is lost."""
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
    """Mark the turns of dead servers as failed, except those that this process runs."""
    turns.abandon(now, alive_keys=frozenset(_running_turns))


def _claim(persona_id: int) -> Turn | None:
    """Claim and register the turn in one thread: nobody sees a claimed turn before it is in `_running_turns`."""
    turn = turns.claim(persona_id, timezone.now())
    if turn is not None:
        _running_turns.add(turn.pk)
    return turn


def _answer_or_prompt(turn: Turn) -> assemble.Prompt | tuple[str, dict[str, Any]]:
    """The reply of a hook in CHAT_ANSWERS and its x-ray, if one has a reply; else the prompt for a model. A hook that
    fails costs no reply. One thread does all of it: handing over to another takes longer than most hooks."""
    _run_hooks(settings.CHAT_BEFOREHAND, turn.pk)
    for path in settings.CHAT_ANSWERS:
        try:
            text, xray = import_string(path)(turn, timezone.now())
        except Exception as error:  # noqa: BLE001  (the edge of a hook: the model replies instead)
            logger.error("%s failed for turn %s: %s", path, turn.pk, redaction.format_exception(error))
            continue
        if text:
            return text, xray
    return assemble.assemble(turn, timezone.now())


def _store(live: RunningTurn, code: str) -> bool:
    """Store the reply with its x-ray, or the failure; False if the turn is no longer ours."""
    now = timezone.now()
    if code or not (live.text or live.stopped):
        return turns.fail(live.turn, code or "provider_unavailable", live.text, now)
    try:
        xray = live.explain()
    except Exception as error:  # noqa: BLE001  (the edge of a job: a reply is kept, explained or not)
        logger.error("turn %s could not be explained: %s", live.turn.pk, redaction.format_exception(error))
        xray = {}
    return turns.finish(
        live.turn,
        live.text,
        stopped=live.stopped,
        is_cut=live.is_cut,
        first_token_at=live.first_token_at,
        xray=xray,
        now=now,
    )


def _run_hooks(paths: Sequence[str], turn_pk: int) -> None:
    """Run the hooks before the prompt of a turn, or after its end. A hook that fails is logged, and the next one
    runs."""
    for path in paths:
        try:
            import_string(path)(turn_pk, timezone.now())
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
