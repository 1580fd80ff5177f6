"""The API of what is said: lines, talks and turns; and saying something, answered as in the page."""

import asyncio
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.test import AsyncClient, Client
from django.utils import timezone

from chat import rate_limit
from chat.messages import receive_message
from chat.models import Message, Session, Turn
from chat.turns import turn as turns
from echovessel.embeddings import embedding
from echovessel.llm import LLMError
from echovessel.process.threads import in_thread
from persona.models import Persona
from tests.scripted import Script

JSON = "application/json"


@pytest.fixture(autouse=True)
def unhurried() -> Any:
    rate_limit.forget()
    yield
    rate_limit.forget()


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    client.force_login(mira.owner)
    return client


def line(**fields: Any) -> dict[str, Any]:
    return {"content": "Hello.", "client_id": str(uuid.uuid4())} | fields


def answered(persona: Persona, text: str, reply: str, channel: str = "web") -> Message:
    """A line, and the turn that answered it."""
    now = timezone.now()
    message = receive_message(persona, text, None, channel, now).message
    turn = turns.claim(persona.pk, now)
    assert turn is not None
    turns.finish(turn, reply, stopped=False, first_token_at=now, xray={"recollections": {}}, now=now)
    return message


# --- saying something -----------------------------------------------------------------------------------------------
@pytest.mark.django_db(transaction=True)
async def test_a_message_is_stored_in_its_channel_and_answered_by_the_turn(mira: Persona, scripted: Script) -> None:
    scripted.says("Hello, Ana.")
    client = await signed_in(mira)
    here = f"/api/personas/{mira.uuid}"
    sent = await client.post(f"{here}/messages", line(content="Hi!"), JSON)
    assert sent.status_code == 202
    turn = await until_done(client, f"{here}/turns/{sent.json()['turn_id']}")
    assert (turn["status"], turn["reply"]["content"]) == ("done", "Hello, Ana.")
    assert [one["content"] for one in turn["lines"]] == ["Hi!"]
    assert await in_thread(list, Session.objects.values_list("channel", "message_count")) == [("api", 2)]


@pytest.mark.django_db(transaction=True)
async def test_a_failed_reply_is_tried_again(mira: Persona, scripted: Script) -> None:
    scripted.says(LLMError("down", code="timeout", permanent=False), "Here I am.")
    client = await signed_in(mira)
    here = f"/api/personas/{mira.uuid}"
    turn_id = (await client.post(f"{here}/messages", line(), JSON)).json()["turn_id"]
    failed = await until_done(client, f"{here}/turns/{turn_id}")
    assert (failed["status"], failed["error"], failed["reply"]) == ("failed", "timeout", None)
    assert (await client.post(f"{here}/turns/{turn_id}/stop")).json()["code"] == "not_running"
    assert (await client.post(f"{here}/turns/{turn_id}/retry")).status_code == 200
    done = await until_done(client, f"{here}/turns/{turn_id}")
    assert (done["status"], done["reply"]["content"]) == ("done", "Here I am.")
    assert (await client.post(f"{here}/turns/{turn_id}/retry")).json()["code"] == "not_retryable"


@pytest.mark.django_db(transaction=True)
async def test_another_answer_and_another_wording_are_had_by_programs_too(mira: Persona, scripted: Script) -> None:
    scripted.says("Wide.", "Deep.", "Grey.")
    client = await signed_in(mira)
    here = f"/api/personas/{mira.uuid}"
    said = (await client.post(f"{here}/messages", line(content="The sea?"), JSON)).json()
    await until_done(client, f"{here}/turns/{said['turn_id']}")
    other = (await client.post(f"{here}/turns/{said['turn_id']}/another")).json()
    assert other["original_turn_id"] == said["turn_id"]
    done = await until_done(client, f"{here}/turns/{other['id']}")
    assert (done["reply"]["content"], done["reply"]["withheld"]) == ("Deep.", True)
    chosen = (await client.post(f"{here}/turns/{other['id']}/choose")).json()
    assert (chosen["reply"]["content"], chosen["reply"]["withheld"]) == ("Deep.", False)
    anew = line(content="Herons?", replaces=said["message"]["id"])
    new = (await client.post(f"{here}/messages", anew, JSON)).json()
    await until_done(client, f"{here}/turns/{new['turn_id']}")
    shown = Message.objects.filter(withheld=False).order_by("id")
    assert await in_thread(list, shown.values_list("content", flat=True)) == ["Herons?", "Grey."]
    again = line(replaces=said["message"]["id"])
    refused = await client.post(f"{here}/messages", again, JSON)
    assert (refused.status_code, refused.json()["code"]) == (409, "withheld")
    gone = await client.post(f"{here}/turns/{new['turn_id']}/choose")
    assert gone.status_code == 200, "what stands already may be chosen"


@pytest.mark.django_db(transaction=True)
async def test_a_reply_is_stopped_where_it_is_written(mira: Persona, scripted: Script) -> None:
    scripted.says(["Once ", "upon a time."])
    scripted.hold()
    client = await signed_in(mira)
    here = f"/api/personas/{mira.uuid}"
    turn_id = (await client.post(f"{here}/messages", line(), JSON)).json()["turn_id"]
    for _ in range(400):
        stopped = await client.post(f"{here}/turns/{turn_id}/stop")
        if stopped.status_code == 200:
            break
        await asyncio.sleep(0.02)
    assert (await until_done(client, f"{here}/turns/{turn_id}"))["status"] == "stopped"


async def signed_in(persona: Persona) -> AsyncClient:
    await asyncio.wrap_future(embedding.warm())
    client = AsyncClient()
    await client.aforce_login(persona.owner)
    return client


async def until_done(client: AsyncClient, address: str) -> Any:
    for _ in range(400):
        turn = (await client.get(address)).json()
        if turn["status"] not in ("collecting", "running"):
            return turn
        await asyncio.sleep(0.02)
    raise AssertionError("the turn did not end")


@pytest.mark.django_db
def test_the_same_client_id_stores_nothing_twice(owner: Client, mira: Persona) -> None:
    address, body = f"/api/personas/{mira.uuid}/messages", line(content="Once.")
    first, again = (owner.post(address, body, JSON).json() for _ in range(2))
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert first["message"] == again["message"]
    assert Message.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize("wrong", [{"content": ""}, {"content": "x" * 20_001}, {"client_id": "x"}, {"role": "persona"}])
def test_an_invalid_message_is_refused_and_not_stored(owner: Client, mira: Persona, wrong: dict[str, Any]) -> None:
    assert owner.post(f"/api/personas/{mira.uuid}/messages", line(**wrong), JSON).status_code == 422
    assert not Message.objects.exists()


@pytest.mark.django_db
def test_a_cry_is_answered_with_help_beside_it(owner: Client, mira: Persona) -> None:
    body = line(content="I want to kill myself.")
    first, again = (owner.post(f"/api/personas/{mira.uuid}/messages", body, JSON).json() for _ in range(2))
    assert first["care"]
    assert again["care"] == first["care"]
    assert not owner.post(f"/api/personas/{mira.uuid}/messages", line(content="Tea?"), JSON).json()["care"]


@pytest.mark.django_db
def test_messages_beyond_the_rate_limit_are_refused_with_retry_after(
    owner: Client, mira: Persona, settings: Any
) -> None:
    settings.KNOBS = {"chat.lines_per_minute": 1}
    address = f"/api/personas/{mira.uuid}/messages"
    assert owner.post(address, line(), JSON).status_code == 202
    refused = owner.post(address, line(), JSON)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert 0 < int(refused["Retry-After"]) <= 60
    assert Message.objects.count() == 1


@pytest.mark.django_db
def test_a_message_off_the_record_stays_off_it(owner: Client, mira: Persona) -> None:
    here = f"/api/personas/{mira.uuid}"
    talk = owner.post(f"{here}/off-the-record").json()
    assert (talk["off_the_record"], talk["channel"], talk["status"]) == (True, "api", "open")
    said = owner.post(f"{here}/messages", line(off_the_record=True), JSON).json()["message"]
    assert said["session_id"] == talk["id"]
    assert owner.post(f"{here}/sessions/{talk['id']}/close").json()["status"] == "closing"


# --- reading --------------------------------------------------------------------------------------------------------
@pytest.mark.django_db
def test_messages_and_sessions_of_all_channels_are_read_newest_first(owner: Client, mira: Persona) -> None:
    answered(mira, "One.", "Two.")
    answered(mira, "Three.", "Four.", channel="api")
    here = f"/api/personas/{mira.uuid}"
    first = owner.get(f"{here}/messages?limit=3").json()
    rest = owner.get(f"{here}/messages?before={first['next']}").json()
    assert [one["content"] for one in first["items"] + rest["items"]] == ["Four.", "Three.", "Two.", "One."]
    assert rest["next"] is None
    newest = first["items"][0]
    assert owner.get(f"{here}/messages/{newest['id']}").json() == newest
    talks = owner.get(f"{here}/sessions").json()["items"]
    assert [one["channel"] for one in talks] == ["api", "web"]
    within = owner.get(f"{here}/sessions/{talks[1]['id']}/messages").json()["items"]
    assert [one["content"] for one in within] == ["Two.", "One."]
    assert owner.get(f"{here}/sessions/{talks[1]['id']}").json() == talks[1]


@pytest.mark.django_db
def test_a_session_ends_once(owner: Client, mira: Persona) -> None:
    session = answered(mira, "One.", "Two.").session
    address = f"/api/personas/{mira.uuid}/sessions/{session.uuid}/close"
    closed = owner.post(address).json()
    assert (closed["status"], closed["close_reason"]) == ("closing", "explicit")
    assert owner.post(address).json()["code"] == "not_open"
    assert [one["id"] for one in owner.get(f"/api/personas/{mira.uuid}/sessions?status=closing").json()["items"]] == [
        str(session.uuid)
    ]
    assert owner.get(f"/api/personas/{mira.uuid}/sessions?status=open").json()["items"] == []


@pytest.mark.django_db
def test_pages_of_messages_are_complete_where_messages_share_a_moment(owner: Client, mira: Persona) -> None:
    now = timezone.now() - timedelta(hours=1)
    for number in range(7):
        receive_message(mira, str(number), None, "web", now)
    Message.objects.update(created_at=now)
    seen, before = [], ""
    while before is not None:
        page = owner.get(f"/api/personas/{mira.uuid}/messages?limit=2{before}").json()
        seen += [one["content"] for one in page["items"]]
        before = f"&before={page['next']}" if page["next"] else None
    assert seen == [str(number) for number in range(6, -1, -1)]


@pytest.mark.django_db
def test_a_turn_tells_what_its_reply_was_made_from(owner: Client, mira: Persona) -> None:
    answered(mira, "One.", "Two.")
    address = f"/api/personas/{mira.uuid}/turns/{Turn.objects.get().uuid}/xray"
    assert owner.get(address).json() == {"xray": {"recollections": {}}}
