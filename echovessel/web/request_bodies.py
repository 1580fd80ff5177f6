"""Large requests: bounded, parsed once, and in little memory.

Daphne, and Twisted on which it stands, are made for small ones, whoever sends them:

    Twisted parses every form by itself, as a whole and in memory: 200 MB took the server from 0.7 to 3.2 GB and stopped
    it for 7 s (2026-11). Here Django alone parses what somebody may post, and no body is longer than is said.
    Daphne puts the whole of a body into memory before the application is asked: with a form of 200 MB the web server
    grew from 139 to 348 MB, and to 145 so (2026-11-22). Twisted has written it to a file without a name by then:
    whoever asks for it is given that file piece by piece.

With another server nothing is changed. Whoever serves: no NUL of a query or a form reaches a view.
"""

import asyncio
import io
import sys
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from django.http import HttpRequest, QueryDict
from django.utils.deprecation import MiddlewareMixin

from echovessel.language.plain_text import NUL

LEAST_BYTES = 256 * 1024
AT_A_TIME = 64 * 1024
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
TOO_LARGE = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"

Receive = Callable[[], Awaitable[Any]]
Application = Callable[[Any, Receive, Any], Coroutine[Any, Any, None]]


# --- bounded, and not parsed ------------------------------------------------------------------------------------------
def install(most_bytes: Callable[[], int]) -> None:
    """Have daphne take requests with at most so large a body. With another server nothing is changed."""
    daphne = sys.modules.get("daphne.http_protocol")
    if daphne is not None:
        vars(daphne)["WebRequest"] = bounded_request(vars(daphne)["WebRequest"], most_bytes)


def bounded_request(base: Any, most_bytes: Callable[[], int]) -> Any:
    """Twisted's request `base` with a bounded body of which it parses nothing. Who sends more is told so at once; what
    still comes is dropped, so that a client which only reads when it has sent all hears of it, too."""

    class Bounded(base):
        is_refused, taken = False, 0

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named | {"parsePOSTFormSubmission": False})

        def gotLength(self, length: int | None) -> None:  # noqa: N802  (twisted's names)
            super().gotLength(length)
            self._refuse_beyond(length or 0)

        def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
            self.taken += len(data)
            self._refuse_beyond(self.taken)
            if not self.is_refused:
                super().handleContentChunk(data)

        def requestReceived(self, *line: bytes) -> None:  # noqa: N802
            if self.is_refused:
                self.channel.loseConnection()
                return
            if self.requestHeaders.hasHeader(b"transfer-encoding"):
                # It came in pieces; Django refuses what is too long for it by this header.
                self.requestHeaders.removeHeader(b"transfer-encoding")
                self.requestHeaders.setRawHeaders(b"content-length", [b"%d" % self.taken])
            super().requestReceived(*line)

        def _refuse_beyond(self, length: int) -> None:
            if not self.is_refused and length > most_bytes():
                self.is_refused = True
                self.channel.transport.write(TOO_LARGE)

    return Bounded


# --- piece by piece ---------------------------------------------------------------------------------------------------
class SpooledBody:
    """`receive` for one request: the body from the file that it lies in, then what comes after it."""

    def __init__(self, body: Any, receive: Receive) -> None:
        self._body, self._receive = body, receive

    async def __call__(self) -> Any:
        if self._body is None:
            return await self._receive()
        await asyncio.sleep(0)  # Others are served between two pieces.
        piece = self._body.read(AT_A_TIME)
        if not piece:
            self._body.close()
            self._body = None
            return await self._receive()  # The empty body that daphne was left: the end.
        return {"type": "http.request", "body": piece, "more_body": True}


def spooled_body(application: Application) -> Application:
    """The application, given large bodies as they are read. Daphne calls it before it reads the body: so it is a
    function that does its part at once, and no coroutine."""

    def called(scope: Any, receive: Receive, send: Any) -> Coroutine[Any, Any, None]:
        body = _large_body(send) if scope["type"] == "http" else None
        return application(scope, SpooledBody(body, receive) if body else receive, send)

    called._asgi_single_callable = True  # type: ignore[attr-defined]
    return called


def _large_body(send: Any) -> Any:
    """The file with the body, where the server is daphne and the body is large; daphne is left an empty one."""
    request = next(iter(getattr(send, "args", ())), None)
    body = getattr(request, "content", None)
    if body is None:
        return None
    size = body.seek(0, io.SEEK_END)
    body.seek(0)
    if size < LEAST_BYTES:
        return None
    request.content = io.BytesIO()  # type: ignore[union-attr]
    return body


# --- without NULs -----------------------------------------------------------------------------------------------------
class DropNulMiddleware(MiddlewareMixin):
    """Drops NULs from the query and the form of a request. It stands behind CSRF, which has read the form by then; what
    is exempt from that is no form."""

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        if "%00" in request.META.get("QUERY_STRING", ""):
            request.GET = _without_nul(request.GET)  # type: ignore[assignment]
        if (
            request.method == "POST"
            and request.content_type in FORMS
            and any(NUL in text for name, texts in request.POST.lists() for text in (name, *texts))
        ):
            request.POST = _without_nul(request.POST)  # type: ignore[assignment]


def _without_nul(fields: QueryDict) -> QueryDict:
    cleaned = QueryDict(mutable=True)
    for name, texts in fields.lists():
        cleaned.setlist(name.replace(NUL, ""), [text.replace(NUL, "") for text in texts])
    cleaned._mutable = False
    return cleaned
