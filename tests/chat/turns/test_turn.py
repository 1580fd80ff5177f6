"""The life of a turn in the database."""

import os
from datetime import timedelta

import pytest
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Message, Session, Turn
from chat.sessions import close
from chat.turns import turn
from echovessel.jobs import lease
from echovessel.outbox.models import OutboxEvent
from persona.models import Persona

pytestmark = pytest.mark.django_db


def say(persona: Persona, words: str) -> Message:
    return receive_message(persona, words, None, "web", timezone.now()).message


def test_one_turn_of_a_persona_runs_at_a_time(mira: Persona) -> None:
    now = timezone.now()
    say(mira, "first")
    running = turn.claim(mira.pk, now)
    assert running is not None
    say(mira, "second")
    assert turn.claim(mira.pk, now) is None
    assert turn.finish(running, "reply", stopped=False, first_token_at=now, xray={}, now=now)
    assert turn.claim(mira.pk, now) is not None


def test_a_reply_is_stored_once_and_only_by_its_holder(mira: Persona) -> None:
    now = timezone.now()
    say(mira, "hello")
    running = turn.claim(mira.pk, now)
    assert running is not None
    assert turn.finish(running, "reply", stopped=False, first_token_at=now, xray={}, now=now)
    assert not turn.finish(running, "again", stopped=False, first_token_at=now, xray={}, now=now)
    assert not turn.fail(running, "internal", "", now)
    assert Message.objects.filter(role="persona").count() == 1


def test_a_lapsed_lease_makes_the_turn_failed_and_retryable(mira: Persona) -> None:
    now = timezone.now()
    say(mira, "hello")
    running = turn.claim(mira.pk, now)
    assert running is not None
    turn.renew(running, "half a rep", now)
    assert turn.abandon(now + timedelta(seconds=9)) == 0
    assert turn.abandon(now + timedelta(seconds=11)) == 1
    running.refresh_from_db()
    assert (running.status, running.error, running.partial) == ("failed", "internal", "half a rep")
    assert not turn.finish(running, "late", stopped=False, first_token_at=now, xray={}, now=now)
    assert OutboxEvent.objects.filter(name="chat.turn.failed").get().data["partial"] == "half a rep"
    assert turn.retry(mira, running.uuid)
    assert not turn.retry(mira, running.uuid)
    assert turn.claim(mira.pk, now) == running


def test_a_server_known_to_be_dead_is_not_waited_for(mira: Persona) -> None:
    now = timezone.now()
    say(mira, "hello")
    running = turn.claim(mira.pk, now)
    Turn.objects.update(holder=f"{lease.HOST}:{_dead_pid()}:abcd")
    assert running is not None
    assert turn.abandon(now) == 1


def test_a_late_server_of_this_machine_gets_more_time_than_one_elsewhere(mira: Persona) -> None:
    now = timezone.now()
    for host, seconds_after_lease, abandoned in (("elsewhere", 1, 1), (lease.HOST, 1, 0), (lease.HOST, 61, 1)):
        say(mira, "hello")
        running = turn.claim(mira.pk, now)
        assert running is not None
        Turn.objects.filter(pk=running.pk).update(holder=f"{host}:{os.getppid()}:abcd")
        late = now + timedelta(seconds=10 + seconds_after_lease)
        assert turn.abandon(late, alive_keys={running.pk}) == 0
        assert turn.abandon(late) == abandoned, (host, seconds_after_lease)
        turn.abandon(now + timedelta(days=1))


def test_nobody_retries_the_turn_of_another(mira: Persona, otto: Persona) -> None:
    now = timezone.now()
    say(mira, "hello")
    running = turn.claim(mira.pk, now)
    assert running is not None
    turn.fail(running, "timeout", "", now)
    assert not turn.retry(otto, running.uuid)


def test_a_session_that_grew_long_closes_with_its_turn(mira: Persona, settings: object) -> None:
    settings.KNOBS = {"chat.longest_session_messages": 10}  # type: ignore[attr-defined]
    for number in range(9):
        say(mira, f"line {number}")
    running = turn.claim(mira.pk, timezone.now())
    assert running is not None
    turn.finish(running, "reply", stopped=False, first_token_at=None, xray={}, now=timezone.now())
    session = Session.objects.get()
    assert (session.status, session.close_reason, session.message_count) == ("closing", "length", 10)


def test_idle_sessions_close_and_lively_ones_do_not(mira: Persona, otto: Persona) -> None:
    now = timezone.now()
    say(mira, "hello")
    say(otto, "hello")
    running = turn.claim(otto.pk, now)
    assert running is not None
    turn.finish(running, "reply", stopped=False, first_token_at=now, xray={}, now=now)
    assert close.close_idle(now + timedelta(minutes=29)) == 0
    assert close.close_idle(now + timedelta(minutes=31)) == 1, "mira's line still waits for its reply"
    assert Session.objects.get(persona=otto).close_reason == "idle"
    assert close.close_idle(now + timedelta(minutes=31)) == 0


def test_failures_are_told_in_the_language_of_the_session() -> None:
    assert "safe" in turn.words_for("timeout", "en")
    assert turn.words_for("unheard of", "en") == turn.words_for("internal", "en")


def _dead_pid() -> int:
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return pid
