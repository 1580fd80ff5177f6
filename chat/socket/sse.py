"""The event stream for programs: the frames of the socket as server-sent events (text/event-stream, WHATWG HTML §9.2).

    GET /api/personas/<id>/events        Authorization: Bearer ev_…, or a login
    Last-Event-ID: 41, or ?after=41      first what was missed since; 0 for all that is kept; without it from now on

`data` is the frame as the socket sends it, `event` its name, and `id` there only where it is durable.
"""

import json
import logging
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from uuid import UUID

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt

from chat import knobs
from chat.socket import stream
from chat.turns import runner
from chat.turns.slots import NoSlotFree, Slots
from echovessel.api import problems
from echovessel.api.problems import NOTHING_HERE, ApiError
from echovessel.api.tokens import bearer
from echovessel.outbox.events import Frame
from echovessel.process import redaction
from echovessel.process.threads import in_thread
from echovessel.web import access_revocation, retry_after
from echovessel.web.admission import Login, login_of
from persona.models import Persona

logger = logging.getLogger(__name__)

CONTENT_TYPE = "text/event-stream"
# A proxy that buffers the response would make a stream useless.
UNBUFFERED = {"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"}
COMES_BACK_AFTER_MS = 3_000
HEARTBEAT = ":\n\n"
LARGEST_ID = 2**62

_open = Slots()


@csrf_exempt  # it changes nothing; other methods get a problem response as everywhere in the API
@login_not_required  # a program gets a 401, not a redirect to the login page
async def events(request: HttpRequest, persona: UUID) -> HttpResponseBase:
    """The events of one persona of the caller's, for as long as the caller listens and is allowed to."""
    if request.method != "GET":
        return problems.not_allowed(["GET"])
    try:
        login, matching_personas = await in_thread(_authenticate, request, persona)
        # The caller's position. A browser that reconnects by itself sends it in a header, whatever its URL says.
        after = request.headers.get("Last-Event-ID") or request.GET.get("after")
        if after is not None and (not re.fullmatch("[0-9]{1,19}", after) or int(after) > LARGEST_ID):
            raise ApiError(422, "invalid", "The id of an event is a whole number.")
        texts = _stream_texts(matching_personas, login, None if after is None else int(after))
        try:
            first = await anext(texts)
        except NoSlotFree as error:
            title = "Too many streams are open already; close one first."
            raise ApiError(429, "too_many_streams", title, retry_after=retry_after.SECONDS) from error
    except ApiError as error:
        headers = error.headers | ({"WWW-Authenticate": "Bearer"} if error.status == 401 else {})
        return problems.problem_response(error.status, error.code, str(error), headers)
    return StreamingHttpResponse(_prepend(first, texts), content_type=CONTENT_TYPE, headers=UNBUFFERED)


def _authenticate(request: HttpRequest, persona: UUID) -> tuple[Login, Persona]:
    """The caller's login, and the persona if it is theirs. Raises ApiError."""
    try:
        login = login_of(request, timezone.now())
        if login is None:
            raise bearer.WrongToken
        personas = Persona.objects.filter(owner_id=login.user_id).select_related("owner")
        return login, get_object_or_404(personas, uuid=persona)
    except bearer.WrongToken as error:
        raise ApiError(401, "not_signed_in", "Sign in first.") from error
    except bearer.LockedOut as error:
        title = "Too many wrong tokens from this address; wait a while."
        raise ApiError(429, "locked_out", title, retry_after=error.seconds) from error
    except Http404 as error:
        raise ApiError(404, "not_found", NOTHING_HERE) from error


async def _stream_texts(persona: Persona, login: Login, after: int | None) -> AsyncGenerator[str, None]:
    """The stream as text. Raises NoSlotFree before the first item."""
    with _open.hold(login.user_id, knobs.streams_per_owner()):
        runner.get_runner().watch()
        yield f"retry: {COMES_BACK_AFTER_MS}\n\n"
        frames = stream.follow(persona, after)
        async with aclosing(frames), aclosing(stream.with_beats(frames, knobs.stream_beat_seconds())) as beating:
            async for frame in beating:
                if frame is not None and frame.event != access_revocation.CHANGED:
                    yield as_text(frame, after)
                elif not await in_thread(stream.may_follow, login, persona):
                    data = {"code": "not_signed_in", "message": "This login or token has ended."}
                    yield as_text(Frame("error", data, timezone.now()), after)
                    return
                elif frame is None:
                    yield HEARTBEAT


def as_text(frame: Frame, after: int | None) -> str:
    """One event. If the reader gave no id, the first frame carries one, from which a reconnecting reader continues.

    >>> from datetime import datetime
    >>> print(as_text(Frame("error", {"code": "x"}, datetime(2026, 1, 1), 7), None), end="")
    event: error
    id: 7
    data: {"event": "error", "id": 7, "at": "2026-01-01T00:00:00", "data": {"code": "x"}}
    <BLANKLINE>
    """
    mark = frame.id
    if frame.event == "chat.connection.ready" and after is None:
        mark = frame.data["last_event_id"]
    data_json = json.dumps(frame.as_json(), ensure_ascii=False).encode("utf-8", "replace").decode()
    lines_out = [f"event: {frame.event}", *([] if mark is None else [f"id: {mark}"]), f"data: {data_json}"]
    return "\n".join(lines_out) + "\n\n"


async def _prepend(first: str, texts: AsyncGenerator[str, None]) -> AsyncGenerator[str, None]:
    async with aclosing(texts):
        try:
            yield first
            async for text in texts:
                yield text
        except Exception as error:  # noqa: BLE001  (the edge of a stream: the reader comes back and goes on)
            logger.error("an event stream broke: %s", redaction.format_exception(error))
