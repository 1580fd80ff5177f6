"""What an owner and an API client see of a model that thinks, or does not stop."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from django.contrib.auth.models import User
from django.test import Client

from chat.models import Message, Turn
from chat.turns import turn as turns
from echovessel.llm import providers
from echovessel.llm.models import LLMCall
from echovessel.process.threads import in_thread
from persona.models import Persona
from tests.live_server import LiveServer
from tests.page import Page
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)

HELLO = "Hello, Ana."
STORY = "Once upon a time there was a vessel that kept every word. "


@pytest.fixture(autouse=True)
def _nothing_learned() -> None:
    providers.forget_endpoints()


async def stored() -> list[str]:
    replies = Message.objects.filter(role="persona").order_by("id").values_list("content", flat=True)
    return await in_thread(lambda: list(replies))


async def test_the_page_is_told_that_the_model_thinks_and_never_what(
    ana: User, mira: Persona, scripted: Script
) -> None:
    scripted.says(["<thi", "nk>They gre", "et me.</thi", "nk>\n\nHello, ", "Ana."])
    async with Page(ana, mira) as page:
        await page.say("Hello")
        done = await page.until("chat.message.done")
        [thinking] = page.named("chat.turn.thinking")
        assert thinking["turn_id"] == done["data"]["turn_id"]
        assert page.text_of(done["data"]["turn_id"]) == HELLO
        assert "greet" not in str(page.frames)
    assert done["data"]["content"] == HELLO
    assert await stored() == [HELLO]


async def test_whoever_opens_the_page_meanwhile_sees_that_it_thinks(ana: User, mira: Persona, scripted: Script) -> None:
    scripted.says(["<think>hm", "</think>", HELLO])
    scripted.hold()
    async with Page(ana, mira) as page:
        await page.say("Hello")
        await page.until("chat.turn.thinking")
        async with Page(ana, mira) as another:
            await another.send(type="resume", after=0)
            assert (await another.until("chat.turn.snapshot"))["data"]["thinking"] is True
        scripted.go()
        await page.until("chat.message.done")


async def test_shown_reasoning_is_reverted(ana: User, mira: Persona, scripted: Script, settings: Any) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.token_interval_seconds": 0}
    scripted.says(["They greet me. ", "I greet them.", "\n</think>\n\n", "Hello, ", "Ana."])
    async with Page(ana, mira) as page:
        await page.say("Hello")
        done = await page.until("chat.message.done")
        assert any(snapshot.get("withdrawn") for snapshot in page.named("chat.turn.snapshot"))
        assert page.text_of(done["data"]["turn_id"]) == HELLO
    assert await stored() == [HELLO]


async def test_a_model_that_only_thought_fails_the_turn_and_can_be_asked_again(
    ana: User, mira: Persona, scripted: Script
) -> None:
    scripted.says("<think>They greet me. I could", HELLO)
    async with Page(ana, mira) as page:
        await page.say("Hello")
        failed = (await page.until("chat.turn.failed"))["data"]
        assert (failed["code"], failed["retryable"], failed["partial"]) == ("only_reasoning", True, "")
        assert failed["message"] == turns.words_for("only_reasoning", "en") != turns.words_for("internal", "en")
        await page.send(type="retry", turn_id=failed["turn_id"])
        assert (await page.until("chat.message.done"))["data"]["content"] == HELLO
    outcomes = LLMCall.objects.order_by("id").values_list("outcome", flat=True)
    assert await in_thread(lambda: list(outcomes)) == ["only_reasoning", "ok"]


async def test_a_reply_ends_at_its_limit_says_so_and_is_shown_so_again(
    ana: User, mira: Persona, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.reply_characters": 1_000}
    scripted.says(STORY * 20_000, "Short.")
    async with Page(ana, mira) as page:
        await page.say("Tell me a story")
        long = (await page.until("chat.message.done"))["data"]
        assert page.text_of(long["turn_id"]) == long["content"]
        await page.say("And now?")
        short = (await page.until("chat.message.done"))["data"]
    assert (long["cut"], short["cut"]) == (True, False)
    assert 800 < len(long["content"]) <= 1_000
    assert long["content"].endswith("word.")
    assert await stored() == [long["content"], "Short."]

    def flags() -> list[tuple[str, bool]]:
        return list(Turn.objects.order_by("id").values_list("status", "is_cut"))

    assert await in_thread(flags) == [("done", True), ("done", False)]
    notes = (await in_thread(page_of, ana, mira)).split('data-testid="cut-note"')[1:3]
    assert [" hidden>" in note.split("</span>")[0] for note in notes] == [False, True]


@pytest.fixture
async def client(server: LiveServer, secret: str, mira: Persona) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=secret, max_retries=0, timeout=20) as made:
        yield made


async def ask(client: openai.AsyncOpenAI, line: str, **options: Any) -> Any:
    return await client.chat.completions.create(model="mira", messages=[{"role": "user", "content": line}], **options)


async def test_a_client_program_gets_the_reply_without_the_reasoning(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.token_interval_seconds": 0}
    scripted.says(["They greet me. ", "I greet them.", "\n</think>\n\n", "Hello, ", "Ana."])
    whole = (await ask(client, "Hello")).choices[0]
    assert whole.message.content.endswith(HELLO)
    assert "greet" not in whole.message.content
    assert "program" in whole.message.content, "what stands beside the line stays"
    scripted.says("They greet me.</think>Hello, Ana.")  # by now it is known to begin in the prompt
    chunks = [chunk async for chunk in await ask(client, "Again", stream=True)]
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == HELLO


async def test_a_client_program_learns_that_a_reply_was_cut(
    client: openai.AsyncOpenAI, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.reply_characters": 500}
    scripted.says(STORY * 100, STORY * 100)
    whole = (await ask(client, "A story")).choices[0]
    assert whole.finish_reason == "length"
    chunks = [chunk async for chunk in await ask(client, "Another", stream=True)]
    assert chunks[-1].choices[0].finish_reason == "length"
    texts = ["".join(chunk.choices[0].delta.content or "" for chunk in chunks), whole.message.content]
    assert all(text.endswith("word.") for text in texts)
    scripted.says("<think>hm")
    with pytest.raises(openai.InternalServerError) as caught:
        await ask(client, "Once more")
    assert (caught.value.status_code, caught.value.code) == (503, "only_reasoning")


def page_of(owner: User, persona: Persona) -> str:
    client = Client()
    client.force_login(owner)
    return client.get(f"/chat/{persona.uuid}/").content.decode()
