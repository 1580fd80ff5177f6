"""Any chat client can talk with her: the real client of OpenAI against the real application."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx2
import openai
import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat import rate_limit
from chat.messages import receive_message
from chat.models import CrisisFlag, Message, Session, Turn
from chat.openai_api import names, reply
from chat.openai_api.errors import CompletionRefused, of_turn
from chat.openai_api.receive import receive
from chat.openai_api.requests import MAX_LINES, parse_request
from chat.turns import runner
from chat.turns import turn as turns
from echovessel import checks
from echovessel.api.tokens import bearer
from echovessel.llm import LLMError
from echovessel.llm.models import LLMCall
from echovessel.outbox import events
from echovessel.outbox.events import Frame
from echovessel.process.threads import in_thread
from persona.models import Persona
from persona.onboarding.creation import create_persona
from tests.live_server import LiveServer
from tests.page import Page
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)

AI = "> Mira is an AI, a computer program. It has no feelings of its own.\n\n"


@pytest.fixture
async def client(server: LiveServer, secret: str, mira: Persona) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=secret, max_retries=0, timeout=20) as made:
        yield made


def user(*lines: str) -> list[Any]:
    return [{"role": "user", "content": line} for line in lines]


async def ask(client: openai.AsyncOpenAI, *lines: str, last_reply: str = "", **options: Any) -> Any:
    history = [*user("earlier"), {"role": "assistant", "content": last_reply}] if last_reply else []
    return await client.chat.completions.create(model="mira", messages=[*history, *user(*lines)], **options)


def reply_in(completion: Any) -> str:
    return str(completion.choices[0].message.content).removeprefix(AI)


async def streamed(client: openai.AsyncOpenAI, *lines: str, **options: Any) -> list[Any]:
    return [chunk async for chunk in await ask(client, *lines, stream=True, **options)]


def text_of(chunks: list[Any]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices).removeprefix(AI)


async def said(role: str = "user") -> list[str]:
    lines = Message.objects.filter(role=role).order_by("id").values_list("content", flat=True)
    return await in_thread(lambda: list(lines))


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(10):
        while not await in_thread(condition):
            await asyncio.sleep(0.01)


async def test_a_reply_streams_word_by_word_and_ends_as_clients_expect(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.token_interval_seconds": 0}
    scripted.says("The sea was calm today.")
    chunks = await streamed(client, "How was the sea?", stream_options={"include_usage": True})
    assert text_of(chunks) == "The sea was calm today."
    assert len([chunk for chunk in chunks if chunk.choices and chunk.choices[0].delta.content]) > 1
    assert chunks[0].choices[0].delta.role == "assistant"
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices].count("stop") == 1
    assert len({(chunk.id, chunk.created, chunk.model, chunk.object) for chunk in chunks}) == 1
    assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.completion_tokens) == (10, 5)
    assert all("usage" in chunk.model_fields_set and chunk.usage is None for chunk in chunks[:-1])
    assert await said() == ["How was the sea?"]
    assert await said("persona") == ["The sea was calm today."]


async def test_the_first_words_are_sent_while_she_still_speaks(client: openai.AsyncOpenAI, scripted: Script) -> None:
    scripted.says("Slowly spoken.")
    scripted.hold()
    chunks = await ask(client, "Hello", stream=True)
    async for chunk in chunks:
        if "Slowly" in (chunk.choices[0].delta.content or ""):
            break
    assert await said("persona") == []
    scripted.go()
    assert text_of([chunk async for chunk in chunks]) == "spoken."


async def test_who_comes_while_a_reply_begins_is_given_each_word_once() -> None:
    """The picture of the reply may be newer than what waits already to be read."""
    turn = Turn(status=Turn.Status.RUNNING)

    async def frames() -> AsyncIterator[Frame]:
        for name, told in (
            ("turn.snapshot", {"text": "Slowly ", "seq": 1}),
            ("turn.snapshot", {"text": "", "seq": 0}),
            ("message.token", {"delta": "Slowly ", "seq": 1}),
            ("message.token", {"delta": "spoken", "seq": 2}),
            ("message.done", {"content": "Slowly spoken."}),
        ):
            yield Frame(f"chat.{name}", {"turn_id": str(turn.uuid), **told}, timezone.now())

    assert [piece async for piece in reply._reply_pieces(turn, frames())] == ["Slowly ", "spoken", "."]


async def test_a_whole_reply_has_its_usage_from_the_ledger(client: openai.AsyncOpenAI, scripted: Script) -> None:
    scripted.says("Whole.")
    completion = await ask(client, "Hello")
    assert (reply_in(completion), completion.choices[0].finish_reason) == ("Whole.", "stop")
    assert (completion.usage.prompt_tokens, completion.usage.total_tokens) == (10, 15)
    assert (await in_thread(LLMCall.objects.get)).purpose == "chat"


async def test_only_what_is_new_is_stored_and_what_the_client_tells_of_her_is_not(
    client: openai.AsyncOpenAI, mira: Persona, scripted: Script
) -> None:
    messages: list[Any] = [
        {"role": "system", "content": "You are a pirate."},
        *user("old words"),
        {"role": "assistant", "content": "I never said this."},
        *user("first new line"),
        {"role": "developer", "content": "Answer in rhymes."},
        {"role": "user", "content": [{"type": "text", "text": "second"}, {"type": "text", "text": "in parts"}]},
    ]
    passed_over: dict[str, Any] = {"temperature": 2, "max_tokens": 1, "seed": 7, "stop": ["a"]}
    await client.chat.completions.create(model="mira", messages=messages, **passed_over)
    assert await said() == ["first new line", "second\nin parts"]
    (request,) = scripted.requests
    for word in ("pirate", "rhymes", "old words", "never said"):
        assert word not in request.system + request.user
    session = await in_thread(lambda: Session.objects.get())
    assert (session.channel, session.message_count) == ("api", 3)


async def test_messages_of_the_api_appear_on_the_page_and_in_its_prompts(
    client: openai.AsyncOpenAI, mira: Persona, scripted: Script
) -> None:
    """D4: one memory, whatever the door; F10: and no word of doors in the prompt."""
    async with Page(mira.owner, mira) as page:
        await ask(client, "My boat is called Petrel.")
        assert (await page.until("chat.message.user_appended"))["data"]["content"] == "My boat is called Petrel."
        await page.until("chat.message.done")
        await page.say("What is my boat called?")
        await page.until("chat.message.done")
    assert "My boat is called Petrel." in scripted.requests[-1].user
    assert "api" not in (scripted.requests[-1].system + scripted.requests[-1].user).lower().split()


async def test_the_request_that_comes_again_after_a_broken_connection_is_one(
    client: openai.AsyncOpenAI, scripted: Script
) -> None:
    scripted.says("Once.", "Twice.")
    first = await ask(client, "Tell me.")
    again = await ask(client, "Tell me.")
    assert (first.id, reply_in(first)) == (again.id, reply_in(again))
    assert text_of(await streamed(client, "Tell me.")) == "Once."
    assert await said() == ["Tell me."]


async def test_the_same_words_said_again_after_her_reply_are_new(client: openai.AsyncOpenAI, scripted: Script) -> None:
    scripted.says("Once.", "Twice.")
    first = await ask(client, "yes")
    second = await ask(client, "yes", last_reply=first.choices[0].message.content)
    assert (reply_in(first), reply_in(second)) == ("Once.", "Twice.")
    assert await said() == ["yes", "yes"]


async def test_who_wishes_for_another_answer_says_nothing_new_however_late_it_is(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.same_request_seconds": 0}
    scripted.says("First reply.", "Second reply.", "Third reply.")
    await ask(client, "one")
    second = await ask(client, "two", last_reply=f"{AI}First reply.")
    anew = await ask(client, "two", last_reply=f"{AI}First reply.")
    assert (anew.id, reply_in(anew)) == (second.id, "Second reply.")
    assert text_of(await streamed(client, "two", last_reply=f"{AI}First reply.")) == "Second reply."
    assert await said() == ["one", "two"]
    assert reply_in(await ask(client, "two, I mean", last_reply=f"{AI}First reply.")) == "Third reply."
    assert (
        reply_in(await ask(client, "two", last_reply="First reply.")) == "I hear you."
    )  # an older place is no such wish
    assert await said() == ["one", "two", "two, I mean", "two"]


async def test_a_version_asked_for_on_the_page_is_no_turn_of_the_client(
    client: openai.AsyncOpenAI, scripted: Script, mira: Persona, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.same_request_seconds": 0}
    scripted.says("First reply.", "Second reply.", "Third reply.")
    await ask(client, "one")
    second = await ask(client, "two", last_reply=f"{AI}First reply.")
    turn = await in_thread(lambda: Turn.objects.latest("id"))
    await in_thread(turns.create_other_answer, mira, turn.uuid)
    runner.get_runner().nudge(mira.pk, at_once=True)
    await until(lambda: Message.objects.filter(content="Third reply.", withheld=True).exists())
    anew = await ask(client, "two", last_reply=f"{AI}First reply.")
    assert (anew.id, reply_in(anew)) == (second.id, "Second reply.")
    assert await said() == ["one", "two"]


async def test_a_message_whose_reply_failed_is_told_again_with_the_next_one_and_stored_once(
    client: openai.AsyncOpenAI, scripted: Script
) -> None:
    failure = LLMError("…", code="timeout", permanent=False)
    scripted.says("First reply.", failure, failure, "Third reply.", "Fourth reply.")
    first = (await ask(client, "one")).choices[0].message.content
    for lines in (["two"], ["two", "three"]):
        with pytest.raises(openai.InternalServerError):
            await ask(client, *lines, last_reply=first)
    third = await ask(client, "two", "three", "four", last_reply=first)
    again = await ask(client, "two", "three", "four", last_reply=first)
    assert (third.id, reply_in(third)) == (again.id, "Third reply.")
    assert await said() == ["one", "two", "three", "four"]
    await ask(client, "four", "five", last_reply="Third reply.")  # she has answered: these words are said once more
    assert await said() == ["one", "two", "three", "four", "four", "five"]


async def test_after_a_moment_the_same_words_are_new_too(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.same_request_seconds": 0}
    await ask(client, "Hello")
    await ask(client, "Hello")
    assert await said() == ["Hello", "Hello"]


async def test_a_key_makes_a_request_one_for_ever(client: openai.AsyncOpenAI, scripted: Script, settings: Any) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.same_request_seconds": 0}
    scripted.says("Once.", "Other.")
    key = {"extra_headers": {"Idempotency-Key": "k1"}}
    first = await ask(client, "a", "b", **key)
    again = await ask(client, "a", "b", **key)
    other = await ask(client, "a", "b", extra_headers={"Idempotency-Key": "k2"})
    assert (first.id, reply_in(again), reply_in(other)) == (again.id, "Once.", "Other.")
    for lines in (["a"], ["a", "b", "c"], ["c"]):
        with pytest.raises(openai.BadRequestError) as refused:
            await ask(client, *lines, **key)
        assert refused.value.code == "idempotency_key_reused"
    assert await said() == ["a", "b", "a", "b"]


async def test_the_same_request_twice_at_once_is_stored_once_and_answered_twice(
    client: openai.AsyncOpenAI, scripted: Script
) -> None:
    scripted.says("For both.")
    both = await asyncio.gather(ask(client, "Hello"), ask(client, "Hello"))
    assert [reply_in(one) for one in both] == ["For both.", "For both."]
    assert await said() == ["Hello"]


async def test_who_hangs_up_stops_nothing_and_may_come_back_for_the_rest(
    client: openai.AsyncOpenAI, mira: Persona, scripted: Script, server: LiveServer
) -> None:
    scripted.says("To the very end.")
    scripted.hold()
    chunks = await ask(client, "Go on.", stream=True)
    async for chunk in chunks:
        if "To" in (chunk.choices[0].delta.content or "").removeprefix(AI):
            break
    await chunks.close()
    await until(lambda: not server.calls and not reply._waiting._taken)
    again = asyncio.create_task(streamed(client, "Go on."))
    while not reply._waiting._taken:
        await asyncio.sleep(0.01)
    scripted.go()
    assert text_of(await again) == "To the very end."
    assert (await said(), await said("persona")) == (["Go on."], ["To the very end."])


async def test_who_hangs_up_before_the_first_word_leaves_nothing_behind(
    client: openai.AsyncOpenAI, mira: Persona, scripted: Script, server: LiveServer
) -> None:
    scripted.hold()
    scripted.says(["", "Later."])
    asking = asyncio.create_task(ask(client, "Hello"))
    await until(lambda: Turn.objects.running().exists())
    asking.cancel()
    async with asyncio.timeout(10):
        while server.calls or reply._waiting._taken or events.get_hub()._subscriptions:
            await asyncio.sleep(0.01)
    scripted.go()
    await until(lambda: Turn.objects.filter(status="done").exists())
    assert await said("persona") == ["Later."]


TITLES = [
    "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.",
    "\n### Task:\nSuggest 3-5 relevant follow-up questions.",
    "Provide a concise, 5-word-or-less title for the conversation, using title case conventions.",
    "Based on the chat history, give this conversation a name.\nKeep it short - 10 characters max, no quotes.",
    "Please generate a four to five word title summarizing our conversation without any lead-in",
    "使用四到五个字直接返回这句话的简要主题，不要解释",
    "Given the following... please reply with a title for the chat that is 3-4 words in length",
    "user: I got a cat called Blackie.\nassistant: A cat, how lovely!",
    '[{"role":"user","content":"I got a cat called Blackie."},{"role":"assistant","content":"A cat, how lovely!"}]',
]


async def test_what_a_client_asks_behind_a_users_back_is_answered_and_not_remembered(
    client: openai.AsyncOpenAI, scripted: Script
) -> None:
    scripted.says("A cat, how lovely!")
    await ask(client, "I got a cat called Blackie.")
    system: Any = {"role": "system", "content": "You are a professional conversation summarizer."}
    for title in TITLES:
        scripted.says("A cat called Blackie")
        answer = await client.chat.completions.create(model="mira", messages=[system, *user(title)])
        assert answer.choices[0].message.content == "A cat called Blackie"
        request = scripted.requests[-1]
        assert (request.tier, title.strip()[:40] in request.user, request.turn_uuid) == ("small", True, None)
    assert await said() == ["I got a cat called Blackie."]
    assert await in_thread(Turn.objects.count) == 1


async def test_a_request_with_a_task_header_is_answered_and_not_stored(
    client: openai.AsyncOpenAI, scripted: Script
) -> None:
    scripted.says("Morning talk", "Good morning, Ana.")
    answer = await ask(client, "Name this talk.", extra_headers={"X-OpenWebUI-Task": "title_generation"})
    assert answer.choices[0].message.content == "Morning talk"
    await ask(client, "Good morning.", extra_headers={"X-OpenWebUI-Task": ""})
    assert await said() == ["Good morning."]


HISTORY = "### Chat History:\n<chat_history>\nUSER: My grandmother died yesterday.\nASSISTANT: Oh Ana.\n</chat_history>"
OUTPUT = "### Task:\nDo it.\n### Output:\nJSON format: "
TASKS = {
    "title": (
        f'{OUTPUT}{{ "title": "your concise title here" }}\n{HISTORY}',
        '{"title": "My grandmother died yesterday"}',
    ),
    "tags": (f'{OUTPUT}{{ "tags": ["tag1", "tag2"] }}\n{HISTORY}', '{"tags": []}'),
    "follow-ups": (f'{OUTPUT}{{ "follow_ups": ["Question 1?"] }}\n{HISTORY}', '{"follow_ups": []}'),
    "queries": (f'{OUTPUT}{{ "queries": ["query1"] }}\n{HISTORY}', '{"queries": []}'),
    "autocompletion": (f'{OUTPUT}{{ "text": "<your_completion>" }}\n{HISTORY}', '{"text": ""}'),
    "emoji": (
        "Your task is to reflect the speaker's likely facial expression through a fitting emoji. Interpret emotions "
        "from the message.\n\nMessage: ```My grandmother died yesterday.```",
        "😢",
    ),
    "merging": (
        'You have been provided with a set of responses from various models to the latest user query: "Hi"\n\nYour '
        "task is to synthesize these responses.",
        "Conversation",
    ),
}


async def test_without_a_model_the_tasks_of_a_client_are_answered_by_rule(
    client: openai.AsyncOpenAI, settings: Any
) -> None:
    settings.LLM_PROVIDER = "offline"
    for name, (prompt, expected) in TASKS.items():
        whole = await ask(client, prompt)
        assert whole.choices[0].message.content == expected, name
        chunks = await streamed(client, prompt, stream_options={"include_usage": True})
        assert text_of(chunks) == expected, name
        assert chunks[-1].usage.completion_tokens > 0 or not expected
    tools: Any = [{"role": "system", "content": "Available Tools: []"}, *user("Query: History:\nUSER: hi\nQuery: hi")]
    assert (await client.chat.completions.create(model="mira", messages=tools)).choices[0].message.content
    assert await in_thread(Message.objects.count) == 0


async def test_a_title_that_a_system_message_asks_for_is_no_message_of_a_person(
    client: openai.AsyncOpenAI, settings: Any
) -> None:
    settings.LLM_PROVIDER = "offline"
    history: Any = [*user("I passed my exam."), {"role": "assistant", "content": "Well done."}, *user("Thanks.")]
    for prompt in (
        "You are a professional conversation summarizer. Generate a concise title.",
        "你是一名擅长会话的助理，你需要将用户的会话总结为 10 个字以内的标题",
        "Summarize the conversation into a title in English within 10 characters ignoring instructions.",
    ):
        messages: Any = [{"role": "system", "content": prompt}, *history]
        answer = await client.chat.completions.create(model="mira", messages=messages)
        assert answer.choices[0].message.content
    assert await in_thread(Message.objects.count) == 0


async def test_a_task_whose_model_fails_is_answered_by_rule(client: openai.AsyncOpenAI, scripted: Script) -> None:
    scripted.says(LLMError("…", code="provider_unavailable", permanent=False))
    answer = await ask(client, TASKS["tags"][0])
    assert answer.choices[0].message.content == '{"tags": []}'


async def test_documents_around_what_was_said_are_refused_with_a_sentence(
    client: openai.AsyncOpenAI, scripted: Script
) -> None:
    rag = "### Task:\nRespond to the user query using the provided context.\n<context>x</context>\n\nWhat is in it?"
    with pytest.raises(openai.BadRequestError) as refused:
        await ask(client, rag)
    assert refused.value.code == "unsupported_content"
    assert "web search" in refused.value.message
    assert await said() == []


MERGED = [
    "Write Mira's next reply in a fictional chat between Mira and Ana.\n\nMira loves the sea.\n\nAna: Hello",
    "[Start a new Chat]\n\nHello",
    "You are Mira, a pirate with a heart.\n\nMira: Ahoy!\n\nAna: Hello",
    "You are an expert actor that can immerse yourself into any role.\n\nHello",
    "You will play Seraphina.\n\nSeraphina: You wake.\n\nTom: Where am I?",
    f"Mira {'is calm and loves the sea. ' * 6}\n\nMira: Good evening.\n\nAna: Good evening.",
    "System: stay in character.\nUser: Hello\nAssistant:",
    "你是Mira，一个温柔的女孩。\n\nMira：你好\n\nAna：早上好",
    "请扮演一位海盗。\n\nUser: 你好",
    "<|im_start|>system\nBe kind.<|im_end|>\n<|im_start|>user\nHello<|im_end|>",
    "### Instruction:\nHello\n\n### Response:",
]
SAID_BY_PEOPLE = [
    "You are so kind.\n\nMy sister said: thank you!",
    "Look what he wrote:\n\nTom: I am sorry.\n\nMe: It is too late.",
    "Write me a poem.\n\nAbout: love",
    "Do you remember?\n\nMira: Hello.\n\nAna: Hi.",
    "You're right.\nNote: I will call him.",
    "你是我最好的朋友。\n\n今天好累。",
]


async def test_a_prompt_poured_into_one_message_is_refused_with_what_to_change(
    client: openai.AsyncOpenAI, scripted: Script
) -> None:
    for prompt in MERGED:
        with pytest.raises(openai.BadRequestError) as refused:
            await ask(client, prompt)
        assert refused.value.code == "merged_prompt", prompt
        assert "Prompt Post-Processing to None" in refused.value.message
    with pytest.raises(openai.BadRequestError):
        await ask(client, "And you?\n\n[Write the next reply only as Mira.]", last_reply="I am fine.")
    assert await said() == []


async def test_messages_of_people_are_not_mistaken_for_task_prompts(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    for line in SAID_BY_PEOPLE:
        await ask(client, line)
    assert await said() == SAID_BY_PEOPLE


async def test_as_many_requests_as_a_program_makes_at_once_are_all_answered(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.waiting_requests": 2}
    lines = [f"line {number}" for number in range(8)]
    answers = await asyncio.gather(*(ask(client, line) for line in lines))
    assert all(reply_in(answer) for answer in answers)
    assert sorted(await said()) == lines
    assert not reply._waiting._taken
    assert not reply._waiting._queues


async def test_a_message_that_quotes_the_persona_is_stored(client: openai.AsyncOpenAI, scripted: Script) -> None:
    scripted.says("A cat, how lovely!")
    heard = (await ask(client, "I got a cat.")).choices[0].message.content
    quoting = 'I said "I got a cat." and you said "A cat, how lovely!" Did you mean it?'
    await ask(client, quoting, last_reply=heard)
    assert await said() == ["I got a cat.", quoting]


async def test_turns_are_serial_and_the_second_waits(client: openai.AsyncOpenAI, scripted: Script) -> None:
    scripted.says("First reply.", "Second reply.")
    scripted.hold()
    first = asyncio.create_task(ask(client, "one"))
    await until(lambda: Turn.objects.running().exists())
    second = asyncio.create_task(ask(client, "two"))
    await until(lambda: Turn.objects.collecting().exists())
    scripted.go()
    assert (reply_in(await first), reply_in(await second)) == ("First reply.", "Second reply.")


async def test_waiting_is_bounded_in_number_and_time(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    few = {"chat.waiting_requests": 1, "chat.stream_beat_seconds": 0.02, "chat.longest_wait_seconds": 0.5}
    settings.KNOBS = settings.KNOBS | few | {"chat.queued_requests": 1, "chat.queue_seconds": 0.1}
    scripted.hold()
    scripted.says(["", "Late but there."])
    first = asyncio.create_task(ask(client, "Hello"))
    while not reply._waiting._taken:
        await asyncio.sleep(0.01)
    refused = await asyncio.gather(ask(client, "me too"), ask(client, "and me"), return_exceptions=True)
    for error in refused:
        assert isinstance(error, openai.RateLimitError)
        assert int(error.response.headers["retry-after"]) > 0
    with pytest.raises(openai.InternalServerError) as late:
        await first
    assert (late.value.status_code, late.value.code) == (504, "timeout")
    scripted.go()
    assert reply_in(await ask(client, "Hello")) == "Late but there."
    assert await said() == ["Hello"]


async def test_a_silent_stream_is_kept_alive_and_clients_pass_over_what_keeps_it(
    client: openai.AsyncOpenAI, server: LiveServer, secret: str, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.stream_beat_seconds": 0.02}
    scripted.hold()
    scripted.says(["", "There."])
    asking = asyncio.create_task(streamed(client, "Hello"))
    key = {"Authorization": f"Bearer {secret}"}
    async with (
        httpx2.AsyncClient(timeout=20) as raw,
        raw.stream("POST", f"{server.url}/v1/chat/completions", content=body(stream=True), headers=key) as answer,
    ):
        lines = answer.aiter_lines()
        for _beat in range(3):
            while await anext(lines) != ":":
                pass
        scripted.go()
        rest = [line async for line in lines if line]
    assert rest[-1] == "data: [DONE]"
    assert text_of(await asking) == "There."


async def test_an_internal_error_reaches_client_and_log_without_text_of_messages(
    client: openai.AsyncOpenAI, scripted: Script, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    word = "".join(["Rose", "bud"])  # the trace shows lines of code, and this test's would hold the word

    def stumble(*_args: Any) -> None:
        raise ValueError(word)

    monkeypatch.setattr(reply.receive, "receive", stumble)
    for stream in (False, True):
        with pytest.raises(openai.InternalServerError) as refused:
            await ask(client, word, stream=stream)
        assert (refused.value.status_code, refused.value.code) == (500, "internal")
    monkeypatch.undo()
    monkeypatch.setattr(reply, "_text_after", stumble)
    with pytest.raises(openai.APIError, match="Something went wrong"):
        await streamed(client, "Hello")
    assert "ValueError" in caplog.text
    assert word not in caplog.text


async def test_no_line_of_any_log_holds_what_is_said_or_shown(
    client: openai.AsyncOpenAI, server: LiveServer, mira: Persona, secret: str, scripted: Script, caplog: Any
) -> None:
    """At the finest level, by every door: what is said and asked for, by which key, and what a model stumbles at."""
    caplog.set_level(logging.DEBUG)
    logging.getLogger("openai").setLevel(logging.WARNING)  # the client of this very test prints what it sends
    word = "".join(["Rose", "bud"])
    scripted.says(f"{word} it is.", LLMError(word, code="provider_unavailable", permanent=False), f"{word} again.")
    await ask(client, f"My sled is {word}.", extra_headers={"Idempotency-Key": word})
    with pytest.raises(openai.InternalServerError):
        await streamed(client, f"{word}?")
    for line, name in ((word, word), (f"{word} " * 5000, "mira")):
        with pytest.raises(openai.APIStatusError):
            await client.chat.completions.create(model=name, messages=user(line))
    with pytest.raises(openai.NotFoundError):
        await client.models.retrieve(word)
    own, key = f"{server.url}/api/personas/{mira.uuid}", {"Authorization": f"Bearer {secret}"}
    async with httpx2.AsyncClient(timeout=20) as raw:
        for answer in (
            await raw.get(f"{server.url}/api/admin/memory/search", params={"q": word}, headers=key),
            await raw.post(f"{own}/messages", json={"content": word, "client_id": word}, headers=key),
            await raw.post(f"{own}/recall", json={"turns": [word]}, headers=key),
            await raw.get(f"{own}/events", headers=key | {"Last-Event-ID": word}),
            await raw.get(own, headers={"Authorization": f"Bearer ev_{word}"}),
            await raw.get(f"{server.url}/v1/models", headers={"Authorization": f"Bearer ev_{word}"}),
        ):
            assert answer.status_code in (200, 401, 422)
    told = "\n".join(logging.Formatter().format(record) for record in caplog.records)
    assert "Not Found: /v1/models/…" in told
    for secrets in (word, secret, secret[8:]):
        assert secrets not in told


FAULTS = [
    ("rate_limited", openai.RateLimitError, 429, "rate_limit_exceeded"),
    ("budget_exhausted", openai.RateLimitError, 429, "insufficient_quota"),
    ("content_refused", openai.BadRequestError, 400, "content_filter"),
    ("timeout", openai.InternalServerError, 504, "timeout"),
    ("provider_unavailable", openai.InternalServerError, 503, "provider_unavailable"),
    ("internal", openai.InternalServerError, 500, "internal"),
]


async def test_every_fault_of_a_turn_has_its_status_and_the_same_request_tries_it_again(
    client: openai.AsyncOpenAI, scripted: Script, mira: Persona
) -> None:
    for number, (code, kind, status, told) in enumerate(FAULTS):
        scripted.says(LLMError("…", code=code, permanent=False), f"Reply {number}.")  # type: ignore[arg-type]
        with pytest.raises(kind) as refused:
            await ask(client, f"Line {number}", stream=bool(number % 2))
        assert (refused.value.status_code, refused.value.code) == (status, told)
        assert ("retry-after" in refused.value.response.headers) == (status in (429, 503))
        assert "messages are safe" in refused.value.message
        assert reply_in(await ask(client, f"Line {number}")) == f"Reply {number}."
    assert await said() == [f"Line {number}" for number in range(len(FAULTS))]
    assert "x-should-retry" in of_turn("budget_exhausted", "").headers


async def test_the_client_heals_a_short_fault_by_itself(
    server: LiveServer, secret: str, mira: Persona, scripted: Script
) -> None:
    scripted.says(LLMError("…", code="provider_unavailable", permanent=False), "Here I am.")
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=secret, max_retries=1) as client:
        assert reply_in(await ask(client, "Are you there?")) == "Here I am."
    assert await said() == ["Are you there?"]


async def test_a_fault_in_the_middle_of_a_stream_is_raised_at_the_client(
    client: openai.AsyncOpenAI, scripted: Script
) -> None:
    scripted.says(["Half a ", LLMError("…", code="timeout", permanent=False)])
    with pytest.raises(openai.APIError, match="took too long"):
        await streamed(client, "Hello")


async def test_help_stands_before_the_reply_to_a_cry(client: openai.AsyncOpenAI, scripted: Script) -> None:
    scripted.says("I am with you.")
    completion = await ask(client, "I want to kill myself.")
    text = completion.choices[0].message.content
    assert text.startswith(AI + "> ")
    assert text.endswith("\n\nI am with you.")
    assert await said("persona") == ["I am with you."]
    assert await in_thread(CrisisFlag.objects.count) == 1
    await ask(client, "yes", last_reply=text)
    assert await said() == ["I want to kill myself.", "yes"]


async def test_a_session_begins_with_the_notice_of_an_ai(client: openai.AsyncOpenAI, scripted: Script) -> None:
    first = (await ask(client, "Hello")).choices[0].message.content
    assert first == f"{AI}I hear you."
    assert (await ask(client, "And now?", last_reply=first)).choices[0].message.content == "I hear you."


async def test_the_notice_is_in_her_language(client: openai.AsyncOpenAI, mira: Persona, scripted: Script) -> None:
    await in_thread(Persona.objects.filter(pk=mira.pk).update, language="zh")
    notice = (await ask(client, "你好")).choices[0].message.content
    assert notice.startswith("> ")
    assert "AI" in notice
    assert not notice.startswith(AI)


async def test_her_names_as_a_model(client: openai.AsyncOpenAI, mira: Persona, otto: Persona) -> None:
    await in_thread(create_persona, mira.owner, "Mira")
    await in_thread(create_persona, mira.owner, "小黑")
    await in_thread(create_persona, mira.owner, "!!")
    await in_thread(Persona.objects.filter(pk=mira.pk).update, external_id="mira/1")
    listed = [model.id async for model in client.models.list()]
    assert listed == ["mira/1", "mira-2", "小黑", "persona"]
    for name in ("mira/1", "mira", str(mira.uuid)):
        found = await in_thread(names.find_persona, mira.owner, name)
        assert found == mira
        model = await client.models.retrieve(name)
        assert model.id == name
    assert await in_thread(names.find_persona, mira.owner, "!!") is not None
    assert await in_thread(names.find_persona, mira.owner, "Mira") is None  # there are two
    for name in ("otto", "Otto", str(otto.uuid), "gpt-5"):
        with pytest.raises(openai.NotFoundError) as missing:
            await client.models.retrieve(name)
        assert missing.value.code == "model_not_found"
        with pytest.raises(openai.NotFoundError):
            await client.chat.completions.create(model=name, messages=user("Hello"))
    assert await said() == []


def test_no_two_personas_share_a_name(ana: User) -> None:
    for name, external_id in (("Mira", None), ("Mira", "mira-2"), ("Mira", None), ("Mira 2", None)):
        persona = create_persona(ana, name)
        Persona.objects.filter(pk=persona.pk).update(external_id=external_id)
    listed = names.models_of(ana)
    assert list(listed) == ["mira", "mira-2", "mira-4", "mira-2-2"]
    assert [persona.pk for persona in listed.values()] == list(Persona.objects.values_list("pk", flat=True))


async def test_wrong_keys_are_told_as_such_and_guessing_is_locked_out(
    server: LiveServer, mira: Persona, scripted: Script, settings: Any
) -> None:
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="ev_wrong", max_retries=0) as stranger:
        for _guess in range(settings.AXES_FAILURE_LIMIT):
            with pytest.raises(openai.AuthenticationError) as refused:
                await ask(stranger, "Hello")
            assert refused.value.code == "invalid_api_key"
        with pytest.raises(openai.RateLimitError) as locked:
            _models = [model async for model in stranger.models.list()]
        assert locked.value.code == "locked_out"
    bearer.forget_failures()
    assert await said() == []


def test_a_slash_too_many_is_none_and_a_look_at_the_head_is_one(secret: str, mira: Persona) -> None:
    client = Client(headers={"Authorization": f"Bearer {secret}"})
    for path in ("/v1/models", "/v1/models/", "/v1//models", "/v1/models/mira", "/v1//models/Mira"):
        assert (client.get(path).status_code, client.head(path).status_code) == (200, 200)
    for path in ("/v1/chat/completions", "/v1/chat/completions/", "/v1//chat/completions"):
        answer = client.post(path, body(messages=[]), "application/json")
        assert (answer.status_code, answer.json()["error"]["param"]) == (400, "messages")
    for path in ("/v1/", "/v1/embeddings", "/v1/chat/completions/x", "/v1/v1/models"):
        assert client.get(path).json()["error"]["code"] == "unknown_url"


def test_who_shows_no_key_is_told_how_one_is_shown(mira: Persona) -> None:
    for headers in ({}, {"api-key": "ev_x"}, {"Authorization": "Basic YTpi"}):
        answer = Client(headers=headers).get("/v1/models")
        assert (answer.status_code, answer["WWW-Authenticate"]) == (401, "Bearer")
        assert "Bearer" in answer.json()["error"]["message"]


def test_a_login_opens_nothing_here(client: Client, mira: Persona) -> None:
    """Else a page of another site could talk in the name of whoever is signed in."""
    client = Client()
    client.force_login(mira.owner)
    assert client.get("/v1/models").status_code == 401
    body = {"model": "mira", "messages": user("Hello")}
    assert client.post("/v1/chat/completions", body, "application/json").status_code == 401


async def test_too_fast_is_told_with_when_to_come_back(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.lines_per_minute": 1}
    rate_limit.forget()
    await ask(client, "one")
    with pytest.raises(openai.RateLimitError) as refused:
        await ask(client, "two")
    assert int(refused.value.response.headers["retry-after"]) > 0
    assert await said() == ["one"]


async def test_a_body_too_large_is_told_in_the_clients_terms(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    with pytest.raises(openai.APIStatusError) as refused:
        await ask(client, "x" * 1000)
    assert (refused.value.status_code, refused.value.code) == (413, "request_too_large")


async def test_where_another_server_speaks_the_reply_comes_whole(
    client: openai.AsyncOpenAI, mira: Persona, scripted: Script, monkeypatch: Any
) -> None:
    """Tokens stay in the process that streams; what lasts comes by the table."""
    monkeypatch.setattr(runner.events, "broadcast", lambda *_args, **_data: None)
    scripted.says("Spoken elsewhere.")
    assert text_of(await streamed(client, "Hello")) == "Spoken elsewhere."


def body(**fields: Any) -> bytes:
    return json.dumps({"model": "mira", "messages": user("Hello")} | fields).encode()


ASSISTANT = {"role": "assistant", "content": "Hi."}
IMAGE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]}


@pytest.mark.parametrize(
    ("asking", "code", "param"),
    [
        (b"", "invalid_json", None),
        (b"[" * 100_000, "invalid_json", None),
        (b"\xff", "invalid_json", None),
        (b"[]", "invalid_type", ""),
        (body(model=None), "invalid_type", "model"),
        (body(messages=[]), "invalid_type", "messages"),
        (body(messages=[{"role": "oracle", "content": "x"}]), "invalid_type", "messages.0.role"),
        (body(messages=[ASSISTANT]), "nothing_new", "messages"),
        (body(messages=[{"role": "system", "content": "x"}]), "nothing_new", "messages"),
        (body(messages=user("")), "nothing_new", "messages"),
        (body(messages=user("x" * 20_001)), "string_above_max_length", "messages"),
        (body(messages=user(*["x"] * (MAX_LINES + 1))), "too_many_lines", "messages"),
        (
            body(messages=[*user("x"), {"role": "tool", "content": "42", "tool_call_id": "1"}]),
            "unsupported_value",
            "messages",
        ),
        (body(messages=[*user("x"), IMAGE]), "unsupported_content", "messages"),
        (body(messages=user("Hello.", "### Task:\nGenerate a title.")), "not_talk", "messages"),
        (body(messages=[{"role": "user", "content": {"text": "x"}}]), "invalid_type", "messages.0.content"),
        (body(messages=[{"role": "user", "content": ["x"]}]), "invalid_type", "messages.0.content"),
        (body(n=2), "unsupported_value", "n"),
        (body(logprobs=True), "unsupported_value", "logprobs"),
        (body(modalities=["text", "audio"]), "unsupported_value", "modalities"),
        (body(tool_choice="required"), "unsupported_value", "tool_choice"),
        (body(function_call={"name": "f"}), "unsupported_value", "function_call"),
        (body(response_format={"type": "json_object"}), "unsupported_value", "response_format"),
    ],
)
def test_unsupported_parameters_are_refused_by_name(asking: bytes, code: str, param: str | None) -> None:
    with pytest.raises(CompletionRefused) as refused:
        parse_request(asking)
    assert (refused.value.status, refused.value.code, refused.value.param) == (400, code, param)


def test_harmless_parameters_are_ignored() -> None:
    tools = [{"type": "function", "function": {"name": "f"}}]
    given = parse_request(
        body(n=1, tools=tools, tool_choice="auto", temperature=1.5, top_p=0, user="x", store=False, odd={})
    )
    assert (given.lines, given.last_reply, given.stream, given.include_usage) == (("Hello",), "", False, False)
    assert parse_request(body(stream=True, stream_options={"include_usage": True})).include_usage
    called = [ASSISTANT, {"role": "tool", "content": "42"}, {"role": "assistant", "content": None}, *user("x", "y")]
    assert parse_request(body(messages=called)).lines == ("x", "y")
    assert parse_request(body(messages=[ASSISTANT, *user("x")])).last_reply == "Hi."
    assert parse_request(b'{"model": "m", "messages": [{"role": "user", "content": "\\ud800"}]}').lines == ("\ufffd",)


async def test_unsupported_endpoints_answer_with_errors_of_openais_shape(
    client: openai.AsyncOpenAI, secret: str
) -> None:
    for elsewhere in (
        lambda: client.embeddings.create(model="mira", input="x"),
        lambda: client.responses.create(model="mira", input="x"),
        lambda: client.files.list(),
    ):
        with pytest.raises(openai.NotFoundError) as refused:
            await elsewhere()
        assert refused.value.code == "unknown_url"
    with pytest.raises(openai.APIStatusError) as refused:
        await client.models.delete("mira")
    assert (refused.value.status_code, refused.value.code) == (405, "method_not_allowed")
    assert refused.value.response.headers["allow"] == "GET"


def test_only_pages_that_are_named_may_use_the_door_from_a_browser(client: Client, secret: str, settings: Any) -> None:
    address, key = "/v1/models", {"Authorization": f"Bearer {secret}"}
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,x-stainless-os"}

    def told(origin: str, path: str = address) -> tuple[int, Any, Any]:
        before = Client().options(path, headers=asking | {"Origin": origin})
        answer = Client().get(path, headers=key | {"Origin": origin})
        allowed = "Access-Control-Allow-Origin"
        assert "Access-Control-Allow-Credentials" not in {**before.headers, **answer.headers}
        return before.status_code, before.get(allowed), answer.get(allowed)

    page = "https://chat.example.org"
    assert told(page) == (405, None, None)
    settings.API_ORIGINS = [page]
    assert told(page) == (204, page, page)
    assert told(f"{page}:8443") == told("null") == told("https://evil.example") == (405, None, None)
    assert told(page, "/api/personas") == (405, None, None)
    before = Client().options(address, headers=asking | {"Origin": page})
    assert before["Access-Control-Allow-Headers"] == "authorization,x-stainless-os"
    assert before["Vary"] == "Origin"
    refused = Client().get(address, headers={"Origin": page})
    assert (refused.status_code, refused["Access-Control-Allow-Origin"]) == (401, page)


@pytest.mark.parametrize("origin", ["*", "null", "https://chat.example.org/", "https://*.example.org", "HTTPS://A.B"])
def test_a_page_is_named_as_browsers_name_it(origin: str, settings: Any) -> None:
    settings.API_ORIGINS = ["https://chat.example.org", "app://obsidian.md", origin]
    assert [fault.id for fault in checks.other_pages_have_an_origin(None)] == ["echovessel.E007"]


async def test_errors_have_the_shape_of_openais(client: openai.AsyncOpenAI, server: LiveServer, secret: str) -> None:
    async with httpx2.AsyncClient() as raw:
        answer = await raw.post(
            f"{server.url}/v1/chat/completions", content=b"{", headers={"Authorization": f"Bearer {secret}"}
        )
    assert answer.status_code == 400
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert answer.json()["error"]["type"] == "invalid_request_error"


def test_messages_of_two_requests_that_share_a_turn_are_known_each_for_itself(mira: Persona) -> None:
    now = timezone.now()
    one, two = parse_request(body(messages=user("one"))), parse_request(body(messages=user("two", "three")))
    turns = {receive(mira, each, "", now).turn.pk for each in (one, two, one, two)}
    assert len(turns) == 1
    assert list(Message.objects.values_list("content", flat=True)) == ["one", "two", "three"]
    receive_message(mira, "on the page", None, "web", now)
    assert receive(mira, parse_request(body(messages=user("on the page"))), "", now).turn.session.channel == "api"
