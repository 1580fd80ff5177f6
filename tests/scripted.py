"""A provider that says what the test tells it to: a twin of the real ones, without a network.

scripted.says("Hello, Ana.")                 # the next streamed reply, in words
scripted.says(LLMError("…", code="timeout"))  # the next one fails
scripted.answers({"events": [...]})           # the next structured answer
scripted.hold()                               # replies stop after the first piece until scripted.go()
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from typing import Any

from echovessel.llm.providers import Models, Provider
from echovessel.llm.request import Request, ResponseSchema, StreamEnd, Usage

PATH = "tests.scripted.ScriptedProvider"


class Script:
    """What will be said, what was asked."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lines: list[Any] = []
        self.structured: list[Any] = []
        self.requests: list[Request] = []
        self.held: asyncio.Event | None = None
        self.default = "I hear you."

    def says(self, *replies: Any) -> None:
        self.lines.extend(replies)

    def answers(self, *answers: Any) -> None:
        self.structured.extend(answers)

    def hold(self) -> None:
        self.held = asyncio.Event()

    def go(self) -> None:
        if self.held is not None:
            self.held.set()


script = Script()


class ScriptedProvider(Provider):
    name = "scripted"
    defaults = Models("scripted-large", "scripted-medium", "scripted-small")

    async def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | StreamEnd, None]:
        script.requests.append(request)
        reply = _next(request, shape)
        if isinstance(reply, Exception):
            raise reply
        for piece in reply if isinstance(reply, list) else re.findall(r"\S+\s*|\s+", reply):
            if isinstance(piece, Exception):
                raise piece
            yield piece
            if script.held is not None:
                await script.held.wait()
            await asyncio.sleep(0)
        yield StreamEnd("stop", Usage(10, 0, 5))


def _next(request: Request, shape: ResponseSchema | None) -> Any:
    if shape is None:
        return script.lines.pop(0) if script.lines else script.default
    if not script.structured:
        return json.dumps(_EMPTY.get(request.purpose, {}))
    answer = script.structured.pop(0)
    return answer if isinstance(answer, str | Exception) else json.dumps(answer, ensure_ascii=False)


_EMPTY = {
    "extraction": {"events": [], "mentioned_entities": [], "session_summary": "", "self_check_notes": ""},
    "reflection": {"thoughts": []},
    "slow_cycle": {"thoughts": []},
}
