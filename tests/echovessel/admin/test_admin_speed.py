"""Lists of the admin at scale: as many statements for 2,000 rows as for 20, and no count of all rows."""

from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chat.models import CrisisFlag, Message, Session, Turn
from echovessel.admin import paging
from memory.models import ConceptNode, Entity, Evidence, Filling, Mention, NodeVersion
from persona.models import MoodChange, Persona

pytestmark = pytest.mark.django_db

LISTS = ["chat/session", "chat/message", "chat/turn", "memory/event", "memory/thought", "memory/entity",
         "persona/persona", "persona/moodchange", "chat/crisisflag", "audit/look"]  # fmt: skip
FEW, MANY = 20, 2_000


def create_rows(persona: Persona, count: int) -> dict[str, Any]:
    """Create `count` rows of each kind, all of which refer to the first of another kind."""
    now = timezone.now()
    sessions = Session.objects.bulk_create(Session(persona=persona, status="closed") for _ in range(count))
    turns = Turn.objects.bulk_create(Turn(session=session, persona=persona, status="done") for session in sessions)
    messages = Message.objects.bulk_create(
        Message(
            session=sessions[0], persona=persona, turn=turns[0], role="user", content=f"hive {number}", token_count=2,
            day="2026-01-01", created_at=now + timedelta(seconds=number),
        )
        for number in range(count)
    )  # fmt: skip
    CrisisFlag.objects.bulk_create(CrisisFlag(message=message, raised_at=now) for message in messages)
    kinds = ("event", "thought")
    nodes = [
        ConceptNode(
            persona=persona, kind=kind, description=f"hive {kind} {number}", source="extraction", session=sessions[0],
            content_hash=f"{kind}{number}", embedding_model="none",
        )
        for kind in kinds
        for number in range(count)
    ]  # fmt: skip
    ConceptNode.objects.bulk_create(nodes)
    events, thoughts = nodes[:count], nodes[count:]
    Evidence.objects.bulk_create(
        Evidence(node=events[0], message=message, quote="hive", start=0, end=4) for message in messages
    )
    Filling.objects.bulk_create(Filling(parent=thought, child=events[0]) for thought in thoughts)
    Filling.objects.bulk_create(Filling(parent=thoughts[0], child=event) for event in events[1:])
    entities = Entity.objects.bulk_create(Entity(persona=persona, canonical_name=f"hive {n}") for n in range(count))
    Mention.objects.bulk_create(Mention(node=events[0], entity=entity) for entity in entities)
    NodeVersion.objects.bulk_create(
        NodeVersion(node=events[0], version=number, description="hive", emotional_impact=0, edited_at=now)
        for number in range(count)
    )
    MoodChange.objects.bulk_create(MoodChange(persona=persona, mood="hive", energy=5, at=now) for _ in range(count))
    return {
        "memory/event": events[0],
        "memory/thought": thoughts[0],
        "chat/session": sessions[0],
        "chat/turn": turns[0],
        "chat/message": messages[0],
        "memory/entity": entities[0],
    }


def statements(browser: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(address).status_code == 200, address
    return len(queries)


def test_every_page_takes_as_many_statements_for_many_rows_as_for_few(
    curator: Client, mira: Persona, otto: Persona
) -> None:
    lists = [f"/admin/{name}/" for name in LISTS] + [f"/admin/{name}/?q=hive" for name in LISTS[:7]]
    lists += ["/admin/", "/admin/memory/event/?status__exact=active&impact=none&tag=unresolved&lately=7&persona=1"]
    few = create_rows(mira, FEW)
    curator.get("/admin/")  # fills the caches that all pages share
    ContentType.objects.get_for_models(*apps.get_models(), for_concrete_models=False)
    before = {address: statements(curator, address) for address in lists}
    pages_before = {name: statements(curator, f"/admin/{name}/{row.pk}/change/") for name, row in few.items()}
    many = create_rows(otto, MANY)
    assert {address: statements(curator, address) for address in lists} == before
    pages = {name: statements(curator, f"/admin/{name}/{row.pk}/change/") for name, row in many.items()}
    assert pages == pages_before
    assert max(*before.values(), *pages.values()) < 30


def test_related_rows_are_limited_to_twenty_with_a_link_to_all(curator: Client, mira: Persona) -> None:
    rows = create_rows(mira, 30)
    page = curator.get(f"/admin/memory/event/{rows['memory/event'].pk}/change/").content.decode()
    assert page.count('data-testid="evidence"') == 20
    session = rows["chat/session"]
    page = curator.get(f"/admin/chat/session/{session.pk}/change/").content.decode()
    assert page.count('class="field-content"') == 20
    assert f"/admin/chat/message/?session={session.pk}" in page
    change_list = curator.get(f"/admin/chat/message/?session={session.pk}").context_data["cl"]
    assert change_list.result_count == 30


def test_the_paginator_counts_rows_up_to_a_limit(
    curator: Client, mira: Persona, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paging, "MAX_COUNTED", 100)
    create_rows(mira, 130)
    with CaptureQueriesContext(connection) as queries:
        page = curator.get("/admin/chat/message/").content.decode()
    assert "more than 100" in page
    counts = [
        query["sql"]
        for query in queries.captured_queries
        if "COUNT(*)" in query["sql"] and "chat_message" in query["sql"]
    ]
    assert len(counts) == 1
    assert "LIMIT 101" in counts[0]
    assert curator.get("/admin/chat/message/?p=2").status_code == 200
    assert curator.get("/admin/chat/message/?p=3").status_code == 302


def test_an_action_takes_no_more_than_a_page(curator: Client, mira: Persona) -> None:
    create_rows(mira, 60)
    everything = {"action": "forget", "_selected_action": [1], "select_across": "1", "index": "0"}
    assert curator.post("/admin/chat/message/", everything, follow=True).status_code == 200
    hiding = everything | {"action": "hide"}
    page = curator.post("/admin/memory/event/", hiding, follow=True).content.decode()
    assert "Choose at most 50." in page
    assert not ConceptNode.objects.filter(status="hidden").exists()
