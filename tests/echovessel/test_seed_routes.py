"""The paths that the seeds name: for the caller's own persona, whoever that is."""

import json
import uuid
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from chat.messages import receive_message
from memory.models import ConceptNode, Entity, Filling, Mention
from persona import mood as moods
from persona.models import Persona
from persona.onboarding.creation import create_persona

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    client.force_login(mira.owner)
    return client


@pytest.fixture
def life(mira: Persona, remember: Any) -> dict[str, Any]:
    """A line, an event that rests on nothing, a thought that rests on the event, and two entities."""
    message = receive_message(mira, "I got a cat.", None, "web", timezone.now()).message
    event = remember(mira, "Ana got a cat.", session=message.session)
    thought = remember(mira, "Ana wanted company.", kind="thought", source="reflection")
    Filling.objects.create(parent=thought, child=event)
    entities = [Entity.objects.create(persona=mira, canonical_name=name, kind="pet") for name in ("Kit", "Kitty")]
    for entity in entities:
        Mention.objects.create(node=event, entity=entity)
    names = {"message": message, "session": message.session, "event": event, "thought": thought}
    return {name: row.uuid for name, row in names.items()} | {"entities": [one.uuid for one in entities]}


def sent(client: Client, method: str, address: str, **body: Any) -> Any:
    return client.generic(method, f"/api{address}", json.dumps(body), "application/json")


def words(answer: Any) -> list[str]:
    return [one.get("description") or one.get("content") or one["canonical_name"] for one in answer.json()["items"]]


def test_the_layers_are_read_without_naming_the_persona(owner: Client, life: dict[str, Any]) -> None:
    read = {
        address: words(owner.get(f"/api{address}"))
        for address in (
            "/chat/history",
            "/admin/memory/search?q=CAT",
            "/admin/memory/search?q=dog",
            "/admin/memory/events",
            "/admin/memory/thoughts",
        )
    }
    assert list(read.values()) == [["I got a cat."], ["I got a cat."], [], ["Ana got a cat."], ["Ana wanted company."]]
    assert set(words(owner.get("/api/admin/memory/entities"))) == {"Kit", "Kitty"}
    assert owner.get("/api/admin/memory/sessions").json()["items"][0]["id"] == str(life["session"])
    assert owner.get("/api/admin/slow-tick/transcripts").json() == {"items": [], "next": None}


def test_an_event_is_no_thought_and_a_thought_no_event(owner: Client, life: dict[str, Any]) -> None:
    for kind, other in (("events", "thought"), ("thoughts", "event")):
        mine = {"events": "event", "thoughts": "thought"}[kind]
        assert owner.get(f"/api/admin/memory/{kind}/{life[mine]}").status_code == 200
        assert owner.get(f"/api/admin/memory/{kind}/{life[other]}").status_code == 404
        assert owner.delete(f"/api/admin/memory/{kind}/{life[other]}").status_code == 404
    trace = owner.get(f"/api/admin/memory/thoughts/{life['thought']}/trace").json()
    assert [one["description"] for one in trace["grounds"]] == ["Ana got a cat."]


def test_what_depends_on_an_event_goes_with_it_or_stays(owner: Client, life: dict[str, Any]) -> None:
    at = f"/api/admin/memory/events/{life['event']}"
    assert [one["text"] for one in owner.get(f"{at}/dependents").json()] == ["Ana wanted company."]
    assert owner.delete(f"{at}?mode=explode").status_code == 422
    assert owner.delete(at).status_code == 200
    assert not ConceptNode.objects.exists()


@pytest.mark.parametrize(("kind", "of"), [("messages", "message"), ("sessions", "session"), ("thoughts", "thought")])
def test_messages_sessions_and_thoughts_are_forgotten(owner: Client, life: dict[str, Any], kind: str, of: str) -> None:
    address = f"/api/admin/memory/{kind}/{life[of]}"
    assert owner.delete(address).status_code == 200
    assert owner.delete(address).status_code == 404


def test_two_are_made_one(owner: Client, life: dict[str, Any]) -> None:
    one, other = life["entities"]
    merged = sent(owner, "POST", f"/admin/memory/entities/{one}/merge", other=str(other)).json()
    assert merged["status"] == "merged"
    assert words(owner.get("/api/admin/memory/entities")) == ["Kit"]
    assert sent(owner, "POST", f"/admin/memory/entities/{one}/merge", other=str(uuid.uuid4())).status_code == 404


def test_the_persona_is_read_with_her_mood_and_edited_in_part(owner: Client, mira: Persona) -> None:
    moods.change(mira, moods.Mood("content", 6), None, timezone.now())
    told = owner.get("/api/admin/persona").json()
    assert told["episodic_state"]["mood"] == "content"
    edited = sent(owner, "POST", "/admin/persona", persona="A sailor.", user_name="Annie").json()
    assert edited["blocks"] == told["blocks"] | {"persona": "A sailor."}
    assert edited["user_name"] == "Annie"
    styled = sent(owner, "POST", "/admin/persona/style", style="Loud.").json()
    assert styled["blocks"] == edited["blocks"] | {"style": "Loud."}


@pytest.mark.parametrize(
    ("address", "body"),
    [
        ("/admin/persona", {"persona_block": "A pirate."}),
        ("/admin/persona", {"persona": "A pirate.", "style": "Loud."}),
        ("/admin/persona", {"persona": "A pirate.", "episodic_state": {}}),
        ("/admin/persona", {"persona": "A pirate.", "timezone": "Nowhere/Land"}),
        ("/admin/persona/style", {"style": "Loud.", "persona": "A pirate."}),
        ("/admin/persona/style", {}),
    ],
)
def test_unknown_keys_are_refused_and_nothing_of_the_rest_is_written(
    owner: Client, mira: Persona, address: str, body: dict[str, Any]
) -> None:
    before = owner.get("/api/admin/persona").json()
    assert sent(owner, "POST", address, **body).status_code == 422
    assert owner.get("/api/admin/persona").json() == before


def test_an_owner_of_several_personas_must_name_one(owner: Client, mira: Persona, otto: Persona) -> None:
    nora = create_persona(mira.owner, "Nora")
    refused = owner.get("/api/admin/persona")
    assert (refused.status_code, refused.json()["code"]) == (409, "which_persona")
    assert owner.get(f"/api/admin/persona?persona={nora.uuid}").json()["name"] == "Nora"
    assert owner.get(f"/api/admin/persona?persona={otto.uuid}").status_code == 404
    assert owner.get("/api/admin/persona?persona=Nora").status_code == 422


def test_an_owner_without_a_persona_can_create_exactly_one(client: Client, ana: Any) -> None:
    client.force_login(ana)
    assert client.get("/api/chat/history").json()["code"] == "no_persona"
    met = sent(client, "POST", "/admin/persona/onboarding", name="Mira", blocks={"persona": "Calm."})
    assert (met.status_code, met.json()["blocks"]["persona"]) == (201, "Calm.")
    again = sent(client, "POST", "/admin/persona/onboarding", name="Nora")
    assert (again.status_code, again.json()["code"]) == (409, "met_already")
