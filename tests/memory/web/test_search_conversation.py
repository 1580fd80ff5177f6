"""Search in the conversation, and the text between two sessions after a reload."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from memory.web import timeline
from memory.web.search import EXCERPT_AFTER, excerpt_around
from persona.models import Persona
from tests.memory.sessions import talk
from tests.table import each_row


@each_row(
    ("text", "words", "expected"),
    [
        ("We went to Lisbon in May.", "lisbon", ("We went to ", "Lisbon", " in May.")),
        ("我们五月去了里斯本。", "里斯本", ("我们五月去了", "里斯本", "。")),
        ("two\n\nlines", "two lines", ("", "two lines", "")),
        ("x" * 80 + "sea" + "y" * 200, "sea", ("…" + "x" * 50, "sea", "y" * EXCERPT_AFTER + "…")),
    ],
)
def test_an_excerpt_shows_the_words_and_what_is_around_them(text: str, words: str, expected: tuple[str, ...]) -> None:
    assert excerpt_around(text, words) == expected


@pytest.mark.django_db
def test_words_are_found_in_ones_own_conversation_alone_and_never_travel_in_an_address(
    mira: Persona, otto: Persona, client: Client
) -> None:
    talk(mira, "We saw <b>Lisbon</b>.", "> Lisbon is bright.", "Nothing else.")
    talk(otto, "Lisbon was mine.")
    client.force_login(mira.owner)
    url = reverse("search_conversation", args=[mira.uuid])
    answer = client.post(url, {"text": "LISBON"}).content.decode()
    assert answer.count('data-testid="found-message"') == 2
    assert "&lt;b&gt;" in answer
    assert "<b>" not in answer
    assert "mine" not in answer
    assert "found-nothing" in client.post(url, {"text": "Porto"}).content.decode()
    assert client.post(url, {"text": " "}).content.decode().strip() == ""
    assert client.get(url, {"text": "Lisbon"}).status_code == 405
    assert client.post(reverse("search_conversation", args=[otto.uuid]), {"text": "Lisbon"}).status_code == 404


@pytest.mark.django_db
def test_a_session_keeps_its_counts(mira: Persona, remember: Any) -> None:
    session = talk(mira, "I adopted a cat.", status="closed")
    for description in ("Ana adopted a cat.", "Ana likes cats."):
        node = remember(mira, description)
        type(node).objects.filter(pk=node.pk).update(session=session)
    [learned] = timeline.learned_by_session(mira, [session.uuid])
    assert (learned.is_closed, learned.memories, learned.thoughts) == (True, 2, 0)
    type(session).objects.filter(pk=session.pk).update(status="failed", closed_at=timezone.now())
    [learned] = timeline.learned_by_session(mira, [session.uuid])
    assert not learned.is_closed
