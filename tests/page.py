"""A page in miniature: a real socket of the real application, spoken to in frames."""

import asyncio
import json
import uuid
from typing import Any, Self

from channels.testing import WebsocketCommunicator
from django.contrib.auth.models import User
from django.test import Client

from echovessel.asgi import application
from echovessel.embeddings import embedding
from echovessel.process.threads import in_thread
from persona.models import Persona

PATIENCE = 10


class Page:
    """One open page. Frames that came are kept in `frames`, in order."""

    def __init__(
        self, user: User | None, persona: Any, origin: str = "http://testserver", *, warm: bool = True
    ) -> None:
        self.user, self.persona, self.origin, self.warm = user, persona, origin, warm
        self.frames: list[dict[str, Any]] = []

    async def __aenter__(self) -> Self:
        if self.warm:
            await asyncio.wrap_future(
                embedding.warm()
            )  # a first turn waits for it, and patience is for what comes after
        headers = [(b"host", b"testserver"), (b"origin", self.origin.encode())]
        if self.user is not None:
            cookie = await in_thread(_cookie, self.user)
            headers.append((b"cookie", f"sessionid={cookie}".encode()))
        persona = self.persona.uuid if isinstance(self.persona, Persona) else self.persona
        self.socket = WebsocketCommunicator(application, f"/ws/chat/{persona}/", headers=headers)
        self.accepted, self.code = await self.socket.connect(timeout=PATIENCE)
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.socket.disconnect(timeout=PATIENCE)

    async def send(self, **frame: Any) -> None:
        await self.socket.send_to(text_data=json.dumps(frame))

    async def raw(self, text: str | None = None, data: bytes | None = None) -> None:
        await self.socket.send_to(text_data=text, bytes_data=data)

    async def say(self, content: str, client_id: uuid.UUID | None = None) -> str:
        client_id = client_id or uuid.uuid4()
        await self.send(type="message", client_id=str(client_id), content=content)
        return str(client_id)

    async def until(self, name: str, **data: Any) -> dict[str, Any]:
        """The next frame of this name whose data holds `data`; all that came before it is kept."""
        async with asyncio.timeout(PATIENCE):
            while True:
                frame = json.loads(await self.socket.receive_from(timeout=PATIENCE))
                self.frames.append(frame)
                if frame["event"] == name and data.items() <= frame["data"].items():
                    return frame

    async def closing(self) -> int:
        """The close code, once the server closes the socket."""
        while True:
            message = await self.socket.receive_output(timeout=PATIENCE)
            if message["type"] == "websocket.close":
                return int(message["code"])

    def named(self, name: str) -> list[dict[str, Any]]:
        return [frame["data"] for frame in self.frames if frame["event"] == name]

    def text_of(self, turn_id: str) -> str:
        """What a page would show of a reply: the last snapshot, and the tokens after it."""
        text, seq = "", 0
        for frame in self.frames:
            data = frame["data"]
            if data.get("turn_id") != turn_id:
                continue
            if frame["event"] == "chat.turn.snapshot":
                text, seq = data["text"], data["seq"]
            elif frame["event"] == "chat.message.token":
                assert data["seq"] == seq + 1, "a token was lost or came twice"
                text, seq = text + data["delta"], data["seq"]
        return text


def _cookie(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value
