"""A program that listens to the event stream, as real HTTP.

async with Listener(server.url, persona, secret, after=3) as listener:
    done = await listener.until("chat.message.done")
"""

import asyncio
import json
from typing import Any, Self

import httpx2

from persona.models import Persona

PATIENCE = 10


class Listener:
    """One open stream. The frames that came are kept in `frames`, with the id lines the reader would come back with in
    `marks`, and the comments are counted."""

    def __init__(self, url: str, persona: Persona | str, secret: str = "", cookie: str = "", **asked: Any) -> None:
        self.address = f"{url}/api/personas/{getattr(persona, 'uuid', persona)}/events"
        self.headers = {"Last-Event-ID": str(asked["last"])} if "last" in asked else {}
        self.query = {"after": asked["after"]} if "after" in asked else {}
        if secret:
            self.headers["Authorization"] = f"Bearer {secret}"
        if cookie:
            self.headers["Cookie"] = f"sessionid={cookie}"
        self.frames: list[dict[str, Any]] = []
        self.marks: list[str] = []
        self.comments, self.status = 0, 0

    async def __aenter__(self) -> Self:
        self.client = httpx2.AsyncClient(timeout=PATIENCE)
        request = self.client.build_request("GET", self.address, headers=self.headers, params=self.query)
        self.answer = await self.client.send(request, stream=True)
        self.status = self.answer.status_code
        self.lines = self.answer.aiter_lines()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.answer.aclose()
        await self.client.aclose()

    async def next(self) -> dict[str, Any]:
        """The next frame. Raises StopAsyncIteration where the stream ends."""
        name = data = ""
        async with asyncio.timeout(PATIENCE):
            while True:
                line = await anext(self.lines)
                field, _colon, value = line.partition(": ")
                if line.startswith(":"):
                    self.comments += 1
                elif field == "event":
                    name = value
                elif field == "id":
                    self.marks.append(value)
                elif field == "data":
                    data = value
                elif not line and data:
                    frame = json.loads(data)
                    assert frame["event"] == name
                    self.frames.append(frame)
                    return frame

    async def until(self, name: str, **data: Any) -> dict[str, Any]:
        """The next frame of this name whose data holds `data`; all that came before it is kept."""
        while True:
            frame = await self.next()
            if frame["event"] == name and data.items() <= frame["data"].items():
                return frame

    async def problem(self) -> dict[str, Any]:
        """The answer in the place of a stream."""
        return json.loads(await self.answer.aread())
