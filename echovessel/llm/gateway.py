"""The three ways to call a model. Every call runs under one deadline and adds one row to the ledger.

A structured answer takes at most two calls. `conversation` decides what to ask and how to read the reply, without
calling; `answer` and `answer_now` make its calls from async and from sync code.
"""

import asyncio
import unicodedata
from collections import deque
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TypeVar

from django.conf import settings
from django.utils import timezone
from pydantic import BaseModel

from echovessel.language.plain_text import storable as storable_text
from echovessel.llm import knobs, ledger, providers
from echovessel.llm.errors import AnswerUnreadable, LLMError
from echovessel.llm.faults import unavailable_error
from echovessel.llm.ledger import Meter
from echovessel.llm.prompts import neutralize, render_wording, shorten
from echovessel.llm.providers import achosen_provider, chosen_provider
from echovessel.llm.reasoning import ReasoningFilter
from echovessel.llm.request import Answer, Reply, ReplyStore, Request, ResponseSchema, Thought
from echovessel.llm.structured_answers import MAX_CHARACTERS, Unreadable, as_answer, parse_answer, schema_of
from echovessel.llm.visible import Limit, Visible, VisibleReply
from echovessel.process.threads import in_thread

Schema = TypeVar("Schema", bound=BaseModel)


# A real answer is shorter than this (the knobs' defaults are 4,000); sending more of an unusable one again only costs.
ANSWER_TOKENS_SHOWN = 8_000

# Describes what is doubtful about a value that fits its schema, in words a model can act on; "" if nothing is.
Doubt = Callable[[Schema], str]


async def stream(request: Request) -> AsyncGenerator[Visible, None]:
    """Yield the reply in pieces as they come, without the model's reasoning: `Thinking` while there is only reasoning,
    `Withdrawal` if all pieces so far turn out to be reasoning, and `CutOff` at the end if a limit ended the reply.
    Raises `LLMError`; pieces yielded before it remain valid.

    Leave the loop early only through `contextlib.aclosing`, so that the connection is closed and the ledger row written
    immediately.
    """
    meter = Meter(request, await achosen_provider())
    endpoint = providers.endpoint_of(meter.provider, request.tier)
    reply = VisibleReply(
        ReasoningFilter(holds_back=providers.opens_in_prompt(endpoint)), Limit(request.max_characters or MAX_CHARACTERS)
    )
    try:
        with meter.running():
            if ledger.is_capped(request.purpose, request.owner_id, meter.provider):
                await in_thread(ledger.demand, request, meter.provider, timezone.now())
            async with aclosing(_items(meter, None)) as items:
                async for item in items:
                    for visible in reply.take(item):
                        yield visible
                    if reply.is_over:
                        break
            for visible in reply.close(is_cut=meter.end is None or meter.end.reason == "length"):
                yield visible
            providers.learn_habits(endpoint, thought=reply.has_reasoning, was_unopened=reply.began_in_prompt)
            _demand_words(reply.text, has_reasoning=reply.has_reasoning)
    finally:
        await asyncio.shield(in_thread(meter.record))


async def answer(request: Request, schema: type[Schema], *, doubt: Doubt[Schema] | None = None) -> Answer[Schema]:
    """A validated answer. Raises `LLMError`, or `AnswerUnreadable` when two attempts do not fit."""
    exchange = conversation(request, schema, doubt)
    provider, shape, question = await achosen_provider(), schema_of(schema), next(exchange)
    while True:
        meter = Meter(question, provider)
        try:
            with meter.running():
                if question is request:
                    await in_thread(ledger.demand, question, provider, timezone.now())
                reply = await _reply(meter, shape)
        finally:
            await asyncio.shield(in_thread(meter.record))
        try:
            question = exchange.send(reply)
        except StopIteration as done:
            return done.value


def answer_now(
    request: Request, schema: type[Schema], *, replies: ReplyStore | None = None, doubt: Doubt[Schema] | None = None
) -> Answer[Schema]:
    """`answer` for jobs and commands: blocks, and writes the ledger in the calling thread and connection.

    Replies found in `replies` are not requested again. Not for threads with a running event loop.
    """
    exchange = conversation(request, schema, doubt)
    provider, shape, question = chosen_provider(), schema_of(schema), next(exchange)
    stored_replies = deque(replies.load() if replies else ())
    number = 0
    while True:
        if stored_replies:
            reply = stored_replies.popleft()
        else:
            meter = Meter(question, provider)
            try:
                with meter.running():
                    if number == 0:  # a cap never stops the second call, for the first was paid for it
                        ledger.demand(question, provider, timezone.now())
                    reply = asyncio.run(_reply(meter, shape))
            except BaseException:
                meter.record()
                raise
            if replies:
                meter.record_with(partial(replies.save, number, reply))
            else:
                meter.record()
        number += 1
        try:
            question = exchange.send(reply)
        except StopIteration as done:
            return done.value


def conversation(
    request: Request, schema: type[Schema], doubt: Doubt[Schema] | None = None
) -> Generator[Request, Reply, Answer[Schema]]:
    """Yield the request; if the answer does not fit or is doubtful, yield a second one with the model's own answer and
    the problem. If only a doubt led to the second request and its answer does not fit, the first answer is used.

    An answer that hit the token limit is never completed by guessing: the missing part may be the most important.
    """
    first = yield request
    doubtful_value = None
    try:
        value = parse_answer(first.text, schema, mend=first.whole)
        problem = doubt(value) if doubt else ""
        if not problem:
            return Answer(value, first.text, first.usage)
        doubtful_value = value
    except Unreadable as error:
        problem = str(error)
    # Of an overlong answer, the beginning is enough to show what was wrong.
    shown_text = neutralize(shorten(first.text, ANSWER_TOKENS_SHOWN))
    second_prompt = render_wording(
        "answer_again", question=request.user, answer=shown_text, problem=neutralize(problem)
    )
    second = yield replace(request, user=second_prompt)
    usage = first.usage + second.usage
    try:
        return Answer(parse_answer(second.text, schema, mend=second.whole), second.text, usage)
    except Unreadable as error:
        if doubtful_value is not None:
            return Answer(doubtful_value, first.text, usage)
        raise AnswerUnreadable(f"Two answers did not fit. {error}", raw=second.text) from error


async def _reply(meter: Meter, shape: ResponseSchema) -> Reply:
    length, thought = 0, False
    async with aclosing(_items(meter, shape)) as items:
        async for item in items:
            length += len(item if isinstance(item, str) else item.text)
            thought = thought or isinstance(item, Thought)
            if length > MAX_CHARACTERS:
                break
    text = as_answer(meter.text)
    thought = thought or len(text) < len(meter.text)
    if thought:
        endpoint = providers.endpoint_of(meter.provider, meter.request.tier)
        providers.learn_habits(endpoint, thought=True, was_unopened=providers.opens_in_prompt(endpoint))
    whole = meter.end is not None and meter.end.reason != "length"
    if whole and not thought:
        # If the model only thought, its reply is handled like an unreadable one: the answer is requested once more.
        _demand_words(text, has_reasoning=False)
    return Reply(text, whole, meter.usage)


async def _items(meter: Meter, shape: ResponseSchema | None) -> AsyncGenerator[str | Thought, None]:
    """Yield the pieces of one call under one total deadline, until the model reports its end and the reason."""
    request = meter.request
    if providers.thinks(providers.endpoint_of(meter.provider, request.tier)):
        # Servers count reasoning among the tokens of the reply: without extra room, a model that thinks is cut off
        # before it has answered.
        request = replace(request, max_tokens=request.max_tokens + knobs.reasoning_tokens())
    deadline = asyncio.get_running_loop().time() + settings.LLM_TIMEOUT_S
    half = ""
    async with aclosing(meter.provider.stream(request, shape)) as source:
        while meter.end is None:
            try:
                async with asyncio.timeout_at(deadline):
                    item = await anext(source)
            except TimeoutError as error:
                raise LLMError("The model took too long.", code="timeout", permanent=False) from error
            except StopAsyncIteration as error:
                raise unavailable_error("The stream ended before the reply did.") from error
            if isinstance(item, str):
                item, half = storable(half + item)
            meter.see(item)
            if isinstance(item, Thought) or (isinstance(item, str) and item):
                yield item
    if meter.end.reason == "refusal":
        raise LLMError("The model declined to answer.", code="content_refused", permanent=True)


def storable(text: str) -> tuple[str, str]:
    """Split `text` into the part that can be stored as UTF-8, and a surrogate half at its end that the next piece
    completes.

    Some servers split an emoji over two pieces of JSON. Surrogates that stay single become U+FFFD.
    """
    half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
    return storable_text(text[: len(text) - len(half)]), half


def _demand_words(text: str, *, has_reasoning: bool) -> None:
    if any(unicodedata.category(character)[0] not in "CMZ" for character in text):
        return
    if has_reasoning:
        raise LLMError("The model only thought and gave no answer.", code="only_reasoning", permanent=False)
    raise unavailable_error("The model sent an empty reply.")
