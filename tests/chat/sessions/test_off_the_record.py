"""A talk off the record: begun and ended from any page, shown to itself alone, and gone with every trace."""

import uuid
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone

from chat.messages import receive_message
from chat.models import Message, Session, Turn
from chat.prompt import assemble
from chat.sessions import close, off_the_record
from chat.turns import turn
from echovessel.outbox.models import OutboxEvent
from echovessel.process.threads import in_thread
from memory import tasks
from memory.models import ConceptNode, Extraction, ModelReply
from persona.models import Persona
from tests.page import Page
from tests.scripted import Script

pytestmark = pytest.mark.django_db(transaction=True)

SECRET = "I am afraid of the lighthouse keeper"


def answered(persona: Persona, words: str, **values: Any) -> Turn:
    """A line and its reply, with an x-ray that quotes it."""
    now = timezone.now()
    receive_message(persona, words, None, "web", now, **values)
    claimed = turn.claim(persona.pk, now)
    assert claimed is not None
    turn.finish(claimed, f"About {words}", stopped=False, first_token_at=now, xray={"query": words}, now=now)
    return claimed


def every_word_of_the_database() -> str:
    """All rows of all tables, those that indexes keep included, as text."""
    found = []
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%'")
        for [table] in cursor.fetchall():
            cursor.execute(f'SELECT * FROM "{table}"')
            found.append(f"{table}: {cursor.fetchall()}")
    return "\n".join(found)


def consolidated() -> list[str]:
    return [
        tasks.consolidate_session(session.pk) for session in Session.objects.filter(status="closing").order_by("id")
    ]


async def test_pages_agree_on_what_is_off_the_record(mira: Persona, scripted: Script) -> None:
    async with Page(mira.owner, mira) as left, Page(mira.owner, mira) as right:
        for tab in (left, right):
            await tab.until("chat.connection.ready")
        await left.say("Good morning.")
        await left.until("chat.message.done")
        await right.send(type="off_the_record", on=True)
        for tab in (left, right):
            await tab.until("chat.session.closing", reason="explicit")
            begun = await tab.until("chat.session.off_the_record", on=True)
        await left.say(SECRET)
        line = await right.until("chat.message.user_appended", content=SECRET)
        assert line["data"]["off_the_record"] is True
        assert line["data"]["session_id"] == begun["data"]["session_id"]
        reply = await right.until("chat.message.done", off_the_record=True)
        assert reply["data"]["session_id"] == begun["data"]["session_id"]
        await left.send(type="off_the_record", on=False)
        for tab in (left, right):
            await tab.until("chat.session.off_the_record", on=False)
        assert await in_thread(consolidated) == ["trivial", "deleted"]
        for tab in (left, right):
            await tab.until("chat.session.erased", session_id=begun["data"]["session_id"])
    assert SECRET not in await in_thread(every_word_of_the_database)


async def test_asking_twice_changes_nothing_and_is_answered(mira: Persona, scripted: Script) -> None:
    async with Page(mira.owner, mira) as page:
        await page.send(type="off_the_record", on=False)
        await page.until("chat.session.off_the_record", on=False)
        for _ in range(3):
            await page.send(type="off_the_record", on=True)
            await page.until("chat.session.off_the_record", on=True)
        await page.send(type="off_the_record")
        await page.until("error", code="bad_frame")
    assert await in_thread(Session.objects.filter(off_the_record=True).count) == 1


async def test_a_message_meant_off_the_record_never_gets_on_it(mira: Persona, scripted: Script) -> None:
    """Its talk may have ended by resting while the line was written."""
    async with Page(mira.owner, mira) as page:
        await page.say("This may be kept.")
        await page.until("chat.message.done")
        await page.send(type="message", client_id=str(uuid.uuid4()), content=SECRET, off_the_record=True)
        await page.until("chat.session.off_the_record", on=True)
        await page.until("chat.message.user_appended", content=SECRET, off_the_record=True)
        await page.until("chat.message.done")
    sessions = await in_thread(lambda: list(Session.objects.order_by("id").values_list("status", "off_the_record")))
    assert sessions == [("closing", False), ("open", True)]


def test_it_leaves_no_trace(mira: Persona) -> None:
    off_the_record.begin(mira, "web", timezone.now())
    answered(mira, SECRET)
    failed = receive_message(mira, f"{SECRET}, again", None, "web", timezone.now()).message.turn
    claimed = turn.claim(mira.pk, timezone.now())
    assert claimed == failed
    assert claimed is not None
    turn.renew(claimed, f"half of {SECRET}", timezone.now())
    turn.fail(claimed, "timeout", f"half of {SECRET}", timezone.now())
    session = Session.objects.get()
    ModelReply.objects.create(persona=session.persona, session=session, step="extraction", number=0, text=SECRET)
    Extraction.objects.create(session=session, answer={"said": SECRET}, through=1)
    assert "lighthous" in every_word_of_the_database(), "it is all there while the talk goes on"
    assert off_the_record.end(mira, "web", timezone.now())
    assert consolidated() == ["deleted"]
    rest = every_word_of_the_database()
    assert "lighthous" not in rest
    assert [model.objects.count() for model in (Session, Turn, Message, ConceptNode)] == [0, 0, 0, 0]


def test_it_is_shown_to_itself_alone(mira: Persona) -> None:
    answered(mira, "The sea was calm.")
    off_the_record.begin(mira, "web", timezone.now())
    answered(mira, SECRET)
    within = receive_message(mira, "And more.", None, "web", timezone.now()).message.turn
    assert within is not None
    inside = assemble.assemble(within, timezone.now()).user
    assert SECRET in inside
    assert "The sea was calm." in inside
    turn.claim(mira.pk, timezone.now())
    off_the_record.end(mira, "web", timezone.now())
    Turn.objects.filter(pk=within.pk).update(status="done")
    outside = receive_message(mira, "Hello again.", None, "web", timezone.now()).message.turn
    elsewhere = receive_message(mira, "Hello from elsewhere.", None, "phone", timezone.now()).message.turn
    for later in (outside, elsewhere):
        assert later is not None
        made = assemble.assemble(later, timezone.now())
        assert SECRET not in made.user + made.system + str(made.xray)
        assert "The sea was calm." in made.user


def test_off_the_record_ends_when_the_session_is_closed_or_idle(mira: Persona, otto: Persona) -> None:
    now = timezone.now()
    for persona in (mira, otto):
        off_the_record.begin(persona, "web", now)
        answered(persona, SECRET)
    close.close(mira.sessions.get(), "explicit", now)
    assert close.close_idle(now + timedelta(minutes=31)) == 1
    assert OutboxEvent.objects.filter(name="chat.session.off_the_record", data__on=False).count() == 2
    assert consolidated() == ["deleted", "deleted"]


def test_an_empty_session_off_the_record_is_deleted(mira: Persona) -> None:
    off_the_record.begin(mira, "web", timezone.now())
    off_the_record.end(mira, "web", timezone.now())
    assert consolidated() == ["deleted"]
    assert not off_the_record.end(mira, "web", timezone.now())


def test_a_long_session_off_the_record_is_not_closed_for_its_length(mira: Persona, settings: Any) -> None:
    settings.KNOBS = {"chat.longest_session_messages": 10}
    off_the_record.begin(mira, "web", timezone.now())
    for number in range(6):
        answered(mira, f"line {number}")
    session = Session.objects.get()
    assert (session.status, session.message_count) == ("open", 12)


def test_nobody_takes_the_session_of_another_off_the_record(mira: Persona, otto: Persona, ben: User) -> None:
    answered(mira, "This may be kept.")
    off_the_record.begin(otto, "web", timezone.now())
    assert not mira.sessions.filter(off_the_record=True).exists()
    assert mira.sessions.get().status == "open"


def test_a_reload_shows_it_as_it_is(mira: Persona, client: Client) -> None:
    client.force_login(mira.owner)
    answered(mira, "This may be kept.")
    session = off_the_record.begin(mira, "web", timezone.now())
    answered(mira, SECRET)
    page = client.get(f"/chat/{mira.uuid}/").content.decode()
    assert f'data-off-record="{session.uuid}"' in page
    assert page.count(f'data-off-record="{session.uuid}" data-testid="message') == 2
    assert 'id="off-record" data-testid="off-record" aria-pressed="true"' in page
    off_the_record.end(mira, "web", timezone.now())
    assert "being deleted" in client.get(f"/chat/{mira.uuid}/").content.decode()
    consolidated()
    after = client.get(f"/chat/{mira.uuid}/").content.decode()
    assert SECRET not in after
    assert 'aria-pressed="true"' not in after


@pytest.mark.parametrize(
    ("waiting_for", "words"),
    [
        ("provider", "Conversation ended · remembering later: the model cannot be reached"),
        ("budget", "Conversation ended · remembering later: today&#x27;s budget is used up; it continues tomorrow"),
        ("", "Conversation ended · remembering…"),
    ],
)
def test_a_waiting_session_shows_its_reason(mira: Persona, client: Client, waiting_for: str, words: str) -> None:
    client.force_login(mira.owner)
    answered(mira, "This may be kept.")
    Session.objects.update(status="closing", waiting_for=waiting_for)
    page = client.get(f"/chat/{mira.uuid}/").content.decode()
    assert f"<span data-rule-label>{words}</span>" in page
