"""Reading and correcting facts: on the list, on the page of a fact, through the API and in the admin."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memory.models import ConceptNode, NodeVersion
from persona.models import Persona
from tests.memory.sessions import NOW, talk
from tests.memory.store.test_writing import put, quote, toward


@pytest.fixture
def home(mira: Persona) -> ConceptNode:
    return create_fact(mira, "Ana lives in Basel.", 1, domain="home", since="2019")


def create_fact(persona: Persona, text: str, axis: int, **values: Any) -> ConceptNode:
    session = talk(persona, text, at=NOW + timedelta(minutes=axis))
    evidence = [quote(session.messages.get(), text)]
    shape: dict[str, Any] = {"kind": "fact", "domain": "about", "session": session, "evidence": evidence}
    node = put(persona, text, toward(axis), **(shape | values)).node
    assert node is not None
    return node


def test_the_page_shows_facts_by_what_they_are_about_and_the_past_as_past(
    mira: Persona, home: ConceptNode, client: Client
) -> None:
    create_fact(mira, "Mira grew up in Brighton.", 2, subject="persona")
    create_fact(mira, "Ana lives in Oslo.", 3, domain="home", supersedes=[home])
    client.force_login(mira.owner)
    page = client.get(f"/memory/{mira.uuid}/facts/").content.decode()
    now, before = page.split('data-testid="past-fact"')
    assert "Ana lives in Oslo." in now
    assert "Ana lives in Basel." not in now
    assert "since 2019" in before
    assert "now:" in before
    assert "Mira grew up in Brighton." in page
    client.force_login(User.objects.create_user("mallory"))
    assert client.get(f"/memory/{mira.uuid}/facts/").status_code == 404


def test_a_fact_is_corrected_with_its_times_and_the_earlier_wording_can_be_restored(
    mira: Persona, home: ConceptNode, client: Client
) -> None:
    client.force_login(mira.owner)
    page = f"/memory/{mira.uuid}/nodes/{home.uuid}/"
    assert 'name="since"' in client.get(page).content.decode()
    form = {"description": "Ana lives in Bern.", "domain": "home", "since": "May 2020", "until": "", "plan_state": ""}
    assert client.post(f"{page}correct/", form | {"since": "some day"}).status_code == 422
    assert client.post(f"{page}correct/", form).status_code == 302
    home.refresh_from_db()
    assert (home.description, home.since, home.verification) == ("Ana lives in Bern.", "2020-05", "confirmed")
    version = NodeVersion.objects.get()
    assert (version.description, version.since, version.domain) == ("Ana lives in Basel.", "2019", "home")
    client.post(f"{page}restore/", {"version": version.version})
    home.refresh_from_db()
    assert (home.description, home.since) == ("Ana lives in Basel.", "2019")


def test_a_plan_s_days_follow_its_times_when_it_is_corrected(mira: Persona, client: Client) -> None:
    plan = create_fact(mira, "Ana will walk to Rome.", 1, domain="plans", plan_state="planned")
    client.force_login(mira.owner)
    form = {"description": plan.description, "domain": "plans", "since": "spring 2027", "plan_state": "done"}
    client.post(f"/memory/{mira.uuid}/nodes/{plan.uuid}/correct/", form)
    plan.refresh_from_db()
    assert (plan.plan_state, str(plan.event_time_start), str(plan.event_time_end)) == (
        "done",
        "2027-03-01",
        "2027-05-31",
    )


def test_the_api_lists_and_corrects_facts(mira: Persona, home: ConceptNode, client: Client) -> None:
    client.force_login(mira.owner)
    [item] = client.get(f"/api/personas/{mira.uuid}/nodes?kind=fact").json()["items"]
    assert (item["domain"], item["since"], item["plan_state"]) == ("home", "2019", "")
    address = f"/api/personas/{mira.uuid}/nodes/{home.uuid}"
    changed = client.patch(address, {"since": "2020"}, content_type="application/json")
    assert changed.status_code == 200, changed.content
    assert changed.json()["since"] == "2020"
    assert client.patch(address, {"since": "soon"}, content_type="application/json").status_code == 422


def test_the_admin_shows_and_corrects_facts(mira: Persona, home: ConceptNode, admin_client: Client) -> None:
    assert admin_client.get("/admin/memory/fact/").status_code == 200
    assert admin_client.get(f"/admin/memory/fact/{home.pk}/change/").status_code == 200


def test_a_page_without_facts_says_that_a_model_gathers_them_where_none_is_connected(
    mira: Persona, client: Client, settings: Any
) -> None:
    client.force_login(mira.owner)
    settings.LLM_PROVIDER = "offline"
    page = client.get(f"/memory/{mira.uuid}/facts/").content.decode()
    assert 'data-testid="to-memories"' in page
    assert 'data-testid="to-connect-model"' in page
    settings.LLM_PROVIDER = "tests.scripted.ScriptedProvider"
    page = client.get(f"/memory/{mira.uuid}/facts/").content.decode()
    assert 'data-testid="to-connect-model"' not in page
