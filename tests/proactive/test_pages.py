"""The owner's page of reaching out, the account of a first word, and what the desk shows of both."""

import datetime as dt
import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from chat.models import Message, Session, Turn
from memory.models import ConceptNode
from persona.models import Persona
from proactive.models import Consideration, Outreach, ReachingOut
from proactive.models.consideration import Gate
from proactive.models.outreach import Trigger
from proactive.presenters import calendar as presenters_calendar
from proactive.presenters import decisions
from proactive.presenters.reasons import HELD_BACK, SPOKE, WHY_NOW
from tests.echovessel.conftest import given, signed_in

pytestmark = pytest.mark.django_db

# Noon in Shanghai, where Ana's clock hangs.
NOON = dt.datetime(2026, 11, 20, 4, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
ALLOWED = {"enabled": "on", "quiet_start": "22", "quiet_end": "8", "max_per_24h": "2"}


@pytest.fixture
def anas(ana: User) -> Client:
    """Ana's browser."""
    return signed_in(ana)


@pytest.fixture
def curator(db: None) -> Client:
    """A superuser's browser."""
    return signed_in(User.objects.create_superuser("cora", password="a long word for cora"))


def page_of(persona: Persona) -> str:
    return f"/chat/{persona.uuid}/reaching-out/"


def held(persona: Persona, at: dt.datetime, gate: str, **fields: Any) -> Consideration:
    """It was considered for an hour, and a gate refused."""
    given = {"day": at.astimezone(persona.zone).date(), "verdict": "refuse", "gate": gate, "first_at": at - HOUR}
    return Consideration.objects.create(persona=persona, at=at, **(given | {"times": 60} | fields))


def wrote(persona: Persona, at: dt.datetime, trigger: str = "promise", **fields: Any) -> Outreach:
    """It was decided on, and by default said."""
    given = {"status": "delivered", "delivered_at": at, "wanted_at": at, "trigger_key": f"{trigger}:{uuid4()}"}
    outreach = Outreach.objects.create(persona=persona, trigger=trigger, **(given | fields))
    day = at.astimezone(persona.zone).date()
    Consideration.objects.create(
        persona=persona, day=day, verdict="send", trigger=trigger, first_at=at, at=at, outreach=outreach
    )
    return outreach


def first_word(persona: Persona, words: str, **why_now: Any) -> Turn:
    """A line of hers that nobody had asked for."""
    now = timezone.now()
    talk = Session.objects.create(persona=persona, started_at=now, last_message_at=now)
    turn = Turn.objects.create(
        session=talk, persona=persona, status="done", spoke_first=True, xray={"why_now": why_now} if why_now else {}
    )
    Message.objects.create(
        session=talk, persona=persona, turn=turn, role="persona", content=words, token_count=3,
        day=now.astimezone(persona.zone).date(), created_at=now,
    )  # fmt: skip
    return turn


# --- the switch ---------------------------------------------------------------------------------------------------


def test_it_is_off_until_the_owner_turns_it_on(anas: Client, mira: Persona) -> None:
    page = anas.get(page_of(mira)).content.decode()
    assert re.search(r'name="enabled"[^>]*checked', page) is None
    assert "While this is off, nothing is sent." in page
    assert not ReachingOut.objects.exists()


def test_settings_of_the_page_are_stored_and_shown(anas: Client, mira: Persona) -> None:
    answer = anas.post(page_of(mira), ALLOWED, follow=True)
    page = answer.content.decode()
    allowed = ReachingOut.objects.get(persona=mira)
    kept = (allowed.enabled, allowed.quiet_start, allowed.quiet_end, allowed.max_per_24h, allowed.push)
    assert kept == (True, 22, 8, 2, False)
    assert allowed.changed_at is not None
    assert re.search(r'name="enabled"[^>]*checked', page)
    assert '<option value="22" selected>22:00</option>' in page
    assert "Asia/Shanghai" in page
    anas.post(page_of(mira), {name: value for name, value in ALLOWED.items() if name != "enabled"})
    assert not ReachingOut.objects.get(persona=mira).enabled


def test_what_equals_the_installations_own_is_left_open_and_follows_it(
    anas: Client, mira: Persona, settings: Any
) -> None:
    anas.post(page_of(mira), ALLOWED | {"quiet_start": "23", "quiet_end": "7", "max_per_24h": "3"})
    allowed = ReachingOut.objects.get(persona=mira)
    assert (allowed.quiet_start, allowed.quiet_end, allowed.max_per_24h) == (None, None, None)
    settings.KNOBS = {"proactive.quiet_hours_start": 21}
    assert '<option value="21" selected>' in anas.get(page_of(mira)).content.decode()


@pytest.mark.parametrize(
    ("field", "value"),
    [("quiet_start", "24"), ("quiet_end", "-1"), ("quiet_end", "noon"), ("max_per_24h", "4"), ("max_per_24h", "0")],
)
def test_hours_that_are_none_and_more_than_the_installation_allows_are_refused(
    anas: Client, mira: Persona, field: str, value: str
) -> None:
    answer = anas.post(page_of(mira), ALLOWED | {field: value})
    assert answer.status_code == 422
    shown = answer.content.decode()
    assert f'aria-describedby="reaching_out_{field}_error"' in shown
    assert "Select a valid choice" in shown
    kept = {ALLOWED[name] for name in ("quiet_start", "quiet_end", "max_per_24h") if name != field}
    assert all(f'<option value="{one}" selected>' in shown for one in kept)
    assert not ReachingOut.objects.exists()


def test_a_cap_lowered_by_the_operator_holds_at_once_and_none_at_all_is_said(
    anas: Client, mira: Persona, settings: Any
) -> None:
    anas.post(page_of(mira), ALLOWED | {"max_per_24h": "2"})
    settings.KNOBS = {"proactive.max_per_24h": 1}
    assert '<option value="1" selected>1</option>' in anas.get(page_of(mira)).content.decode()
    settings.KNOBS = {"proactive.max_per_24h": 0}
    page = anas.get(page_of(mira)).content.decode()
    assert 'data-testid="not-here"' in page
    assert '<option value="0" selected>0</option>' in page


def test_the_same_hour_twice_is_taken(anas: Client, mira: Persona) -> None:
    assert anas.post(page_of(mira), ALLOWED | {"quiet_start": "0", "quiet_end": "0"}).status_code == 302
    assert (ReachingOut.objects.get().quiet_start, ReachingOut.objects.get().quiet_end) == (0, 0)


def test_a_stranger_finds_no_page_and_changes_nothing(mira: Persona, ben: User) -> None:
    browser = signed_in(ben)
    assert browser.get(page_of(mira)).status_code == 404
    assert browser.post(page_of(mira), ALLOWED).status_code == 404
    turn = first_word(mira, "How was it?", trigger="promise", about=None)
    assert browser.get(f"/chat/{mira.uuid}/turns/{turn.uuid}/why-now/").status_code == 404
    assert not ReachingOut.objects.exists()


# --- what was considered lately -----------------------------------------------------------------------------------


def test_every_reason_has_its_words() -> None:
    assert SPOKE.keys() == WHY_NOW.keys() == set(Trigger)
    assert HELD_BACK.keys() == set(Gate)


def test_days_are_told_in_the_owners_zone_newest_first(mira: Persona, remember: Any) -> None:
    promise = remember(mira, "Mira promised to ask about the exam.", kind="intention")
    wrote(mira, NOON, about_uuid=promise.uuid)
    held(mira, NOON + 3 * HOUR, "spacing")
    held(mira, NOON + 14 * HOUR, "quiet_hours")  # two in the night there, one day later
    wrote(mira, NOON - 30 * HOUR, "silence", status="failed", delivered_at=None)
    held(mira, NOON - dt.timedelta(days=20), "trigger")
    told = decisions.recent_decisions(mira, NOON + 15 * HOUR)
    assert [
        (str(day.day), [(one.is_delivered, one.about) for one in day.spoken], len(day.refusals)) for day in told
    ] == [
        ("2026-11-21", [], 1),
        ("2026-11-20", [(True, promise)], 1),
        ("2026-11-19", [(False, None)], 0),
    ]


def test_what_stayed_the_same_over_a_day_is_told_once_with_its_time(anas: Client, mira: Persona) -> None:
    now = timezone.now()
    noon = now.astimezone(mira.zone).replace(hour=12, minute=0, second=0, microsecond=0) - dt.timedelta(days=1)
    held(mira, noon, "trigger")
    held(mira, noon + 4 * HOUR, "trigger")
    held(mira, noon + 2 * HOUR, "spacing", first_at=noon + 2 * HOUR)
    page = anas.get(page_of(mira)).content.decode()
    shown = re.sub(r"<[^>]+>", "", page)
    assert "Held back: there was no reason to write (11:00–16:00); the last message was not long ago (14:00)" in shown


@pytest.mark.parametrize("state", ["hidden", "gone", "anothers"])
def test_a_memory_that_is_not_to_be_brought_to_mind_is_not_named(
    anas: Client, mira: Persona, otto: Persona, remember: Any, state: str
) -> None:
    about = remember(otto if state == "anothers" else mira, "The bees are ill.", status="active")
    wrote(mira, timezone.now(), about_uuid=about.uuid)
    turn = first_word(mira, "How are they?", trigger="shock", about=str(about.uuid))
    if state == "hidden":
        ConceptNode.objects.filter(pk=about.pk).update(status="hidden")
    elif state == "gone":
        about.delete()
    account = anas.get(f"/chat/{mira.uuid}/turns/{turn.uuid}/why-now/").content.decode()
    assert "bees" not in anas.get(page_of(mira)).content.decode() + account
    assert "forgotten or hidden since" in account


def test_the_page_takes_as_many_statements_after_a_year_as_after_a_day(anas: Client, mira: Persona) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connection) as seen:
            assert anas.get(page_of(mira)).status_code == 200
        return len(seen)

    now = timezone.now()
    held(mira, now, "trigger")
    wrote(mira, now, about_uuid=uuid4())
    few = statements()
    for days in range(30):
        held(mira, now - dt.timedelta(days=days), "quiet_hours")
        wrote(mira, now - dt.timedelta(days=days), about_uuid=uuid4())
    assert statements() == few


# --- in the talk --------------------------------------------------------------------------------------------------


def test_a_first_word_is_marked_in_the_session_and_a_reply_is_not(anas: Client, mira: Persona) -> None:
    turn = first_word(mira, "How was the exam?", trigger="promise", about=None)
    page = anas.get(f"/chat/{mira.uuid}/").content.decode().partition("<template")[0]
    assert "Mira, an AI, wrote first" in page
    assert "why now?" in page
    Turn.objects.filter(pk=turn.pk).update(spoke_first=False)
    page = anas.get(f"/chat/{mira.uuid}/").content.decode().partition("<template")[0]
    assert "wrote first" not in page
    assert "why this reply?" in page


def test_why_now_tells_the_reason_the_memory_and_what_came_to_mind(anas: Client, mira: Persona, remember: Any) -> None:
    promise = remember(mira, "Mira promised to ask about <b>the exam</b>.", kind="intention")
    turn = first_word(mira, "How was it?", trigger="promise", about=str(promise.uuid))
    account = anas.get(f"/chat/{mira.uuid}/turns/{turn.uuid}/why-now/").content.decode()
    assert "a promise of mine was due" in account
    assert "ask about &lt;b&gt;the exam&lt;/b&gt;." in account
    assert f"/memory/{mira.uuid}/nodes/{promise.uuid}/" in account
    assert 'data-testid="xray-sheet"' not in account


def test_below_the_reason_stands_what_she_was_reminded_of(anas: Client, mira: Persona, remember: Any) -> None:
    bees = remember(mira, "Ana keeps bees.")
    turn = first_word(mira, "How are the bees?", trigger="silence", about=None)
    chosen = [{"id": str(bees.uuid), "layer": "L3", "score": 0.5, "parts": {"relevance": 0.5}}]
    Turn.objects.filter(pk=turn.pk).update(xray=turn.xray | {"recollections": {"chosen": chosen}})
    account = anas.get(f"/chat/{mira.uuid}/turns/{turn.uuid}/why-now/").content.decode()
    places = [
        account.index(words) for words in ("we had not talked for a while", "What came to mind", "Ana keeps bees.")
    ]
    assert places == sorted(places)
    assert "forgotten or hidden since" not in account


def test_a_first_word_without_an_account_says_so_and_a_reply_has_none(anas: Client, mira: Persona) -> None:
    turn = first_word(mira, "Hello.")
    address = f"/chat/{mira.uuid}/turns/{turn.uuid}/why-now/"
    assert "There is no record of why I wrote." in anas.get(address).content.decode()
    Turn.objects.filter(pk=turn.pk).update(spoke_first=False)
    assert anas.get(address).status_code == 404


# --- the desk -----------------------------------------------------------------------------------------------------


def test_the_calendar_counts_by_the_owners_day(mira: Persona, otto: Persona) -> None:
    wrote(mira, NOON)
    wrote(mira, NOON, "silence", status="dropped", delivered_at=None)
    held(mira, NOON + 14 * HOUR, "quiet_hours", times=300)
    held(mira, NOON + 14 * HOUR, "trigger", times=100)
    held(otto, NOON, "cold_user", times=7)
    held(otto, dt.datetime(2026, 12, 1, 0, 30, tzinfo=dt.UTC), "cold_user", day=dt.date(2026, 12, 1))
    days = {str(day.day): day for day in presenters_calendar.month_calendar(dt.date(2026, 11, 1), mira.pk).days}
    assert len(days) == 30
    assert (days["2026-11-20"].sent, days["2026-11-20"].delivered, days["2026-11-20"].refusals) == (2, 1, [])
    assert [(one.gate, one.times, one.x, one.width) for one in days["2026-11-21"].refusals] == [
        ("quiet_hours", 300, "0.00", "75.00"),
        ("trigger", 100, "75.00", "25.00"),
    ]
    together = presenters_calendar.month_calendar(dt.date(2026, 11, 1), None)
    assert [(one.gate, one.times) for one in together.gates] == [
        ("quiet_hours", 300), ("cold_user", 7), ("trigger", 100),
    ]  # fmt: skip
    assert together.delivered == 1


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_the_edges_of_a_month_are_in_it_in_every_zone(mira: Persona, zone: str) -> None:
    mira.timezone = zone
    mira.save()
    first = dt.datetime(2026, 11, 1, 0, 0, tzinfo=mira.zone)
    last = dt.datetime(2026, 11, 30, 23, 59, tzinfo=mira.zone)
    held(mira, first, "trigger")
    held(mira, last, "trigger")
    days = presenters_calendar.month_calendar(dt.date(2026, 11, 1), None).days
    assert [day.day.day for day in days if day.refusals] == [1, 30]


@pytest.mark.parametrize(
    ("language", "first", "weeks", "square"), [("en", "Sun", 5, "2026-11-01"), ("zh-hans", "星期一", 6, "2026-10-26")]
)
def test_a_week_begins_as_the_reader_is_used_to(db: None, language: str, first: str, weeks: int, square: str) -> None:
    with translation.override(language):
        sheet = presenters_calendar.month_calendar(dt.date(2026, 11, 1), None)
        assert str(sheet.weekdays[0]) == first
    assert (len(sheet.weeks), str(sheet.weeks[0][0].day)) == (weeks, square)


@pytest.mark.parametrize(
    ("asked", "found"),
    [("2026-02", "2026-02"), ("", "2026-11"), ("2026-13", "2026-11"), ("0001-01", "2026-11"), ("9999-12", "2026-11")],
)
def test_a_month_that_is_none_is_this_one(asked: str, found: str) -> None:
    assert f"{presenters_calendar.first_day(asked, dt.date(2026, 11, 21)):%Y-%m}" == found


def test_months_lead_to_months_and_end_somewhere(db: None) -> None:
    january = presenters_calendar.month_calendar(dt.date(2027, 1, 1), None)
    assert (january.before, january.after) == ("2026-12", "2027-02")
    assert presenters_calendar.month_calendar(dt.date(2000, 1, 1), None).before == ""
    assert presenters_calendar.month_calendar(dt.date(2199, 12, 1), None).after == ""


def test_a_day_of_the_calendar_leads_to_its_list(curator: Client, mira: Persona, otto: Persona) -> None:
    ReachingOut.objects.create(persona=mira)
    held(mira, NOON, "spacing")
    held(mira, NOON - 24 * HOUR, "rate")
    held(otto, NOON, "rate")
    page = curator.get(f"/admin/proactive/consideration/calendar/?month=2026-11&persona={mira.pk}").content.decode()
    links = {link.replace("&amp;", "&") for link in re.findall(r'href="([^"]+day=2026-11-20[^"]*)"', page)}
    assert links == {f"/admin/proactive/consideration/?day=2026-11-20&persona={mira.pk}"}
    rows = curator.get(links.pop()).context_data["cl"].result_list
    assert [row.gate for row in rows] == ["spacing"]
    assert curator.get("/admin/proactive/consideration/?day=soon").status_code in (200, 302)
    assert f"?persona={mira.pk}" in curator.get(f"/admin/proactive/consideration/?persona={mira.pk}").content.decode()


def test_the_desk_shows_an_outreach_with_how_it_came_about(curator: Client, mira: Persona) -> None:
    turn = first_word(mira, "How was the secret exam?", trigger="promise")
    outreach = wrote(mira, NOON, turn_uuid=turn.uuid)
    page = curator.get(f"/admin/proactive/outreach/{outreach.pk}/change/").content.decode()
    assert f"/admin/chat/turn/{turn.pk}/change/" in page
    assert f"/admin/proactive/consideration/{outreach.considerations.get().pk}/change/" in page
    assert "secret" not in page
    kept = Consideration.objects.create(
        persona=mira, day=NOON.date(), verdict="defer", gate="turn_in_flight", first_at=NOON, at=NOON,
        facts={"zone": "Asia/Shanghai"},
    )  # fmt: skip
    shown = curator.get(f"/admin/proactive/consideration/{kept.pk}/change/").content.decode()
    assert "&quot;zone&quot;: &quot;Asia/Shanghai&quot;" in shown


def test_who_may_not_see_flags_is_not_told_of_a_crisis_here(mira: Persona, ben: User) -> None:
    """Nor by the way: that she holds back for it says that there was one."""
    hold = held(mira, NOON, "crisis_hold")
    other = held(mira, NOON + HOUR, "quiet_hours")
    cut_off = Outreach.objects.create(
        persona=mira, trigger="silence", trigger_key="silence:1", status="dropped", reason="crisis_hold", wanted_at=NOON
    )
    ben.is_staff = True
    ben.save()
    reader = given(given(ben, "proactive.view_consideration"), "proactive.view_outreach")
    pages = [f"consideration/{hold.pk}/change/", f"outreach/{cut_off.pk}/change/"]
    calendar = "/admin/proactive/consideration/calendar/?month=2026-11"
    client = signed_in(reader)
    assert [client.get(f"/admin/proactive/{page}").status_code for page in pages] == [302, 302]
    assert client.get(f"/admin/proactive/consideration/{other.pk}/change/").status_code == 200
    assert "a crisis came up" not in client.get(calendar).content.decode()
    assert "quiet hours" in client.get(calendar).content.decode()
    trusted = signed_in(given(reader, "chat.view_crisisflag"))
    assert [trusted.get(f"/admin/proactive/{page}").status_code for page in pages] == [200, 200]
    assert "a crisis came up" in trusted.get(calendar).content.decode()


def test_nobody_sees_the_calendar_without_leave(mira: Persona, ben: User) -> None:
    ben.is_staff = True
    ben.save()
    assert signed_in(ben).get("/admin/proactive/consideration/calendar/").status_code == 403
    allowed = given(ben, "proactive.view_consideration")
    assert signed_in(allowed).get("/admin/proactive/consideration/calendar/").status_code == 200


def test_the_desk_takes_as_many_statements_for_many_rows_as_for_few(curator: Client, mira: Persona) -> None:
    lists = ["outreach/", "outreach/?status__exact=delivered", "consideration/", "consideration/?day=2026-11-20"]
    pages = [*lists, "consideration/calendar/?month=2026-11", f"consideration/calendar/?persona={mira.pk}"]

    def statements() -> list[int]:
        counts = []
        for page in pages:
            with CaptureQueriesContext(connection) as seen:
                assert curator.get(f"/admin/proactive/{page}").status_code == 200, page
            counts.append(len(seen))
        return counts

    ReachingOut.objects.create(persona=mira)
    wrote(mira, NOON)
    held(mira, NOON, "trigger")
    few = statements()
    Outreach.objects.bulk_create(
        Outreach(
            persona=mira, trigger="silence", trigger_key=str(n), status="delivered", wanted_at=NOON, delivered_at=NOON
        )
        for n in range(500)
    )
    Consideration.objects.bulk_create(
        Consideration(
            persona=mira, day=NOON.date(), verdict="refuse", gate="trigger", first_at=NOON, at=NOON + n * HOUR / 600
        )
        for n in range(2_000)
    )
    assert statements() == few


def test_the_calendar_reads_by_an_index_and_not_the_whole_table(mira: Persona) -> None:
    for persona, index in ((mira.pk, "consideration_by_day"), (None, "consideration_newest")):
        rows = (
            presenters_calendar._considerations(dt.date(2026, 11, 1), dt.date(2026, 11, 30), persona)
            .order_by()
            .values("day")
        )
        assert index in rows.explain()
