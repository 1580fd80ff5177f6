"""The real SDKs against scripted servers: what goes out, what comes back, and every way to fail."""

import asyncio
import json
import ssl
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from pydantic import BaseModel

from echovessel import llm
from echovessel.llm import gateway, openai_provider
from echovessel.llm.certificates import ssl_context
from echovessel.llm.ledger import Meter
from echovessel.llm.models import Purpose
from echovessel.llm.providers import Terms
from echovessel.llm.structured_answers import schema_of
from tests.wire.scripted_server import Fails, Hangs, Page, Says

SERVERS = ("openai_server", "anthropic_server")


class Event(BaseModel):
    """A small stand-in for the extraction answer."""

    description: str
    impact: int = 0


class Events(BaseModel):
    """Several of them."""

    events: list[Event]


EVENTS = {"events": [{"description": "Ana has a cat", "impact": 2}]}


@pytest.fixture(autouse=True)
def ledger(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The rows that would be written; `test_ledger.py` writes them."""
    rows: list[dict[str, Any]] = []

    async def at_once(action: Callable[..., None], *args: Any) -> None:
        action(*args)

    monkeypatch.setattr(Meter, "record", lambda meter: rows.append(meter.row()))
    monkeypatch.setattr(gateway, "in_thread", at_once)
    monkeypatch.setattr("echovessel.llm.ledger.usage_today", lambda now, **whose: [])
    return rows


@pytest.fixture(params=SERVERS)
def server(request: pytest.FixtureRequest) -> Any:
    """Either server."""
    return request.getfixturevalue(request.param)


def a_request(**changes: Any) -> llm.Request:
    words = {"system": "You are Mira.", "user": "Hello", "tier": "large", "purpose": "chat", "max_tokens": 50}
    return llm.Request(**(words | changes))


async def said(request: llm.Request | None = None) -> list[str]:
    return [piece async for piece in llm.stream(request or a_request())]


async def test_a_reply_streams_in_its_pieces(server: Any) -> None:
    server.says("Hello Ana, how are you?", pieces=5)
    pieces = await said()
    assert len(pieces) >= 4
    assert "".join(pieces) == "Hello Ana, how are you?"


async def test_the_prompt_arrives_as_system_and_user(server: Any) -> None:
    await said()
    body = server.requests[0]
    assert "You are Mira." in str(body)
    assert body["messages"][-1] == {"role": "user", "content": "Hello"}
    assert body["stream"] is True
    assert body["max_tokens"] == 50
    assert "temperature" not in body


async def test_the_ledger_has_the_providers_counts(server: Any, settings: Any, ledger: Any) -> None:
    turn, persona = uuid4(), uuid4()
    settings.LLM_MODEL_LARGE = "big"
    settings.LLM_PRICES = {"big": {"in": 1.0, "cached": 0.5, "out": 10.0}}
    await said(a_request(turn_uuid=turn, persona_uuid=persona))
    [call] = ledger
    assert (call["tokens_in"], call["tokens_cached"], call["tokens_out"], call["estimated"]) == (
        11,
        3,
        5,
        False,
    )
    assert (call["purpose"], call["model"], call["outcome"]) == ("chat", "big", "ok")
    assert (call["turn_uuid"], call["persona_uuid"]) == (turn, persona)
    assert str(call["cost"]) == "0.00005950"


async def test_an_unknown_model_costs_null_and_not_zero(server: Any, ledger: Any) -> None:
    await said()
    [call] = ledger
    assert call["cost"] is None


async def test_usage_is_estimated_where_the_server_does_not_count(openai_server: Any, ledger: Any) -> None:
    openai_server.says("Eight chr", tokens_in=None)
    await said()
    [call] = ledger
    assert call["estimated"]
    assert call["tokens_in"] > 0
    assert call["tokens_out"] == 3


# All that a request may consist of: nothing that says who asks, and to OpenAI always that nothing be kept.
FIELDS = {
    "openai_server": {"model", "stream", "messages", "response_format", "store", "stream_options", "max_tokens"},
    "anthropic_server": {"model", "stream", "messages", "system", "max_tokens", "output_config"},
}


@pytest.mark.parametrize("purpose", Purpose.values)
async def test_nothing_is_kept_and_nobody_is_named_whatever_the_purpose(
    request: pytest.FixtureRequest, server: Any, purpose: str
) -> None:
    name = request.node.callspec.params["server"]
    server.queue.extend([Says("Hello."), Says("Hm."), Says('{"events": []}')])
    theirs = {"owner_id": 77_123, "persona_uuid": uuid4(), "session_uuid": uuid4(), "turn_uuid": uuid4()}
    asked = a_request(purpose=purpose, **theirs, material={"user_name": "Ana", "persona_name": "Mira-of-the-sea"})
    await said(asked)
    await llm.answer(asked, Events)
    assert len(server.requests) == 3
    for body, headers in zip(server.requests, server.headers, strict=True):
        assert set(body) <= FIELDS[name]
        assert body.get("store", name) in (False, "anthropic_server")
        sent = json.dumps([body, headers])
        assert not [word for word in (*map(str, theirs.values()), "Ana", "Mira-of-the-sea") if word in sent]


def test_openais_own_server_is_asked_not_to_store() -> None:
    for shape in (None, schema_of(Events)):
        for mode in ("schema", "json", "text"):
            fields = openai_provider.body(a_request(), shape, Terms(mode), "gpt", own=True)
            assert fields["store"] is False
            assert set(fields) <= FIELDS["openai_server"] | {"max_completion_tokens", "reasoning_effort"}


async def test_openais_own_server_is_never_asked_without_store(openai_server: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(openai_provider, "is_own", lambda url: True)
    openai_server.respond = lambda body: Fails(400, "I would rather store this")
    with pytest.raises(llm.LLMError):
        await said()
    assert [body["store"] for body in openai_server.requests] == [False]


def test_the_certificates_are_read_once_and_still_checked() -> None:
    assert ssl_context() is ssl_context()
    assert ssl_context().verify_mode == ssl.CERT_REQUIRED
    assert ssl_context().check_hostname


async def test_a_refusal_in_openais_own_field_is_one(openai_server: Any) -> None:
    openai_server.respond = lambda body: Says("I will not.", reason="refusal field")
    with pytest.raises(llm.LLMError) as caught:
        await llm.answer(a_request(purpose="extraction"), Events)
    assert (caught.value.code, caught.value.permanent) == ("content_refused", True)


async def test_a_server_that_rejects_store_is_asked_without_it_from_then_on(openai_server: Any) -> None:
    openai_server.respond = lambda body: (
        Fails(400, "Unrecognized request argument: store") if "store" in body else Says("fine")
    )
    assert await said() == ["fine"]
    assert await said() == ["fine"]
    assert ["store" in body for body in openai_server.requests] == [True, False, False]


async def test_a_server_that_renamed_max_tokens_is_asked_its_way(openai_server: Any) -> None:
    openai_server.respond = lambda body: (
        Fails(400, "Unsupported parameter: 'max_tokens'") if "max_tokens" in body else Says("fine")
    )
    assert await said() == ["fine"]
    assert openai_server.requests[1]["max_completion_tokens"] == 50


async def test_a_structured_answer_asks_for_the_schema(server: Any) -> None:
    server.answers(EVENTS, pieces=3)
    answer = await llm.answer(a_request(purpose="extraction", tier="small"), Events)
    assert answer.value == Events.model_validate(EVENTS)
    assert answer.usage == llm.Usage(11, 3, 5)
    body = server.requests[0]
    wanted = body.get("response_format") or body["output_config"]["format"]
    assert wanted["type"] == "json_schema"
    assert '"impact"' in str(wanted).replace("'", '"')


async def test_a_server_that_does_not_stream_is_understood_all_the_same(server: Any) -> None:
    answer = json.dumps(EVENTS)
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10, "input_tokens": 7, "output_tokens": 3}
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": answer}}
    said = {"type": "message", "role": "assistant", "stop_reason": "end_turn", "stop_sequence": None}
    document = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "usage": usage, "choices": [choice]}
    document |= said | {"content": [{"type": "text", "text": answer}]}
    server.queue.append(Page(json.dumps(document), "application/json"))
    assert (await llm.answer(a_request(purpose="extraction"), Events)).value == Events.model_validate(EVENTS)


async def test_answer_now_does_the_same_from_sync_code(server: Any, ledger: Any) -> None:
    server.answers(EVENTS)
    answer = await asyncio.to_thread(llm.answer_now, a_request(purpose="extraction"), Events)
    assert answer.value.events[0].impact == 2
    assert [call["outcome"] for call in ledger] == ["ok"]


async def test_openai_servers_without_schemas_or_json_mode_are_asked_for_plain_text(
    openai_server: Any, ledger: Any
) -> None:
    openai_server.respond = lambda body: (
        Fails(400, "response_format is not supported") if "response_format" in body else Says(str_json(EVENTS))
    )
    for _ in range(2):
        answer = await llm.answer(a_request(purpose="extraction"), Events)
        assert answer.value.events[0].description == "Ana has a cat"
    formats = [body.get("response_format", {}).get("type") for body in openai_server.requests]
    assert formats == ["json_schema", "json_object", None, None]
    assert "JSON schema" in openai_server.requests[-1]["messages"][0]["content"]
    assert len(ledger) == 2


async def test_a_server_with_json_mode_only_stays_there(openai_server: Any) -> None:
    def respond(body: Any) -> Any:
        schema = body["response_format"]["type"] == "json_schema"
        return Fails(422, "unknown response format") if schema else Says(str_json(EVENTS))

    openai_server.respond = respond
    await llm.answer(a_request(purpose="extraction"), Events)
    await llm.answer(a_request(purpose="extraction"), Events)
    formats = [body["response_format"]["type"] for body in openai_server.requests]
    assert formats == ["json_schema", "json_object", "json_object"]


async def test_an_anthropic_server_without_schemas_is_asked_for_plain_text(anthropic_server: Any) -> None:
    anthropic_server.respond = lambda body: (
        Fails(400, "output_config: Extra inputs are not permitted", "invalid_request_error")
        if "output_config" in body
        else Says(str_json(EVENTS))
    )
    await llm.answer(a_request(purpose="extraction"), Events)
    assert "JSON schema" in anthropic_server.requests[1]["system"]


async def test_a_refusal_of_everything_is_not_taken_for_a_missing_mode(openai_server: Any) -> None:
    openai_server.respond = lambda body: Fails(400, "the prompt is too long")
    with pytest.raises(llm.LLMError) as caught:
        await llm.answer(a_request(purpose="extraction"), Events)
    assert caught.value.permanent
    openai_server.respond = lambda body: Says(str_json(EVENTS))
    await llm.answer(a_request(purpose="extraction"), Events)
    assert openai_server.requests[-1]["response_format"]["type"] == "json_schema"


async def test_an_unfit_answer_is_asked_again_with_its_own_words_and_what_is_wrong(server: Any, ledger: Any) -> None:
    server.answers({"events": [{"description": "x", "impact": "very"}]})
    server.answers(EVENTS)
    answer = await llm.answer(a_request(purpose="extraction"), Events)
    assert answer.value.events[0].impact == 2
    assert answer.usage.tokens_out == 10
    again = server.requests[1]["messages"][-1]["content"]
    assert '"impact": "very"' in again
    assert "events.0.impact" in again
    assert [call["outcome"] for call in ledger] == ["ok", "ok"]


async def test_two_unfit_answers_are_unreadable_and_kept(server: Any, ledger: Any) -> None:
    server.says("I would rather not.")
    server.says("Still not.")
    with pytest.raises(llm.AnswerUnreadable) as caught:
        await llm.answer(a_request(purpose="extraction"), Events)
    assert caught.value.raw == "Still not."
    assert caught.value.permanent
    assert len(ledger) == 2


async def test_an_answer_that_hit_the_limit_is_asked_again_instead_of_completed(server: Any) -> None:
    server.says('{"events": [{"description": "first", "impact": 1}, {"desc', reason="length")
    server.answers(EVENTS)
    answer = await llm.answer(a_request(purpose="extraction"), Events)
    assert answer.value.events[0].description == "Ana has a cat"
    assert len(server.requests) == 2


CUT = "provider_unavailable"
FAULTS = [
    pytest.param(Page(), CUT, False, id="a page of HTML with status 200"),
    pytest.param(Page("", "text/event-stream"), CUT, False, id="an empty stream"),
    pytest.param(Page('{"choices": null}', "application/json"), CUT, False, id="JSON of another shape"),
    pytest.param(Fails(429, headers={"retry-after": "1"}), "rate_limited", False, id="429"),
    pytest.param(Fails(429, headers={"retry-after": "300"}), "rate_limited", False, id="429 for five minutes"),
    pytest.param(Fails(429, headers={"retry-after": "soon"}), "rate_limited", False, id="429 with garbage"),
    pytest.param(Fails(500), CUT, False, id="500"),
    pytest.param(Fails(503), CUT, False, id="503"),
    pytest.param(Fails(529, kind="overloaded_error"), CUT, False, id="529"),
    pytest.param(Fails(400), CUT, True, id="400"),
    pytest.param(Fails(401), CUT, True, id="401"),
    pytest.param(Fails(403), CUT, True, id="403"),
    pytest.param(Fails(404), CUT, True, id="404"),
    pytest.param(Hangs(), "timeout", False, id="no answer"),
    pytest.param(Says("Half a", ending="cut"), CUT, False, id="cut cleanly in the middle"),
    pytest.param(Says("Half a", ending="reset"), CUT, False, id="connection reset"),
    pytest.param(Says("Half a", ending="stall"), "timeout", False, id="a stream that stalls"),
    pytest.param(Says("Half a", ending="garbage"), CUT, False, id="a line of garbage"),
    pytest.param(Says("Half a", ending="error"), CUT, False, id="an error event"),
    pytest.param(Says("Half a", ending="error", error="overloaded_error"), CUT, False, id="overloaded in the middle"),
    pytest.param(
        Says("Half a", ending="error", error="rate_limit_error"),
        "rate_limited",
        False,
        id="limited in the middle",
    ),
    pytest.param(
        Says("Half a", ending="error", error="authentication_error"), CUT, True, id="thrown out in the middle"
    ),
    pytest.param(Says("I ca", reason="refusal"), "content_refused", True, id="a refusal"),
    pytest.param(Says(""), CUT, False, id="an empty reply"),
    pytest.param(Fails(200), CUT, False, id="200 with an error in it"),
    pytest.param(Fails(200, kind="rate_limit_error"), "rate_limited", False, id="200 with a limit in it"),
    pytest.param(Fails(200, kind="billing_error"), CUT, True, id="200 without credit"),
]


@pytest.mark.parametrize(("reply", "code", "permanent"), FAULTS)
async def test_every_fault_becomes_one_error_within_the_deadline(
    server: Any, settings: Any, reply: Any, code: str, permanent: bool, ledger: Any
) -> None:
    settings.LLM_TIMEOUT_S = 0.3 if code == "timeout" else 5.0
    server.respond = lambda body: reply
    begun = time.monotonic()
    with pytest.raises(llm.LLMError) as caught:
        await said()
    assert (caught.value.code, caught.value.permanent) == (code, permanent)
    assert caught.value.retry_after is None or 0 <= caught.value.retry_after <= 60
    assert time.monotonic() - begun < 2
    assert len(server.requests) == 1
    [call] = ledger
    assert call["outcome"] == code


async def test_a_pause_that_the_server_asks_for_is_told_and_capped(server: Any) -> None:
    pauses = []
    for asked in ("7", "300", "nan", "Wed, 21 Oct 2015 07:28:00 GMT"):
        server.fails(429, headers={"retry-after": asked})
        with pytest.raises(llm.LLMError) as caught:
            await said()
        pauses.append(caught.value.retry_after)
    assert pauses == [7, 60, None, 0]


async def test_a_server_that_is_not_there_is_unavailable(server: Any, settings: Any) -> None:
    settings.LLM_BASE_URL = "http://127.0.0.1:9"
    with pytest.raises(llm.LLMError) as caught:
        await said()
    assert (caught.value.code, caught.value.permanent) == ("provider_unavailable", False)


async def test_an_account_without_credit_is_a_lasting_fault(openai_server: Any) -> None:
    openai_server.fails(429, kind="insufficient_quota")
    with pytest.raises(llm.LLMError) as caught:
        await said()
    assert caught.value.permanent


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
async def test_without_a_key_nothing_is_sent(settings: Any, provider: str, ledger: Any) -> None:
    settings.LLM_PROVIDER, settings.LLM_BASE_URL, settings.LLM_API_KEY = provider, "", ""
    settings.OPENAI_API_KEY = settings.ANTHROPIC_API_KEY = ""
    with pytest.raises(llm.LLMError) as caught:
        await said()
    assert caught.value.permanent
    [call] = ledger
    assert call["tokens_in"] == 0


async def test_cancelling_closes_the_stream_and_is_entered_as_stopped(server: Any, ledger: Any) -> None:
    server.says("One two three four five six", pieces=6, hold_after=5)
    heard: list[str] = []

    async def listen() -> None:
        async for piece in llm.stream(a_request()):
            heard.append(piece)

    task = asyncio.create_task(listen())
    while not heard:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    [call] = ledger
    assert (call["outcome"], call["estimated"]) == ("stopped", True)
    assert call["tokens_out"] > 0


async def test_leaving_the_loop_closes_the_connection(server: Any, ledger: Any) -> None:
    server.says("x" * 4000, pieces=200, pause_s=0.01)
    async with aclosing(llm.stream(a_request())) as pieces:
        async for _ in pieces:
            break
    for _ in range(200):
        if server.disconnects:
            break
        await asyncio.sleep(0.01)
    assert server.disconnects == 1
    assert [call["outcome"] for call in ledger] == ["stopped"]


async def test_a_slow_stream_ends_at_the_total_deadline_though_it_keeps_talking(server: Any, settings: Any) -> None:
    settings.LLM_TIMEOUT_S = 0.4
    server.says("x" * 100, pieces=100, pause_s=0.05)
    begun = time.monotonic()
    with pytest.raises(llm.LLMError) as caught:
        await said()
    assert caught.value.code == "timeout"
    assert time.monotonic() - begun < 1.5


async def test_an_error_of_a_structured_answer_is_entered_too(server: Any, ledger: Any) -> None:
    server.fails(500)
    with pytest.raises(llm.LLMError):
        await llm.answer(a_request(purpose="extraction"), Events)
    assert [(call["purpose"], call["outcome"]) for call in ledger] == [("extraction", "provider_unavailable")]


def str_json(data: object) -> str:
    return Events.model_validate(data).model_dump_json()


async def test_an_empty_answer_may_pass_but_an_unfinished_one_is_asked_for_again(server: Any, ledger: Any) -> None:
    server.says("")
    with pytest.raises(llm.LLMError) as caught:
        await llm.answer(a_request(purpose="extraction"), Events)
    assert (caught.value.code, caught.value.permanent) == ("provider_unavailable", False)
    assert (ledger[0]["outcome"], ledger[0]["tokens_in"]) == ("provider_unavailable", 11)
    server.says("", reason="length")
    server.answers(EVENTS)
    assert (await llm.answer(a_request(purpose="extraction"), Events)).value.events


async def test_the_account_of_a_mixed_run_is_the_providers_to_the_token(
    server: Any, settings: Any, ledger: Any
) -> None:
    settings.LLM_MODEL_LARGE, settings.LLM_MODEL_SMALL = "big", "small"
    settings.LLM_PRICES = {"big": {"in": 3, "cached": 0.3, "out": 15}}
    told: list[Says | Fails] = [
        Says("Hello.", tokens_in=1_201, tokens_cached=1_024, tokens_out=17),
        Says("Not JSON.", tokens_in=731, tokens_cached=0, tokens_out=93),
        Says('{"events": []}', tokens_in=840, tokens_cached=512, tokens_out=7),
        Fails(429),
        Says("To the limit", reason="length", tokens_in=99, tokens_cached=99, tokens_out=50),
        Says("I ca", reason="refusal", tokens_in=333, tokens_cached=0, tokens_out=2),
        Says("", tokens_in=55, tokens_cached=5, tokens_out=0),
    ]
    server.queue.extend(told)
    await said()
    await llm.answer(a_request(purpose="extraction", tier="small"), Events)
    for ask in (said, said, said, said):
        with suppress(llm.LLMError):
            await ask()
    assert not server.queue
    counted = [one for one in told if isinstance(one, Says)]
    for name in ("tokens_in", "tokens_cached", "tokens_out"):
        assert sum(row[name] for row in ledger) == sum(getattr(one, name) for one in counted), name
    assert [row["estimated"] for row in ledger] == [False, False, False, True, False, False, False]
    assert [row["cost"] is None for row in ledger] == [False, True, True, False, False, False, False]
    assert ledger[0]["cost"] == (Decimal(177 * 3 + 17 * 15) + 1_024 * Decimal("0.3")) / 1_000_000
