"""Bulk storage: all rows are stored in order, and found like any others."""

from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import connection

from chat import search
from chat.models import Message, MessageText, Session
from echovessel.db.sqlite import bulk
from echovessel.language import tokenizer
from persona.models import Persona

pytestmark = pytest.mark.django_db
AT = datetime(2024, 5, 1, 9, tzinfo=UTC)


def create_messages(persona: Persona, count: int) -> list[Message]:
    session = Session.objects.create(persona=persona, started_at=AT)
    return [
        bulk.row(
            Message,
            session_id=session.pk,
            persona_id=persona.pk,
            role="user",
            content=f"Line {number} of the harbour",
            token_count=4,
            day=AT.date(),
            created_at=AT + timedelta(seconds=number),
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("count", [1, bulk.TOGETHER, 2 * bulk.TOGETHER + 1, bulk.MANY + 1])
def test_as_many_as_there_are_stand_in_the_database_in_their_order_and_in_both_indexes(
    mira: Persona, count: int
) -> None:
    messages = create_messages(mira, count)
    search.store(messages)
    stored_rows = list(Message.objects.order_by("id").values_list("id", "uuid", "content", "created_at"))
    assert stored_rows == [(message.pk, message.uuid, message.content, message.created_at) for message in messages]
    assert MessageText.objects.count() == search.count(mira.pk) == count
    assert len(search.find_by_terms(mira.pk, ["harbour"], count + 1)["harbour"]) == count
    assert search.SUBSTRINGS.find(connection, "of the harb", count + 1) == [
        message.pk for message in reversed(messages)
    ]


def test_words_that_were_cut_before_are_not_cut_again(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = create_messages(mira, 2)
    cached_tokens = search.tokenize_texts([first.content])
    cut: list[str] = []

    def tokenize_and_note(text: str) -> list[str]:
        cut.append(text)
        return tokenizer.tokenize(text)

    monkeypatch.setattr(search, "tokenizer", SimpleNamespace(tokenize=tokenize_and_note))
    search.store([first, second], cached_tokens)
    assert cut == [second.content]
    bodies = dict(MessageText.objects.values_list("message_id", "body"))
    assert bodies == {message.pk: " ".join(tokenizer.tokenize(message.content)) for message in (first, second)}


def test_no_rows_are_no_statement(mira: Persona) -> None:
    bulk.insert([])
    bulk.insert_values(MessageText, ("message_id", "scope", "body"), iter(()))
    assert not MessageText.objects.exists()


def test_many_rows_are_read_a_batch_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "READ_TOGETHER", 2)
    batches = bulk.read_in_batches("SELECT value FROM json_each(%s) ORDER BY value", ["[3, 1, 2]"])
    assert list(batches) == [[(1,), (2,)], [(3,)]]
    assert not list(bulk.read_in_batches("SELECT value FROM json_each(%s)", ["[]"]))


def test_pages_that_were_read_are_released_and_read_again(mira: Persona) -> None:
    bulk.release_pages()
    assert Persona.objects.get() == mira
