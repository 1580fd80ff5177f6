"""That she is an AI is said at the start of a talk and every few hours of it, the same live and loaded anew."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from chat import views
from chat.care import flags
from chat.care.flags import OwnerSpan, is_notice_due
from chat.messages import add_message, as_event, receive_message
from chat.models import Message, Session
from echovessel.outbox.models import OutboxEvent
from persona.models import Persona

NOON = datetime(2026, 3, 8, 12, tzinfo=UTC)


def after(hours: float) -> datetime:
    return NOON + timedelta(hours=hours)


def test_when_the_notice_stands() -> None:
    hours = (0, 1, 2.99, 3, 3.01, 5.99, 7, 9.5)
    due, before = [], None
    for hour in hours:
        due.append(is_notice_due(after(hour), before))
        before = OwnerSpan(NOON, after(hour))
    assert due == [True, False, False, True, False, False, True, True]


def test_notices_are_at_most_three_hours_apart() -> None:
    """A line every ten minutes for a day, from any minute on."""
    for start in range(0, 60, 7):
        first = NOON + timedelta(minutes=start)
        times = [first + timedelta(minutes=10 * number) for number in range(144)]
        shown = [at for before, at in itertools.pairwise(times) if is_notice_due(at, OwnerSpan(first, before))]
        assert all(later - earlier <= timedelta(hours=3) for earlier, later in itertools.pairwise([first, *shown]))


def lived(persona: Persona, hours: tuple[float, ...]) -> list[bool]:
    """Whether each line came with the notice, as the stream told it."""
    for hour in hours:
        receive_message(persona, f"at {hour}", None, "web", after(hour))
    events = OutboxEvent.objects.filter(name="chat.message.user_appended").order_by("id")
    return [data.get("ai_notice", False) for data in events.values_list("data", flat=True)]


@pytest.mark.django_db
def test_the_page_says_the_same_live_and_loaded_anew(mira: Persona, client: Client, monkeypatch: Any) -> None:
    hours = (0, 0.01, 0.02, 2.9, 3.1, 3.2, 6.5, 6.6)
    due = [True, False, False, False, True, False, True, False]
    assert lived(mira, hours) == due
    messages = list(Message.objects.select_related("session", "persona", "turn"))
    assert [as_event(message).get("ai_notice", False) for message in messages] == due
    for size in (2, 3, 60):
        monkeypatch.setattr(views, "PAGE", size)
        found: list[bool] = []
        newest: Message | None = None
        while True:
            earlier = Message.objects.filter(persona=mira)
            page = views._page(mira, earlier.before(newest) if newest else earlier)
            shown = [line for line in page.lines if line.kind == "message"]
            found = [line.ai_notice for line in shown] + found
            newest = Message.objects.get(uuid=str(shown[0].uuid))
            if page.older is None:
                break
        assert found == due, size
    client.force_login(mira.owner)
    assert client.get(f"/chat/{mira.uuid}/").content.decode().count('class="ai-notice"') >= 3


@pytest.mark.django_db
def test_a_new_session_begins_with_the_notice(mira: Persona) -> None:
    assert lived(mira, (0, 0.1)) == [True, False]
    Session.objects.update(status="closed")
    assert lived(mira, (1, 1.1))[2:] == [True, False]


@pytest.mark.django_db
def test_after_a_first_word_of_hers_the_first_answer_carries_it(mira: Persona) -> None:
    session = Session.objects.create(persona=mira, started_at=NOON, last_message_at=NOON)
    add_message(session, Message.Role.PERSONA, "Good morning.", NOON)
    assert lived(mira, (2.9, 3.1, 6)) == [True, False, True], "counted from the user's own first line"


@pytest.mark.django_db
def test_a_message_soon_after_a_notice_needs_no_query(mira: Persona, django_assert_num_queries: Any) -> None:
    lived(mira, (0, 0.1))
    session = Session.objects.get()
    with django_assert_num_queries(0):
        assert not flags.is_notice_due_in(session, after(1))


@pytest.mark.django_db
def test_imported_sessions_have_no_notice(mira: Persona) -> None:
    lived(mira, (0,))
    Session.objects.update(import_uuid=mira.uuid)
    assert flags.ids_with_notice(list(Message.objects.select_related("session")), is_whole=True) == set()


@pytest.mark.django_db
def test_how_often_is_a_knob(mira: Persona, settings: Any) -> None:
    settings.KNOBS = {"care.ai_notice_hours": 1}
    assert lived(mira, (0, 0.5, 1.5, 1.6, 2.5)) == [True, False, True, False, True]
