"""Model servers to connect: finding those on this machine, listing a server's models, and testing what works."""

import asyncio
import json
import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import httpx2
from django.conf import settings

from echovessel.llm.certificates import ssl_context
from echovessel.llm.connection import Connection
from echovessel.llm.errors import LLMError
from echovessel.llm.providers import provider_of
from echovessel.llm.request import Request, ResponseSchema, StreamEnd

# The default ports of these servers.
USUAL = (("Ollama", 11434), ("LM Studio", 1234), ("llama.cpp", 8080), ("vLLM", 8000), ("vLLM", 8001))
FIND_SECONDS, LIST_SECONDS, TEST_SECONDS = 1.5, 10.0, 60.0
UNREACHED = "unreached"
MAX_MODELS = 1_000
MAX_NAME = 200
TEST_TOKENS = 600  # models that think use some before they answer
SHAPE = ResponseSchema(
    "colour",
    {
        "type": "object",
        "properties": {"colour": {"type": "string"}},
        "required": ["colour"],
        "additionalProperties": False,
    },
)


@dataclass(frozen=True)
class FoundServer:
    """A server on this machine that lists its models."""

    name: str
    url: str
    models: tuple[str, ...]


@dataclass(frozen=True)
class Step:
    """One part of a test. `code`: where it failed, as `trouble_of` returns it."""

    name: Literal["reply", "stream", "structured"]
    works: bool
    code: str = ""


@dataclass(frozen=True)
class TestResult:
    """What works; seconds to the first word, and tokens per second after it, if they could be measured."""

    steps: tuple[Step, ...]
    first_word_seconds: float | None = None
    tokens_per_second: float | None = None

    @property
    def replies(self) -> bool:
        return any(step.name == "reply" and step.works for step in self.steps)


async def find_servers() -> list[FoundServer]:
    """The known servers that run on this machine, each with its models. A server has FIND_SECONDS to answer."""
    answers = await asyncio.gather(*(_models_or_none(f"http://127.0.0.1:{port}/v1") for _name, port in USUAL))
    return [
        FoundServer(name, f"http://127.0.0.1:{port}/v1", tuple(models))
        for (name, port), models in zip(USUAL, answers, strict=True)
        if models is not None
    ]


async def _models_or_none(url: str) -> list[str] | None:
    try:
        return await list_models(Connection("openai", url), FIND_SECONDS)
    except LLMError:
        return None


async def list_models(connection: Connection, seconds: float = LIST_SECONDS) -> list[str]:
    """The names of the models that a server offers, sorted. Raises LLMError."""
    is_anthropic = connection.provider == "anthropic"
    # Imported here: the two libraries take two seconds of CPU to load, which every start would pay.
    sdk: Any = import_module("anthropic" if is_anthropic else "openai")
    make = sdk.AsyncAnthropic if is_anthropic else sdk.AsyncOpenAI
    transport = sdk.DefaultAsyncHttpxClient(verify=ssl_context(), follow_redirects=False)
    address = {"base_url": connection.base_url} if connection.base_url else {}
    client = make(api_key=connection.key or "none", max_retries=0, timeout=seconds, http_client=transport, **address)
    async with client:
        page = await _within(seconds, client.models.list(), sdk)
    rows = getattr(page, "data", None)
    if not isinstance(rows, list):
        raise LLMError("The answer is no list of models.", code="provider_unavailable", permanent=True)
    names = (getattr(row, "id", None) for row in rows[:MAX_MODELS])
    return sorted({name for name in names if isinstance(name, str) and 0 < len(name) <= MAX_NAME}, key=str.casefold)


def trouble_of(error: LLMError) -> str:
    """The error's code, or UNREACHED if nothing listens at the address: the error's cause shows that, its code does
    not."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, httpx2.ConnectError):
            return UNREACHED
        cause = cause.__cause__ or cause.__context__
    return error.code


async def _within(seconds: float, answer: Awaitable[Any], sdk: Any) -> Any:
    try:
        async with asyncio.timeout(seconds):
            return await answer
    except TimeoutError as error:
        raise LLMError("The server did not answer in time.", code="timeout", permanent=False) from error
    except sdk.APITimeoutError as error:
        raise LLMError("The server did not answer in time.", code="timeout", permanent=False) from error
    except sdk.APIStatusError as error:
        code: Any = "rate_limited" if error.status_code == 429 else "provider_unavailable"
        raise LLMError(f"The server answered {error.status_code}.", code=code, permanent=True) from error
    except (sdk.APIError, ValueError, TypeError, AttributeError) as error:
        raise LLMError("The server is not reached.", code="provider_unavailable", permanent=False) from error


async def test(connection: Connection) -> TestResult:
    """Ask the model for a short reply and for a structured answer. Takes at most `TEST_SECONDS` for each."""
    steps: list[Step] = []
    pieces, began = 0, time.monotonic()
    first: float | None = None
    usage = None
    try:
        async for item in _ask(connection, "Answer in one short sentence.", "What is the sea like in the morning?"):
            if isinstance(item, str) and item:
                first = first or time.monotonic()
                pieces += 1
            elif isinstance(item, StreamEnd):
                usage = item.usage
        steps.append(Step("reply", pieces > 0, "" if pieces else "provider_unavailable"))
        steps.append(Step("stream", pieces > 1))
    except LLMError as error:
        return TestResult((Step("reply", False, trouble_of(error)),))
    ended = time.monotonic()
    steps.append(await _test_structured(connection))
    spoke = ended - first if first else 0.0
    speed = usage.tokens_out / spoke if usage and usage.tokens_out and pieces > 1 and spoke > 0.01 else None
    return TestResult(tuple(steps), first - began if first else None, speed)


async def _test_structured(connection: Connection) -> Step:
    text = ""
    try:
        structured = _ask(connection, "Answer in the demanded JSON form.", "Which colour has a ripe lemon?", SHAPE)
        async for item in structured:
            text += item if isinstance(item, str) else ""
        start, end = text.find("{"), text.rfind("}")
        works = isinstance(json.loads(text[start : end + 1]).get("colour"), str)
        return Step("structured", works)
    except LLMError as error:
        return Step("structured", False, trouble_of(error))
    except ValueError:
        return Step("structured", False)


async def _ask(connection: Connection, system: str, user: str, shape: ResponseSchema | None = None) -> Any:
    request = Request(system=system, user=user, tier="large", purpose="chat", max_tokens=TEST_TOKENS)
    seconds = min(TEST_SECONDS, settings.LLM_TIMEOUT_S)
    try:
        async with asyncio.timeout(seconds):
            async for item in provider_of(connection).stream(request, shape):
                yield item
    except TimeoutError as error:
        raise LLMError("The model did not answer in time.", code="timeout", permanent=False) from error


def usable_names(names: Sequence[str]) -> list[str]:
    """The names of models that are probably for conversation: no embedding, speech or image models.

    >>> usable_names(["nomic-embed-text:latest", "qwen3:8b", "whisper-1"])
    ['qwen3:8b']
    """
    other = ("embed", "whisper", "tts", "dall-e", "image", "rerank", "moderation", "bge-", "-asr", "transcribe")
    return [name for name in names if not any(word in name.casefold() for word in other)]
