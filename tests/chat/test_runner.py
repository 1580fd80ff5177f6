"""The runner serves who came first, and does not let many prompts slow each other down."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from chat import runner
from chat.models import Turn


async def test_prompts_are_assembled_in_turn_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    at_once = most = 0

    async def assembling(_assemble: Any, turn: Turn, _now: Any) -> runner.prompt.Prompt:
        nonlocal at_once, most
        begun.append(turn.pk)
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        return runner.prompt.Prompt("", "")

    async def silence(_request: Any) -> AsyncGenerator[str, None]:
        for piece in list[str]():
            yield piece

    loaded: runner.embedding.Future[Any] = runner.embedding.Future()
    loaded.set_result(None)
    monkeypatch.setattr(runner.embedding, "warm", lambda: loaded)
    monkeypatch.setattr(runner, "in_thread", assembling)
    monkeypatch.setattr(runner.llm, "stream", silence)
    monkeypatch.setattr(runner, "_request", lambda turn, assembled: None)
    here = runner.Runner()
    await asyncio.gather(*(here._speak(runner.Live(Turn(pk=number))) for number in range(7)))
    assert begun == list(range(7))
    assert most == runner.ASSEMBLED_TOGETHER
