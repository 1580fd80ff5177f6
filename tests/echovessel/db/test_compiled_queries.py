"""Statements that are composed once: they answer as Django's own do, whatever is given, again and again."""

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
def talks(mira: Persona) -> list[Session]:
    now = timezone.now()
    return [Session.objects.create(persona=mira, channel=f"c{at}", started_at=now - timedelta(at)) for at in range(3)]


def test_a_query_finds_what_djangos_own_finds_with_fields_and_relations(mira: Persona, talks: list[Session]) -> None:
    def build(persona: Any, channel: Any) -> Any:
        return Session.objects.open().filter(persona=persona, channel=channel).select_related("persona__owner")

    query: Query[Session] = Query(build)
    for talk in talks:
        (found,), (usual,) = query(mira.pk, talk.channel), build(mira.pk, talk.channel)
        assert (found, fields(found)) == (usual, fields(usual))
        with CaptureQueriesContext(connection) as asked:
            assert fields(found.persona) == fields(usual.persona)
            assert found.persona.owner.get_username() == usual.persona.owner.get_username()
        assert not asked.captured_queries
    assert query(mira.pk, "elsewhere") == []


def test_moments_and_uuids_are_compared_as_they_are_stored(talks: list[Session]) -> None:
    since: Query[Session] = Query(lambda at: Session.objects.filter(started_at__gte=at).order_by("id"))
    assert since(talks[1].started_at) == talks[:2]
    called: Query[Session] = Query(lambda public: Session.objects.filter(uuid=public))
    assert called(talks[2].uuid) == [talks[2]]


def test_values_come_as_tuples_of_their_types(talks: list[Session]) -> None:
    values: Query[Any] = Query(lambda key: Session.objects.filter(pk=key).values_list("uuid", "started_at", "channel"))
    assert values(talks[1].pk) == [(talks[1].uuid, talks[1].started_at, "c1")]


def test_sql_is_composed_once(talks: list[Session]) -> None:
    composed = []

    def build(key: Any) -> Any:
        composed.append(key)
        return Session.objects.filter(pk=key)

    query: Query[Session] = Query(build)
    assert [query(talk.pk) for talk in talks] == [[talk] for talk in talks]
    assert len(composed) == 1


def test_an_update_changes_what_it_finds_and_counts_it(talks: list[Session]) -> None:
    grow = Update(
        lambda key, by: (Session.objects.filter(pk=key), {"message_count": F("message_count") + by, "summary": "grown"})
    )
    assert (grow(talks[0].pk, 2), grow(talks[0].pk, 3), grow(0, 1)) == (1, 1, 0)
    talks[0].refresh_from_db()
    assert (talks[0].message_count, talks[0].summary) == (5, "grown")
    assert not Session.objects.exclude(pk=talks[0].pk).exclude(message_count=0).exists()


def test_json_and_nothing_are_stored_as_the_field_stores_them(talks: list[Session]) -> None:
    told = {"words": ["猫", '"cat"'], "none": None}
    turn = Turn.objects.create(session=talks[0], persona=talks[0].persona)
    account = Update(lambda key, xray, at: (Turn.objects.filter(pk=key), {"xray": xray, "finished_at": at}))
    assert account(turn.pk, told, None) == 1
    turn.refresh_from_db()
    assert (turn.xray, turn.finished_at) == (told, None)


def test_a_row_that_is_inserted_is_as_one_that_was_saved(mira: Persona, talks: list[Session]) -> None:
    now = timezone.now()
    given = {"token_count": 1, "day": now.date(), "created_at": now, "client_id": uuid.uuid4()}
    line = Message(session=talks[0], persona=mira, role="user", content="Hi", **given)
    insert(line)
    assert fields(Message.objects.get(pk=line.pk)) == fields(line)
    line.content = "Hello"
    line.save()
    assert Message.objects.get().content == "Hello"

    insert(MessageText(message=line, scope="p1", body="hi"))
    assert MessageText.objects.get().message_id == line.pk
    turn = Turn(session=talks[0], persona=mira)
    insert(turn)
    assert Turn.objects.get().created_at == turn.created_at


def test_what_the_database_refuses_is_refused(mira: Persona, talks: list[Session]) -> None:
    with pytest.raises(IntegrityError):
        insert(Session(persona=mira, channel="c0"))
