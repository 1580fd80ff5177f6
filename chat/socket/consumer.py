"""The chat socket: the frames that a page may send, and the events that the page receives.

It owns nothing: messages belong to the database, turns to the runner.
"""

import asyncio
import contextlib
import json
import logging
import math
import time
import uuid
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from datetime import datetime
from typing import Annotated, Any, Literal

from channels.generic.websocket import AsyncWebsocketConsumer
from django.utils import timezone
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from chat import care, knobs, messages, rate_limit
from chat.models import Session
from chat.models.message import MAX_CHARACTERS
from chat.sessions import close, off_the_record
from chat.socket import stream
from chat.turns import first_word, runner, versions
from chat.turns import turn as turns
from echovessel.embeddings import embedding
from echovessel.language.plain_text import storable
from echovessel.outbox import events
from echovessel.outbox.events import Frame
from echovessel.process import redaction
from echovessel.process.threads import in_thread
from echovessel.web import access_revocation
from echovessel.web.admission import Login
from persona.models import Persona


class BaseFrame(BaseModel):
    """Base of all frames of a page: unknown fields are refused."""

    model_config = ConfigDict(extra="ignore", strict=False)


class SendMessage(BaseFrame):
    type: Literal["message"]
    client_id: uuid.UUID
    content: str
    off_the_record: bool = False
    replaces: uuid.UUID | None = None


class Stop(BaseFrame):
    type: Literal["stop"]
    turn_id: uuid.UUID


class Retry(BaseFrame):
    type: Literal["retry"]
    turn_id: uuid.UUID


class AnotherAnswer(BaseFrame):
    type: Literal["another_answer"]
    turn_id: uuid.UUID


class Choose(BaseFrame):
    type: Literal["choose"]
    turn_id: uuid.UUID


class CloseSession(BaseFrame):
    type: Literal["close_session"]


class OffTheRecord(BaseFrame):
    type: Literal["off_the_record"]
    on: bool


class Resume(BaseFrame):
    type: Literal["resume"]
    after: int = Field(ge=0, le=2**62)


class Ping(BaseFrame):
    type: Literal["ping"]


ClientFrame = SendMessage | Stop | Retry | AnotherAnswer | Choose | CloseSession | OffTheRecord | Resume | Ping
_adapter: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])
TYPES = ("message", "stop", "retry", "another_answer", "choose", "close_session", "off_the_record", "resume", "ping")


class BadFrame(Exception):
    """A frame that cannot be handled. Its sender receives `code`, the message and, if a retry may help, the seconds to
    wait."""

    def __init__(self, code: str, message: str, client_id: str | None = None, retry_after: int = 0) -> None:
        super().__init__(message)
        self.code = code
        self.client_id = client_id
        self.retry_after = retry_after


def parse(text: str | None) -> ClientFrame:
    """The frame in `text`, with texts that the database can store. Raises BadFrame."""
    if text is None:
        raise BadFrame("bad_frame", "Frames are JSON text, not bytes.")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadFrame("bad_frame", "This frame is not JSON.") from error
    if not isinstance(data, dict):
        raise BadFrame("bad_frame", "A frame is a JSON object.")
    if not isinstance(data.get("type"), str) or data["type"] not in TYPES:
        raise BadFrame("unknown_type", f"The type of a frame is one of {', '.join(TYPES)}.")
    data = {key: storable(value) if isinstance(value, str) else value for key, value in data.items()}
    try:
        frame = _adapter.validate_python(data)
    except ValidationError as error:
        fields = ", ".join(sorted({str(item["loc"][-1]) for item in error.errors()}))
        client_id = data["client_id"][:64] if isinstance(data.get("client_id"), str) else None
        raise BadFrame("bad_frame", f"Missing or wrong in this frame: {fields}.", client_id) from error
    if isinstance(frame, SendMessage):
        if not frame.content:
            raise BadFrame("empty", "This message is empty.", str(frame.client_id))
        if len(frame.content) > MAX_CHARACTERS:
            raise BadFrame(
                "too_long",
                f"A message has at most {MAX_CHARACTERS:,} characters; this one has {len(frame.content):,}.",
                str(frame.client_id),
            )
    return frame


# --- the socket ---
logger = logging.getLogger(__name__)

CHANNEL = messages.PAGE_CHANNEL
BAD_FRAMES, NOT_SIGNED_IN, NOT_FOUND, BROKEN = 4400, 4401, 4404, 4500
# A replay sends all events that are kept, and the server does not notice how fast they are read.
LEAST_SECONDS_BETWEEN_REPLAYS = 0.5
# A load that ends sooner than this is not announced: nobody could read the notice.
WAKING_AFTER_SECONDS = 0.5
# Texts embedded when the page opens, so that the embedding model of the persona's language is loaded by then.
GREETINGS = {"en": "Hello", "zh": "你好"}


class ChatConsumer(AsyncWebsocketConsumer):
    """The socket of one page for one persona of the signed-in owner."""

    subscription: events.Subscription | None = None
    tasks: Sequence[asyncio.Task[None]] = ()
    persona: Persona
    replayed_at = float("-inf")

    async def connect(self) -> None:
        await self.accept()  # only an accepted socket can be closed with a reason
        user = self.scope["user"]
        if not user.is_authenticated:
            await self.close(NOT_SIGNED_IN)
            return
        personas = Persona.objects.owned_by(user).select_related("owner")
        persona = await in_thread(personas.filter(uuid=self.scope["url_route"]["kwargs"]["persona"]).first)
        if persona is None:
            await self.close(NOT_FOUND)
            return
        self.persona, self.bad_frames, self.may_greet = persona, 0, True
        self.login = Login(user.pk, session_key=self.scope["session"].session_key)
        self.sending = asyncio.Lock()
        # Subscribe first, then send the position in the stream, so that no event is missed in between.
        runner.get_runner().watch()
        warmth = embedding.warm(GREETINGS[self.persona.language])
        care.warm(self.persona.language)
        streams = self.persona.uuid, access_revocation.stream_of(self.persona.owner_id)
        self.subscription = await events.get_hub().subscribe(*streams)
        self.joined_at = await in_thread(events.last_id, self.persona.uuid)
        self.seen = stream.SeenFrames(self.joined_at)
        await self._send(stream.ready(self.persona, self.joined_at))
        await self._send_snapshot()
        works = self._pump(), self._beat(), self._send_waking_events(warmth)
        self.tasks = [asyncio.create_task(self._run_guarded(work)) for work in works]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:  # however it ended: a server may cancel a consumer without a disconnect
            for task in self.tasks:
                task.cancel()
            if self.subscription is not None:
                events.get_hub().unsubscribe(self.subscription)
                self.subscription = None

    async def _send_waking_events(self, warmth: "Future[Any]") -> None:
        """If the embedding model is still being loaded, send `waking`, and `awake` when it is ready."""
        waking = asyncio.wrap_future(warmth)
        awake, _pending = await asyncio.wait({waking}, timeout=WAKING_AFTER_SECONDS)
        if not awake:
            await self._send_event("chat.connection.waking")
            await waking
            await self._send_event("chat.connection.awake")

    async def _run_guarded(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a task of this socket; if it breaks, close the socket, so that the page reconnects and resumes."""
        try:
            await work
        except Exception as error:  # noqa: BLE001  (the edge of a task, which would die in silence)
            logger.error("a socket's task broke: %s", redaction.format_exception(error))
            await self.close(BROKEN)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self.subscription is None:
            return
        frame = None
        try:
            frame = parse(text_data)
            self.bad_frames = 0
            if isinstance(frame, SendMessage):
                await self._receive_message(frame)
            elif isinstance(frame, Ping) or await in_thread(self.login.stands, timezone.now()):
                await self._act(frame)
            else:
                await self._sign_out(frame)
        except BadFrame as error:
            self.bad_frames += error.code in ("bad_frame", "unknown_type")
            extras: dict[str, Any] = {"client_id": error.client_id} if error.client_id else {}
            if error.retry_after:
                extras["retry_after"] = error.retry_after
            await self._send_event("error", code=error.code, message=str(error), **extras)
            if self.bad_frames > knobs.bad_frames_allowed():
                logger.warning("a socket was closed: it kept sending unreadable frames")
                await self.close(BAD_FRAMES)
        except versions.VersionRefused as error:
            extras = {"client_id": str(frame.client_id)} if isinstance(frame, SendMessage) else {}
            await self._send_event("error", code=error.code, message="Another version is not possible here.", **extras)
        except Exception as error:  # noqa: BLE001  (the edge of a socket: one frame must not close it)
            logger.error("a frame could not be handled: %s", redaction.format_exception(error))
            extras = {"client_id": str(frame.client_id)} if isinstance(frame, SendMessage) else {}
            message = "Something went wrong; nothing you wrote before is lost."
            await self._send_event("error", code="internal", message=message, **extras)

    async def _receive_message(self, frame: SendMessage) -> None:
        stored_message = await in_thread(self._store_message, frame, timezone.now())
        if stored_message is None:
            await self._sign_out(frame)
            return
        if stored_message.repeated:
            data = await in_thread(messages.as_event, stored_message.message)
            await self._send_event("chat.message.user_appended", **data)
        runner.get_runner().nudge(self.persona.pk)

    def _store_message(self, frame: SendMessage, now: datetime) -> messages.StoredMessage | None:
        """The message as stored; None if this login has ended. One thread does all of it: the reply waits for it, and
        handing over to another takes longer than to check the login. Raises BadFrame, VersionRefused."""
        if not self.login.stands(now):
            return None
        self._admit(str(frame.client_id))
        embedding.soon(frame.content)  # embed it while it is stored; the turn will need it
        if self.may_greet and not frame.off_the_record:
            first_word.greet(self.persona, now)
            self.may_greet = False
        return messages.receive_message(
            self.persona,
            frame.content,
            frame.client_id,
            CHANNEL,
            timezone.now(),
            unrecorded=frame.off_the_record,
            replaces=frame.replaces,
        )

    async def _act(self, frame: ClientFrame) -> None:
        match frame:
            case Stop(turn_id=turn_id):
                if not runner.get_runner().stop(self.persona.uuid, turn_id):
                    raise BadFrame("not_running", "This reply is no longer being written.")
            case Retry(turn_id=turn_id):
                self._admit()
                if not await in_thread(turns.retry, self.persona, turn_id):
                    raise BadFrame("not_retryable", "There is nothing to retry here.")
                runner.get_runner().nudge(self.persona.pk, at_once=True)
            case AnotherAnswer(turn_id=turn_id):
                self._admit()
                await in_thread(turns.create_other_answer, self.persona, turn_id)
                runner.get_runner().nudge(self.persona.pk, at_once=True)
            case Choose(turn_id=turn_id):
                self._admit()
                await in_thread(versions.choose, self.persona, turn_id)
            case CloseSession():
                sessions = self.persona.sessions.open().filter(channel=CHANNEL).select_related("persona")
                session = await in_thread(sessions.first)
                explicit = Session.CloseReason.EXPLICIT
                if session is None or not await in_thread(close.close, session, explicit, timezone.now()):
                    raise BadFrame("nothing_open", "There is no open session to end.")
            case OffTheRecord(on=on):
                self._admit()
                # All pages receive an event if something changes; this one always, because it may have been behind.
                if on:
                    session = await in_thread(off_the_record.begin, self.persona, CHANNEL, timezone.now())
                    await self._send_event("chat.session.off_the_record", session_id=str(session.uuid), on=True)
                elif not await in_thread(off_the_record.end, self.persona, CHANNEL, timezone.now()):
                    await self._send_event("chat.session.off_the_record", session_id=None, on=False)
            case Resume(after=after):
                await self._replay(after)
            case Ping():
                await self._send_event("chat.connection.heartbeat")

    def _admit(self, client_id: str | None = None) -> None:
        now = time.monotonic()
        if not rate_limit.admit(self.persona.owner_id, now):
            message = "That was too fast. Wait a moment, then send it again."
            raise BadFrame("rate_limited", message, client_id, rate_limit.lines.wait(self.persona.owner_id, now))

    async def _replay(self, after: int) -> None:
        """Send the events that the client missed, in order. Events after it joined are delivered anyway, once."""
        if time.monotonic() - self.replayed_at < LEAST_SECONDS_BETWEEN_REPLAYS:
            message = "This was sent a moment ago; wait before asking for it again."
            raise BadFrame("rate_limited", message, retry_after=math.ceil(LEAST_SECONDS_BETWEEN_REPLAYS))
        if after and not await in_thread(events.holds, after, self.persona.uuid):
            raise BadFrame("too_old", "Too much has happened since. Reload the page.")
        self.replayed_at = time.monotonic()
        async with self.sending:
            until = self.joined_at
            self.joined_at = 0  # a second resume on one socket comes from a client that lost something: send everything
            while rows := await in_thread(events.after, after, self.persona.uuid):
                for _stream, frame in rows:
                    after = frame.id or after
                    if not until or after <= until:
                        await self._send(frame)
                        self.seen.note(frame)
                if until and after >= until:
                    break
        await self._send_snapshot()

    async def _pump(self) -> None:
        """Pass on the frames of the hub, each durable event once."""
        assert self.subscription is not None
        while True:
            frame = await self.subscription.take()
            is_to_look_again = frame.event == access_revocation.CHANGED or self.subscription.overflowed
            if is_to_look_again and not await in_thread(stream.may_follow, self.login, self.persona):
                await self._sign_out()
                return
            if self.subscription.overflowed:
                # Frames were dropped: the durable ones come from the table, the reply from a snapshot.
                self.subscription.overflowed = False
                async with self.sending:
                    while rows := await in_thread(events.after, self.seen.last_id, self.persona.uuid):
                        for _stream, missed in rows:
                            await self._send(missed)
                            self.seen.note(missed)
                await self._send_snapshot()
            async with self.sending:
                if self.seen.is_new(frame) and frame.event != access_revocation.CHANGED:
                    await self._send(frame)

    async def _send_snapshot(self) -> None:
        snapshot = runner.get_runner().snapshot(self.persona.uuid)
        if snapshot is not None:
            self.seen.note_snapshot(snapshot)
            await self._send_event("chat.turn.snapshot", **snapshot)

    async def _beat(self) -> None:
        """Send heartbeats, and check at each whether this login is still valid."""
        while True:
            await asyncio.sleep(knobs.heartbeat_seconds())
            if not await in_thread(stream.may_follow, self.login, self.persona):
                await self._sign_out()
                return
            await self._send_event("chat.connection.heartbeat")

    async def _sign_out(self, frame: ClientFrame | None = None) -> None:
        """Close the socket of a login that has ended, and name the message that was not stored."""
        extras = {"client_id": str(frame.client_id)} if isinstance(frame, SendMessage) else {}
        await self._send_event(
            "error", code="not_signed_in", message="You are signed out. Sign in again to go on.", **extras
        )
        await self.close(NOT_SIGNED_IN)

    async def _send_event(self, name: str, **data: Any) -> None:
        await self._send(Frame(name, data, timezone.now()))

    async def _send(self, frame: Frame) -> None:
        with contextlib.suppress(RuntimeError):  # the socket may close while a frame is on its way
            text = json.dumps(frame.as_json(), ensure_ascii=False)
            await self.send(text_data=text.encode("utf-8", "replace").decode())
