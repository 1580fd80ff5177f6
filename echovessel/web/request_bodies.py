"""Large requests: limited in size, parsed once, and read in little memory.

Daphne and Twisted, on which it is built, are made for small requests:

    Twisted parses every form itself, completely and in memory: 200 MB took the server from 0.7 to 3.2 GB and stopped
    it for 7 s (2026-11). Here only Django parses forms, and bodies have a size limit.
    Daphne reads a whole body into memory before it calls the application: with a form of 200 MB the web server grew
    from 139 to 348 MB; with this module to 145 MB (2026-11-22). Twisted has written the body to an unnamed file by
    then: the application is given that file piece by piece.

With another server these two change nothing. With any server, no NUL of a query or form reaches a view.
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


# --- limited, and not parsed ------------------------------------------------------------------------------------------
def install(most_bytes: Callable[[], int]) -> None:
    """Make daphne limit request bodies to `most_bytes()`. With another server nothing is changed."""
    daphne = sys.modules.get("daphne.http_protocol")
    if daphne is not None:
        vars(daphne)["WebRequest"] = bounded_request(vars(daphne)["WebRequest"], most_bytes)


def bounded_request(base: Any, most_bytes: Callable[[], int]) -> Any:
    """Twisted's request `base` with a size limit and without parsing of the body. A client that sends more gets a 413
    immediately; the rest of its body is dropped, so that a client which only reads after sending gets the 413 too."""

    class Bounded(base):
        is_refused, taken = False, 0

        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options | {"parsePOSTFormSubmission": False})

        def gotLength(self, length: int | None) -> None:  # noqa: N802  (twisted's names)
            super().gotLength(length)
            self._refuse_beyond(length or 0)

        def handleContentChunk(self, data: bytes) -> None:  # noqa: N802
            self.taken += len(data)
            self._refuse_beyond(self.taken)
            if not self.is_refused:
                super().handleContentChunk(data)

        def requestReceived(self, *request_line: bytes) -> None:  # noqa: N802
            if self.is_refused:
                self.channel.loseConnection()
                return
            if self.requestHeaders.hasHeader(b"transfer-encoding"):
                # The body was chunked; Django needs this header to refuse one that is too long.
                self.requestHeaders.removeHeader(b"transfer-encoding")
                self.requestHeaders.setRawHeaders(b"content-length", [b"%d" % self.taken])
            super().requestReceived(*request_line)

        def _refuse_beyond(self, length: int) -> None:
            if not self.is_refused and length > most_bytes():
                self.is_refused = True
                self.channel.transport.write(TOO_LARGE)

    return Bounded


# --- piece by piece ---------------------------------------------------------------------------------------------------
class SpooledBody:
    """`receive` for one request: yields the body from its file, then the server's further messages."""

    def __init__(self, body: Any, receive: Receive) -> None:
        self._body, self._receive = body, receive

    async def __call__(self) -> Any:
        if self._body is None:
            return await self._receive()
        await asyncio.sleep(0)  # other requests are served between two pieces
        piece = self._body.read(AT_A_TIME)
        if not piece:
            self._body.close()
            self._body = None
            return await self._receive()  # the empty body that daphne was left with: the end
        return {"type": "http.request", "body": piece, "more_body": True}


def spooled_body(application: Application) -> Application:
    """The application with large bodies read from their file. Daphne calls it before it reads the body, so this is a
    function that acts immediately, not a coroutine."""

    def call_application(scope: Any, receive: Receive, send: Any) -> Coroutine[Any, Any, None]:
        body = _large_body(send) if scope["type"] == "http" else None
        return application(scope, SpooledBody(body, receive) if body else receive, send)

    call_application._asgi_single_callable = True  # type: ignore[attr-defined]
    return call_application


def _large_body(send: Any) -> Any:
    """The file of a large body, if the server is daphne, which is left with an empty body; else None."""
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
    """Drops NULs from the query and the form of a request. It runs after the CSRF middleware, which has read the form
    by then; requests exempt from CSRF are not forms."""

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
