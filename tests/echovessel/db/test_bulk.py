"""Many rows stored at once are all stored, in their order, and found like any others."""

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


def lines(persona: Persona, count: int) -> list[Message]:
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
    given = lines(mira, count)
    search.store(given)
    stored = list(Message.objects.order_by("id").values_list("id", "uuid", "content", "created_at"))
    assert stored == [(line.pk, line.uuid, line.content, line.created_at) for line in given]
    assert MessageText.objects.count() == search.count(mira.pk) == count
    assert len(search.find_by_terms(mira.pk, ["harbour"], count + 1)["harbour"]) == count
    assert search.SUBSTRINGS.find(connection, "of the harb", count + 1) == [line.pk for line in reversed(given)]


def test_words_that_were_cut_before_are_not_cut_again(mira: Persona, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = lines(mira, 2)
    known = search.tokenize_texts([first.content])
    cut: list[str] = []

    def noted(text: str) -> list[str]:
        cut.append(text)
        return tokenizer.tokenize(text)

    monkeypatch.setattr(search, "tokenizer", SimpleNamespace(tokenize=noted))
    search.store([first, second], known)
    assert cut == [second.content]
    bodies = dict(MessageText.objects.values_list("message_id", "body"))
    assert bodies == {line.pk: " ".join(tokenizer.tokenize(line.content)) for line in (first, second)}


def test_no_rows_are_no_statement(mira: Persona) -> None:
    bulk.insert([])
    bulk.insert_values(MessageText, ("message_id", "scope", "body"), iter(()))
    assert not MessageText.objects.exists()
