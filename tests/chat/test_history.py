"""The conversation as the page draws it: its order, and pieces of it before, after and around a message or a day."""

from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from chat import views
from chat.messages import receive_message
from chat.models import Message
from chat.turns import turn as turns
from persona.models import Persona

pytestmark = pytest.mark.django_db


def say(persona: Persona, words: str, at: datetime) -> Message:
    return receive_message(persona, words, uuid4(), "web", at).message


def drawn(page: str) -> list[str]:
    """The words of the messages in a piece of the page."""
    bubbles = page.split('data-testid="bubble"')[1:]
    return [
        bubble.split(">", 1)[1].split("</div>")[0].replace("<p>", "").replace("</p>", "").strip() for bubble in bubbles
    ]


def test_a_reply_stands_behind_what_it_answers_as_it_did_while_it_was_written(mira: Persona) -> None:
    now = timezone.now() - timedelta(minutes=5)
    say(mira, "First question", now)
    running = turns.claim(mira.pk, now)
    assert running is not None
    say(mira, "Said meanwhile", now + timedelta(seconds=1))
    turns.finish(running, "First answer", stopped=False, first_token_at=None, xray={}, now=now + timedelta(seconds=2))
    lines = views._page(mira, Message.objects.filter(persona=mira)).lines
    assert [line.content for line in lines if line.kind == "message"] == [
        "First question",
        "First answer",
        "Said meanwhile",
    ]


def test_pieces_of_the_conversation_join_without_gap_or_repetition(
    mira: Persona, client: Client, monkeypatch: Any
) -> None:
    monkeypatch.setattr(views, "PAGE", 4)
    begin = timezone.now() - timedelta(days=20)
    said = [say(mira, f"line {number}", begin + timedelta(days=number)) for number in range(20)]
    client.force_login(mira.owner)

    def piece(**asked: str) -> tuple[list[str], str]:
        answer = client.get(f"/chat/{mira.uuid}/history/", asked)
        assert answer.status_code == 200
        return drawn(answer.content.decode()), answer.content.decode()

    middle, page = piece(around=str(said[10].uuid))
    assert middle == ["line 8", "line 9", "line 10", "line 11"]
    assert f'data-focus-message="{said[10].uuid}"' in page
    assert (f'data-more="{said[8].uuid}"' in page, f'data-more="{said[11].uuid}"' in page) == (True, True)
    assert piece(before=str(said[8].uuid))[0] == ["line 4", "line 5", "line 6", "line 7"]
    assert piece(after=str(said[11].uuid))[0] == ["line 12", "line 13", "line 14", "line 15"]
    assert piece(after=str(said[19].uuid))[0] == []
    assert "line 5" in piece(on=said[5].day.isoformat())[0]
    assert "line 19" in piece(on="2999-01-01")[0], "a day to come is the newest there is"
    for asked in ({"around": str(uuid4())}, {"on": "2026-02-31"}, {"on": "x"}, {"before": "x"}, {}):
        assert client.get(f"/chat/{mira.uuid}/history/", asked).status_code == 404, asked
