"""The hub reads the event log no more often than there is something to ask for."""

import asyncio
from typing import Any
from uuid import uuid4

import pytest

from echovessel.outbox import events


async def test_all_who_ask_during_a_reading_are_answered_by_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[int] = []
    let = asyncio.Event()

    async def read(_after: Any, seen: int) -> list[Any]:
        readings.append(seen)
        await let.wait()
        return []

    monkeypatch.setattr(events, "in_thread", read)
    here = events.Hub(asyncio.get_running_loop())
    here._subscriptions[uuid4()] = {events.Subscription([uuid4()], 1)}
    asking = [asyncio.create_task(here.catch_up())]
    await asyncio.sleep(0)
    asking += [asyncio.create_task(here.catch_up()) for _ in range(5)]
    await asyncio.sleep(0)
    let.set()
    await asyncio.gather(*asking)
    assert len(readings) == 2  # the second began after all had asked
    await here.catch_up()
    assert len(readings) == 3
