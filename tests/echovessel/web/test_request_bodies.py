"""Large requests are spooled as they are read: nothing is parsed before Django, and every length is limited."""

import asyncio
import io
from collections.abc import Callable
from functools import partial
from typing import Any

from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.web import http

from echovessel.web.request_bodies import AT_A_TIME, LEAST_BYTES, TOO_LARGE, bounded_request, spooled_body

MOST = 1000
FORM = b"Content-Type: application/x-www-form-urlencoded\r\n"


class Request(http.Request):
    """Answers with the declared length and the actual length of the request."""

    def process(self) -> None:
        length = self.requestHeaders.getRawHeaders(b"content-length", [b"-"])[0]
        body = self.content.read()
        self.write(length + b" " + str(len(body)).encode() + b" " + str(len(self.args)).encode())
        self.finish()


def send_request(head: bytes, body: bytes, sized: Callable[[Any, Callable[[], int]], Any] = bounded_request) -> bytes:
    """The bytes that the server writes for a request that is sent in pieces."""
    factory = http.HTTPFactory(reactor=Clock())
    channel = factory.buildProtocol(None)
    channel.requestFactory = sized(Request, lambda: MOST)
    transport = StringTransport()
    channel.makeConnection(transport)
    for piece in (b"POST / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n", body[:500], body[500:]):
        channel.dataReceived(piece)
    return transport.value()


def send_form(body: bytes) -> bytes:
    return send_request(FORM + b"Content-Length: %d\r\n" % len(body), body)


def send_chunked(*pieces: bytes) -> bytes:
    body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces)
    return send_request(b"Transfer-Encoding: chunked\r\n", body + b"0\r\n\r\n")


def test_a_form_comes_whole_and_not_parsed() -> None:
    assert send_form(b"a=b&c=d").endswith(b"7 7 0\r\n0\r\n\r\n")
    assert send_form(b"x" * MOST).endswith(b"1000 1000 0\r\n0\r\n\r\n")
    assert b"4 4 1" in send_request(FORM + b"Content-Length: 4\r\n", b"a=bc", lambda base, limit: base), "twisted would"


def test_a_too_large_body_is_refused_unread() -> None:
    assert send_form(b"x" * (MOST + 1)) == TOO_LARGE
    assert send_chunked(b"x" * 600, b"x" * 600) == TOO_LARGE


def test_a_too_large_content_length_is_refused_before_the_body() -> None:
    assert send_request(b"Content-Length: 1001\r\n", b"") == TOO_LARGE


def test_a_chunked_body_gets_its_content_length() -> None:
    """Django decides by the header alone whether a body is too long for memory."""
    assert send_chunked(b"x" * 6, b"y" * 7).endswith(b"13 13 0\r\n0\r\n\r\n")


# --- piece by piece ---------------------------------------------------------------------------------------------------
HTTP = {"type": "http"}


class PartialRequest:
    """The part of twisted's request that the code under test uses."""

    def __init__(self, body: bytes) -> None:
        self.content = io.BytesIO(body)


async def handle_reply(request: PartialRequest, message: Any) -> None:
    raise AssertionError("nothing is answered here")


async def run_application(body: bytes, scope: dict[str, str] = HTTP) -> tuple[list[bytes], int]:
    """The pieces that an application receives from daphne, and the number of bytes that daphne held in memory."""
    request, queue, pieces = PartialRequest(body), asyncio.Queue[Any](), list[bytes]()

    async def application(scope: Any, receive: Any, send: Any) -> None:
        more = True
        while more:
            message = await receive()
            pieces.append(message["body"])
            more = message["more_body"]
        assert await receive() == {"type": "http.disconnect"}

    running = spooled_body(application)(scope, queue.get, partial(handle_reply, request))
    body_read = request.content.read()  # as daphne does, between calling the application and running it
    queue.put_nowait({"type": "http.request", "body": body_read, "more_body": False})
    queue.put_nowait({"type": "http.disconnect"})
    await running
    return pieces, len(body_read)


async def test_a_large_body_is_given_piece_by_piece_and_held_nowhere() -> None:
    body = bytes(range(256)) * (4 * LEAST_BYTES // 256) + b"end"
    pieces, held_bytes = await run_application(body)
    assert b"".join(pieces) == body
    assert held_bytes == 0
    assert max(map(len, pieces)) == AT_A_TIME


async def test_a_small_body_comes_as_daphne_gives_it() -> None:
    assert await run_application(b"a=b") == ([b"a=b"], 3)


async def test_a_socket_is_left_alone() -> None:
    body = b"x" * LEAST_BYTES
    assert await run_application(body, {"type": "websocket"}) == ([body], LEAST_BYTES)


async def test_with_another_server_nothing_is_changed() -> None:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        assert (receive, send) == (its_receive, its_send)

    async def its_receive() -> None: ...

    async def its_send(message: Any) -> None: ...

    await spooled_body(application)(HTTP, its_receive, its_send)
