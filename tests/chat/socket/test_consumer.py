"""The chat socket over the real application: frames in, events out, whatever happens in between."""

import asyncio
import uuid
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.models import Message, Session, Turn
from echovessel.llm import LLMError
from echovessel.process.threads import in_thread
from persona.models import Persona
from tests.page import Page
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)


async def rows(queryset: Any) -> list[Any]:
    return await in_thread(list, queryset)


async def test_a_message_is_stored_answered_and_stored_again(mira: Persona, scripted: Script) -> None:
    scripted.says("Hello, Ana. How was the sea?")
    async with Page(mira.owner, mira) as page:
        ready = await page.until("chat.connection.ready")
        assert ready["data"]["persona_id"] == str(mira.uuid)
        await page.say("Hi!")
        done = await page.until("chat.message.done")
    stored = await rows(Message.objects.order_by("id").values_list("role", "content"))
    assert stored == [("user", "Hi!"), ("persona", "Hello, Ana. How was the sea?")]
    assert done["data"]["content"] == "Hello, Ana. How was the sea?"
    assert page.text_of(done["data"]["turn_id"]) == "Hello, Ana. How was the sea?"
    names = [frame["event"] for frame in page.frames]
    assert names.index("chat.message.user_appended") < names.index("chat.message.token")
    assert done["id"] is not None
    assert page.named("chat.message.token")[0]["seq"] == 1


async def test_the_words_are_stored_before_the_model_sees_them(mira: Persona, scripted: Script) -> None:
    scripted.says(LLMError("down", code="provider_unavailable", permanent=False))
    async with Page(mira.owner, mira) as page:
        await page.say("Do not lose this.")
        failed = await page.until("chat.turn.failed")
        assert failed["data"]["code"] == "provider_unavailable"
        assert "safe" in failed["data"]["message"]
        assert await rows(Message.objects.values_list("content", flat=True)) == ["Do not lose this."]
        scripted.says("I have it.")
        await page.send(type="retry", turn_id=failed["data"]["turn_id"])
        done = await page.until("chat.message.done")
    assert done["data"]["turn_id"] == failed["data"]["turn_id"]
    assert await rows(Turn.objects.values_list("status", flat=True)) == ["done"]


async def test_a_fault_in_the_middle_keeps_the_partial_text_apart(mira: Persona, scripted: Script) -> None:
    scripted.says(["Once ", "upon ", LLMError("cut", code="timeout", permanent=False)], "All of it.")
    async with Page(mira.owner, mira) as page:
        await page.say("A story?")
        failed = (await page.until("chat.turn.failed"))["data"]
        assert (failed["code"], failed["partial"]) == ("timeout", "Once upon ")
        await page.send(type="retry", turn_id=failed["turn_id"])
        await page.until("chat.message.done")
        assert page.text_of(failed["turn_id"]) == "All of it."
    assert await rows(Message.objects.filter(role="persona").values_list("content", flat=True)) == ["All of it."]


async def test_a_repeated_frame_stores_one_message_and_gets_one_reply(mira: Persona, scripted: Script) -> None:
    """Check 19: the same client id ten times over two sockets."""
    client_id = uuid.uuid4()
    async with Page(mira.owner, mira) as one, Page(mira.owner, mira) as two:
        for tab in (one, two):
            await tab.until("chat.connection.ready")
        for _ in range(5):
            await one.say("only once", client_id)
            await two.say("only once", client_id)
        await one.until("chat.message.done")
        await two.until("chat.message.done")
        await asyncio.sleep(0.2)
    assert await rows(Message.objects.order_by("id").values_list("role", flat=True)) == ["user", "persona"]
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("tokens", [20, pytest.param(200, marks=pytest.mark.campaign)])
async def test_reconnecting_at_every_token_loses_and_doubles_nothing(
    mira: Persona, scripted: Script, tokens: int
) -> None:
    words = [f"word{n} " for n in range(tokens)]
    scripted.says(words)
    scripted.hold()
    async with Page(mira.owner, mira) as first:
        await first.say("Count for me.")
        turn_id = (await first.until("chat.message.token"))["data"]["turn_id"]
        for count in range(1, tokens):
            async with Page(mira.owner, mira) as again:
                snapshot = (await again.until("chat.turn.snapshot"))["data"]
                assert snapshot["text"] == "".join(words[:count])
                assert scripted.held is not None
                gate, scripted.held = scripted.held, asyncio.Event()
                gate.set()
                token = (await again.until("chat.message.token"))["data"]
                assert snapshot["text"] + token["delta"] == "".join(words[: count + 1])
        scripted.go()
        done = await first.until("chat.message.done")
    assert done["data"]["content"] == "".join(words)
    assert first.text_of(turn_id) == "".join(words)


async def test_resuming_sends_missed_events_in_order_and_once(mira: Persona, scripted: Script) -> None:
    async with Page(mira.owner, mira) as page:
        await page.say("one")
        seen = (await page.until("chat.message.done"))["id"]
    async with Page(mira.owner, mira) as other:
        await other.say("two")
        await other.until("chat.message.done")
    async with Page(mira.owner, mira) as back:
        await back.until("chat.connection.ready")
        await back.send(type="resume", after=seen)
        await back.until("chat.message.done")
        ids = [frame["id"] for frame in back.frames if frame["id"]]
    assert [data["content"] for data in back.named("chat.message.user_appended")] == ["two"]
    assert ids == sorted(set(ids))
    assert all(each > seen for each in ids)


async def test_two_tabs_see_the_same_and_stop_stops_both(mira: Persona, scripted: Script) -> None:
    """Check 21."""
    scripted.says(["It ", "was ", "a ", "long ", "night."])
    scripted.hold()
    async with Page(mira.owner, mira) as left, Page(mira.owner, mira) as right:
        for tab in (left, right):
            await tab.until("chat.connection.ready")
        await left.say("Tell me.")
        turn_id = (await right.until("chat.message.token"))["data"]["turn_id"]
        await right.send(type="stop", turn_id=turn_id)
        ends = [(await tab.until("chat.message.done"))["data"] for tab in (left, right)]
    assert ends[0] == ends[1]
    assert ends[0]["stopped"] is True
    assert ends[0]["content"] == "It "
    assert await rows(Turn.objects.values_list("status", flat=True)) == ["stopped"]


async def test_messages_from_two_tabs_at_once_become_turns_one_after_another(mira: Persona, scripted: Script) -> None:
    scripted.hold()
    scripted.says("first reply", "second reply")
    async with Page(mira.owner, mira) as left, Page(mira.owner, mira) as right:
        for tab in (left, right):
            await tab.until("chat.connection.ready")
        await left.say("from the left")
        await left.until("chat.message.token")
        await right.say("from the right")
        await right.until("chat.message.user_appended", content="from the right")
        assert await rows(Turn.objects.order_by("id").values_list("status", flat=True)) == [
            "running",
            "collecting",
        ]
        scripted.go()
        for tab in (left, right):
            await tab.until("chat.message.done", content="first reply")
            await tab.until("chat.message.done", content="second reply")
    orders = [[frame["id"] for frame in tab.frames if frame["id"]] for tab in (left, right)]
    assert orders[0] == orders[1]
    assert "from the right" not in scripted.requests[0].user
    assert scripted.requests[1].user.count("from the right") == 1


async def test_messages_in_one_breath_are_one_turn(mira: Persona, scripted: Script, settings: Any) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.debounce_seconds": 0.4}
    async with Page(mira.owner, mira) as page:
        await page.say("One thing")
        await page.say("and another")
        await page.until("chat.message.done")
    assert len(scripted.requests) == 1
    assert list(scripted.requests[0].material["lines"]) == ["One thing", "and another"]


async def test_malformed_frames_are_named_and_the_socket_stays_open(
    mira: Persona, scripted: Script, caplog: Any
) -> None:
    """Check 22."""
    bad = [
        " ",
        "{",
        "[" * 100_000,
        "[]",
        "null",
        "NaN",
        '{"type":"sudo"}',
        '{"type":"message"}',
        '{"a":{"a":{"a":1}}}',
    ]
    async with Page(mira.owner, mira) as page:
        for text in bad:
            await page.raw(text)
            await page.until("error")
        await page.raw(data=b"\xff\xfe\x00")
        await page.until("error", code="bad_frame")
        await page.send(type="message", client_id=str(uuid.uuid4()), content="x" * 20_001)
        too_long = await page.until("error", code="too_long")
        assert "client_id" in too_long["data"]
        await page.say("Still here?")
        await page.until("chat.message.done")
    assert "Traceback" not in caplog.text
    assert "sudo" not in caplog.text


async def test_a_client_that_only_sends_rubbish_is_shown_the_door(mira: Persona, scripted: Script) -> None:
    async with Page(mira.owner, mira) as page:
        for _ in range(21):
            await page.raw("{")
        assert await page.closing() == 4400


async def test_a_flood_is_told_to_wait_and_nothing_said_is_lost(mira: Persona, scripted: Script, settings: Any) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.lines_per_minute": 3}
    async with Page(mira.owner, mira) as page:
        for number in range(5):
            await page.say(f"line {number}")
        await page.until("error", code="rate_limited")
        await page.until("error", code="rate_limited")
    assert len(await rows(Message.objects.filter(role="user"))) == 3


async def test_a_foreign_persona_does_not_exist(mira: Persona, ben: User, scripted: Script) -> None:
    async with Page(ben, mira) as page:
        assert await page.closing() == 4404
    async with Page(ben, uuid.uuid4()) as nothing:
        assert await nothing.closing() == 4404


async def test_without_a_login_there_is_no_session(mira: Persona, scripted: Script) -> None:
    async with Page(None, mira) as page:
        assert await page.closing() == 4401


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://testserver:81", "http://testserver.evil.com"]
)
async def test_a_foreign_origin_is_refused(mira: Persona, scripted: Script, origin: str) -> None:
    async with Page(mira.owner, mira, origin=origin) as page:
        assert page.accepted is False


async def test_the_end_of_a_session_starts_a_new_one(mira: Persona, scripted: Script) -> None:
    async with Page(mira.owner, mira) as page:
        await page.say("Bye.")
        await page.until("chat.message.done")
        await page.send(type="close_session")
        await page.until("chat.session.closing", reason="explicit")
        await page.send(type="close_session")
        await page.until("error", code="nothing_open")
        await page.say("Hello again.")
        await page.until("chat.session.boundary")
        await page.until("chat.message.done")
    statuses = await rows(Session.objects.order_by("id").values_list("status", flat=True))
    assert statuses == ["closing", "open"]


async def test_a_session_that_is_closed_while_a_reply_runs_still_gets_it(mira: Persona, scripted: Script) -> None:
    scripted.hold()
    async with Page(mira.owner, mira) as page:
        await page.say("One more thing")
        await page.until("chat.message.token")
        await page.send(type="close_session")
        await page.until("chat.session.closing")
        scripted.go()
        await page.until("chat.message.done")
    sessions = await rows(Message.objects.values_list("session__status", flat=True))
    assert sessions == ["closing", "closing"]


async def test_closing_the_tab_does_not_stop_the_reply(mira: Persona, scripted: Script) -> None:
    scripted.says("All of it, to the end.")
    scripted.hold()
    async with Page(mira.owner, mira) as page:
        await page.say("Go on without me.")
        await page.until("chat.message.token")
    scripted.go()
    async with Page(mira.owner, mira) as later:
        await later.until("chat.connection.ready")
        await later.send(type="resume", after=0)
        done = await later.until("chat.message.done")
    assert done["data"]["content"] == "All of it, to the end."


async def test_signing_out_closes_the_socket(mira: Persona, scripted: Script, settings: Any) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.heartbeat_seconds": 0.1}
    async with Page(mira.owner, mira) as page:
        await page.until("chat.connection.heartbeat")
        mira.owner.is_active = False
        await in_thread(mira.owner.save)
        assert await page.closing() == 4401


async def test_words_of_every_kind_are_kept_as_they_are(mira: Persona, scripted: Script) -> None:
    """Check 23."""
    kinds = [
        "👩‍👩‍👧",
        "Z̸͖̈a̶l̵g̷o",
        "\u202eabc",
        "\ufeffbom",
        "a\u2028b",
        "   ",
        "\n" * 1000,
        "猫สวัสดีمرحبا",
        "字" * 20_000,
    ]
    async with Page(mira.owner, mira) as page:
        for words in kinds:
            await page.say(words)
            await page.until("chat.message.user_appended")
        await page.until("chat.message.done")
    assert await rows(Message.objects.filter(role="user").order_by("id").values_list("content", flat=True)) == kinds
