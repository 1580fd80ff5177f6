"""The owner's story lines: on the page, through the API, in the admin; the caller's own alone."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from memory.curation import threads
from memory.entities.resolve import learn_aliases, link
from memory.models import Entity, Thread
from persona.models import Persona
from tests.memory.slow_cycle.slow_cycles import Remember

pytestmark = pytest.mark.django_db
TEXTS = ("Ana saw a flat in Basel.", "The landlord of the flat called.", "Ana signed the lease.")


@pytest.fixture
def thread(mira: Persona, remember: Remember) -> Thread:
    nodes = [remember(mira, text) for text in TEXTS]
    new_thread = threads.begin(mira, "The flat in Basel", nodes, "open", timezone.now())
    assert new_thread
    return new_thread


def test_the_page_shows_renames_ends_takes_out_and_dissolves_and_each_is_undone(
    mira: Persona, thread: Thread, client: Client
) -> None:
    client.force_login(mira.owner)
    list_url, own = f"/memory/{mira.uuid}/story-lines/", f"/memory/{mira.uuid}/story-lines/{thread.uuid}/"

    def do(action: str, **data: Any) -> str:
        return client.post(f"{own}{action}/", data, follow=True).content.decode()

    text = client.get(list_url).content.decode()
    assert "The flat in Basel" in text
    assert text.index(TEXTS[2]) < text.index(TEXTS[0])  # the newest first
    assert "My new home" in do("rename", title="My new home")
    for unseen in (" ", "\u200b\u202e", "\u2800"):
        assert "short title" in do("rename", title=unseen)
    assert "My new home" in do("rename", title="\u202eMy new\u2028home")
    assert Thread.objects.get().title == "My new home"
    assert "ended" in do("end").split('data-testid="story-state">')[1][:40]
    do("reopen")
    first = thread.nodes.earliest("pk")
    shown_part, taken_part = do("take_out", node=str(first.uuid)).split('data-testid="taken-out"')
    assert TEXTS[0] not in shown_part
    assert TEXTS[0] in taken_part
    assert 'data-testid="taken-out"' not in do("put_back", node=str(first.uuid))
    dissolved = do("dissolve")
    assert 'data-testid="no-story-lines"' in dissolved
    assert "My new home" in dissolved
    do("restore")
    assert client.get(list_url).content.decode().count('data-testid="story-line"') == 1
    assert "My new home" in client.get(f"/memory/{mira.uuid}/nodes/{first.uuid}/").content.decode()
    assert client.post(f"{own}burn/").status_code == 404
    client.force_login(User.objects.create_user("mallory"))
    assert [client.get(page).status_code for page in (list_url, own)] == [404, 404]
    assert client.post(f"{own}dissolve/").status_code == 404


def test_the_api_does_the_same(mira: Persona, thread: Thread, client: Client) -> None:
    client.force_login(mira.owner)
    base = f"/api/personas/{mira.uuid}/threads"
    [item] = client.get(base).json()
    assert (item["title"], item["state"]) == ("The flat in Basel", "open")
    assert [node["description"] for node in item["nodes"]] == list(TEXTS[::-1])
    assert client.get(f"{base}?state=ended").json() == []
    thread_url = f"{base}/{thread.uuid}"
    renamed = client.patch(thread_url, {"title": "Home"}, content_type="application/json")
    assert renamed.json()["title"] == "Home"
    for wrong in ("", "\x1c", "\u200b", "a" * 81):
        assert client.patch(thread_url, {"title": wrong}, content_type="application/json").status_code == 422
    assert client.post(f"{thread_url}/end").json()["state"] == "ended"
    assert client.post(f"{thread_url}/end").status_code == 409
    member = f"{thread_url}/nodes/{thread.nodes.earliest('pk').uuid}"
    assert len(client.post(f"{member}/take_out").json()["nodes"]) == 2
    assert len(client.post(f"{member}/put_back").json()["nodes"]) == 3
    assert client.post(f"{thread_url}/dissolve").json()["dissolved_at"]
    assert client.get(base).json() == []
    assert client.post(f"{thread_url}/restore").json()["dissolved_at"] is None
    client.force_login(User.objects.create_user("mallory"))
    assert client.get(base).status_code == 404
    assert client.post(f"{thread_url}/dissolve").status_code == 404


def test_somebody_s_page_names_the_story_lines_they_are_in(mira: Persona, thread: Thread, client: Client) -> None:
    client.force_login(mira.owner)
    basel = Entity.objects.create(persona=mira, canonical_name="Basel", kind="place")
    learn_aliases(basel, ["Basel"])
    link(basel, [thread.nodes.earliest("pk")])
    page = client.get(f"/memory/{mira.uuid}/people/{basel.uuid}/").content.decode()
    assert "The flat in Basel" in page.split('data-testid="story-lines"')[1]


def test_the_admin_lists_story_lines_and_shows_their_memories(thread: Thread, admin_client: Client) -> None:
    assert thread.title in admin_client.get("/admin/memory/thread/").content.decode()
    assert TEXTS[2] in admin_client.get(f"/admin/memory/thread/{thread.pk}/change/").content.decode()
