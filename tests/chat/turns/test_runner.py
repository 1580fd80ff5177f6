"""The runner serves who came first, and does not let many prompts slow each other down."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import pytest

from chat.models import Turn
from chat.turns import runner


class Desk:
    """What the threads are asked to do, in order: a prompt by the number of its turn, what follows as its negative."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.at_once = self.most = 0

    async def in_thread(self, do: Callable[..., Any], *args: Any) -> Any:
        subject = next(arg for arg in args if isinstance(arg, int | Turn | runner.RunningTurn))
        turn = subject.turn if isinstance(subject, runner.RunningTurn) else subject
        number = turn if isinstance(turn, int) else turn.pk
        self.begun.append(number if do is runner._answer_or_prompt else -number)
        self.at_once += 1
        self.most = max(self.most, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        return runner.assemble.Prompt("", "") if do is runner._answer_or_prompt else True


@pytest.fixture
def desk(monkeypatch: pytest.MonkeyPatch) -> Desk:
    async def silence(_request: Any) -> AsyncGenerator[str, None]:
        for piece in list[str]():
            yield piece

    made = Desk()
    loaded: runner.embedding.Future[Any] = runner.embedding.Future()
    loaded.set_result(None)
    monkeypatch.setattr(runner.embedding, "warm", lambda: loaded)
    monkeypatch.setattr(runner, "in_thread", made.in_thread)
    monkeypatch.setattr(runner.llm, "stream", silence)
    monkeypatch.setattr(runner, "_make_request", lambda turn, prompt: None)
    return made


def speaking(here: runner.Runner, number: int) -> Coroutine[Any, Any, None]:
    return here._speak(runner.RunningTurn(Turn(pk=number)))


async def test_prompts_are_assembled_in_turn_a_few_at_a_time(desk: Desk) -> None:
    here = runner.Runner()
    await asyncio.gather(*(speaking(here, number) for number in range(7)))
    assert desk.begun == list(range(7))
    assert desk.most == runner.ASSEMBLED_TOGETHER


@pytest.mark.parametrize("what", ["the reply is stored", "others are told"])
async def test_hooks_after_a_reply_run_after_waiting_prompts_and_before_later_ones(
    what: str, desk: Desk, settings: Any
) -> None:
    settings.CHAT_AFTERWARDS = ["chat.turns.turn.words_for"]
    here, ended = runner.Runner(), Turn(pk=9)
    is_stored = what == "the reply is stored"
    follows = here._store_outcome(runner.RunningTurn(ended), "") if is_stored else here._run_after_hooks(ended)
    waiting = [asyncio.create_task(speaking(here, number)) for number in range(1, 6)]
    while not desk.begun:
        await asyncio.sleep(0)
    await asyncio.gather(*waiting, follows, speaking(here, 6))
    assert desk.begun == [1, 2, 3, 4, 5, -9, 6]
