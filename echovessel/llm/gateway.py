"""The three ways to ask a model. Every call runs under one deadline and leaves one row in the ledger.

A structured answer is a conversation of at most two calls. `conversation` says what to ask and what to make
of the reply, without asking; `answer` and `answer_now` carry it out from async and from sync code.
"""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar

from django.conf import settings
from pydantic import BaseModel

from echovessel.llm.choosing import chosen_provider
from echovessel.llm.errors import AnswerUnreadable, LLMError
from echovessel.llm.ledger import Meter
from echovessel.llm.parsing import Unreadable, parsed
from echovessel.llm.request import Answer, Request, Shape, Usage
from echovessel.llm.schemas import shape_of
from echovessel.llm.wording import worded
from echovessel.threads import in_thread

Schema = TypeVar("Schema", bound=BaseModel)


@dataclass(frozen=True)
class Reply:
    """What came back of one call, unread."""

    text: str
    whole: bool
    usage: Usage


async def stream(request: Request) -> AsyncGenerator[str, None]:
    """The reply in pieces, as they come. Raises `LLMError`; pieces that came before it stay said.

    Leave it early only through `contextlib.aclosing`, so that connection and ledger are settled at once.
    """
    meter = Meter(request, chosen_provider())
    try:
        with meter.running():
            async with aclosing(_items(meter, None)) as items:
                async for item in items:
                    yield item
            _demand_words(meter)
    finally:
        await asyncio.shield(in_thread(meter.record))


async def answer(request: Request, schema: type[Schema]) -> Answer[Schema]:
    """A validated answer. Raises `LLMError`, or `AnswerUnreadable` when two attempts do not fit."""
    talk = conversation(request, schema)
    provider, shape, question = chosen_provider(), shape_of(schema), next(talk)
    while True:
        meter = Meter(question, provider)
        try:
            reply = await _reply(meter, shape)
        finally:
            await asyncio.shield(in_thread(meter.record))
        try:
            question = talk.send(reply)
        except StopIteration as done:
            return done.value


def answer_now(request: Request, schema: type[Schema]) -> Answer[Schema]:
    """`answer` for jobs and commands: blocks, and writes the ledger in the calling thread and connection.

    Not for a thread in which an event loop runs.
    """
    talk = conversation(request, schema)
    provider, shape, question = chosen_provider(), shape_of(schema), next(talk)
    while True:
        meter = Meter(question, provider)
        try:
            reply = asyncio.run(_reply(meter, shape))
        finally:
            meter.record()
        try:
            question = talk.send(reply)
        except StopIteration as done:
            return done.value


def conversation(request: Request, schema: type[Schema]) -> Generator[Request, Reply, Answer[Schema]]:
    """Asks, and where the answer does not fit, once more with the model's own words and what is wrong with
    them.

    A first answer that hit the token limit is never completed by guessing: what was cut off may be the best
    of it.
    """
    first = yield request
    try:
        value = parsed(first.text, schema, mend=first.whole)
        return Answer(value, first.text, first.usage)
    except Unreadable as error:
        problem = str(error)
    second = yield replace(
        request, user=worded("answer_again", question=request.user, answer=first.text, problem=problem)
    )
    try:
        value = parsed(second.text, schema)
    except Unreadable as error:
        raise AnswerUnreadable(f"Two answers did not fit. {error}", raw=second.text) from error
    return Answer(value, second.text, first.usage + second.usage)


async def _reply(meter: Meter, shape: Shape) -> Reply:
    with meter.running():
        async with aclosing(_items(meter, shape)) as items:
            async for _ in items:
                pass
    reason = meter.finished.reason if meter.finished else "length"
    return Reply(meter.text, reason != "length", meter.usage)


async def _items(meter: Meter, shape: Shape | None) -> AsyncGenerator[str, None]:
    """The pieces of one call under one total deadline, until the model says that it has ended, and why."""
    deadline = asyncio.get_running_loop().time() + settings.LLM_TIMEOUT_S
    half = ""
    async with aclosing(meter.provider.stream(meter.request, shape)) as source:
        while meter.finished is None:
            try:
                async with asyncio.timeout_at(deadline):
                    item = await anext(source)
            except TimeoutError as error:
                raise LLMError("The model took too long.", code="timeout", permanent=False) from error
            except StopAsyncIteration as error:
                raise _unavailable("The stream ended before the reply did.") from error
            if isinstance(item, str):
                item, half = storable(half + item)
            meter.see(item)
            if isinstance(item, str) and item:
                yield item
    if meter.finished.reason == "refusal":
        raise LLMError("The model declined to answer.", code="content_refused", permanent=True)


def storable(text: str) -> tuple[str, str]:
    """What of `text` can be stored as UTF-8, and the half of a character at its end that the next piece completes.

    Some servers split an emoji over two pieces of JSON. Halves that stay alone become U+FFFD.
    """
    half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    whole = text[: len(text) - len(half)]
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), half


def _demand_words(meter: Meter) -> None:
    if not meter.text.strip():
        raise _unavailable("The model sent an empty reply.")


def _unavailable(words: str) -> LLMError:
    return LLMError(words, code="provider_unavailable", permanent=False)
