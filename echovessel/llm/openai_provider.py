"""Chat completions: OpenAI, and every server that speaks its protocol (Ollama, llama.cpp, vLLM, LM Studio).

Not the responses API, because only chat completions are supported everywhere.
"""

import json
from collections.abc import AsyncGenerator, Iterator
from typing import Any
from urllib.parse import urlsplit

import openai
from django.conf import settings
from openai import AsyncOpenAI, AsyncStream
from openai.types import CompletionUsage
from openai.types.chat import ChatCompletion, ChatCompletionChunk, ChatCompletionMessage
from openai.types.chat.chat_completion_chunk import ChoiceDelta

from echovessel.llm.certificates import ssl_context
from echovessel.llm.errors import LLMError
from echovessel.llm.faults import as_llm_errors, is_complete_answer, read_json_answer
from echovessel.llm.prompts import render_wording
from echovessel.llm.providers import OPENAI, Endpoint, Mode, Provider, Terms, open_stream
from echovessel.llm.request import Request, ResponseSchema, StreamEnd, Thought, Usage

OWN_URL = "https://api.openai.com/v1"
MODES: tuple[Mode, ...] = ("schema", "json", "text")
# Fields that a server may not know. `store` is always sent, because OpenAI stores answers by default; only servers of
# others may reject it.
OPTIONAL = ("stream_options", "reasoning_effort", "max_completion_tokens", "max_tokens")
# DeepSeek, vLLM, llama.cpp, LM Studio and others; Ollama, OpenRouter, Groq; Ollama's own; OpenRouter's list.
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking", "reasoning_details")
REASONS: dict[str, Any] = {"length": "length", "content_filter": "refusal"}


class OpenAIProvider(Provider):
    """Calls the address in the connection, or OpenAI's own if there is none."""

    name = "openai"
    defaults = OPENAI

    async def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | Thought | StreamEnd, None]:
        """See `Provider.stream`."""
        url = self.connection.base_url or OWN_URL
        key = self.connection.key
        if not key and url == OWN_URL:
            raise LLMError("No API key is set for OpenAI.", code="provider_unavailable", permanent=True)
        model, own = self.model(request.tier), is_own(url)
        endpoint: Endpoint = (self.name, url, model)
        # One client per call: it belongs to the running event loop, and is closed with the stream.
        client = AsyncOpenAI(
            api_key=key or "none",  # local servers require the header, but not its content
            base_url=url,
            max_retries=0,
            timeout=settings.LLM_TIMEOUT_S,
            http_client=openai.DefaultAsyncHttpxClient(verify=ssl_context(), follow_redirects=False),
        )

        async def send(terms: Terms) -> AsyncStream[ChatCompletionChunk]:
            stream: AsyncStream[ChatCompletionChunk] = await client.chat.completions.create(
                **body(request, shape, terms, model, own=own)
            )
            return stream

        modes = MODES if shape else ()
        fields = OPTIONAL if own else ("store", *OPTIONAL)
        with as_llm_errors(openai):
            async with client:
                opened = await open_stream(endpoint, send, refusal=openai.APIStatusError, fields=fields, modes=modes)
                async with opened as chunks:
                    async for item in _read(chunks):
                        yield item


def is_own(url: str) -> bool:
    """Whether the address is OpenAI's own."""
    return (urlsplit(url).hostname or "").endswith("openai.com")


def body(request: Request, shape: ResponseSchema | None, terms: Terms, model: str, *, own: bool) -> dict[str, Any]:
    """The body of the HTTP request. `own`: the server is OpenAI's own, whose newer models renamed a field and reason at
    length unless told otherwise."""
    optional: dict[str, Any] = {"store": False, "stream_options": {"include_usage": True}}
    if own:
        optional["reasoning_effort"] = "low"
    limits = ["max_completion_tokens", "max_tokens"] if own else ["max_tokens", "max_completion_tokens"]
    limit = next((name for name in limits if name not in terms.without), None)
    if limit:
        optional[limit] = request.max_tokens
    system = request.system
    if shape and terms.mode != "schema":
        system = f"{system}\n\n{render_wording('answer_as_json', schema=json.dumps(shape.schema))}"
    form: dict[str, Any] = {"type": "json_object"}
    if shape and terms.mode == "schema":
        json_schema = {"name": shape.name, "strict": True, "schema": shape.schema}
        form = {"type": "json_schema", "json_schema": json_schema}
    return {
        "model": model,
        "stream": True,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": request.user}],
        **({"response_format": form} if shape and terms.mode != "text" else {}),
        **{name: value for name, value in optional.items() if name not in terms.without},
    }


async def _read(chunks: AsyncStream[ChatCompletionChunk]) -> AsyncGenerator[str | Thought | StreamEnd, None]:
    """Yield the text of the first choice, then `StreamEnd` if the server sent a finish reason. Token counts come in a
    separate chunk after that reason, so `StreamEnd` is only yielded once the stream has ended."""
    if is_complete_answer(chunks.response):  # some servers do not stream if a schema is given
        completion = ChatCompletion.model_validate_json(await read_json_answer(chunks.response))
        choice = completion.choices[0]
        for item in _parts(choice.message):
            yield item
        ended: Any = "refusal" if choice.message.refusal else REASONS.get(choice.finish_reason, "stop")
        yield StreamEnd(ended, _usage(completion.usage) if completion.usage else None)
        return
    reason, usage, refused = "", None, False
    async for chunk in chunks:
        if chunk.usage:
            usage = _usage(chunk.usage)
            details = chunk.usage.completion_tokens_details
            if details and details.reasoning_tokens:
                yield Thought()
        for piece in chunk.choices[:1]:
            refused = refused or bool(piece.delta.refusal)
            reason = piece.finish_reason or reason
            for item in _parts(piece.delta):
                yield item
    if reason:
        yield StreamEnd("refusal" if refused else REASONS.get(reason, "stop"), usage)


def _parts(message: ChoiceDelta | ChatCompletionMessage) -> Iterator[str | Thought]:
    """Yield the reasoning and the text of a message or of one delta. Other servers name the reasoning field
    differently, and Mistral sends both as a list of parts."""
    for name in REASONING_FIELDS:
        if thought := getattr(message, name, None):
            yield Thought(thought if isinstance(thought, str) else "")
            break
    content: Any = message.content
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            yield part
        elif isinstance(part, dict):
            yield part["text"] if isinstance(part.get("text"), str) else Thought(str(part.get("thinking") or ""))


def _usage(usage: CompletionUsage) -> Usage:
    """OpenAI includes cached tokens in those of the prompt. An inconsistent cached count is capped at the prompt's."""
    details = usage.prompt_tokens_details
    cached = (details and details.cached_tokens) or 0
    tokens_in = usage.prompt_tokens or 0
    return Usage(tokens_in, min(cached, tokens_in), usage.completion_tokens or 0)
