"""Whoever talks while a file is stored waits for no more than the writing itself."""

from collections.abc import Iterable
from types import SimpleNamespace

import pytest
from django.db import connection

from chat import search
from chat.models import MessageText
from echovessel.language import tokenizer
from memory.imports import runner
from memory.models import ImportChunk
from persona.models import Persona
from tests.memory.imports.importing_files import confirmed, taken_in, whatsapp
from tests.memory.sessions import Clock

NAME = "WhatsApp Chat with Mira.txt"
CHAT = whatsapp("Ana: I met Tomas at the harbour.", "Mira: How was it?", "9", "Ana: I slept badly.")


@pytest.mark.django_db(transaction=True)
def test_words_are_cut_while_nobody_waits_for_the_database(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[tuple[str, bool]] = []

    def noted(text: str) -> list[str]:
        cut.append((text, connection.in_atomic_block))
        return tokenizer.tokenize(text)

    job = confirmed(mira, CHAT, NAME)
    monkeypatch.setattr(search, "tokenizer", SimpleNamespace(tokenize=noted))
    runner.run(job.pk, Clock(), through="writing")
    said = ["I met Tomas at the harbour.", "How was it?", "I slept badly."]
    assert cut == [(text, False) for text in said]
    assert list(MessageText.objects.order_by("message_id").values_list("body", flat=True)) == [
        " ".join(tokenizer.tokenize(text)) for text in said
    ]


@pytest.mark.django_db
def test_of_what_is_known_no_word_is_cut(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    taken_in(mira, CHAT, NAME)
    again = confirmed(mira, CHAT, NAME)
    cut: list[str] = []
    worded = search.tokenize_texts

    def noted(texts: Iterable[str]) -> dict[str, str]:
        given = list(texts)
        cut.extend(given)
        return worded(given)

    monkeypatch.setattr(search, "tokenize_texts", noted)
    runner.run(again.pk, Clock(), through="writing")
    assert not cut
    assert not ImportChunk.objects.filter(job=again).exists()
