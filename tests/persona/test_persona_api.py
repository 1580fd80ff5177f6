"""The API of personas: made, read, and edited by their owner's hand."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from persona.models import Persona
from persona.onboarding.creation import create_persona

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(ana: User, client: Client) -> Client:
    client.force_login(ana)
    return client


def sent(client: Client, method: str, address: str, **body: Any) -> Any:
    return getattr(client, method)(address, body, "application/json")


def test_a_persona_is_made_with_her_blocks(owner: Client, ana: User) -> None:
    made = sent(owner, "post", "/api/personas", name=" Mira ", language="zh", blocks={"style": "Short."})
    assert made.status_code == 201
    told = made.json()
    assert (told["name"], told["user_name"], told["language"]) == ("Mira", "ana", "zh")
    assert told["blocks"] == {"persona": "", "user": "", "style": "Short."}
    assert told["episodic_state"] is None
    assert owner.get(f"/api/personas/{told['id']}").json() == told
    assert Persona.objects.get().owner == ana


@pytest.mark.parametrize("body", ["{", "[NaN]", '{"name": Infinity}', "[" * 100_000, "\xff"])
def test_a_body_that_is_no_json_is_unreadable(owner: Client, body: str) -> None:
    answer = owner.post("/api/personas", body.encode("latin1"), "application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, "unreadable")
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "body",
    [
        '{"name": "\\ud800"}',
        '{"name": "Mira", "\\ud800": 1}',
        '{"name": "Mira", "facts": {"a": 1e999}}',
        '{"name": "Mira", "facts": {"a": "\\ud800"}}',
    ],
)
def test_what_cannot_be_stored_is_refused(owner: Client, body: str) -> None:
    assert owner.post("/api/personas", body, "application/json").status_code == 422
    assert not Persona.objects.exists()


def test_what_is_left_out_of_a_change_stays(owner: Client, mira: Persona) -> None:
    here = f"/api/personas/{mira.uuid}"
    told = sent(owner, "patch", here, user_name="Annie", facts={"birthday": "03-14"}).json()
    assert (told["name"], told["user_name"], told["facts"]) == ("Mira", "Annie", {"birthday": "03-14"})
    assert sent(owner, "patch", here, timezone="Nowhere/Land").status_code == 422
    assert sent(owner, "patch", here, name="\t").status_code == 422
    assert sent(owner, "patch", here).json() == told


def test_a_block_is_rewritten_by_its_person_and_keeps_its_versions(owner: Client, mira: Persona) -> None:
    here = f"/api/personas/{mira.uuid}/blocks"
    for text in ("Loud.", "Loud.", "Quiet."):
        block = sent(owner, "put", f"{here}/style", content=text).json()
    assert (block["label"], block["content"], block["version"]) == ("style", "Quiet.", 3)
    assert mira.core_blocks.get(label="style").edited_by == mira.owner
    assert {one["label"] for one in owner.get(here).json()} == {"persona", "user", "style"}
    first = owner.get(f"{here}/style/versions?limit=1").json()
    assert [one["content"] for one in first["items"]] == ["Loud."]
    rest = owner.get(f"{here}/style/versions?before={first['next']}").json()
    assert ([one["content"] for one in rest["items"]], rest["next"]) == (["Short sentences."], None)
    assert sent(owner, "put", f"{here}/soul", content="x").status_code == 422
    assert sent(owner, "put", f"{here}/style", content="x" * 5_001).status_code == 422
    assert sent(owner, "put", f"{here}/style", content="x", version=9).status_code == 422


def test_a_list_is_read_to_its_end_page_by_page_whatever_comes_meanwhile(owner: Client, ana: User) -> None:
    for number in range(5):
        create_persona(ana, f"P{number}")
    seen, before = [], ""
    while True:
        page = owner.get(f"/api/personas?limit=2{before}").json()
        seen += [one["name"] for one in page["items"]]
        create_persona(ana, "Late")
        if page["next"] is None:
            break
        before = f"&before={page['next']}"
    assert seen == ["P4", "P3", "P2", "P1", "P0"]


@pytest.mark.parametrize("asked", ["limit=0", "limit=201", "limit=x", "before=x"])
def test_pages_have_bounds(owner: Client, asked: str) -> None:
    assert owner.get(f"/api/personas?{asked}").status_code == 422


def test_a_page_after_what_is_not_there_is_not_found(owner: Client, otto: Persona) -> None:
    assert owner.get(f"/api/personas?before={otto.uuid}").status_code == 404


def test_a_persona_is_forgotten_by_the_plan_that_was_seen_and_by_no_other(owner: Client, mira: Persona) -> None:
    here = f"/api/personas/{mira.uuid}"
    plan = owner.get(f"{here}/forget").json()
    assert plan["counts"]["persona_persona"] == 1
    assert owner.delete(here).status_code == 422
    assert owner.delete(f"{here}?confirm=0123").json()["code"] == "plan_changed"
    assert Persona.objects.exists()
    receipt = owner.delete(f"{here}?confirm={plan['digest']}")
    assert receipt.status_code == 200
    assert not Persona.objects.exists()
    assert owner.get(here).status_code == 404
    assert [one["id"] for one in owner.get("/api/receipts").json()["items"]] == [receipt.json()["id"]]
    assert owner.get(f"/api/receipts/{receipt.json()['id']}").json()["counts"] == receipt.json()["counts"]
