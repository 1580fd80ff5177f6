"""The reply to a request, in pieces as they come. The turn belongs to the server: a client that disconnects stops
nothing."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Sum
from django.utils import timezone

from chat import knobs, rate_limit
from chat.models import Message, Turn
from chat.openai_api import receive
from chat.openai_api.errors import CompletionRefused, of_turn, token_ended
from chat.openai_api.requests import CompletionRequest
from chat.socket import stream
from chat.turns import runner
from chat.turns.slots import NoSlotFree, Slots
from echovessel.embeddings import embedding
from echovessel.llm import Withdrawal
from echovessel.llm.models import LLMCall
from echovessel.outbox.events import Frame
from echovessel.process.threads import in_thread
from echovessel.web import access_revocation, retry_after
from echovessel.web.admission import Login
from persona.models import Persona

ENDED = (Turn.Status.DONE, Turn.Status.STOPPED)

_waiting = Slots()


@dataclass
class Reply:
    """A request that is being answered; its turn is known after the first piece."""

    persona: Persona
    request: CompletionRequest
    login: Login
    key: str = ""
    turn: Turn = field(init=False)
    preface: str = field(default="", init=False)

    @property
    def uuid(self) -> UUID:
        return self.turn.uuid

    @property
    def created_at(self) -> datetime:
        return self.turn.created_at

    @property
    def is_cut(self) -> bool:
        return self.turn.is_cut

    async def usage(self) -> "Usage":
        return await in_thread(usage_of, self)

    async def pieces(self) -> AsyncGenerator[str | Withdrawal | None, None]:
        """The preface, then the reply; None while there is nothing new. `Withdrawal`:
        discard the reply so far. Raises CompletionRefused. Close it by `contextlib.aclosing`."""
        async with acquire_slot(self.persona.owner_id):
            if not await in_thread(self.login.stands, timezone.now()):  # it may have waited for its slot
                raise token_ended()
            count = len(self.request.lines)
            now = time.monotonic()
            for _line in range(count):
                if not rate_limit.admit(self.persona.owner_id, now):
                    message = "That was too fast. Wait a moment, then send it again."
                    raise CompletionRefused(
                        429,
                        "rate_limit_exceeded",
                        message,
                        retry_after=rate_limit.lines.wait(self.persona.owner_id, now),
                    )
            frames = stream.follow(self.persona, after=None)
            async with aclosing(frames):
                await anext(frames)  # from here on nothing is missed
                embedding.soon(self.request.lines[-1])  # while it is stored; the turn will ask for it
                received = await in_thread(receive.receive, self.persona, self.request, self.key, timezone.now())
                self.turn, self.preface = received.turn, received.preface
                runner.get_runner().nudge(self.persona.pk, at_once=True)
                if self.preface:
                    yield self.preface
                valid_frames = self._while_token_valid(frames)
                async with aclosing(stream.with_beats(valid_frames, knobs.stream_beat_seconds())) as frames_with_beats:
                    async for piece in _reply_pieces(self.turn, frames_with_beats):
                        yield piece

    async def _while_token_valid(self, frames: AsyncIterator[Frame]) -> AsyncGenerator[Frame, None]:
        """The frames while the token is valid. Raises CompletionRefused."""
        async for frame in frames:
            if frame.event != access_revocation.CHANGED:
                yield frame
            elif not await in_thread(self.login.stands, timezone.now()):
                raise token_ended()


async def _reply_pieces(
    turn: Turn, frames: AsyncIterator[Frame | None]
) -> AsyncGenerator[str | Withdrawal | None, None]:
    """The reply of a turn to its end; None after each interval without text. Raises CompletionRefused, also after too
    long a wait."""
    clock = asyncio.get_running_loop().time
    text, has_reply, deadline = "", "", clock() + knobs.longest_wait_seconds()
    if turn.status in ENDED:
        replies = turn.messages.filter(role=Message.Role.PERSONA).values_list("content", flat=True)
        yield await in_thread(replies.first) or ""
        return
    async for frame in frames:
        if frame is None:
            if clock() > deadline:
                raise CompletionRefused(
                    504, "timeout", "This takes longer than a request may wait. It goes on; ask once more."
                )
            yield None
        elif frame.data.get("turn_id") == str(turn.uuid):
            if frame.event == "chat.turn.failed":
                raise of_turn(frame.data["code"], frame.data["message"])
            has_reply = _text_after(frame, has_reply)
            # Whether both are the beginning of one text.
            if text and (frame.data.get("withdrawn") or not (has_reply.startswith(text) or text.startswith(has_reply))):
                text = ""
                yield Withdrawal()
            if piece := has_reply[len(text) :]:
                text += piece
                yield piece
            if frame.event == "chat.message.done":
                turn.is_cut = bool(frame.data.get("cut"))
                return


def _text_after(frame: Frame, before: str) -> str:
    """The reply as far as a reader has it after this frame. It may be shorter than `before`: a reader who joins at the
    beginning gets a snapshot, and then the frames that waited, from the first snapshot on."""
    match frame.event:
        case "chat.message.token":
            return before + str(frame.data["delta"])
        case "chat.turn.snapshot":
            return str(frame.data["text"])
        case "chat.message.done":  # of a turn that another server has run it is all that comes
            return str(frame.data["content"])
        case _:
            return before


@dataclass(frozen=True)
class Usage:
    """Tokens of a turn, as in the ledger."""

    prompt: int
    cached: int
    completion: int

    def as_json(self) -> dict[str, object]:
        return {
            "prompt_tokens": self.prompt,
            "completion_tokens": self.completion,
            "total_tokens": self.prompt + self.completion,
            "prompt_tokens_details": {"cached_tokens": self.cached},
        }


def usage_of(reply: Reply) -> Usage:
    """The sum over all calls of the turn: a retried reply has several."""
    theirs = LLMCall.objects.filter(owner_id=reply.persona.owner_id, purpose="chat", at__gte=reply.turn.created_at)
    calls = theirs.filter(turn_uuid=reply.turn.uuid)
    sums = calls.aggregate(*(Sum(name) for name in ("tokens_in", "tokens_cached", "tokens_out")))
    return Usage(sums["tokens_in__sum"] or 0, sums["tokens_cached__sum"] or 0, sums["tokens_out__sum"] or 0)


@asynccontextmanager
async def acquire_slot(owner_id: int) -> AsyncIterator[None]:
    """One of the owner's slots, after a wait if none is free. Raises CompletionRefused."""
    limit, queue_limit, patience_seconds = knobs.waiting_requests(), knobs.queued_requests(), knobs.queue_seconds()
    try:
        async with _waiting.wait_and_hold(owner_id, limit, queue_limit=queue_limit, wait_seconds=patience_seconds):
            yield
    except NoSlotFree as error:
        message = "As many requests as may wait for a reply do so already."
        raise CompletionRefused(429, "rate_limit_exceeded", message, retry_after=retry_after.SECONDS) from error
