"""A session during an import waits only for the database writes of the import."""

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
from tests.memory.imports.importing_files import confirm_file, import_file, whatsapp
from tests.memory.sessions import Clock

NAME = "WhatsApp Chat with Mira.txt"
CHAT = whatsapp("Ana: I met Tomas at the harbour.", "Mira: How was it?", "9", "Ana: I slept badly.")


@pytest.mark.django_db(transaction=True)
def test_words_are_cut_while_nobody_waits_for_the_database(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    cut: list[tuple[str, bool]] = []

    def record_and_tokenize(text: str) -> list[str]:
        cut.append((text, connection.in_atomic_block))
        return tokenizer.tokenize(text)

    job = confirm_file(mira, CHAT, NAME)
    monkeypatch.setattr(search, "tokenizer", SimpleNamespace(tokenize=record_and_tokenize))
    runner.run(job.pk, Clock(), through="writing")
    texts = ["I met Tomas at the harbour.", "How was it?", "I slept badly."]
    assert cut == [(text, False) for text in texts]
    assert list(MessageText.objects.order_by("message_id").values_list("body", flat=True)) == [
        " ".join(tokenizer.tokenize(text)) for text in texts
    ]


@pytest.mark.django_db
def test_of_what_is_known_no_word_is_cut(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    import_file(mira, CHAT, NAME)
    again = confirm_file(mira, CHAT, NAME)
    cut: list[str] = []
    tokenize_texts = search.tokenize_texts

    def record_and_tokenize(texts: Iterable[str]) -> dict[str, str]:
        text_list = list(texts)
        cut.extend(text_list)
        return tokenize_texts(text_list)

    monkeypatch.setattr(search, "tokenize_texts", record_and_tokenize)
    runner.run(again.pk, Clock(), through="writing")
    assert not cut
    assert not ImportChunk.objects.filter(job=again).exists()
