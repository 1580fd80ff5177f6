"""The database is busy, a task breaks, a server sends half a character: nothing said is lost, no page goes deaf."""

import asyncio
import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.db.utils import InterfaceError
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Message, Turn
from chat.prompt import assemble
from chat.socket import stream
from chat.turns import runner, turn
from echovessel.outbox import events
from echovessel.outbox.models import OutboxEvent
from echovessel.process.threads import in_thread
from persona.models import CoreBlock, Persona
from tests.page import Page
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)


def failing_once(function: Any, error: Exception) -> Any:
    """`function`, but the first call fails."""
    left = [error]

    def call(*args: Any, **kwargs: Any) -> Any:
        if left:
            raise left.pop()
        return function(*args, **kwargs)

    return call


async def test_a_reply_that_could_not_be_stored_at_once_is_stored_later(
    mira: Persona, scripted: Script, monkeypatch: Any
) -> None:
    monkeypatch.setattr(turn, "finish", failing_once(turn.finish, OperationalError("database is locked")))
    monkeypatch.setattr(runner, "PAUSES", (0.01, 0.01))
    scripted.says("I will be kept.")
    async with Page(mira.owner, mira) as page:
        await page.say("Hello")
        done = await page.until("chat.message.done")
        assert done["data"]["content"] == "I will be kept."
        await asyncio.sleep(0.1)
        assert runner.get_runner().snapshot(mira.uuid) is None


async def test_a_reply_outlives_a_lease_that_a_busy_machine_let_lapse(mira: Persona, scripted: Script) -> None:
    scripted.hold()
    scripted.says("I was only late.")
    async with Page(mira.owner, mira) as page:
        await page.say("Hello")
        await page.until("chat.message.token")
        much_later = timezone.now() + timedelta(minutes=5)
        await in_thread(runner.abandon_dead, much_later)  # as a page that loads does, and the sweeper
        scripted.go()
        done = await page.until("chat.message.done")
        assert done["data"]["content"] == "I was only late."
        await asyncio.sleep(0.1)
        assert await in_thread(turn.abandon, much_later) == 0


async def test_a_reply_that_can_never_be_stored_leaves_no_ghost(
    mira: Persona, scripted: Script, monkeypatch: Any
) -> None:
    def broken(*_args: Any, **_kwargs: Any) -> None:
        raise OperationalError("disk full")

    monkeypatch.setattr(turn, "finish", broken)
    monkeypatch.setattr(runner, "PAUSES", (0.01,))
    async with Page(mira.owner, mira) as page:
        await page.say("Hello")
        await page.until("chat.message.token")
        await asyncio.sleep(0.5)
        assert runner.get_runner().snapshot(mira.uuid) is None
        running = await in_thread(lambda: Turn.objects.get())
        assert running.status == "running"
        assert await in_thread(turn.abandon, timezone.now() + timedelta(seconds=60)) == 1
        await page.until("chat.turn.failed")


async def test_one_failed_renewal_does_not_cost_the_turn(
    mira: Persona, scripted: Script, settings: Any, monkeypatch: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.lease_seconds": 0.3, "chat.sweep_seconds": 0.1}
    monkeypatch.setattr(turn, "renew", failing_once(turn.renew, OperationalError("database is locked")))
    scripted.says("A slow reply.")
    scripted.hold()
    async with Page(mira.owner, mira) as page:
        await page.say("Hello")
        await page.until("chat.message.token")
        await asyncio.sleep(1.0)
        scripted.go()
        done = await page.until("chat.message.done")
    assert done["data"]["content"] == "A slow reply."


async def test_half_a_character_is_joined_with_its_other_half(mira: Persona, scripted: Script) -> None:
    scripted.says(["moon ", "\ud83c", "\udf19", " and \ud83d alone"])
    async with Page(mira.owner, mira) as page:
        await page.say("Hello")
        done = await page.until("chat.message.done")
    assert done["data"]["content"] == "moon 🌙 and \ufffd alone"


async def test_the_tail_survives_any_fault_of_the_database(mira: Persona, scripted: Script, monkeypatch: Any) -> None:
    async with Page(mira.owner, mira) as page:
        await page.until("chat.connection.ready")
        monkeypatch.setattr(events, "after", failing_once(events.after, InterfaceError("connection already closed")))
        await asyncio.sleep(0.2)
        await page.say("Hello")
        await page.until("chat.message.done")


async def test_a_socket_whose_task_breaks_is_closed_so_that_the_page_comes_back(
    mira: Persona, scripted: Script, monkeypatch: Any
) -> None:
    def broken(*_args: Any) -> bool:
        raise OperationalError("database is locked")

    monkeypatch.setattr(stream.SeenFrames, "is_new", broken)
    async with Page(mira.owner, mira) as page:
        await page.say("Hello")
        assert await page.closing() == 4500


async def test_pages_that_join_at_once_share_one_tail_and_leave_none(mira: Persona, scripted: Script) -> None:
    async with Page(mira.owner, mira), Page(mira.owner, mira), Page(mira.owner, mira):
        tails = [task for task in asyncio.all_tasks() if task.get_name() == "outbox-tail"]
        assert len(tails) == 1
    await asyncio.sleep(0.1)
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "outbox-tail"]


async def test_a_cancelled_socket_leaves_nothing_behind(mira: Persona, scripted: Script) -> None:
    page = Page(mira.owner, mira)
    await page.__aenter__()
    page.socket.future.cancel()
    await asyncio.sleep(0.1)
    assert not events.get_hub()._subscriptions


async def test_an_unhandled_frame_is_reported_with_its_client_id(
    mira: Persona, scripted: Script, monkeypatch: Any
) -> None:
    monkeypatch.setattr(
        "chat.messages.receive_message", failing_once(receive_message, OperationalError("database is locked"))
    )
    async with Page(mira.owner, mira) as page:
        client_id = await page.say("Hello")
        refused = await page.until("error", code="internal")
        assert refused["data"]["client_id"] == client_id
        await page.say("Hello", uuid.UUID(client_id))
        await page.until("chat.message.done")
    assert await in_thread(Message.objects.filter(role="user").count) == 1


async def test_a_bad_client_id_is_refused_in_words_that_can_be_sent(mira: Persona, scripted: Script) -> None:
    async with Page(mira.owner, mira) as page:
        await page.raw('{"type":"message","client_id":"\\ud800","content":"x"}')
        refused = await page.until("error", code="bad_frame")
        assert refused["data"]["client_id"] == "\ufffd"


async def test_a_page_that_was_away_too_long_is_told_to_load_anew(mira: Persona, scripted: Script) -> None:
    async with Page(mira.owner, mira) as page:
        await page.say("Hello")
        seen = (await page.until("chat.message.done"))["id"]
    await in_thread(OutboxEvent.objects.filter(id=seen).delete)
    async with Page(mira.owner, mira) as page:
        await page.send(type="resume", after=seen)
        await page.until("error", code="too_old")


async def test_replaying_again_and_again_is_refused(mira: Persona, scripted: Script) -> None:
    async with Page(mira.owner, mira) as page:
        for _ in range(3):
            await page.send(type="resume", after=0)
        await page.until("error", code="rate_limited")


def test_a_message_never_joins_an_older_turn_that_is_tried_again(mira: Persona) -> None:
    now = timezone.now()
    receive_message(mira, "first", None, "web", now)
    failed = turn.claim(mira.pk, now)
    assert failed is not None
    turn.fail(failed, "timeout", "", now)
    receive_message(mira, "second", None, "web", now)
    answered = turn.claim(mira.pk, now)
    assert answered is not None
    turn.finish(answered, "reply", stopped=False, first_token_at=None, xray={}, now=now)
    turn.retry(mira, failed.uuid)
    third = receive_message(mira, "third", None, "web", now).message
    assert third.turn_id not in (failed.pk, answered.pk)


@pytest.mark.parametrize("text", ["She loves the sea. " * 260, "她喜欢大海。" * 300])
def test_a_long_block_is_whole_while_there_is_room(mira: Persona, text: str) -> None:
    CoreBlock.objects.filter(persona=mira, label="persona").update(content=text)
    receive_message(mira, "hello", None, "web", timezone.now())
    claimed = turn.claim(mira.pk, timezone.now())
    assert claimed is not None
    assert text.strip() in assemble.assemble(claimed, timezone.now()).system


async def test_a_fault_is_logged_without_anybodys_words(
    mira: Persona, scripted: Script, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    secret = "".join(["Rose", "bud"])  # the trace shows lines of code, and this test's would hold the word

    def stumble(*_args: Any) -> None:
        raise ValueError(secret)

    monkeypatch.setattr(assemble, "assemble", stumble)
    async with Page(mira.owner, mira) as page:
        await page.say(secret)
        await page.until("chat.turn.failed", code="internal")
    assert "ValueError" in caplog.text
    assert secret not in caplog.text
