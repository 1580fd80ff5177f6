"""The real application behind real HTTP on a loopback port, in the test's own event loop: with its scripted model and
its database. Daphne cannot be had twice in one process; whole installations run it.

async with Serving() as server:
    AsyncOpenAI(base_url=f"{server.url}/v1", api_key=secret)
"""

import asyncio
import contextlib
from typing import Any, Self
from urllib.parse import unquote

from echovessel.asgi import application


class LiveServer:
    """One server; `calls` holds the requests that are being answered, each with its connection."""

    def __init__(self) -> None:
        self.calls: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    async def __aenter__(self) -> Self:
        self.server = await asyncio.start_server(self._answer, "127.0.0.1", 0, limit=2**20)
        self.port = self.server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.close()
        for writer in self.calls.values():
            writer.transport.abort()  # as a client that hangs up
        await asyncio.gather(*self.calls)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        call = asyncio.current_task()
        assert call is not None
        self.calls[call] = writer
        try:
            await _Exchange(reader, writer).run()
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()
            self.calls.pop(call)


class _Exchange:
    """One request and its answer; the connection ends with it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.body: bytes | None = b""

    async def run(self) -> None:
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin1").split("\r\n")
        method, target, _version = head[0].split(" ")
        named = [line.partition(":") for line in head[1:-2]]
        headers = [(name.lower(), value.strip()) for name, _colon, value in named]
        self.body = await self.reader.readexactly(int(dict(headers).get("content-length", 0)))
        path, _mark, query = target.partition("?")
        scope = {
            "type": "http",
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": unquote(path),
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [(name.encode("latin1"), value.encode("latin1")) for name, value in headers],
            "client": self.writer.get_extra_info("peername"),
            "server": self.writer.get_extra_info("sockname"),
        }
        await application(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if self.body is not None:
            body, self.body = self.body, None
            return {"type": "http.request", "body": body, "more_body": False}
        with contextlib.suppress(ConnectionError):
            await self.reader.read()  # it ends when the client hangs up
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            lines = [f"HTTP/1.1 {message['status']} -".encode()]
            lines += [name + b": " + value for name, value in message["headers"] if name.lower() != b"content-length"]
            self.writer.write(b"\r\n".join([*lines, b"transfer-encoding: chunked", b"connection: close", b"", b""]))
        else:
            body = message.get("body", b"")
            self.writer.write(f"{len(body):x}\r\n".encode() + body + b"\r\n" if body else b"")
            self.writer.write(b"" if message.get("more_body") else b"0\r\n\r\n")
        with contextlib.suppress(ConnectionError):
            await self.writer.drain()
