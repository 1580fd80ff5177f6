"""The API of memories: search, additions with their grounds, and changes of names."""

import json
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.messages import receive_message
from chat.sessions import off_the_record
from memory import forgetting
from memory.curation import questions
from memory.curation import remember as curation_remember
from memory.forgetting import Target
from memory.models import Alias, ConceptNode, Entity, Filling, Mention, SlowCycleRun
from memory.store import checks
from persona.models import Persona

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]
JSON = "application/json"


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    client.force_login(mira.owner)
    return client


@pytest.fixture
def base(mira: Persona) -> str:
    return f"/api/personas/{mira.uuid}"


def send_message(persona: Persona, text: str) -> Any:
    return receive_message(persona, text, None, "web", timezone.now()).message


def texts(answer: Any) -> list[str]:
    assert answer.status_code == 200, answer.content
    return [item.get("description") or item["content"] for item in answer.json()["items"]]


def send_json(client: Client, method: str, address: str, **body: Any) -> Any:
    return client.generic(method, address, json.dumps(body), JSON)


# --- search ---------------------------------------------------------------------------------------------------------
def test_memories_are_found_by_what_they_are(owner: Client, base: str, mira: Persona, remember: Remember) -> None:
    cat = remember(
        mira, "Ana got a cat.", emotional_impact=8, event_time_start=date(2026, 1, 3), event_time_end=date(2026, 1, 3)
    )
    remember(mira, "Ana will call the vet.", kind="intention", pinned=True)
    remember(mira, "Ana lost a key.", status="hidden", emotional_impact=-4)
    Mention.objects.create(node=cat, entity=(entity := Entity.objects.create(persona=mira, canonical_name="Cat")))
    results = {
        query: texts(owner.get(f"{base}/nodes?{query}"))
        for query in (
            "kind=intention",
            "status=hidden",
            "weight=heavy",
            "weight=sad",
            "pinned=true",
            f"entity={entity.uuid}",
            "until=2026-01-31",
            "outcome=open",
        )
    }
    vet, cats, key = ["Ana will call the vet."], ["Ana got a cat."], ["Ana lost a key."]
    assert list(results.values()) == [vet, key, cats, key, vet, cats, cats, vet]
    assert owner.get(f"{base}/nodes?status=lost").status_code == 422
    assert owner.get(f"{base}/nodes?entity={mira.uuid}").status_code == 404


def test_words_are_searched_for_in_the_body(owner: Client, base: str, mira: Persona, remember: Remember) -> None:
    for number in range(3):
        remember(mira, f"Ana got cat number {number}.")
        send_message(mira, f"Cat number {number} is here.")
    remember(mira, "Ana sings.")
    page = send_json(owner, "POST", f"{base}/nodes/search?limit=2", text="CAT")
    assert texts(page) == ["Ana got cat number 2.", "Ana got cat number 1."]
    rest = send_json(owner, "POST", f"{base}/nodes/search?before={page.json()['next']}", text="cat")
    assert (texts(rest), rest.json()["next"]) == (["Ana got cat number 0."], None)
    response = send_json(owner, "POST", f"{base}/messages/search?limit=1", text="number")
    assert texts(response) == ["Cat number 2 is here."]
    assert (
        len(texts(send_json(owner, "POST", f"{base}/messages/search?before={response.json()['next']}", text="number")))
        == 2
    )
    for wrong in ({"text": " "}, {"text": "x" * 201}, {"text": "x", "how": "luck"}, {}):
        assert send_json(owner, "POST", f"{base}/nodes/search", **wrong).status_code == 422


@pytest.mark.real_embeddings
def test_meaning_is_searched_for_too(owner: Client, base: str, mira: Persona, remember: Remember) -> None:
    remember(mira, "Ana got a cat.")
    remember(mira, "The train to Berlin was late.")
    assert (
        texts(send_json(owner, "POST", f"{base}/nodes/search", text="a kitten at home", how="meaning"))[0]
        == "Ana got a cat."
    )


# --- additions ------------------------------------------------------------------------------------------------------
def test_an_event_is_added_with_the_message_it_came_from(owner: Client, base: str, mira: Persona) -> None:
    message = send_message(mira, "I got a black cat.")
    body = {
        "description": "Ana got a  black cat.",
        "messages": [str(message.uuid)],
        "event_time": ["2026-01-03", "2026-01-03"],
    }
    first, again = (send_json(owner, "POST", f"{base}/nodes", **body) for _ in range(2))
    assert (first.status_code, first.json()["outcome"]) == (201, "new")
    node = first.json()["node"]
    assert (node["description"], node["source"], node["verification"]) == (
        "Ana got a black cat.",
        "person",
        "confirmed",
    )
    assert [evidence["quote"] for evidence in node["evidence"]] == ["I got a black cat."]
    assert (again.json()["outcome"], again.json()["node"]["id"]) == ("repeated", node["id"])
    assert checks.broken_invariants(timezone.now()) == {}


def test_a_thought_is_added_on_the_memories_it_was_concluded_from(
    owner: Client, base: str, mira: Persona, remember: Remember
) -> None:
    ground = remember(mira, "Ana got a cat.", source="import")
    body = {"kind": "thought", "description": "Ana likes animals.", "grounds": [str(ground.uuid)]}
    node = send_json(owner, "POST", f"{base}/nodes", **body).json()["node"]
    assert node["filling"] == [str(ground.uuid)]
    assert Filling.objects.get().child == ground


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "without_ground"),
        ({"kind": "thought"}, "without_ground"),
        ({"event_time": ["2026-01-04", "2026-01-03"]}, "without_ground"),
        ({"description": "\x00"}, "invalid"),
        ({"description": " "}, "invalid"),
        ({"emotional_impact": 11}, "invalid"),
        ({"kind": "dream"}, "invalid"),
        ({"id": "x"}, "invalid"),
    ],
)
def test_a_memory_without_ground_or_sense_is_not_added(
    owner: Client, base: str, body: dict[str, Any], code: str
) -> None:
    answer = send_json(owner, "POST", f"{base}/nodes", **({"description": "Ana got a cat."} | body))
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert not ConceptNode.objects.exists()


@pytest.mark.parametrize("body", [{"event_time": ["2026-01-04", "2026-01-03"]}, {"description": "\x00"}])
def test_a_node_with_invalid_days_or_text_is_refused(
    owner: Client, base: str, mira: Persona, body: dict[str, Any]
) -> None:
    grounded = {"description": "Ana got a cat.", "messages": [str(send_message(mira, "A cat!").uuid)]}
    answer = send_json(owner, "POST", f"{base}/nodes", **(grounded | body))
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid")


def test_what_must_not_be_remembered_is_not_added(owner: Client, base: str, mira: Persona, otto: Persona) -> None:
    put_away, theirs = send_message(mira, "Nothing."), send_message(otto, "Mine.")
    type(put_away).objects.filter(pk=put_away.pk).update(withheld=True)
    off_the_record.begin(mira, "api", timezone.now())
    off = receive_message(mira, "Between us.", None, "api", timezone.now()).message
    codes = [
        send_json(owner, "POST", f"{base}/nodes", description="Ana said so.", messages=[str(message.uuid)]).json()[
            "code"
        ]
        for message in (put_away, off, theirs)
    ]
    assert codes == ["withheld", "off_the_record", "not_found"]
    assert not ConceptNode.objects.exists()


def test_what_was_forgotten_for_good_is_not_added_again(owner: Client, base: str, mira: Persona) -> None:
    first, second = send_message(mira, "I got a black cat."), send_message(mira, "Her name is Snowball.")
    body = {"description": "Ana got a black cat.", "messages": [str(first.uuid)]}
    item = send_json(owner, "POST", f"{base}/nodes", **body).json()["node"]
    node = ConceptNode.objects.get(uuid=item["id"])
    forgetting.forget(forgetting.plan([Target("node", node.pk)]), None, timezone.now())
    again = send_json(owner, "POST", f"{base}/nodes", **(body | {"messages": [str(second.uuid)]}))
    assert (again.status_code, again.json()["code"]) == (409, "forgotten")


def test_a_message_is_remembered_in_its_own_words(owner: Client, base: str, mira: Persona) -> None:
    message = send_message(mira, "I got a black cat.")
    first, again = (owner.post(f"{base}/messages/{message.uuid}/remember") for _ in range(2))
    assert first.json()["id"] == again.json()["id"]
    assert "I got a black cat." in first.json()["description"]
    assert curation_remember.remembered_message_ids(type(message).objects.all())[0].message == message


def test_a_node_says_again_what_a_version_says(owner: Client, base: str, mira: Persona, remember: Remember) -> None:
    at = f"{base}/nodes/{remember(mira, 'Ana got a cat.').uuid}"
    send_json(owner, "PATCH", at, description="Ana got a dog.")
    assert owner.post(f"{at}/versions/1/restore").json()["description"] == "Ana got a cat."
    assert [version["version"] for version in owner.get(f"{at}/trace").json()["versions"]] == [2, 1]
    for number in (9, 2**70):
        assert owner.post(f"{at}/versions/{number}/restore").status_code == 404


# --- names ----------------------------------------------------------------------------------------------------------
@pytest.fixture
def rosa(mira: Persona, remember: Remember) -> Entity:
    entity = Entity.objects.create(persona=mira, canonical_name="Rosa", kind="person")
    Alias.objects.create(entity=entity, persona=mira, text="Rosa", normalized="rosa")
    Mention.objects.create(entity=entity, node=remember(mira, "Rosa sings."))
    return entity


def test_somebody_is_named_and_described_in_one_go(owner: Client, base: str, rosa: Entity) -> None:
    at = f"{base}/entities/{rosa.uuid}"
    updated = send_json(
        owner, "PATCH", at, canonical_name="Rosalind", description=" A singer. ", aliases=["Rosie"]
    ).json()
    assert (updated["canonical_name"], updated["description"]) == ("Rosalind", "A singer.")
    assert set(updated["aliases"]) == {"Rosa", "Rosalind", "Rosie"}
    refused = send_json(owner, "PATCH", at, description="Nobody.", canonical_name="Ana")
    assert (refused.status_code, refused.json()["code"]) == (409, "talking")
    updated = send_json(owner, "PATCH", at, relation=" singing teacher ").json()
    assert updated["relation"] == "singing teacher"
    entity = owner.get(at).json()
    assert entity.items() >= updated.items()
    assert (entity["last_heard"]["description"], entity["still_open"], entity["story_lines"]) == ("Rosa sings.", [], [])
    assert [item["id"] for item in owner.get(f"{base}/entities?kind=person").json()["items"]] == [str(rosa.uuid)]
    assert owner.get(f"{base}/entities?kind=pet").json()["items"] == []


def test_two_are_kept_apart_and_that_is_reverted(owner: Client, base: str, rosa: Entity, mira: Persona) -> None:
    other = Entity.objects.create(persona=mira, canonical_name="Rosi", kind="person")
    pair = {"one": str(rosa.uuid), "other": str(other.uuid)}
    proposal = send_json(owner, "POST", f"{base}/entities/apart", **pair).json()
    assert proposal["status"] == "kept_apart"
    assert send_json(owner, "POST", f"{base}/entities/apart", **pair).json()["code"] == "decided"
    assert [item["id"] for item in owner.get(f"{base}/proposals?status=kept_apart").json()["items"]] == [proposal["id"]]
    assert owner.post(f"{base}/proposals/{proposal['id']}/undo").json()["status"] == "undone"


# --- slow cycle -----------------------------------------------------------------------------------------------------
def test_runs_of_the_slow_cycle_are_told_page_by_page(owner: Client, base: str, mira: Persona) -> None:
    for number in range(3):
        SlowCycleRun.objects.create(persona=mira, reason="first", outcome="done", through=number, at=timezone.now())
    first = owner.get(f"{base}/slow-cycle?limit=2").json()
    rest = owner.get(f"{base}/slow-cycle?before={first['next']}").json()
    assert len(first["items"] + rest["items"]) == 3
    assert rest["next"] is None


def test_open_questions_name_what_they_rest_on(owner: Client, base: str, mira: Persona, remember: Remember) -> None:
    node = remember(mira, "Ana has an interview.")
    run = SlowCycleRun.objects.create(persona=mira, reason="first", outcome="done", at=timezone.now())
    questions.keep(run.persona, "Did it go well?", [node], timezone.now(), run)
    [item] = owner.get(f"{base}/questions").json()
    assert (item["text"], item["grounds"]) == ("Did it go well?", [str(node.uuid)])
