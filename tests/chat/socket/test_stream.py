"""The event stream for programs: the same frames as the socket, over real HTTP, none lost and none twice."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from chat.messages import receive_message
from chat.sessions import close
from chat.socket import sse, stream
from chat.turns import runner
from echovessel.api import tokens
from echovessel.api.tokens import bearer
from echovessel.api.tokens.secret import create, revoke
from echovessel.outbox import events
from echovessel.outbox.events import Frame
from echovessel.outbox.models import OutboxEvent
from echovessel.process.threads import in_thread
from persona.models import Persona
from tests.event_listener import Listener
from tests.live_server import LiveServer
from tests.page import Page
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)

EMPTY_ROOM = "00000000-0000-4000-8000-000000000000"


def publish(persona: Persona, count: int) -> None:
    for number in range(count):
        events.publish(persona.uuid, "chat.mood.update", number=number)


def numbers(frames: list[dict[str, Any]]) -> list[int]:
    return [frame["data"]["number"] for frame in frames if frame["event"] == "chat.mood.update"]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not condition():
            await asyncio.sleep(0.01)


async def test_a_program_and_a_page_are_given_the_same_frames(mira: Persona, server: LiveServer, secret: str) -> None:
    async with Page(mira.owner, mira) as page, Listener(server.url, mira, secret) as listener:
        await listener.until("chat.connection.ready")
        await page.until("chat.connection.ready")
        await page.say("Hello")
        await listener.until("chat.message.done")
        await page.until("chat.message.done")
    assert listener.answer.headers["content-type"] == "text/event-stream"
    assert listener.answer.headers["cache-control"] == "no-cache, no-transform"
    shown = [frame for frame in page.frames if frame["event"] != "chat.connection.ready"]
    assert [frame for frame in listener.frames if frame["event"] != "chat.connection.ready"] == shown
    assert {"chat.message.token", "chat.turn.snapshot"} <= {frame["event"] for frame in shown if frame["id"] is None}


async def test_only_durable_events_move_the_readers_mark(mira: Persona, server: LiveServer, secret: str) -> None:
    async with Listener(server.url, mira, secret) as listener:
        ready = await listener.until("chat.connection.ready")
        await in_thread(receive_message, mira, "Hello", None, "web", timezone.now())
        runner.get_runner().nudge(mira.pk, at_once=True)
        await listener.until("chat.message.done")
    durable = [str(frame["id"]) for frame in listener.frames if frame["id"] is not None]
    assert listener.marks == [str(ready["data"]["last_event_id"]), *durable]


async def test_missed_events_come_first_and_none_twice(mira: Persona, server: LiveServer, secret: str) -> None:
    await in_thread(publish, mira, 3)
    first = await in_thread(lambda: OutboxEvent.objects.filter(stream=mira.uuid).order_by("id").first())
    assert first is not None
    for asked in ({"last": first.pk}, {"after": first.pk}, {"last": first.pk, "after": 0}):
        async with Listener(server.url, mira, secret, **asked) as listener:
            await listener.until("chat.mood.update", number=2)
            await in_thread(events.publish, mira.uuid, "chat.mood.update", number=3)
            await listener.until("chat.mood.update", number=3)
        assert numbers(listener.frames) == [1, 2, 3]
        await in_thread(OutboxEvent.objects.filter(data__number=3).delete)


async def test_reading_after_zero_sends_all_stored_events_and_without_a_mark_new_ones_only(
    mira: Persona, server: LiveServer, secret: str
) -> None:
    await in_thread(publish, mira, 2)
    async with Listener(server.url, mira, secret, after=0) as all_of_it, Listener(server.url, mira, secret) as new:
        await new.until("chat.connection.ready")
        await in_thread(events.publish, mira.uuid, "chat.mood.update", number=2)
        await all_of_it.until("chat.mood.update", number=2)
        await new.until("chat.mood.update", number=2)
    assert (numbers(all_of_it.frames), numbers(new.frames)) == ([0, 1, 2], [2])


async def test_a_reader_who_left_before_the_first_event_resumes_without_loss(
    mira: Persona, server: LiveServer, secret: str
) -> None:
    async with Listener(server.url, mira, secret) as before:
        await before.until("chat.connection.ready")
    await in_thread(publish, mira, 2)
    async with Listener(server.url, mira, secret, last=before.marks[-1]) as after:
        await after.until("chat.mood.update", number=1)
    assert numbers(after.frames) == [0, 1]


async def test_at_the_seam_of_replay_and_live_nothing_is_lost_or_doubled(
    mira: Persona, server: LiveServer, secret: str, monkeypatch: Any
) -> None:
    """Something happens at every step of joining: when it was subscribed, when the end was read, between rows."""
    await in_thread(publish, mira, 1)
    count = [1]

    def meanwhile(function: Any) -> Any:
        def call(*args: Any) -> Any:
            events.publish(mira.uuid, "chat.mood.update", number=count[0])
            count[0] += 1
            result = function(*args)
            events.publish(mira.uuid, "chat.mood.update", number=count[0])
            count[0] += 1
            return result

        return call

    last_id, after = events.last_id, events.after
    monkeypatch.setattr(events, "last_id", lambda *args: meanwhile(last_id)(*args) if args else last_id())
    monkeypatch.setattr(events, "after", lambda *args: meanwhile(after)(*args) if args[1:] else after(*args))
    async with Listener(server.url, mira, secret, after=0) as listener:
        await listener.until("chat.mood.update", number=4)
        monkeypatch.undo()
        await in_thread(events.publish, mira.uuid, "chat.mood.update", number=-1)
        await listener.until("chat.mood.update", number=-1)
    assert numbers(listener.frames) == [*range(count[0]), -1]


async def test_a_reader_who_connects_during_a_reply_receives_all_of_it_once(
    mira: Persona, server: LiveServer, scripted: Script, secret: str
) -> None:
    scripted.says("One two three four.")
    scripted.hold()
    async with Listener(server.url, mira, secret) as first:
        await first.until("chat.connection.ready")
        await in_thread(receive_message, mira, "Count.", None, "web", timezone.now())
        runner.get_runner().nudge(mira.pk, at_once=True)
        await first.until("chat.message.token")
        async with Listener(server.url, mira, secret) as second:
            snapshot = await second.until("chat.turn.snapshot")
            scripted.go()
            done = await second.until("chat.message.done")
    text = snapshot["data"]["text"] + "".join(
        frame["data"]["delta"] for frame in second.frames if frame["event"] == "chat.message.token"
    )
    assert text == done["data"]["content"] == "One two three four."


async def test_a_reader_whose_mark_expired_is_notified_once_and_continues(
    mira: Persona, server: LiveServer, secret: str
) -> None:
    await in_thread(publish, mira, 2)
    seen = await in_thread(events.last_id, mira.uuid)
    await in_thread(publish, mira, 1)
    await in_thread(OutboxEvent.objects.filter(pk=seen).delete)
    async with Listener(server.url, mira, secret, last=seen) as listener:
        await listener.until("error", code="too_old")
        await in_thread(events.publish, mira.uuid, "chat.mood.update", number=9)
        await listener.until("chat.mood.update")
    assert numbers(listener.frames) == [9]
    async with Listener(server.url, mira, secret, last=listener.marks[0]) as again:
        await again.until("chat.mood.update", number=9)
    assert [frame["event"] for frame in again.frames] == ["chat.connection.ready", "chat.mood.update"]


async def test_a_slow_reader_gets_every_durable_event_and_the_queue_stays_small(
    mira: Persona, scripted: Script, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"outbox.queue_length": 16}
    frames = stream.follow(mira, None)
    assert (await anext(frames)).event == "chat.connection.ready"
    reading = asyncio.ensure_future(anext(frames))
    await in_thread(publish, mira, 1)
    assert (await reading).data == {"number": 0}
    for number in range(1, 101):
        await in_thread(events.publish, mira.uuid, "chat.mood.update", number=number)
        events.get_hub().broadcast(mira.uuid, Frame("chat.connection.heartbeat", {}, timezone.now()))
    await events.get_hub().catch_up()
    (subscription,) = events.get_hub()._subscriptions[mira.uuid]
    assert len(subscription._frames) <= 16
    given = [0]
    while given[-1] != 100:
        frame = await anext(frames)
        given += [frame.data["number"]] if frame.id else []
    assert given == list(range(101))
    await frames.aclose()


def test_only_a_token_that_directly_follows_the_last_one_is_new() -> None:
    def token(turn: str, seq: int) -> Frame:
        return Frame("chat.message.token", {"turn_id": turn, "seq": seq}, timezone.now())

    def snapshot(turn: str, seq: int) -> Frame:
        return Frame("chat.turn.snapshot", {"turn_id": turn, "seq": seq}, timezone.now())

    seen = stream.SeenFrames(0)
    given = [token("a", 1), token("a", 1), snapshot("a", 3), token("a", 3), token("a", 4), token("a", 6)]
    assert [seen.is_new(frame) for frame in given] == [True, False, True, False, True, False]
    assert not seen.is_new(token("b", 2)), "its beginning was missed"
    assert seen.is_new(Frame("chat.turn.failed", {"turn_id": "a"}, timezone.now(), 7))
    assert not seen.is_new(token("a", 5))
    assert [seen.is_new(frame) for frame in (snapshot("a", 0), token("a", 1))] == [True, True]


async def test_silence_is_filled_with_heartbeats(mira: Persona, server: LiveServer, secret: str, settings: Any) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.stream_beat_seconds": 0.02}
    async with Listener(server.url, mira, secret) as listener:
        await listener.until("chat.connection.ready")
        waiting = asyncio.ensure_future(listener.until("chat.mood.update"))
        await until(lambda: listener.comments >= 3)
        await in_thread(publish, mira, 1)
        await waiting


async def test_a_stream_that_breaks_ends_without_anybodys_words(
    mira: Persona, server: LiveServer, secret: str, monkeypatch: Any, caplog: pytest.LogCaptureFixture
) -> None:
    word = "".join(["Rose", "bud"])

    def stumble(*_args: Any) -> bool:
        raise ValueError(word)

    monkeypatch.setattr(stream.SeenFrames, "is_new", stumble)
    async with Listener(server.url, mira, secret) as listener:
        await listener.until("chat.connection.ready")
        await in_thread(publish, mira, 1)
        with pytest.raises(StopAsyncIteration):
            await listener.next()
    assert "ValueError" in caplog.text
    assert word not in caplog.text


@pytest.mark.parametrize("ending", ["revoked", "deactivated", "signed out", "forgotten"])
async def test_the_stream_ends_with_the_login_the_token_or_the_persona(
    mira: Persona, server: LiveServer, settings: Any, ending: str
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.stream_beat_seconds": 0.02}
    token, secret = await in_thread(create, mira.owner, "tests", timezone.now())
    client = Client()
    await in_thread(client.force_login, mira.owner)
    ways = {
        "revoked": lambda: revoke(token, timezone.now()),
        "deactivated": lambda: User.objects.update(is_active=False),
        "signed out": client.logout,
        "forgotten": lambda: Persona.objects.filter(pk=mira.pk).delete(),
    }
    key = {"cookie": client.cookies["sessionid"].value} if ending == "signed out" else {"secret": secret}
    async with Listener(server.url, mira, **key) as listener:
        await listener.until("chat.connection.ready")
        await in_thread(ways[ending])
        await listener.until("error", code="not_signed_in")
        with pytest.raises(StopAsyncIteration):
            await listener.next()
    await until(lambda: not sse._open._taken and not events.get_hub()._subscriptions)


async def test_others_and_strangers_get_a_problem_in_the_place_of_a_stream(
    mira: Persona, otto: Persona, server: LiveServer, secret: str
) -> None:
    asked: list[tuple[Any, dict[str, Any], int, str]] = [
        (otto, {"secret": secret}, 404, "not_found"),
        (EMPTY_ROOM, {"secret": secret}, 404, "not_found"),
        (mira, {}, 401, "not_signed_in"),
        (mira, {"secret": "ev_wrong"}, 401, "not_signed_in"),
        (mira, {"secret": secret, "last": "x"}, 422, "invalid"),
        (mira, {"secret": secret, "last": "-1"}, 422, "invalid"),
        (mira, {"secret": secret, "last": "9" * 400}, 422, "invalid"),
        (mira, {"secret": secret, "last": "0" * 20 + "9" * 60}, 422, "invalid"),
        (mira, {"secret": secret, "last": "0" * 20 + "9" * 5000}, 422, "invalid"),
        (mira, {"secret": secret, "after": "٣"}, 422, "invalid"),
    ]
    for persona, key, status, code in asked:
        async with Listener(server.url, persona, **key) as listener:
            problem = await listener.problem()
            assert (listener.status, problem["code"]) == (status, code), key
            assert listener.answer.headers["content-type"] == "application/problem+json"


async def test_guessing_tokens_is_locked_out(mira: Persona, server: LiveServer, secret: str, settings: Any) -> None:
    codes = []
    for _guess in range(settings.AXES_FAILURE_LIMIT + 1):
        async with Listener(server.url, mira, "ev_guess") as listener:
            codes.append((listener.status, (await listener.problem())["code"]))
    assert codes[-1] == (429, "locked_out")
    assert int(listener.answer.headers["retry-after"]) > 0
    bearer.forget_failures()


async def test_one_person_may_keep_only_so_many_streams_open(
    mira: Persona, otto: Persona, server: LiveServer, secret: str, settings: Any
) -> None:
    settings.KNOBS = settings.KNOBS | {"chat.streams_per_owner": 2}
    _token, bens = await in_thread(create, otto.owner, "tests", timezone.now())
    async with Listener(server.url, mira, secret) as one, Listener(server.url, mira, secret):
        await one.until("chat.connection.ready")
        async with Listener(server.url, mira, secret) as refused, Listener(server.url, otto, bens) as other:
            assert (refused.status, (await refused.problem())["code"]) == (429, "too_many_streams")
            await other.until("chat.connection.ready")
    await until(lambda: not sse._open._taken)
    async with Listener(server.url, mira, secret) as again:
        await again.until("chat.connection.ready")


async def test_a_reader_that_hangs_up_leaves_nothing_behind(mira: Persona, server: LiveServer, secret: str) -> None:
    async with Listener(server.url, mira, secret) as listener:
        await listener.until("chat.connection.ready")
        assert events.get_hub()._subscriptions
    await until(lambda: not events.get_hub()._subscriptions and not sse._open._taken and not server.calls)


async def test_a_login_of_the_page_opens_it_too(mira: Persona, server: LiveServer) -> None:
    client = Client()
    await in_thread(client.force_login, mira.owner)
    async with Listener(server.url, mira, cookie=client.cookies["sessionid"].value) as listener:
        await listener.until("chat.connection.ready")
        session = (await in_thread(receive_message, mira, "Hello", None, "web", timezone.now())).message.session
        await in_thread(close.close, session, "explicit", timezone.now())
        await listener.until("chat.session.closing")
    assert await in_thread(tokens.owner_of, client.cookies["sessionid"].value, timezone.now()) is None
