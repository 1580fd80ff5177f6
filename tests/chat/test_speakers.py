"""Lines of others who were there are shown under their names, found, and forgotten like any; and reach no reply."""

import json
import re

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from chat.messages import receive_message
from chat.models import Message
from chat.prompt.assemble import assemble
from memory.recall import recall
from persona.models import Persona
from tests.memory.imports.imported_sessions import an_import, import_session
from tests.memory.sessions import NOW

pytestmark = pytest.mark.django_db
SAID = "The lighthouse is <b>closed</b> on Mondays."


@pytest.fixture
def kims(mira: Persona) -> Message:
    return import_session(an_import(mira), f"Kim: {SAID}", "Ana: I feed two grey cats.").messages.get(speaker="Kim")


@pytest.fixture
def owner(client: Client, ana: User) -> Client:
    client.force_login(ana)
    return client


def test_the_history_names_who_spoke(owner: Client, kims: Message, mira: Persona) -> None:
    page = owner.get(reverse("chat", args=[mira.uuid])).content.decode()
    shown = page[page.index('data-testid="message-other"') :]
    shown = shown[: shown.index("</article>")]
    assert '<p class="line__speaker" dir="auto" data-testid="speaker">Kim</p>' in shown
    assert "&lt;b&gt;closed" in shown
    assert f"message={kims.uuid}" in shown
    assert set(re.findall(r'data-act="(\w+)"', shown)) == {"copy"}  # nothing that changes what somebody else said


def test_a_hostile_name_stays_a_name(owner: Client, kims: Message, mira: Persona) -> None:
    Message.objects.filter(pk=kims.pk).update(speaker="<script>alert(1)</script>")
    found = {"text": "lighthouse", "how": "said"}
    history = owner.get(reverse("chat", args=[mira.uuid]))
    for page in (history, owner.post(reverse("memory", args=[mira.uuid]), found)):
        assert "<script>alert" not in page.content.decode()
        assert "&lt;script&gt;alert(1)" in page.content.decode()


def test_programs_are_told_who_spoke(owner: Client, kims: Message, mira: Persona) -> None:
    lines = owner.get(f"/api/personas/{mira.uuid}/messages").json()["items"]
    assert {(line["role"], line["speaker"]) for line in lines} == {("system", "Kim"), ("user", "")}
    found = owner.post(
        f"/api/personas/{mira.uuid}/messages/search",
        json.dumps({"text": "lighthouse"}),
        content_type="application/json",
    )
    assert [line["speaker"] for line in found.json()["items"]] == ["Kim"]


def test_staff_see_no_name_without_the_permission_to_read(client: Client, kims: Message, ben: User) -> None:
    ben.is_staff = True
    ben.save()
    ben.user_permissions.set(Permission.objects.filter(codename__in=["view_message", "view_session"]))
    client.force_login(ben)
    for address in ("chat_message_changelist", "chat_message_change", "chat_session_change"):
        key = {"chat_message_change": [kims.pk], "chat_session_change": [kims.session_id]}.get(address, [])
        page = client.get(reverse(f"admin:{address}", args=key))
        assert page.status_code == 200
        assert "Kim" not in page.content.decode()


def test_no_reply_is_made_of_them(mira: Persona, kims: Message) -> None:
    asked = receive_message(mira, "When is the lighthouse closed?", None, "web", NOW).message
    assert asked.turn is not None
    prompt = assemble(asked.turn, NOW)
    assert "grey cats" in prompt.user
    assert "lighthouse is" not in prompt.user
    told = recall(mira, ["When is the lighthouse closed?"], now=NOW, budget_tokens=1_500)
    assert not [item for item in told.items if "closed</b>" in item.text]
