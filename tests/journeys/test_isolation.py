"""Two users with a persona each: neither finds anything of the other, by any door."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat import turn as turns
from chat.lines import take_line
from memory.models import ConceptNode, Entity, Mention
from memory.recall import recall
from persona.models import Persona

pytestmark = pytest.mark.django_db

SECRET = "the lighthouse at Cape Sorrow"


@pytest.fixture
def otto_knows(otto: Persona, remember: Any) -> dict[str, Any]:
    """Ben's persona holds a message, an answered turn, an event and an entity."""
    now = timezone.now()
    message = take_line(otto, f"I was born beside {SECRET}.", None, "web", now).message
    turn = turns.claim(otto.pk, now)
    assert turn is not None
    turns.finish(turn, f"Tell me of {SECRET}.", stopped=False, first_token_at=now, xray={}, now=now)
    node = remember(otto, f"Ben was born beside {SECRET}.")
    entity = Entity.objects.create(persona=otto, canonical_name="Cape Sorrow", kind="place")
    Mention.objects.create(node=node, entity=entity)
    return {"persona": otto.uuid, "message": message.uuid, "turn": turn.uuid, "node": node.uuid, "entity": entity.uuid}


def addresses(ids: dict[str, Any]) -> list[str]:
    persona = ids["persona"]
    return [
        f"/chat/{persona}/",
        f"/chat/{persona}/history/?before={ids['message']}",
        f"/chat/{persona}/turns/{ids['turn']}/why/",
        f"/memory/{persona}/timeline/",
        f"/api/personas/{persona}",
        f"/api/personas/{persona}/messages",
        f"/api/personas/{persona}/sessions",
        f"/api/personas/{persona}/nodes",
        f"/api/personas/{persona}/nodes/{ids['node']}",
        f"/api/personas/{persona}/entities",
    ]


def test_pages_and_api_of_another_do_not_exist(
    mira: Persona, otto_knows: dict[str, Any], client: Client, ben: User
) -> None:
    client.force_login(ben)
    assert {url: client.get(url).status_code for url in addresses(otto_knows)} == dict.fromkeys(
        addresses(otto_knows), 200
    )
    assert b">Cape Sorrow<" in client.get(f"/memory/{otto_knows['persona']}/timeline/").content
    client.force_login(mira.owner)
    assert {url: client.get(url).status_code for url in addresses(otto_knows)} == dict.fromkeys(
        addresses(otto_knows), 404
    )
    answer = client.post(f"/api/personas/{otto_knows['persona']}/recall", {"turns": ["x"]}, "application/json")
    assert answer.status_code == 404


def test_ids_of_another_are_not_found_under_ones_own_persona(
    mira: Persona, otto_knows: dict[str, Any], client: Client
) -> None:
    client.force_login(mira.owner)
    mine = otto_knows | {"persona": mira.uuid}
    for url in (addresses(mine)[1], addresses(mine)[2], addresses(mine)[8]):
        assert client.get(url).status_code == 404, url
    assert client.get(f"/api/personas/{mira.uuid}/messages?before={mine['message']}").status_code == 404
    assert client.get(f"/api/personas/{mira.uuid}/nodes?before={mine['node']}").status_code == 404


def test_nothing_of_another_is_in_any_answer(mira: Persona, otto_knows: dict[str, Any], client: Client) -> None:
    client.force_login(mira.owner)
    for url in ("/api/personas", *addresses(otto_knows | {"persona": mira.uuid})):
        assert b"Sorrow" not in client.get(url).content, url
    answer = client.post(f"/api/personas/{mira.uuid}/recall", {"turns": [SECRET]}, "application/json").json()
    assert answer["items"] == []
    assert recall(mira, [SECRET], now=timezone.now(), budget_tokens=1500).items == ()


def test_without_a_login_nothing_is_found(otto_knows: dict[str, Any], client: Client) -> None:
    for url in addresses(otto_knows):
        assert client.get(url).status_code == (401 if url.startswith("/api") else 302), url


def test_each_finds_her_own(mira: Persona, otto_knows: dict[str, Any], remember: Any) -> None:
    remember(mira, "Ana keeps bees on the roof.")
    found = recall(mira, ["Where does Ana keep her bees?"], now=timezone.now(), budget_tokens=1500)
    assert [item.text for item in found.items if "bees" in item.text]
    assert ConceptNode.objects.count() == 2
