"""Words in the admin: they need a permission on every page, and every look into other people's is logged."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from echovessel.admin import MASK, groups
from echovessel.audit.models import Look
from memory.models import ConceptNode
from persona.models import Persona
from tests.echovessel.conftest import given, member, signed_in

pytestmark = pytest.mark.django_db

SEEN = {f"{app}_{model}" for app, models in groups.SEEN.items() for model in models}
# Pages of the whole site, with their status for staff.
SITE = {
    "index": 200,
    "forget": 404,  # without a target
    "knobs": 200,
    "login": 302,
    "logout": 405,
    "password_change": 200,
    "password_change_done": 200,
    "jsi18n": 200,
    "autocomplete": 403,
    "view_on_site": 404,
    "app_list": 200,
}
# Actions of buttons: POST only.
BUTTONS = {
    "chat_message_point_out",
    "persona_coreblock_restore",
    "memory_entity_do",
    *(f"memory_{kind}_{action}" for kind in ConceptNode.Kind for action in ("do", "restore")),
}
# Additional pages of a list, with their status for curators.
BESIDE = {
    "auth_user_password_change": 403,
    "memory_mergeproposal_review": 200,
    "proactive_consideration_calendar": 200,
}


def addresses() -> Iterator[tuple[str, str]]:
    """Every URL name of the admin with its address."""
    yield from _flat(admin.site.get_urls())


def _flat(patterns: Any, prefix: str = "/admin/") -> Iterator[tuple[str, str]]:
    for pattern in patterns:
        inner = getattr(pattern, "url_patterns", None)
        if inner is not None:
            yield from _flat(inner, f"{prefix}{pattern.pattern}")
        elif pattern.name is not None:
            yield pattern.name, f"{prefix}{pattern.pattern}"


def visible_rows(life: Mapping[str, Any]) -> Iterator[str]:
    """The addresses of the rows of a life that curators may open."""
    for row in life.values():
        app, model = row._meta.app_label, row._meta.model_name
        model = row.kind if isinstance(row, ConceptNode) else model
        if f"{app}_{model}" in SEEN:
            yield f"/admin/{app}/{model}/{row.pk}/"


# --- access ---------------------------------------------------------------------------------------------------------


def test_every_view_of_the_desk_is_classified() -> None:
    usual = {
        f"{model._meta.app_label}_{model._meta.model_name}_{view}"
        for model in admin.site._registry
        for view in ("changelist", "add", "change", "history", "delete")
    }
    assert {name for name, _address in addresses()} - usual == SITE.keys() | BUTTONS | BESIDE.keys()


@pytest.mark.parametrize("who", ["nobody", "owner"])
def test_nobody_but_staff_gets_beyond_the_door(client: Client, full_life: dict[str, Any], ana: User, who: str) -> None:
    if who == "owner":
        client.force_login(ana)
    for name, address in addresses():
        if name not in ("login", "logout", "jsi18n"):
            for method in (client.get, client.post):
                answer = method(_filled(address, 1))
                assert answer.status_code == 302, (name, answer.status_code)
                assert "/login/" in answer.url, name


def _filled(address: str, key: int) -> str:
    for slot, value in {
        "<path:object_id>": key,
        "<int:key>": key,
        "<int:version>": 1,
        "<str:action>": "hide",
        "<id>": key,
        "<path:content_type_id>": key,
        "^(?P<app_label>": "",
    }.items():
        address = address.replace(slot, str(value))
    return address.split("|")[0].rstrip(")/$") + "/" if "|" in address else address


# The permission to read words opens no other page: in every run readers open those of
# `test_a_page_of_other_peoples_words_is_one_look`.
@pytest.mark.parametrize("who", ["blind", pytest.param("reader", marks=pytest.mark.campaign)])
def test_curators_open_what_they_may_see_and_nothing_else(
    request: pytest.FixtureRequest, full_life: dict[str, Any], who: str
) -> None:
    browser = signed_in(request.getfixturevalue(who))
    for model in admin.site._registry:
        name = f"{model._meta.app_label}_{model._meta.model_name}"
        address = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert browser.get(address).status_code == (200 if name in SEEN else 403), name
        assert browser.get(f"{address}add/").status_code == 403, name
        assert browser.post(f"{address}1/delete/", {"post": "yes"}).status_code == 403, name
    for address in visible_rows(full_life):
        assert browser.get(f"{address}change/").status_code == 200, address
        assert browser.get(f"{address}history/").status_code == 200, address
    for name, address in addresses():
        if name in BUTTONS:
            assert browser.get(_filled(address, 1)).status_code == 405, name
            assert browser.post(_filled(address, full_life["event"].pk)).status_code in (403, 404), name
        if name in BESIDE:
            assert browser.get(_filled(address, 1)).status_code == BESIDE[name], name


def test_a_superuser_opens_everything(curator: Client, full_life: dict[str, Any]) -> None:
    for name, address in addresses():
        if name.endswith("_changelist"):
            assert curator.get(address).status_code == 200, name
        if name in SITE:
            assert curator.get(_filled(address, 1)).status_code == SITE[name], name
    for address in visible_rows(full_life):
        assert curator.get(f"{address}change/").status_code == 200, address


# --- hidden words ---------------------------------------------------------------------------------------------------


def test_a_curator_without_the_permission_reads_no_word_on_any_page(blind: User, full_life: dict[str, Any]) -> None:
    browser = signed_in(given(blind, "persona.forget_words"))
    lists = [f"/admin/{name.replace('_', '/')}/" for name in SEEN]
    pages = [f"{address}{view}/" for address in visible_rows(full_life) for view in ("change", "history")]
    previews = [f"/admin/forget/?kind=node&key={full_life['event'].pk}"]
    previews += [f"/admin/forget/?kind={kind}&key={full_life[kind].pk}" for kind in ("message", "session", "entity")]
    pages.append("/admin/memory/mergeproposal/review/")
    for address in ["/admin/", *lists, *[f"{address}?q=bees" for address in lists], *pages, *previews]:
        answer = browser.get(address)
        assert answer.status_code == 200, address
        text = answer.content.decode().replace('value="bees"', "").replace("q=bees", "")
        for word in ("bees", "hives", "Mira", "roof"):
            assert word not in text, (address, word)
    assert MASK in browser.get("/admin/memory/event/").content.decode()
    assert not Look.objects.exists()


@pytest.mark.parametrize(
    "layer", ["chat/message", "memory/event", "chat/session", "persona/moodchange", "memory/entity"]
)
def test_without_the_permission_words_cannot_be_searched_but_ids_can(
    blind: User, full_life: dict[str, Any], layer: str
) -> None:
    browser, row = signed_in(blind), full_life[layer.split("/")[1]]
    assert list_keys(browser, layer, q="bees") == []
    assert list_keys(browser, layer, q=str(row.uuid)) == [row.pk]
    for lookup in ("content__contains", "description__startswith", "summary__gt", "persona__name__contains"):
        assert browser.get(f"/admin/{layer}/", {lookup: "b"}).status_code == 400, lookup


def list_keys(browser: Client, layer: str, **query: str) -> list[int]:
    return [row.pk for row in browser.get(f"/admin/{layer}/", query).context_data["cl"].result_list]


def test_staff_without_the_right_to_read_cannot_change(blind: User, full_life: dict[str, Any]) -> None:
    browser = signed_in(given(blind, "memory.change_event", "persona.change_persona"))
    event = full_life["event"]
    assert browser.post(f"/admin/memory/event/{event.pk}/change/", {"description": "no"}).status_code == 403
    assert browser.post(f"/admin/memory/event/{event.pk}/do/hide/").status_code == 403
    assert browser.post(f"/admin/persona/persona/{full_life['persona'].pk}/change/", {}).status_code == 403
    browser.post("/admin/memory/event/", {"action": "hide", "_selected_action": [event.pk]})
    event.refresh_from_db()
    assert (event.description, event.status) == ("Ana keeps bees on her roof.", "active")


# --- visible words and looks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("layer", ["chat/message", "chat/session", "memory/event", "memory/entity", "chat/turn"])
def test_a_page_of_other_peoples_words_is_one_look(
    reader: User, full_life: dict[str, Any], mira: Persona, layer: str
) -> None:
    browser, row = signed_in(reader), full_life[layer.split("/")[1]]
    page = browser.get(f"/admin/{layer}/{row.pk}/change/").content.decode()
    assert "bees" in page
    look = Look.objects.get()
    assert (look.user, look.persona_uuid, look.object_ids, look.count) == (reader, mira.uuid, [row.pk], 1)
    assert look.what.lower() == layer.replace("/", ".")
    browser.get(f"/admin/{layer}/")
    assert Look.objects.count() == 2
    assert row.pk in Look.objects.first().object_ids  # type: ignore[union-attr]


def test_a_search_and_a_preview_are_looks_too_and_an_empty_page_is_none(
    reader: User, full_life: dict[str, Any]
) -> None:
    browser = signed_in(given(reader, "persona.forget_words"))
    assert list_keys(browser, "chat/message", q="bees") == [full_life["message"].pk]
    assert Look.objects.count() == 1
    assert list_keys(browser, "chat/message", q="wasps") == []
    assert Look.objects.count() == 1
    assert "bees on her roof" in browser.get(f"/admin/forget/?kind=node&key={full_life['event'].pk}").content.decode()
    assert Look.objects.count() == 2


def test_ones_own_persona_is_read_without_the_permission_and_leaves_no_look(
    full_life: dict[str, Any], ana: User
) -> None:
    ana.is_staff = True
    ana.save()
    browser = signed_in(given(ana, "chat.view_message", "memory.view_event"))
    assert "bees" in browser.get("/admin/chat/message/").content.decode()
    assert list_keys(browser, "memory/event", q="bees") == [full_life["event"].pk]
    assert "bees" in browser.get(f"/admin/memory/event/{full_life['event'].pk}/change/").content.decode()
    assert not Look.objects.exists()


def test_looks_are_seen_by_those_who_may_and_changed_by_nobody(
    curator: Client, reader: User, full_life: dict[str, Any]
) -> None:
    signed_in(reader).get("/admin/chat/message/")
    look = Look.objects.get()
    assert "rob" in curator.get("/admin/audit/look/").content.decode()
    assert curator.post(f"/admin/audit/look/{look.pk}/change/", {"count": 0}).status_code == 403
    assert curator.post(f"/admin/audit/look/{look.pk}/delete/", {"post": "yes"}).status_code == 403
    assert signed_in(reader).get("/admin/audit/look/").status_code == 403


def test_the_admins_own_log_holds_no_words(curator: Client, full_life: dict[str, Any]) -> None:
    event, block = full_life["event"], full_life["coreblock"]
    curator.post(f"/admin/memory/event/{event.pk}/change/", correction_form("Ana keeps bees in her garden."))
    curator.post(f"/admin/memory/event/{event.pk}/do/hide/")
    curator.post(f"/admin/persona/coreblock/{block.pk}/change/", {"content": "bees", **management})
    assert LogEntry.objects.count() == 3
    for entry in LogEntry.objects.all():
        assert "bees" not in f"{entry.object_repr} {entry.change_message} {entry.get_change_message()}"


management = {"versions-TOTAL_FORMS": 0, "versions-INITIAL_FORMS": 0}


def correction_form(description: str, **values: Any) -> dict[str, Any]:
    """The form data of a correction."""
    return {"description": description, "emotional_impact": 2, "emotion_tags": "", **values}


def test_the_groups_are_made_once_and_are_the_operators_afterwards(blind: User) -> None:
    group = blind.groups.get()
    assert not group.permissions.filter(codename="read_words").exists()
    group.permissions.clear()
    groups.ensure()
    assert not group.permissions.exists()
    assert member("eve", groups.WHO_MAY_READ).has_perm("persona.read_words")
