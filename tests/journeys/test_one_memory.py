"""One memory, whatever the door: what a chat client of OpenAI's was told is recalled in the page (D4)."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any

import openai
import pytest
from django.utils import timezone

from chat.models import Message, Session, Turn
from chat.sessions import close
from echovessel.api.tokens import bearer
from echovessel.api.tokens.secret import create
from echovessel.embeddings import embedding
from echovessel.process.threads import in_thread
from memory.consolidation import runner
from memory.models import ConceptNode
from persona.models import Persona
from tests.live_server import LiveServer
from tests.memory.sessions import cite, event, extraction, talk
from tests.page import Page
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)

SAID, REMEMBERED = "My boat is called Petrel.", "Ana's boat is called Petrel."


@pytest.fixture
async def client(scripted: Script, mira: Persona) -> AsyncIterator[openai.AsyncOpenAI]:
    bearer.forget_failures()
    await asyncio.wrap_future(embedding.warm())  # the first turn waits for it, and a client has its patience
    _token, secret = await in_thread(create, mira.owner, "tests", timezone.now())
    async with LiveServer() as server, openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=secret) as made:
        yield made


async def test_what_a_chat_client_was_told_is_recalled_in_the_page_when_that_session_is_long_over(
    client: openai.AsyncOpenAI, mira: Persona, scripted: Script
) -> None:
    said: Any = {"role": "user", "content": SAID}
    await client.chat.completions.create(model="mira", messages=[said])
    await in_thread(a_month_goes_by, mira, scripted, timezone.now())
    async with Page(mira.owner, mira) as page:
        await page.say("What is the name of my boat?")
        done = await page.until("chat.message.done")
    remembered, recent = scripted.requests[-1].user.split("# Recent conversation")
    assert "Petrel" in remembered
    assert "Petrel" not in recent
    await in_thread(it_rests_on_the_line_of_the_door, mira, done["data"]["turn_id"])


def a_month_goes_by(persona: Persona, scripted: Script, now: datetime) -> None:
    """The talk is over and read, and yesterday there was more than a prompt shows of recent talk."""
    session = Session.objects.get(channel="api")
    line = session.messages.get(role=Message.Role.USER)
    close.close(session, Session.CloseReason.EXPLICIT, now)
    scripted.answers(extraction([event(REMEMBERED, cite(line))], session_summary=""))
    assert runner.run(session.pk, timezone.now) == runner.Outcome.CLOSED
    session.messages.update(created_at=now - timedelta(days=30))
    small_talk = [f"Small talk, number {number}." for number in range(25)]
    talk(persona, *small_talk, at=now - timedelta(days=1), status=Session.Status.CLOSED)


def it_rests_on_the_line_of_the_door(persona: Persona, turn: str) -> None:
    memory = ConceptNode.objects.get(persona=persona)
    (line,) = [found.message for found in memory.evidence.select_related("message__session")]
    assert line.session.channel == "api"
    assert {str(line.uuid), str(memory.uuid)} & words_of(Turn.objects.get(uuid=turn).xray["recollections"])


def words_of(told: Any) -> set[str]:
    """Every string in it."""
    return set(re.findall(r'"([^"]*)"', json.dumps(told)))
