"""Long answers wait for their readers."""

import asyncio
from functools import partial
from typing import Any

import pytest

from echovessel.web import backpressure
from echovessel.web.backpressure import with_flow_control


class Answer:
    """The part of twisted's request that the code under test uses."""

    def __init__(self) -> None:
        self.channel: object | None = object()
        self.transport = self
        self.producer: Any = None
        self.aborted = False
        self.sent: list[bytes] = []

    def registerProducer(self, producer: Any, streaming: bool) -> None:
        assert self.producer is None
        assert streaming
        self.producer = producer

    def unregisterProducer(self) -> None:
        self.producer = None

    def abortConnection(self) -> None:
        self.aborted = True


async def handle_reply(answer: Answer, message: dict[str, Any]) -> None:
    answer.sent.append(message.get("body", b""))
    if answer.channel and not message.get("more_body") and message["type"] == "http.response.body":
        assert answer.producer is None, "twisted complains when an answer ends with a producer"


def part(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": True}


async def test_an_answer_waits_while_its_reader_is_behind() -> None:
    answer = Answer()
    send = with_flow_control(partial(handle_reply, answer))
    await send({"type": "http.response.start", "status": 200})
    await send(part(b"a"))
    answer.producer.pauseProducing()
    waiting = asyncio.ensure_future(send(part(b"b")))
    await asyncio.sleep(0)
    assert answer.sent == [b"", b"a"]
    answer.producer.resumeProducing()
    await waiting
    await send({"type": "http.response.body"})
    assert answer.sent == [b"", b"a", b"b", b""]


async def test_an_answer_of_one_part_needs_no_producer() -> None:
    answer = Answer()
    send = with_flow_control(partial(handle_reply, answer))
    await send({"type": "http.response.start", "status": 200})
    await send({"type": "http.response.body", "body": b"all"})
    assert (answer.sent, answer.producer) == ([b"", b"all"], None)


async def test_a_connection_that_is_lost_holds_nobody_up() -> None:
    answer = Answer()
    send = with_flow_control(partial(handle_reply, answer))
    await send(part(b"a"))
    answer.producer.pauseProducing()
    answer.producer.stopProducing()
    answer.channel = None
    await send(part(b"b"))
    await send({"type": "http.response.body"})


async def test_a_reader_that_takes_nothing_for_long_is_given_up(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(backpressure, "STALLED_AFTER_SECONDS", 0.01)
    answer = Answer()
    send = with_flow_control(partial(handle_reply, answer))
    await send(part(b"a"))
    answer.producer.pauseProducing()
    await send(part(b"b"))
    assert answer.aborted
    assert "took nothing" in caplog.text


async def test_another_servers_send_is_left_as_it_is() -> None:
    async def send(message: dict[str, Any]) -> None:
        """Uvicorn's `send` waits by itself."""

    assert with_flow_control(send) is send
