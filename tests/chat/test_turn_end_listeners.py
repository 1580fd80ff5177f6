"""Once a turn has ended, however it did, others are told; what goes wrong with them is no matter of the talk."""

import asyncio
from typing import Any

import pytest

from chat.models import Turn
from chat.turns import turn
from echovessel.llm import LLMError
from echovessel.process.threads import in_thread
from persona.models import Persona
from tests.page import Page
from tests.scripted import Script
from tests.turns import settled

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def heard(settings: Any, monkeypatch: Any) -> "list[tuple[str, bool]]":
    """The status of every turn that was told of, after one listener that breaks."""
    told: list[tuple[str, bool]] = []

    def broken(_turn_pk: int, _now: Any) -> None:
        raise ValueError("".join(["Rose", "bud"]))

    def hear(turn_pk: int, now: Any) -> None:
        told.append((Turn.objects.get(pk=turn_pk).status, now.tzinfo is not None))

    monkeypatch.setattr(turn, "broken", broken, raising=False)
    monkeypatch.setattr(turn, "hear", hear, raising=False)
    settings.CHAT_AFTERWARDS = ["chat.turns.turn.broken", "chat.turns.turn.hear"]
    return told


async def test_hooks_run_after_every_end_of_a_turn(
    mira: Persona, scripted: Script, heard: list[Any], caplog: Any
) -> None:
    scripted.says("Well.", LLMError("down", code="timeout", permanent=False), "It was a long night.")
    async with Page(mira.owner, mira) as page:
        await page.say("one")
        await page.until("chat.message.done")
        await settled()
        await page.say("two")
        await page.until("chat.turn.failed")
        await settled()
        scripted.hold()
        await page.say("three")
        turn_id = (await page.until("chat.message.token"))["data"]["turn_id"]
        await page.send(type="stop", turn_id=turn_id)
        await page.until("chat.message.done", stopped=True)
        await settled()
    assert heard == [("done", True), ("failed", True), ("stopped", True)]
    assert caplog.text.count("chat.turns.turn.broken failed at turn") == 3
    assert "Rosebud" not in caplog.text


async def test_the_next_turn_does_not_wait_for_them(
    mira: Persona, scripted: Script, settings: Any, monkeypatch: Any
) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()
    loop = asyncio.get_running_loop()

    def slow(_turn_pk: int, _now: Any) -> None:
        loop.call_soon_threadsafe(begun.set)
        asyncio.run_coroutine_threadsafe(go_on.wait(), loop).result(10)

    monkeypatch.setattr(turn, "slow", slow, raising=False)
    settings.CHAT_AFTERWARDS = ["chat.turns.turn.slow"]
    async with Page(mira.owner, mira) as page:
        await page.say("one")
        await page.until("chat.message.done")
        await asyncio.wait_for(begun.wait(), 10)
        await page.say("two")
        await page.until("chat.message.done")
        go_on.set()
        assert await in_thread(Turn.objects.filter(status="done").count) == 2


async def test_others_may_answer_in_place_of_the_model_and_their_faults_cost_no_reply(
    mira: Persona, scripted: Script, settings: Any, monkeypatch: Any, caplog: Any
) -> None:
    def broken(_turn: Turn, _now: Any) -> tuple[str, dict[str, Any]]:
        raise ValueError("".join(["Rose", "bud"]))

    def ready(asked: Turn, _now: Any) -> tuple[str, dict[str, Any]]:
        text = asked.messages.get().content
        return ("Ready.", {"noted": [1]}) if text == "one" else ("", {})

    monkeypatch.setattr(turn, "broken", broken, raising=False)
    monkeypatch.setattr(turn, "ready", ready, raising=False)
    settings.CHAT_ANSWERS = ["chat.turns.turn.broken", "chat.turns.turn.ready"]
    scripted.says("A model.")
    async with Page(mira.owner, mira) as page:
        await page.say("one")
        assert (await page.until("chat.message.done"))["data"]["content"] == "Ready."
        await page.say("two")
        assert (await page.until("chat.message.done"))["data"]["content"] == "A model."
    first = await in_thread(lambda: Turn.objects.order_by("id").first())
    assert first is not None
    assert first.xray == {"noted": [1]}
    assert "Rosebud" not in caplog.text
