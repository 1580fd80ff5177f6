"""A model server on a real socket that says what a test tells it to, faults included.

    server.says("Hello there.", pieces=4)       # queued replies, one per request
    server.answers({"events": []})              # the same, as JSON
    server.fails(429, headers={"retry-after": "7"})
    server.respond = lambda body: Says("…")     # asked when the queue is empty

`server.requests` holds the bodies that came in, `server.headers` their headers. A reply with `hold_after=n`
waits after n pieces until `server.release()`. Subclasses know a wire protocol.
"""

import json
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

Body = dict[str, Any]
Ending = Literal["whole", "cut", "reset", "stall", "garbage", "error"]


@dataclass(frozen=True)
class Says:
    """A streamed text. `ending` tells what becomes of the stream after the pieces; `reason` is "stop", "length",
    "refusal" or, from OpenAI, "refusal field"; `error` is the kind of the error event where the ending is one.
    `thoughts` come before the text, from OpenAI's servers in `thoughts_field`, "parts" for Mistral's form."""

    text: str
    pieces: int = 1
    reason: str = "stop"
    ending: Ending = "whole"
    error: str = "server_error"
    pause_s: float = 0.0
    hold_after: int | None = None
    tokens_in: int | None = 11
    tokens_cached: int = 3
    tokens_out: int = 5
    thoughts: str = ""
    thoughts_field: str = "reasoning_content"

    def parts(self) -> list[str]:
        """The text in `pieces` parts of about the same length."""
        size = max(1, -(-len(self.text) // self.pieces))
        return [self.text[at : at + size] for at in range(0, len(self.text), size)]


@dataclass(frozen=True)
class Fails:
    """A status instead of a stream."""

    status: int
    message: str = "scripted failure"
    kind: str = "scripted"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Page:
    """Status 200 and something that is no stream."""

    content: str = "<html><body>Sign in to the network</body></html>"
    content_type: str = "text/html"


@dataclass(frozen=True)
class Hangs:
    """Takes the request and never answers."""


Reply = Says | Fails | Page | Hangs


class ScriptedServer:
    """Base of the two wire protocols: they give `events` and `failure`."""

    path = ""

    def __init__(self) -> None:
        self._released = threading.Event()
        self.reset()
        self._stopped = threading.Event()
        self._http = _Quiet(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def reset(self) -> None:
        """As a new one: nothing came in, nothing is queued, and what is held goes on."""
        self.requests: list[Body] = []
        self.headers: list[dict[str, str]] = []
        self.disconnects = 0
        self.queue: deque[Reply] = deque()
        # The answer to a question for the models: names, or something else in their place.
        self.models: list[str] | Reply = ["small-model", "large-model", "nomic-embed-text"]
        self.respond: Callable[[Body], Reply] = lambda body: Says("I hear you.", pieces=3)
        self._released.set()
        self._released = threading.Event()

    @property
    def url(self) -> str:
        """What belongs into LLM_BASE_URL."""
        return f"http://127.0.0.1:{self._http.server_address[1]}{self.path}"

    def says(self, text: str, **how: Any) -> None:
        """Queues a text."""
        self.queue.append(Says(text, **how))

    def answers(self, data: object, **how: Any) -> None:
        """Queues a structured answer."""
        self.says(json.dumps(data, ensure_ascii=False), **how)

    def fails(self, status: int, message: str = "scripted failure", kind: str = "scripted", **how: Any) -> None:
        """Queues an error status."""
        self.queue.append(Fails(status, message, kind, **how))

    def release(self) -> None:
        """Lets held streams go on."""
        self._released.set()

    def close(self) -> None:
        """Ends the server and every stream that waits."""
        self._stopped.set()
        self._released.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def events(self, reply: Says, body: Body) -> Iterator[bytes]:
        """The pieces of a stream as they go over the wire; `reply.ending` "whole" includes the terminal
        ones."""
        raise NotImplementedError

    def failure(self, message: str, kind: str) -> Body:
        """The body of an error."""
        raise NotImplementedError

    def take(self, body: Body, headers: dict[str, str]) -> Reply:
        """Notes a request and says how to answer it."""
        self.requests.append(body)
        self.headers.append(headers)
        return self.queue.popleft() if self.queue else self.respond(body)

    def wait_released(self) -> None:
        """Blocks a held stream."""
        self._released.wait(30)

    def wait_stopped(self) -> None:
        """Blocks a hanging request."""
        self._stopped.wait(30)


class _Quiet(ThreadingHTTPServer):
    """Threads that end with the process, and no traceback for a client that left."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


def _handler(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            names = {name.lower(): value for name, value in self.headers.items()}
            try:
                self._send(server.take(body, names), body)
            except (BrokenPipeError, ConnectionResetError):
                server.disconnects += 1
                self.close_connection = True

        def do_GET(self) -> None:
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            if not isinstance(server.models, list):
                self._send(server.models, {})
                return
            rows = [{"id": name, "object": "model", "created": 1, "owned_by": "library"} for name in server.models]
            self._whole(200, "application/json", json.dumps({"object": "list", "data": rows}).encode(), {})

        def _send(self, reply: Reply, body: Body) -> None:
            match reply:
                case Hangs():
                    server.wait_stopped()
                    self.close_connection = True
                case Fails():
                    content = json.dumps(server.failure(reply.message, reply.kind)).encode()
                    self._whole(reply.status, "application/json", content, reply.headers)
                case Page():
                    self._whole(200, reply.content_type, reply.content.encode(), {})
                case Says():
                    self._stream(reply, body)

        def _whole(self, status: int, content_type: str, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {
                "content-type": content_type,
                "content-length": str(len(content)),
                **headers,
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def _stream(self, reply: Says, body: Body) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for count, event in enumerate(server.events(reply, body)):
                if reply.hold_after is not None and count == reply.hold_after:
                    server.wait_released()
                self._chunk(event)
                time.sleep(reply.pause_s)
            self._end(reply)

        def _end(self, reply: Says) -> None:
            if reply.ending == "stall":
                server.wait_stopped()
            if reply.ending == "reset":
                linger = struct.pack("ii", 1, 0)  # close with RST instead of FIN
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
                self.close_connection = True
                return
            self._chunk(b"")

        def _chunk(self, content: bytes) -> None:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(content), content))
            self.wfile.flush()

        def log_message(self, *args: object) -> None:
            pass

    return Handler


def sse(data: object, event: str | None = None) -> bytes:
    """One server-sent event."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def prompt_of(body: Body) -> str:
    """All words of a request, whichever protocol it came in."""
    messages = [str(body.get("system", "")), *(str(message["content"]) for message in body["messages"])]
    return "\n".join(messages)
