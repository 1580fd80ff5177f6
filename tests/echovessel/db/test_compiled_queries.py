"""Compiled queries: their results equal those of Django's queries, for any values and on every call."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import Message, Session, Turn
from chat.models.message import MessageText
from echovessel.db.compiled_queries import Query, Update, insert
from persona.models import Persona

pytestmark = pytest.mark.django_db


def fields(row: Any) -> dict[str, Any]:
    return {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}


@pytest.fixture
def sessions(mira: Persona) -> list[Session]:
    now = timezone.now()
    return [Session.objects.create(persona=mira, channel=f"c{at}", started_at=now - timedelta(at)) for at in range(3)]


def test_a_query_finds_what_djangos_own_finds_with_fields_and_relations(mira: Persona, sessions: list[Session]) -> None:
    def build(persona: Any, channel: Any) -> Any:
        return Session.objects.open().filter(persona=persona, channel=channel).select_related("persona__owner")

    query: Query[Session] = Query(build)
    for session in sessions:
        (row,), (usual,) = query(mira.pk, session.channel), build(mira.pk, session.channel)
        assert (row, fields(row)) == (usual, fields(usual))
        with CaptureQueriesContext(connection) as queries:
            assert fields(row.persona) == fields(usual.persona)
            assert row.persona.owner.get_username() == usual.persona.owner.get_username()
        assert not queries.captured_queries
    assert query(mira.pk, "elsewhere") == []


def test_moments_and_uuids_are_compared_as_they_are_stored(sessions: list[Session]) -> None:
    since: Query[Session] = Query(lambda at: Session.objects.filter(started_at__gte=at).order_by("id"))
    assert since(sessions[1].started_at) == sessions[:2]
    by_uuid: Query[Session] = Query(lambda public: Session.objects.filter(uuid=public))
    assert by_uuid(sessions[2].uuid) == [sessions[2]]


def test_values_come_as_tuples_of_their_types(sessions: list[Session]) -> None:
    values: Query[Any] = Query(lambda key: Session.objects.filter(pk=key).values_list("uuid", "started_at", "channel"))
    assert values(sessions[1].pk) == [(sessions[1].uuid, sessions[1].started_at, "c1")]


def test_sql_is_composed_once(sessions: list[Session]) -> None:
    composed = []

    def build(key: Any) -> Any:
        composed.append(key)
        return Session.objects.filter(pk=key)

    query: Query[Session] = Query(build)
    assert [query(session.pk) for session in sessions] == [[session] for session in sessions]
    assert len(composed) == 1


def test_an_update_changes_what_it_finds_and_counts_it(sessions: list[Session]) -> None:
    grow = Update(
        lambda key, by: (Session.objects.filter(pk=key), {"message_count": F("message_count") + by, "summary": "grown"})
    )
    assert (grow(sessions[0].pk, 2), grow(sessions[0].pk, 3), grow(0, 1)) == (1, 1, 0)
    sessions[0].refresh_from_db()
    assert (sessions[0].message_count, sessions[0].summary) == (5, "grown")
    assert not Session.objects.exclude(pk=sessions[0].pk).exclude(message_count=0).exists()


def test_json_and_nothing_are_stored_as_the_field_stores_them(sessions: list[Session]) -> None:
    xray_data = {"words": ["猫", '"cat"'], "none": None}
    turn = Turn.objects.create(session=sessions[0], persona=sessions[0].persona)
    account = Update(lambda key, xray, at: (Turn.objects.filter(pk=key), {"xray": xray, "finished_at": at}))
    assert account(turn.pk, xray_data, None) == 1
    turn.refresh_from_db()
    assert (turn.xray, turn.finished_at) == (xray_data, None)


def test_a_row_that_is_inserted_is_as_one_that_was_saved(mira: Persona, sessions: list[Session]) -> None:
    now = timezone.now()
    values = {"token_count": 1, "day": now.date(), "created_at": now, "client_id": uuid.uuid4()}
    message = Message(session=sessions[0], persona=mira, role="user", content="Hi", **values)
    insert(message)
    assert fields(Message.objects.get(pk=message.pk)) == fields(message)
    message.content = "Hello"
    message.save()
    assert Message.objects.get().content == "Hello"

    insert(MessageText(message=message, scope="p1", body="hi"))
    assert MessageText.objects.get().message_id == message.pk
    turn = Turn(session=sessions[0], persona=mira)
    insert(turn)
    assert Turn.objects.get().created_at == turn.created_at


def test_an_insert_raises_the_integrity_error_of_the_database(mira: Persona, sessions: list[Session]) -> None:
    with pytest.raises(IntegrityError):
        insert(Session(persona=mira, channel="c0"))
