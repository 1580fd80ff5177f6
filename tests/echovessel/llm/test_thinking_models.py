"""Models that think, behind the real SDKs and servers that speak the wire protocols."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from echovessel import llm
from echovessel.llm import gateway, knobs, providers
from echovessel.llm.ledger import Meter
from tests.wire.anthropic_server import AnthropicServer
from tests.wire.openai_server import OpenAIServer

HELLO = "Hello, Ana."
STORY = "Once upon a time there was a vessel that kept every word. "


class Event(BaseModel):
    """A small stand-in for the answers of memory."""

    description: str


@pytest.fixture(autouse=True)
def ledger(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The rows that would be written."""
    rows: list[dict[str, Any]] = []

    async def at_once(do: Callable[..., None], *args: Any) -> None:
        do(*args)

    monkeypatch.setattr(Meter, "record", lambda meter: rows.append(meter.row()))
    monkeypatch.setattr(gateway, "in_thread", at_once)
    monkeypatch.setattr("echovessel.llm.ledger.usage_today", lambda now, **whose: [])
    return rows


def a_request(**changes: Any) -> llm.Request:
    words = {"system": "You are Mira.", "user": "Hello", "tier": "large", "purpose": "chat", "max_tokens": 50}
    return llm.Request(**(words | changes))


async def received(**changes: Any) -> list[Any]:
    return [item async for item in llm.stream(a_request(**changes))]


def text_of(items: list[Any]) -> str:
    text = ""
    for item in items:
        text = "" if isinstance(item, llm.Withdrawal) else text + (item if isinstance(item, str) else "")
    return text


async def test_reasoning_in_a_field_of_its_own_is_told_and_not_shown(openai_server: OpenAIServer) -> None:
    for name in ("reasoning_content", "reasoning", "thinking", "reasoning_details", "parts"):
        openai_server.says(HELLO, pieces=3, thoughts="They greet me.", thoughts_field=name)
        items = await received()
        assert items[0] == llm.Thinking(), name
        assert text_of(items) == HELLO, name


async def test_anthropics_thinking_blocks_are_told_and_not_shown(anthropic_server: AnthropicServer) -> None:
    anthropic_server.says(HELLO, pieces=3, thoughts="They greet me.")
    items = await received()
    assert items[0] == llm.Thinking()
    assert text_of(items) == HELLO


async def test_reasoning_in_the_text_is_taken_out_over_the_wire(
    openai_server: OpenAIServer, anthropic_server: AnthropicServer, settings: Any
) -> None:
    for server, provider in ((openai_server, "openai"), (anthropic_server, "anthropic")):
        settings.LLM_PROVIDER, settings.LLM_BASE_URL = provider, server.url
        for count in (1, 4, 60):
            server.says(f"<think>\nThey greet me.\n</think>\n\n{HELLO}", pieces=count)
            assert text_of(await received()) == HELLO
            server.says(f"They greet me.\n</think>\n\n{HELLO}", pieces=count)
            assert text_of(await received()) == HELLO


async def test_an_unopened_block_is_reverted_once_and_held_back_from_then_on(openai_server: OpenAIServer) -> None:
    for seen_before in (False, True):
        openai_server.says(f"They greet me. I greet them.\n</think>\n\n{HELLO}", pieces=9)
        items = await received()
        assert (llm.Withdrawal() in items) is not seen_before
        assert text_of(items) == HELLO


async def test_a_model_that_is_named_as_one_that_thinks_shows_no_reasoning_even_at_first(
    openai_server: OpenAIServer, settings: Any
) -> None:
    settings.LLM_MODEL_LARGE = "deepseek-r1:8b"
    openai_server.says(f"They greet me. I greet them.\n</think>\n\n{HELLO}", pieces=9)
    assert text_of([item for item in await received() if item != llm.Withdrawal()]) == HELLO
    openai_server.says("I am here, and I listen to you.", pieces=9)
    assert text_of(await received()) == "I am here, and I listen to you."
    openai_server.says("I am here, and I listen to you.", pieces=9)
    assert len(await received()) > 3, "a server that has shown to tell them apart is not waited for"


async def test_who_thinks_has_room_for_it(openai_server: OpenAIServer, settings: Any) -> None:
    openai_server.says(HELLO)
    await received()
    openai_server.says(HELLO, thoughts="hm")
    await received()
    openai_server.says(HELLO)
    await received()
    limits = [body["max_tokens"] for body in openai_server.requests]
    assert limits == [50, 50, 50 + knobs.reasoning_tokens()]
    settings.LLM_MODEL_LARGE = "qwen3:4b"
    openai_server.says(HELLO)
    await received()
    assert openai_server.requests[-1]["max_tokens"] == 50 + knobs.reasoning_tokens()


async def test_names_tell_who_thinks() -> None:
    def sounds(model: str) -> bool:
        return providers.thinks(("openai", "", model))

    thinkers = "deepseek-r1:8b Qwen/Qwen3-8B qwen3.5:4b QwQ-32B gpt-oss:20b Magistral-Small glm-4.6 phi4-reasoning:plus"
    assert all(map(sounds, [*thinkers.split(), "DeepSeek-R1-Distill-Llama-8B", "Kimi-K2-Thinking", "gemma-4-9b"]))
    others = "gpt-6.1-terra claude-sonnet-5-5 llama3.1:8b mistral-small qwen2.5:7b qwen3-4b-instruct-2507 gemma-3-4b"
    assert not any(map(sounds, [*others.split(), "grok-4-fast-non-reasoning", "offline", "scripted-large"]))


async def test_a_reply_that_is_all_reasoning_fails_and_says_so(openai_server: OpenAIServer, ledger: Any) -> None:
    replies: list[dict[str, Any]] = [
        {"text": "<think>They greet me. I could", "reason": "length"},
        {"text": "<think>They greet me.</think>\n"},
        {"text": "", "thoughts": "They greet me."},
    ]
    for reply in replies:
        openai_server.says(**reply)
        with pytest.raises(llm.LLMError) as caught:
            await received()
        assert (caught.value.code, caught.value.permanent) == ("only_reasoning", False)
        assert (ledger[-1]["outcome"], ledger[-1]["tokens_out"]) == ("only_reasoning", 5)


async def test_reasoning_that_was_cut_off_before_its_end_is_never_taken_for_the_reply(
    openai_server: OpenAIServer, settings: Any
) -> None:
    settings.LLM_MODEL_LARGE = "deepseek-r1"
    openai_server.says("Okay, they greet me. I could", reason="length")
    with pytest.raises(llm.LLMError) as caught:
        await received()
    assert caught.value.code == "only_reasoning"


async def test_reasoning_is_counted_where_the_server_does_not_count(openai_server: OpenAIServer, ledger: Any) -> None:
    for reply in ({"text": "Eight ch", "thoughts": "x" * 400}, {"text": f"<think>{'x' * 393}</think>Eight ch"}):
        openai_server.says(tokens_in=None, **reply)
        await received()
        assert ledger[-1]["estimated"]
        assert 100 <= ledger[-1]["tokens_out"] <= 105


async def test_an_answer_is_read_after_the_reasoning(openai_server: OpenAIServer) -> None:
    for text in (
        '<think>{"description": "no"}</think>{"description": "Ana has a cat"}',
        'It is {"description": "no"} or so.\n</think>\n```json\n{"description": "Ana has a cat"}\n```',
        '[THINK]hm[/THINK]{"description": "Ana has a cat"}',
    ):
        openai_server.says(text)
        found = await llm.answer(a_request(purpose="extraction"), Event)
        assert found.value.description == "Ana has a cat"
        assert "no" not in found.raw
    openai_server.says('{"description": "The tag is <think>.</think>Really."}')
    found = await llm.answer(a_request(purpose="extraction"), Event)
    assert found.value.description == "The tag is <think>.</think>Really."


async def test_an_answer_that_is_all_reasoning_is_asked_for_again_with_more_room(openai_server: OpenAIServer) -> None:
    openai_server.says("<think>They have a cat, I", reason="length")
    openai_server.answers({"description": "Ana has a cat"})
    found = await llm.answer(a_request(purpose="extraction"), Event)
    assert found.value.description == "Ana has a cat"
    assert [body["max_tokens"] for body in openai_server.requests] == [50, 50 + knobs.reasoning_tokens()]


async def test_a_reply_ends_at_its_limit_and_the_stream_is_closed(
    openai_server: OpenAIServer, anthropic_server: AnthropicServer, settings: Any, ledger: Any
) -> None:
    for server, provider in ((openai_server, "openai"), (anthropic_server, "anthropic")):
        settings.LLM_PROVIDER, settings.LLM_BASE_URL = provider, server.url
        server.says(STORY * 40_000, pieces=4_000)
        items = await received(max_characters=1_000)
        text = text_of(items)
        assert items[-1] == llm.CutOff()
        assert 800 < len(text) <= 1_000
        assert text.endswith("word.")
        assert ledger[-1]["outcome"] == "ok"
        assert ledger[-1]["estimated"]
        assert ledger[-1]["tokens_out"] < 1_000, "no more than what came is counted"
        for _ in range(100):
            if server.disconnects:
                break
            await gateway.asyncio.sleep(0.05)
        assert server.disconnects == 1, "the provider's stream was closed"


async def test_a_reply_that_its_tokens_end_says_so(openai_server: OpenAIServer) -> None:
    openai_server.says("I am here, and", reason="length")
    assert (await received())[-1] == llm.CutOff()
    openai_server.says(HELLO)
    assert llm.CutOff() not in await received()


async def test_an_endless_answer_is_stopped(openai_server: OpenAIServer) -> None:
    for _ in range(2):
        openai_server.says('{"description": "' + "ha" * 600_000, pieces=600)
    with pytest.raises(llm.AnswerUnreadable) as caught:
        await llm.answer(a_request(purpose="extraction"), Event)
    assert len(caught.value.raw) < 500_000
