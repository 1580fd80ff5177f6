"""The page says of a reply that came without a model that it did."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from chat.models import Turn
from echovessel.llm.models import LLMCall
from persona.models import Persona
from tests.memory.sessions import NOW, talk

pytestmark = pytest.mark.django_db
NOTE, CHIP = 'data-testid="memory-mode-note"', 'data-testid="memory-mode"'


def answered(persona: Persona, provider: str, hours: int) -> None:
    session = talk(persona, "Hello.", "> Hi.", at=NOW + timedelta(hours=hours))
    turn = Turn.objects.create(session=session, persona=persona, status=Turn.Status.DONE, started_at=session.started_at)
    session.messages.update(turn=turn)
    LLMCall.objects.create(
        owner_id=persona.owner_id, turn_uuid=turn.uuid, purpose="chat", provider=provider, outcome="ok",
        at=session.last_message_at + timedelta(seconds=1),
    )  # fmt: skip


def test_each_reply_of_memory_mode_says_so_and_no_other(mira: Persona, client: Client, settings: Any) -> None:
    answered(mira, "offline", 0)
    answered(mira, "openai", 1)
    LLMCall.objects.create(
        owner_id=mira.owner_id, turn_uuid=uuid.uuid4(), purpose="chat", provider="offline", outcome="ok"
    )
    client.force_login(mira.owner)
    settings.LLM_PROVIDER = "tests.scripted.ScriptedProvider"
    page = client.get(f"/chat/{mira.uuid}/").content.decode()
    assert (page.count(NOTE), page.count(CHIP)) == (1, 0)
    settings.LLM_PROVIDER = "offline"
    page = client.get(f"/chat/{mira.uuid}/").content.decode()
    assert page.count(CHIP) == 1
    log, shapes = page.split('<div id="words"')
    assert log.count(NOTE) == 1
    assert shapes.count(NOTE) == 2  # replies and first words that are still to come
    assert "Memory mode: no language model" in log
