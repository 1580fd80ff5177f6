"""Whoever may come in no longer is let out immediately, by every door; nobody else notices."""

import json
import uuid
from collections.abc import Callable
from typing import Any

import httpx2
import openai
import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as SignIn
from django.test import Client
from django.utils import timezone

from chat.models import Message
from echovessel.api import tokens
from echovessel.api.tokens.models import ApiToken
from echovessel.api.tokens.secret import create, revoke
from echovessel.outbox import knobs as outbox_knobs
from echovessel.process.threads import in_thread
from memory import forgetting
from memory.forgetting import Target
from persona.models import Persona
from tests.event_listener import Listener
from tests.live_server import LiveServer
from tests.page import Page
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)


def new_password(user: User) -> None:
    user.set_password("another long word")
    user.save()


def by_the_desk(user: User) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("cora"))
    password = {"password1": "a completely new word", "password2": "a completely new word", "usable_password": "true"}
    assert client.post(f"/admin/auth/user/{user.pk}/password/", password).status_code == 302


def deactivated(user: User) -> None:
    user.is_active = False
    user.save()


def forgotten(user: User) -> None:
    forgetting.forget(forgetting.plan([Target("owner", user.pk)]), None, timezone.now())


def signed_out(user: User) -> None:
    for sign_in in SignIn.objects.all():
        if sign_in.get_decoded().get("_auth_user_id") == str(user.pk):
            sign_in.delete()


ENDINGS: dict[str, Callable[[User], None]] = {
    "a new password": new_password,
    "a new password by the desk": by_the_desk,
    "deactivated": deactivated,
    "deleted": lambda user: user.delete() and None,
    "forgotten": forgotten,
}


async def rest_of(chunks: Any) -> None:
    async for chunk in chunks:
        assert "over" not in json.dumps(chunk.model_dump())


@pytest.mark.parametrize("ending", [*ENDINGS, "signed out"])
async def test_an_idle_socket_is_closed_and_that_of_somebody_else_is_not(
    mira: Persona, otto: Persona, scripted: Script, ending: str
) -> None:
    """No heartbeat is waited for: there is none within half a minute."""
    end = ENDINGS.get(ending, signed_out)
    async with Page(mira.owner, mira) as page, Page(otto.owner, otto) as other:
        for each in (page, other):
            await each.until("chat.connection.ready")
        await in_thread(end, await in_thread(User.objects.get, username="ana"))
        await page.until("error", code="not_signed_in")
        assert await page.closing() == 4401
        await other.say("Am I still here?")
        await other.until("chat.message.done")


async def test_a_socket_rechecks_access_before_it_accepts_a_frame(
    mira: Persona, scripted: Script, settings: Any, monkeypatch: Any
) -> None:
    """Where the event is late, or was never published: an update of the table itself publishes none."""
    async with Page(mira.owner, mira) as page:
        await page.say("before")
        turn_id = (await page.until("chat.message.done"))["data"]["turn_id"]
        await in_thread(lambda: User.objects.filter(username="ana").update(password="!"))
        client_id = await page.say("after")
        refused = await page.until("error", code="not_signed_in")
        assert refused["data"]["client_id"] == client_id
        for frame in (
            {"type": "message", "client_id": str(uuid.uuid4()), "content": "once more"},
            {"type": "retry", "turn_id": turn_id},
            {"type": "close_session"},
            {"type": "off_the_record", "on": True},
            {"type": "resume", "after": 0},
        ):
            await page.send(**frame)
        assert await page.closing() == 4401
    stored = await in_thread(lambda: list(Message.objects.order_by("id").values_list("role", "content")))
    assert [content for role, content in stored if role == "user"] == ["before"]


# While a reply is written nobody is forgotten.
@pytest.mark.parametrize("ending", [*(name for name in ENDINGS if name != "forgotten"), "revoked"])
async def test_streams_and_tokens_end_too(
    mira: Persona, server: LiveServer, scripted: Script, settings: Any, ending: str
) -> None:
    assert outbox_knobs.poll_seconds() < 1  # of another process; the beat of a stream would come after 15 s
    token, secret = await in_thread(create, mira.owner, "tests", timezone.now())
    scripted.says("It was a long night, and then it was over.")
    scripted.hold()
    end = ENDINGS.get(ending, lambda _user: revoke(token, timezone.now()) and None)
    async with (
        Listener(server.url, mira, secret) as listener,
        openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key=secret, max_retries=0, timeout=20) as client,
    ):
        await listener.until("chat.connection.ready")
        messages: Any = [{"role": "user", "content": "Tell me."}]
        chunks = await client.chat.completions.create(model="mira", messages=messages, stream=True)
        async for chunk in chunks:
            if "It" in (chunk.choices[0].delta.content or ""):
                break
        await in_thread(end, await in_thread(User.objects.get, username="ana"))
        await listener.until("error", code="not_signed_in")
        with pytest.raises(StopAsyncIteration):
            await listener.next()
        with pytest.raises(openai.APIError) as ended:
            await rest_of(chunks)
        assert ended.value.code == "invalid_api_key"
        assert await in_thread(tokens.owner_of, secret, timezone.now()) is None
        async with httpx2.AsyncClient() as direct:
            answer = await direct.get(f"{server.url}/api/personas", headers={"Authorization": f"Bearer {secret}"})
        assert answer.status_code == 401
        scripted.go()


@pytest.mark.django_db
def test_signing_in_and_other_changes_of_an_account_revoke_nothing(ana: User) -> None:
    _token, secret = create(ana, "tests", timezone.now())
    Client().force_login(ana)
    ana.first_name = "Ana"
    ana.save()
    ana.password = ana.password.replace("md5$", "md5$")  # as a hash that is made anew at a login
    ana.save(update_fields=["password"])
    assert tokens.owner_of(secret, timezone.now()) == ana
    ana.set_password("another long word")
    ana.save()
    assert tokens.owner_of(secret, timezone.now()) is None
    assert ApiToken.objects.get().revoked_at is not None
