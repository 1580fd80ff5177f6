"""Forgetting in the admin: there is no other deletion, and a preview comes before every forgetting."""

from typing import Any
from uuid import UUID

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Message
from memory.models import ConceptNode, Entity, Evidence, Receipt
from memory.store import checks
from persona.models import Persona
from tests.echovessel.conftest import given, signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def finish_turns(full_life: dict[str, Any]) -> None:
    """Finish the turns, so that no reply is running."""
    full_life["session"].turns.update(status="done")


def preview(browser: Client, kind: str, *rows: Any, **more: str) -> Any:
    return browser.get("/admin/forget/", {"kind": kind, "key": [row.pk for row in rows], **more})


def confirm_forgetting(browser: Client, kind: str, *rows: Any, **more: str) -> Any:
    """Confirm the plan of the preview."""
    digest = preview(browser, kind, *rows, **more).context_data["preview"]["digest"]
    form = {"kind": kind, "key": [row.pk for row in rows], "digest": digest, "confirm": "1", **more}
    return browser.post("/admin/forget/", form)


def is_sound() -> bool:
    return not checks.broken_invariants(timezone.now())


@pytest.mark.parametrize("layer", ["chat/session", "chat/message", "memory/event", "memory/entity", "persona/persona"])
def test_the_page_to_delete_is_the_preview_of_forgetting(
    curator: Client, full_life: dict[str, Any], layer: str
) -> None:
    row = full_life[layer.split("/")[1]]
    for method in (curator.get, curator.post):
        answer = method(f"/admin/{layer}/{row.pk}/delete/", {"post": "yes"})
        assert answer.status_code == 302
        assert answer.url.startswith("/admin/forget/?kind=")
    assert type(row).objects.filter(pk=row.pk).exists()
    assert "bees" in curator.get(answer.url).content.decode() or layer == "persona/persona"


@pytest.mark.parametrize(
    ("layer", "kind"),
    [
        ("memory/event", "node"),
        ("memory/thought", "node"),
        ("chat/message", "message"),
        ("chat/session", "session"),
        ("memory/entity", "entity"),
    ],
)
def test_rows_that_are_chosen_in_a_list_are_forgotten_after_a_preview(
    curator: Client, full_life: dict[str, Any], layer: str, kind: str
) -> None:
    row = full_life[layer.split("/")[1]]
    address = f"/admin/{layer}/"
    assert "delete_selected" not in curator.get(address).content.decode()
    answer = curator.post(address, {"action": "forget", "_selected_action": [row.pk]})
    assert answer.url == f"/admin/forget/?kind={kind}&key={row.pk}"
    response = confirm_forgetting(curator, kind, row)
    receipt = Receipt.objects.get()
    assert response.url == f"/admin/memory/receipt/{receipt.pk}/change/"
    assert str(receipt.uuid) in curator.get(response.url).content.decode()
    assert not type(row).objects.filter(pk=row.pk).exists()
    assert is_sound()


def test_many_rows_are_one_forgetting(curator: Client, mira: Persona, remember: Any) -> None:
    nodes = []
    for number in range(12):
        message = receive_message(mira, f"Hive {number} hums.", None, "web", timezone.now()).message
        node = remember(mira, f"Hive number {number} hums in the sun.", session=message.session)
        Evidence.objects.create(node=node, message=message, quote=message.content, start=0, end=len(message.content))
        nodes.append(node)
    confirm_forgetting(curator, "node", *nodes)
    assert Receipt.objects.count() == 1
    assert not ConceptNode.objects.filter(pk__in=[node.pk for node in nodes]).exists()
    assert LogEntry.objects.count() == 12
    assert is_sound()


def test_the_choice_is_shown_before_it_is_made(curator: Client, full_life: dict[str, Any]) -> None:
    event, message = full_life["event"], full_life["message"]
    whole = preview(curator, "node", event).context_data["preview"]
    withholding = preview(curator, "node", event, messages="withhold").context_data["preview"]
    assert whole["digest"] != withholding["digest"]
    assert withholding["withheld"]
    confirm_forgetting(curator, "node", event, messages="withhold")
    message.refresh_from_db()
    assert message.withheld


def test_another_plan_than_the_confirmed_one_is_shown_and_not_done(curator: Client, full_life: dict[str, Any]) -> None:
    event = full_life["event"]
    form = {"kind": "node", "key": event.pk, "digest": "of something else", "confirm": "1"}
    answer = curator.post("/admin/forget/", form)
    assert answer.status_code == 409
    assert b"has changed in the meantime" in answer.content
    assert ConceptNode.objects.filter(pk=event.pk).exists()


def test_while_a_reply_is_written_it_says_so(curator: Client, full_life: dict[str, Any]) -> None:
    event = full_life["event"]
    full_life["session"].turns.update(status="running")
    answer = confirm_forgetting(curator, "node", event)
    assert answer.status_code == 409
    assert b"A reply is being written" in answer.content
    assert ConceptNode.objects.filter(pk=event.pk).exists()


def test_whoever_may_forget_but_not_read_confirms_numbers(blind: User, full_life: dict[str, Any]) -> None:
    browser = signed_in(given(blind, "persona.forget_words"))
    page = preview(browser, "node", full_life["event"]).content.decode()
    assert "bees" not in page
    assert "You see numbers and reasons only." in page
    confirm_forgetting(browser, "node", full_life["event"])
    assert not ConceptNode.objects.filter(pk=full_life["event"].pk).exists()


def test_without_the_permission_nothing_of_others_is_forgotten_but_ones_own_is(
    reader: User, ana: User, full_life: dict[str, Any]
) -> None:
    browser = signed_in(reader)
    assert browser.get("/admin/memory/event/").context_data["action_form"] is None
    assert preview(browser, "node", full_life["event"]).status_code == 403
    assert browser.post("/admin/forget/", {"kind": "node", "key": full_life["event"].pk}).status_code == 403
    ana.is_staff = True
    ana.save()
    assert preview(signed_in(ana), "node", full_life["event"]).status_code == 200


def test_rows_of_two_personas_are_not_forgotten_together(
    curator: Client, full_life: dict[str, Any], otto: Persona, remember: Any
) -> None:
    answer = preview(curator, "node", full_life["event"], remember(otto, "Otto likes rain."))
    assert (answer.status_code, answer.url) == (302, "/admin/")


@pytest.mark.parametrize("params", [{}, {"kind": "node", "key": "x"}, {"kind": "receipt", "key": "1"}])
def test_a_forget_page_without_a_valid_target_is_not_found(curator: Client, params: dict[str, str]) -> None:
    assert curator.get("/admin/forget/", params).status_code == 404


def test_forgetting_a_deleted_node_redirects_with_a_message(curator: Client, full_life: dict[str, Any]) -> None:
    assert curator.get("/admin/forget/", {"kind": "node", "key": 999_999}).status_code == 302


def test_a_persona_goes_wholly_once_she_is_named(curator: Client, full_life: dict[str, Any], mira: Persona) -> None:
    assert confirm_forgetting(curator, "persona", mira).status_code == 400
    assert Persona.objects.filter(pk=mira.pk).exists()
    confirm_forgetting(curator, "persona", mira, typed=f"persona {mira.pk}")
    assert not Persona.objects.filter(pk=mira.pk).exists()
    assert not Entity.objects.exists()
    assert is_sound()


def test_a_person_goes_with_everything_and_only_by_whoever_may_delete_people(
    curator: Client, blind: User, full_life: dict[str, Any], ana: User
) -> None:
    forgetter = signed_in(given(blind, "persona.forget_words", "auth.view_user"))
    assert preview(forgetter, "owner", ana).status_code == 403
    assert forgetter.post(f"/admin/auth/user/{ana.pk}/delete/", {"post": "yes"}).status_code == 403
    assert curator.post(f"/admin/auth/user/{ana.pk}/delete/", {"post": "yes"}).url.startswith("/admin/forget/")
    confirm_forgetting(curator, "owner", ana, typed=f"owner {ana.pk}")
    assert not User.objects.filter(pk=ana.pk).exists()
    assert not Message.objects.exists()


def test_a_superuser_goes_by_a_superuser_alone_and_oneself_by_ones_own_page(blind: User, curator: Client) -> None:
    cora = User.objects.get(username="cora")
    assert (
        preview(signed_in(given(blind, "persona.forget_words", "auth.delete_user")), "owner", cora).status_code == 403
    )
    assert preview(curator, "owner", cora).url == "/account/delete/"


def test_a_group_is_deleted_as_ever(curator: Client) -> None:
    group = Group.objects.create(name="helpers")
    curator.post(f"/admin/auth/group/{group.pk}/delete/", {"post": "yes"})
    assert not Group.objects.filter(pk=group.pk).exists()


def test_the_log_says_who_forgot_by_ids_alone(curator: Client, full_life: dict[str, Any]) -> None:
    event = full_life["event"]
    confirm_forgetting(curator, "node", event)
    entry, receipt = LogEntry.objects.get(), Receipt.objects.get()
    assert (entry.object_repr, entry.change_message) == (f"node {event.pk}", f"forgotten, receipt {receipt.uuid}")
    assert isinstance(receipt.uuid, UUID)
