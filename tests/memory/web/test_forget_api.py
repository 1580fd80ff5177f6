"""The API of correcting and forgetting: its answers and its refusals."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.messages import receive_message
from chat.turns import turn as turns
from memory.models import Alias, ConceptNode, Entity, Evidence, Filling, Mention, Receipt
from memory.store.tombstones import TombstoneSource, add_tombstones
from persona.models import Persona

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    client.force_login(mira.owner)
    return client


@pytest.fixture
def cat(mira: Persona, remember: Remember) -> ConceptNode:
    """An event with its message, which was answered; one thought rests on it alone, another on a second event too."""
    message = receive_message(mira, "I adopted a white cat named Snowball.", None, "web", timezone.now()).message
    turn = turns.claim(mira.pk, timezone.now())
    assert turn is not None
    turns.finish(turn, "Good morning.", stopped=False, first_token_at=None, xray={}, now=timezone.now())
    node = remember(mira, "Ana adopted a white cat named Snowball.", session=message.session)
    Evidence.objects.create(node=node, message=message, quote=message.content, start=0, end=len(message.content))
    other = remember(mira, "Ana feeds the birds.", source="import")
    for text, grounds in (("Ana wanted company.", [node]), ("Ana is fond of animals.", [node, other])):
        thought = remember(mira, text, kind="thought", source="reflection")
        for ground in grounds:
            Filling.objects.create(parent=thought, child=ground)
    return node


def at(node: ConceptNode, more: str = "") -> str:
    return f"/api/personas/{node.persona.uuid}/nodes/{node.uuid}{more}"


def send_json(client: Client, method: str, address: str, **body: Any) -> Any:
    return client.generic(method, address, json.dumps(body), "application/json")


def remaining_texts(persona: Persona) -> set[str]:
    return set(ConceptNode.objects.of(persona).values_list("description", flat=True))


def test_nothing_is_forgotten_where_a_word_of_the_request_is_not_understood(
    owner: Client, mira: Persona, cat: ConceptNode
) -> None:
    before = remaining_texts(mira)
    short = f"/api/admin/memory/events/{cat.uuid}"
    for address in (at(cat, "?digest=0123"), at(cat, "?mode=orphan&Confirm=0123"), f"{short}?cofirm=0123"):
        answer = owner.delete(address)
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid"), address
        assert answer.json()["fields"][0].lower() in ("query.digest", "query.confirm", "query.cofirm")
    assert remaining_texts(mira) == before
    assert owner.delete(f"{short}?persona={mira.uuid}").status_code == 200


def test_a_plan_is_confirmed_and_a_receipt_is_left(owner: Client, mira: Persona, cat: ConceptNode) -> None:
    plan = owner.get(at(cat, "/forget")).json()
    assert {item["text"] for item in plan["going"]} >= {
        "Ana adopted a white cat named Snowball.",
        "Ana wanted company.",
    }
    assert owner.delete(at(cat, "?confirm=0123")).json()["code"] == "plan_changed"
    answer = owner.delete(at(cat, f"?confirm={plan['digest']}"))
    assert answer.status_code == 200
    assert answer.json()["counts"] == plan["counts"]
    assert remaining_texts(mira) == {"Ana feeds the birds."}
    receipt = answer.json()["id"]
    assert owner.get(f"/api/personas/{mira.uuid}/receipts/{receipt}").json()["id"] == receipt
    assert [item["id"] for item in owner.get(f"/api/personas/{mira.uuid}/receipts").json()["items"]] == [receipt]
    assert owner.delete(at(cat)).status_code == 404


def test_with_orphan_what_rests_on_something_else_stays_and_can_be_read(
    owner: Client, mira: Persona, cat: ConceptNode
) -> None:
    assert owner.delete(at(cat, "?mode=orphan&messages=withhold")).status_code == 200
    assert remaining_texts(mira) == {"Ana feeds the birds.", "Ana is fond of animals."}
    thought = ConceptNode.objects.get(description="Ana is fond of animals.")
    trace = owner.get(at(thought, "/trace")).json()
    assert (trace["lost_grounds"], [ground["description"] for ground in trace["grounds"]]) == (
        1,
        ["Ana feeds the birds."],
    )
    assert len(owner.get(at(thought)).json()["filling"]) == 1


def test_a_plan_that_changed_is_answered_with_the_new_one(
    owner: Client, mira: Persona, cat: ConceptNode, remember: Remember
) -> None:
    before = owner.get(at(cat, "/forget")).json()
    thought = remember(mira, "Ana sleeps badly.", kind="thought", source="reflection")
    Filling.objects.create(parent=thought, child=cat)
    answer = owner.delete(at(cat, f"?confirm={before['digest']}"))
    assert (answer.status_code, answer.json()["code"]) == (409, "plan_changed")
    assert "Ana sleeps badly." in {item["text"] for item in answer.json()["plan"]["going"]}
    assert not Receipt.objects.exists()


def test_while_a_reply_is_written_it_is_busy(owner: Client, mira: Persona, cat: ConceptNode) -> None:
    receive_message(mira, "And then?", None, "web", timezone.now())
    turns.claim(mira.pk, timezone.now())
    answer = owner.delete(at(cat))
    assert (answer.status_code, answer.json()["code"]) == (409, "busy")
    assert ConceptNode.objects.filter(pk=cat.pk).exists()


@pytest.mark.parametrize("kind", ["messages", "sessions", "entities"])
def test_messages_sessions_and_people_are_forgotten_too(
    owner: Client, mira: Persona, cat: ConceptNode, kind: str
) -> None:
    entity = Entity.objects.create(persona=mira, canonical_name="Snowball", kind="pet")
    Alias.objects.create(entity=entity, persona=mira, text="Snowball", normalized="snowball")
    Mention.objects.create(entity=entity, node=cat)
    message = cat.evidence.get().message
    of = {"messages": message.uuid, "sessions": message.session.uuid, "entities": entity.uuid}[kind]
    address = f"/api/personas/{mira.uuid}/{kind}/{of}"
    dependents = owner.get(f"{address}/dependents").json()
    assert "Ana wanted company." in {item["text"] for item in dependents}
    assert owner.delete(address).status_code == 200
    assert remaining_texts(mira) == {"Ana feeds the birds."}
    assert owner.delete(address).status_code == 404


@pytest.mark.parametrize("query", ["?mode=some", "?messages=burn"])
def test_a_choice_that_there_is_not_is_refused(owner: Client, cat: ConceptNode, query: str) -> None:
    assert owner.delete(at(cat, query)).status_code == 422
    assert owner.get(at(cat, f"/forget{query}")).status_code == 422


def test_a_correction_is_a_new_version_and_leaves_out_what_is_not_named(
    owner: Client, mira: Persona, cat: ConceptNode
) -> None:
    answer = send_json(
        owner, "PATCH", at(cat), description="Ana adopted a black cat.", event_time=["2026-03-01", "2026-03-02"]
    )
    assert (answer.status_code, answer.json()["verification"]) == (200, "confirmed")
    assert send_json(owner, "PATCH", at(cat), emotional_impact=3).json()["event_time_start"] == "2026-03-01"
    assert send_json(owner, "PATCH", at(cat), event_time=None).json()["event_time_start"] is None
    assert len(owner.get(at(cat, "/trace")).json()["versions"]) == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"description": ""},
        {"description": " \n "},
        {"emotional_impact": 11},
        {"event_time": ["2026-03-02", "2026-03-01"]},
        {"event_time": ["2026-03-02"]},
        {"emotion_tags": ["a"] * 5},
    ],
)
def test_what_is_no_correction_is_refused(owner: Client, cat: ConceptNode, wrong: dict[str, Any]) -> None:
    assert send_json(owner, "PATCH", at(cat), **wrong).status_code == 422
    assert not cat.versions.exists()


def test_words_that_were_forgotten_are_refused(owner: Client, mira: Persona, cat: ConceptNode) -> None:
    owner.delete(at(cat))
    birds = ConceptNode.objects.get(description="Ana feeds the birds.")
    answer = send_json(owner, "PATCH", at(birds), description="Ana adopted a white cat named Snowball.")
    assert (answer.status_code, answer.json()["code"]) == (409, "forgotten")


def test_actions_are_done_once_and_unknown_ones_are_not_there(owner: Client, cat: ConceptNode) -> None:
    assert send_json(owner, "POST", at(cat, "/hide")).json()["status"] == "hidden"
    assert send_json(owner, "POST", at(cat, "/hide")).json()["status"] == "hidden"
    assert send_json(owner, "POST", at(cat, "/pin")).json()["pinned"] is True
    assert send_json(owner, "POST", at(cat, "/explode")).status_code == 422


def test_entities_are_merged_taken_apart_and_split(owner: Client, mira: Persona, remember: Remember) -> None:
    ids = []
    for name in ("Rosa", "Rosie"):
        entity = Entity.objects.create(persona=mira, canonical_name=name, kind="person")
        Alias.objects.create(entity=entity, persona=mira, text=name, normalized=name.lower())
        for number in range(2):
            Mention.objects.create(entity=entity, node=remember(mira, f"{name} sings, number {number}."))
        ids.append(str(entity.uuid))
    base = f"/api/personas/{mira.uuid}"
    proposal = send_json(owner, "POST", f"{base}/entities/merge", one=ids[0], other=ids[1]).json()
    assert proposal["status"] == "merged"
    assert len(owner.get(f"{base}/entities").json()["items"]) == 1
    address = f"{base}/proposals/{proposal['id']}"
    assert send_json(owner, "POST", f"{address}/undo").json()["status"] == "undone"
    assert send_json(owner, "POST", f"{address}/undo").status_code == 409
    assert send_json(owner, "POST", f"{address}/apart").json()["status"] == "kept_apart"
    assert [item["status"] for item in owner.get(f"{base}/proposals").json()["items"]] == ["kept_apart"]
    node = ConceptNode.objects.get(description="Rosa sings, number 0.")
    response = send_json(owner, "POST", f"{base}/entities/{ids[0]}/split", nodes=[str(node.uuid)])
    assert response.json()["canonical_name"] == "Rosa"
    assert response.json()["id"] not in ids
    assert send_json(owner, "POST", f"{base}/entities/{ids[0]}/split").status_code == 409
    assert send_json(owner, "POST", f"{base}/entities/merge", one=ids[0], other=ids[0]).status_code == 422


def test_what_a_route_answers_and_refuses_is_declared(owner: Client) -> None:
    paths = owner.get("/api/openapi.json").json()["paths"]
    declared = {(path, action): set(paths[path][action]["responses"]) for path in paths for action in paths[path]}
    actions = {(path, action) for path, action in declared if action in ("delete", "patch")}
    assert len(actions) == 15
    refused = {"400", "401", "403", "404", "409", "413", "422", "429", "503"}
    assert all(declared[action] == {"200"} | refused for action in actions)


def test_messages_that_also_mention_it_are_listed_and_chosen_one_by_one(
    owner: Client, mira: Persona, cat: ConceptNode
) -> None:
    entity = Entity.objects.create(persona=mira, canonical_name="Snowball", kind="pet")
    Alias.objects.create(entity=entity, persona=mira, text="Snowball", normalized="snowball")
    Mention.objects.create(entity=entity, node=cat)
    messages = [
        receive_message(mira, text, None, "web", timezone.now()).message
        for text in ("Snowball sleeps.", "I feed Snowball.", "Snowball!")
    ]
    mentions = {item["text"]: item for item in owner.get(at(cat, "/forget")).json()["mentioned"]}
    assert {text: (mention["why"], mention["mode"]) for text, mention in mentions.items()} == dict.fromkeys(
        (message.content for message in messages), ("names_it", "forget")
    )
    query = f"mentions=leave&withhold={messages[0].uuid}&forget={messages[1].uuid}"
    plan = owner.get(at(cat, f"/forget?{query}")).json()
    assert {mention["text"]: mention["mode"] for mention in plan["mentioned"]} == {
        "Snowball sleeps.": "withhold",
        "I feed Snowball.": "forget",
        "Snowball!": "leave",
    }
    assert owner.delete(at(cat, f"?confirm={plan['digest']}")).json()["code"] == "plan_changed"
    assert owner.delete(at(cat, f"?confirm={plan['digest']}&{query}")).json()["kept_elsewhere"] == 0
    assert set(mira.messages.filter(content__contains="Snowball").values_list("content", "withheld")) == {
        ("Snowball sleeps.", True),
        ("Snowball!", False),
    }
    assert owner.get(at(cat, "/forget?mentions=burn")).status_code in (404, 422)


def test_a_memory_that_was_told_again_says_so(owner: Client, mira: Persona, cat: ConceptNode) -> None:
    assert owner.get(at(cat)).json()["forgotten_before"] is False
    message = cat.evidence.get().message
    add_tombstones(mira, [TombstoneSource("text", message.content)], message.created_at - timedelta(minutes=1))
    assert owner.get(at(cat)).json()["forgotten_before"] is True
