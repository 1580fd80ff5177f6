"""The admin: every layer in layer order, searchable, with evidence; L1 editable; nothing that could run code."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django_q.models import OrmQ

from chat.models import Session
from memory.models import Entity, Mention, MergeProposal, ModelReply
from persona.models import CoreBlock, Persona

pytestmark = pytest.mark.django_db


def test_the_sections_stand_in_layer_order_and_what_is_technical_last(admin_client: Client) -> None:
    page = admin_client.get("/admin/").content.decode()
    titles = re.findall(r"<caption>\s*<a[^>]*>([^<]+)</a>", page)
    assert titles[:4] == ["Companions", "Conversations", "Memories", "People and things"]
    assert titles[-1] == "Technical"
    technical = page[page.rindex("<caption>") :]
    assert all(name in technical for name in ("Sign-in attempts", "Failed jobs", "Outgoing events"))
    assert "Users" not in technical


def test_a_list_names_the_persona_for_those_who_may_read_alone(
    admin_client: Client, curator: Client, full_life: dict[str, Any]
) -> None:
    persona = full_life["event"].persona
    assert f">{persona.name}<" in admin_client.get("/admin/memory/event/").content.decode()
    assert f">{persona.name}<" in admin_client.get("/admin/chat/session/").content.decode()
    curator.logout()
    staff = User.objects.create_user("bea", is_staff=True)
    staff.groups.add(Group.objects.get(name="Curators"))
    curator.force_login(staff)
    masked = curator.get("/admin/memory/event/").content.decode()
    assert f">{persona.name}<" not in masked
    assert f">persona {persona.pk}<" in masked


def test_a_page_shows_names_and_the_words_of_the_pages_in_place_of_keys_and_of_the_code(
    admin_client: Client, full_life: dict[str, Any]
) -> None:
    session, event = full_life["session"], full_life["event"]
    page = admin_client.get(f"/admin/chat/session/{session.pk}/change/").content.decode()
    assert f">{session.persona.name}</a>" in page
    assert f"persona {session.persona_id}<" not in page
    for address in ("/admin/memory/", f"/admin/memory/event/{event.pk}/history/", "/admin/memory/event/"):
        # As a word: a random token may contain the letters.
        assert not re.search(r"\bL3\b", admin_client.get(address).content.decode()), address
    assert "theme-toggle" not in admin_client.get("/admin/password_change/").content.decode()


def test_every_list_opens_and_can_be_searched(curator: Client, full_life: dict[str, Any]) -> None:
    for model, page in admin.site._registry.items():
        address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert curator.get(address).status_code == 200, address
        if model._meta.app_label in ("persona", "chat", "memory"):
            assert page.search_fields, f"{model.__name__} cannot be searched"
            assert curator.get(address, {"q": "bees"}).status_code == 200, address


def test_an_event_shows_the_words_it_came_from_and_what_was_concluded(
    curator: Client, full_life: dict[str, Any]
) -> None:
    page = curator.get(f"/admin/memory/event/{full_life['event'].pk}/change/").content.decode()
    assert "I keep <mark>bees on the roof</mark>." in page
    assert "Ana is at ease among bees." in page
    assert "Ana&#x27;s bees" in page
    page = curator.get(f"/admin/memory/thought/{full_life['thought'].pk}/change/").content.decode()
    assert "Ana keeps bees on her roof." in page


@pytest.mark.parametrize("layer", ["chat/session", "chat/message", "memory/entity"])
def test_messages_and_nodes_cannot_be_edited_in_the_admin(
    curator: Client, full_life: dict[str, Any], layer: str
) -> None:
    row = full_life[layer.split("/")[1]]
    assert curator.post(f"/admin/{layer}/{row.pk}/change/", {"description": "x"}).status_code == 403
    assert curator.get(f"/admin/{layer}/add/").status_code == 403


def test_l1_is_edited_here_and_keeps_its_history(curator: Client, mira: Persona) -> None:
    block = mira.core_blocks.get(label="style")
    address = f"/admin/persona/coreblock/{block.pk}/change/"
    management = {"versions-TOTAL_FORMS": 0, "versions-INITIAL_FORMS": 0}
    assert curator.post(address, {"content": "Long sentences.", **management}).status_code == 302
    block.refresh_from_db()
    assert (block.content, block.version) == ("Long sentences.", 2)
    assert block.edited_by is not None
    assert block.edited_by.username == "cora"
    assert b"Short sentences." in curator.get(address).content
    assert curator.post(address, {"content": "x" * 5_001, **management}).status_code == 200
    assert CoreBlock.objects.get(pk=block.pk).version == 2


def test_nothing_on_the_desk_can_run_code() -> None:
    labels = {model._meta.label for model in admin.site._registry}
    assert not labels & {"django_q.Schedule", "django_q.OrmQ"}


def test_people_without_rights_do_not_get_in(client: Client, ana: User) -> None:
    client.force_login(ana)
    assert client.get("/admin/memory/event/").status_code == 302


def test_no_row_says_its_words_in_its_name(full_life: dict[str, Any]) -> None:
    for row in full_life.values():
        assert "bees" not in str(row)
        assert "Mira" not in str(row)


def test_a_pair_in_question_stands_side_by_side_with_its_memories(
    curator: Client, full_life: dict[str, Any], mira: Persona, remember: Any
) -> None:
    other = Entity.objects.create(persona=mira, canonical_name="The <swarm>", kind="pet")
    Mention.objects.create(node=remember(mira, "The <swarm> left on Monday."), entity=other)
    proposal = MergeProposal.objects.create(a=full_life["entity"], b=other, score=0.7, reasons=["similar_memories"])
    page = curator.get(f"/admin/memory/mergeproposal/{proposal.pk}/change/").content.decode()
    for text in (
        "Ana&#x27;s bees",
        "Ana keeps bees on her roof.",
        "The &lt;swarm&gt; left on Monday.",
        "similar memories",
    ):
        assert text in page


def test_a_session_that_could_not_be_remembered_is_tried_again_from_here(
    curator: Client, full_life: dict[str, Any]
) -> None:
    session = full_life["session"]
    Session.objects.filter(pk=session.pk).update(status="failed", failure="the model's answer could not be read")
    ModelReply.objects.create(
        persona=session.persona, session=session, step="extraction:1", number=0, text="{half an ans"
    )
    page = curator.get(f"/admin/chat/session/{session.pk}/change/").content.decode()
    assert "{half an ans" in page
    assert "could not be read" in page
    assert 'data-testid="do-try_again"' in page
    answer = curator.post("/admin/chat/session/", {"action": "try_again", "_selected_action": [session.pk]})
    assert answer.status_code == 302
    session.refresh_from_db()
    assert session.status == "closing"
    assert OrmQ.objects.count() == 1
