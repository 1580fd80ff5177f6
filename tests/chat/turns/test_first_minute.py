"""The first minute: a greeting, openers, and a word while what the persona remembers with is still being loaded."""

from concurrent.futures import Future
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat import views
from chat.models import Message
from chat.turns import first_word, runner
from echovessel.language.requests import read_requests
from persona.models import Persona
from tests.echovessel.llm.offline import answer
from tests.page import Page
from tests.scripted import Script
from tests.table import each_row

pytestmark = pytest.mark.django_db(transaction=True)


@each_row(
    ("language", "greeting", "user", "is_offline", "holds"),
    [
        ("en", "", "Ana", False, ["Hello Ana", "Mira"]),
        ("en", "", "", False, ["Hello, I"]),
        ("en", "", "Ana", True, ["cannot really talk"]),
        ("zh", "", "安娜", False, ["安娜", "Mira"]),
        ("zh", "", "安娜", True, ["语言模型"]),
        ("en", "*waves* <b>Ahoy</b>", "Ana", True, ["<em>waves</em>", "&lt;b&gt;Ahoy"]),
    ],
)
def test_an_empty_page_greets_in_the_personas_language_and_says_when_no_model_answers(
    language: str, greeting: str, user: str, is_offline: bool, holds: list[str]
) -> None:
    mira = Persona(name="Mira", user_name=user, language=language, greeting=greeting)
    shown = views.first_minute(mira, is_offline=is_offline)
    assert all(words in str(shown["greeting"]) for words in holds), shown
    openers = shown["openers"]
    assert isinstance(openers, list)
    assert len(set(openers)) == 3
    assert all(any("\u4e00" <= sign <= "\u9fff" for sign in opener) == (language == "zh") for opener in openers)


@each_row("language", ["en", "zh"])
def test_memory_mode_answers_each_opener_of_the_page_and_no_opener_asks_for_anything(language: str) -> None:
    openers = views.first_minute(Persona(name="Mira", language=language), is_offline=True)["openers"]
    assert isinstance(openers, list)
    replies = [answer(opener, language=language) for opener in openers]
    asks_to_be_heard, keeps = replies[:2], replies[2]
    assert all(("我在听" if language == "zh" else "I'm listening") in reply for reply in asks_to_be_heard), replies
    assert ("能删" if language == "zh" else "delete") in keeps, replies
    told = "小雨：“我对花生过敏。”" if language == "zh" else "Ana: “I have a cat.”"
    assert answer(openers[2], language=language, memories=(told,)) == keeps, "it is no question about a memory"
    assert answer(openers[2], language=language, off_the_record=True) != keeps
    assert not any(read_requests(opener) for opener in openers)


def test_the_page_greets_until_something_was_said(mira: Persona, client: Client) -> None:
    client.force_login(mira.owner)
    assert 'data-testid="opener"' in client.get(f"/chat/{mira.uuid}/").content.decode()
    Persona.objects.filter(pk=mira.pk).update(greeting="Ahoy.")
    mira.refresh_from_db()
    assert first_word.greet(mira, timezone.now())
    assert not first_word.greet(mira, timezone.now()), "once"
    assert [one.content for one in Message.objects.all()] == ["Ahoy."]
    assert 'data-testid="opener"' not in client.get(f"/chat/{mira.uuid}/").content.decode()


def test_a_greeting_that_was_forgotten_meanwhile_is_not_said(mira: Persona) -> None:
    Persona.objects.filter(pk=mira.pk).update(greeting="Ahoy from Cape Sorrow.")
    mira.refresh_from_db()  # as an open page knows it
    Persona.objects.filter(pk=mira.pk).update(greeting="")
    assert not first_word.greet(mira, timezone.now())
    assert not Message.objects.exists()


async def test_its_own_greeting_is_the_first_thing_that_was_said(mira: Persona, scripted: Script) -> None:
    await Persona.objects.filter(pk=mira.pk).aupdate(greeting="Ahoy, Ana.")
    async with Page(mira.owner, mira) as page:
        await page.say("Ahoy!")
        await page.until("chat.message.done", spoke_first=True)
        await page.until("chat.message.done", spoke_first=False)
    assert "Ahoy, Ana." in scripted.requests[0].user
    told = [one.content async for one in Message.objects.order_by("id")]
    assert told[:2] == ["Ahoy, Ana.", "Ahoy!"]


async def test_a_model_that_is_still_being_loaded_is_told(mira: Persona, scripted: Script, monkeypatch: Any) -> None:
    loading: Future[None] = Future()
    monkeypatch.setattr(runner.embedding, "warm", lambda *_text: loading)
    async with Page(mira.owner, mira, warm=False) as page:
        await page.until("chat.connection.waking")
        await page.say("Hello")
        await page.until("chat.turn.snapshot", waking=True)
        loading.set_result(None)
        await page.until("chat.turn.snapshot", waking=False)
        await page.until("chat.message.done")
        assert page.named("chat.connection.awake") == [{}]
