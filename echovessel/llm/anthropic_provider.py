"""Anthropic's messages API, and servers that speak its protocol."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import anthropic
from anthropic import AsyncAnthropic, AsyncStream
from anthropic.types import Message, RawMessageStreamEvent
from django.conf import settings

from echovessel.llm.certificates import ssl_context
from echovessel.llm.errors import LLMError
from echovessel.llm.faults import as_llm_errors, is_complete_answer, read_json_answer
from echovessel.llm.prompts import render_wording
from echovessel.llm.providers import ANTHROPIC, Endpoint, Mode, Provider, Terms, open_stream
from echovessel.llm.request import Request, ResponseSchema, StreamEnd, Thought, Usage

OWN_URL = "https://api.anthropic.com"
MODES: tuple[Mode, ...] = ("schema", "text")
REASONS: dict[str, Any] = {
    "refusal": "refusal",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
}


class AnthropicProvider(Provider):
    """Calls Anthropic's own address, or the one in the connection."""

    name = "anthropic"
    defaults = ANTHROPIC

    async def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | Thought | StreamEnd, None]:
        """See `Provider.stream`."""
        url = self.connection.base_url or OWN_URL
        key = self.connection.key
        if not key and url == OWN_URL:
            raise LLMError("No API key is set for Anthropic.", code="provider_unavailable", permanent=True)
        model = self.model(request.tier)
        endpoint: Endpoint = (self.name, url, model)
        # One client per call: it belongs to the running event loop, and is closed with the stream.
        client = AsyncAnthropic(
            api_key=key or "none",  # local servers require the header, but not its content
            base_url=url,
            max_retries=0,
            timeout=settings.LLM_TIMEOUT_S,
            http_client=anthropic.DefaultAsyncHttpxClient(verify=ssl_context(), follow_redirects=False),
        )

        async def send(terms: Terms) -> AsyncStream[RawMessageStreamEvent]:
            stream: AsyncStream[RawMessageStreamEvent] = await client.messages.create(
                **body(request, shape, terms, model)
            )
            return stream

        modes = MODES if shape else ()
        with as_llm_errors(anthropic):
            async with client:
                opened = await open_stream(endpoint, send, refusal=anthropic.APIStatusError, fields=(), modes=modes)
                async with opened as events:
                    async for item in _read(events):
                        yield item


def body(request: Request, shape: ResponseSchema | None, terms: Terms, model: str) -> dict[str, Any]:
    """The body of the HTTP request. It has no temperature, which the SDK no longer supports."""
    system, config = request.system, {}
    if shape and terms.mode == "schema":
        schema = anthropic.transform_schema(dict(shape.schema))
        config = {"output_config": {"format": {"type": "json_schema", "schema": schema}}}
    elif shape:
        system = f"{system}\n\n{render_wording('answer_as_json', schema=json.dumps(shape.schema))}"
    return {
        "model": model,
        "stream": True,
        "max_tokens": request.max_tokens,
        "system": system,
        "messages": [{"role": "user", "content": request.user}],
        **config,
    }


async def _read(events: AsyncStream[RawMessageStreamEvent]) -> AsyncGenerator[str | Thought | StreamEnd, None]:
    """Yield the text and the model's thoughts, then `StreamEnd` if the server sent a stop reason."""
    if is_complete_answer(events.response):  # some servers do not stream although asked to
        message = Message.model_validate_json(await read_json_answer(events.response))
        for block in message.content:
            if block.type == "text":
                yield block.text
            elif block.type == "thinking":
                yield Thought(block.thinking)
        yield StreamEnd(REASONS.get(message.stop_reason or "", "stop"), _usage(_counts(message.usage)))
        return
    usage_counts: dict[str, int] = {}
    reason = ""
    async for event in events:
        if event.type == "message_start":
            usage_counts |= _counts(event.message.usage)
        elif event.type == "content_block_delta" and event.delta.type == "text_delta":
            yield event.delta.text
        elif event.type == "content_block_delta" and event.delta.type == "thinking_delta":
            yield Thought(event.delta.thinking)
        elif event.type == "content_block_start" and event.content_block.type == "redacted_thinking":
            yield Thought()
        elif event.type == "message_delta":
            usage_counts |= _counts(event.usage)
            reason = event.delta.stop_reason or reason
    if reason:
        yield StreamEnd(REASONS.get(reason, "stop"), _usage(usage_counts) if usage_counts else None)


def _counts(usage: Any) -> dict[str, int]:
    """The integer counts in `usage`; those of a later event replace those of an earlier one."""
    return {name: value for name, value in (usage.model_dump() if usage else {}).items() if type(value) is int}


def _usage(usage_counts: dict[str, int]) -> Usage:
    """Anthropic counts tokens read from and written to its cache separately from the rest of the prompt."""
    cached = usage_counts.get("cache_read_input_tokens", 0)
    fresh = usage_counts.get("input_tokens", 0) + usage_counts.get("cache_creation_input_tokens", 0)
    return Usage(fresh + cached, cached, usage_counts.get("output_tokens", 0))
