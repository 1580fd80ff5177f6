"""What could be a reason to speak first: promises and expectations that are due, shocks, silences."""

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest

from chat.models import Message, Session
from memory.curation import actions
from memory.curation.lessons import Wish, add_lesson
from memory.models import ConceptNode
from persona.models import Persona
from proactive.models import Outreach, ReachingOut
from proactive.policy import situation, triggers
from proactive.policy.triggers import Reason, SessionMessages
from tests.memory.sessions import NOW, talk

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]
HOUR, DAY, SECOND = timedelta(hours=1), timedelta(days=1), timedelta(seconds=1)
TODAY = date(2026, 3, 5)  # in Shanghai, where it is eight in the evening
LINE = UUID("00000000-0000-4000-8000-000000000009")
QUIET_FOR_A_DAY = SessionMessages(NOW - DAY, NOW - DAY, LINE)


def found(
    persona: Persona, now: datetime = NOW, lines: SessionMessages = QUIET_FOR_A_DAY, **values: Any
) -> list[Reason]:
    return list(triggers.find_reasons(persona, lines, values.pop("changed_at", None), now, **values))


def kinds(persona: Persona, now: datetime = NOW, lines: SessionMessages = QUIET_FOR_A_DAY, **values: Any) -> list[str]:
    return [str(reason.kind) for reason in found(persona, now, lines, **values)]


def due(day: date, kind: str = "intention", **values: Any) -> dict[str, Any]:
    return {"kind": kind, "event_time_start": day, "event_time_end": day} | values


def outreach(persona: Persona, key: str, status: str = "delivered", **values: Any) -> Outreach:
    at = values.pop("at", NOW)
    stamp = {"delivered_at": at} if status == "delivered" else {}
    return Outreach.objects.create(
        persona=persona, trigger=key.split(":")[0], trigger_key=key, status=status, wanted_at=at, **stamp, **values
    )


# --- what is due ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("kind", "trigger"), [("intention", "promise"), ("expectation", "expectation")])
@pytest.mark.parametrize(
    ("day", "stands"),
    [(TODAY - 2 * DAY, False), (TODAY - DAY, True), (TODAY, True), (TODAY + DAY, False), (TODAY + 30 * DAY, False)],
)
def test_items_due_today_or_yesterday_are_reasons(
    mira: Persona, remember: Remember, kind: str, trigger: str, day: date, stands: bool
) -> None:
    node = remember(mira, "Mira will ask how it went.", **due(day, kind))
    reason = Reason(trigger, f"{trigger}:{node.uuid}", node.uuid, day)
    assert found(mira) == ([reason] if stands else [])


@pytest.mark.parametrize(
    ("zone", "moment", "days"),
    [
        ("Asia/Shanghai", datetime(2026, 3, 5, 15, 59, tzinfo=UTC), {4, 5}),
        ("Asia/Shanghai", datetime(2026, 3, 5, 16, 0, tzinfo=UTC), {5}),  # midnight there: of the new day nothing yet
        ("Asia/Shanghai", datetime(2026, 3, 6, 0, 59, tzinfo=UTC), {5}),
        ("Asia/Shanghai", datetime(2026, 3, 6, 1, 0, tzinfo=UTC), {5, 6}),  # nine in the morning
        ("America/Los_Angeles", datetime(2026, 3, 6, 1, 0, tzinfo=UTC), {4, 5}),
        ("America/Los_Angeles", datetime(2026, 3, 5, 16, 59, tzinfo=UTC), {4}),
        ("UTC", datetime(2026, 3, 5, 8, 59, 59, tzinfo=UTC), {4}),
        ("UTC", datetime(2026, 3, 5, 9, 0, tzinfo=UTC), {4, 5}),
    ],
)
def test_a_day_is_the_owners_and_begins_at_nine(
    mira: Persona, remember: Remember, zone: str, moment: datetime, days: set[int]
) -> None:
    mira.timezone = zone
    for day in range(2, 9):
        remember(mira, f"Mira will ask on the {day}th.", **due(date(2026, 3, day)))
    assert {reason.at.day for reason in found(mira, moment)} == days


@pytest.mark.parametrize(
    "values",
    [
        {"outcome": "fulfilled"},
        {"outcome": "expired"},
        {"status": "hidden"},
        {"status": "archived"},
        {"status": "superseded"},
        {"verification": "disputed"},
        {"kind": "thought"},
        {"kind": "event"},
        {"event_time_start": None, "event_time_end": None},
    ],
    ids=lambda values: " ".join(map(str, values.values())),
)
def test_what_is_settled_put_away_disputed_or_has_no_day_is_none(
    mira: Persona, remember: Remember, values: dict[str, Any]
) -> None:
    remember(mira, "Mira will ask how it went.", **due(TODAY) | values)
    assert found(mira) == []


def test_another_personas_promise_is_not_hers(mira: Persona, otto: Persona, remember: Remember) -> None:
    remember(otto, "Otto will ask how it went.", **due(TODAY))
    assert found(mira) == []
    assert kinds(otto) == ["promise"]


def test_a_promise_of_several_days_is_due_on_the_last(mira: Persona, remember: Remember) -> None:
    remember(mira, "Mira will ask this week.", **due(TODAY, event_time_start=TODAY - 4 * DAY))
    assert kinds(mira, NOW - 2 * DAY) == []
    assert kinds(mira) == ["promise"]


# --- what weighs ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("impact", "told", "stands"),
    [
        (8, HOUR, True), (-8, HOUR, True), (10, DAY - SECOND, True), (-10, 5 * HOUR, True),
        (7, HOUR, False), (-7, HOUR, False), (9, DAY, False), (9, -HOUR, False),
    ],
)  # fmt: skip
def test_a_shock_is_what_weighs_eight_and_was_told_within_a_day(
    mira: Persona, remember: Remember, impact: int, told: timedelta, stands: bool
) -> None:
    event = remember(mira, "Her cat died.", emotional_impact=impact, created_at=NOW - told)
    assert found(mira) == ([Reason("shock", f"shock:{event.uuid}", event.uuid, NOW - told)] if stands else [])


@pytest.mark.parametrize("values", [{"status": "hidden"}, {"verification": "disputed"}, {"kind": "thought"}])
def test_what_is_hidden_disputed_or_only_thought_shocks_nobody(
    mira: Persona, remember: Remember, values: dict[str, Any]
) -> None:
    remember(mira, "Her cat died.", emotional_impact=-9, created_at=NOW - HOUR, **values)
    assert found(mira) == []


# --- a pause --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("ago", "stands"),
    [(timedelta(0), False), (HOUR - SECOND, False), (HOUR, True), (-HOUR, False)],
    ids=["now", "a second less than an hour", "an hour", "by a clock that was set back"],
)
def test_nothing_is_a_reason_until_the_session_has_rested(
    mira: Persona, remember: Remember, ago: timedelta, stands: bool
) -> None:
    remember(mira, "Mira will ask how it went.", **due(TODAY))
    assert bool(found(mira, lines=SessionMessages(NOW - ago, NOW - DAY, LINE))) is stands


def test_nothing_is_a_reason_while_a_session_off_the_record_is_open(mira: Persona, remember: Remember) -> None:
    remember(mira, "Mira will ask how it went.", **due(TODAY))
    session = Session.objects.create(persona=mira, off_the_record=True, last_message_at=NOW - 3 * HOUR)
    assert found(mira) == []
    Session.objects.filter(pk=session.pk).update(status="closed")
    assert kinds(mira) == ["promise"]


# --- a silence ------------------------------------------------------------------------------------------------------
def silent(hours: float) -> SessionMessages:
    return SessionMessages(NOW - timedelta(hours=hours), NOW - timedelta(hours=hours), LINE)


@pytest.mark.parametrize(("hours", "stands"), [(47.99, False), (48, True), (500, True)])
def test_two_days_without_a_message_are_a_silence(mira: Persona, hours: float, stands: bool) -> None:
    reason = Reason("silence", f"silence:1:{LINE}", None, NOW - timedelta(hours=hours))
    assert found(mira, lines=silent(hours)) == ([reason] if stands else [])


def test_who_has_never_written_is_not_silent(mira: Persona) -> None:
    assert found(mira, lines=SessionMessages()) == []
    assert found(mira, lines=SessionMessages(NOW - 9 * DAY)) == []


def test_a_silence_is_counted_from_the_switch_where_that_was_turned_later(mira: Persona) -> None:
    assert kinds(mira, lines=silent(24 * 700), changed_at=NOW - 47 * HOUR) == []
    assert kinds(mira, lines=silent(24 * 700), changed_at=NOW - 48 * HOUR) == ["silence"]


def test_who_comes_to_the_switch_in_a_silence_does_not_begin_it_anew(mira: Persona) -> None:
    outreach(mira, f"silence:1:{LINE}", at=NOW - 60 * HOUR)
    reasons = found(mira, lines=silent(110), changed_at=NOW - 50 * HOUR)
    assert [reason.key for reason in reasons] == [f"silence:2:{LINE}"]


def test_each_further_silence_is_twice_as_long(mira: Persona) -> None:
    """A minute at a time would tell the same: the hours at which it is a reason, when each is used at once."""
    began, used_at = NOW, []
    for hour in range(1, 800):
        now = began + hour * HOUR
        for reason in found(mira, now, SessionMessages(began, began, LINE)):
            outreach(mira, reason.key, at=now)
            used_at.append(hour)
    assert used_at == [48, 96, 192, 384, 768]


def test_a_silence_that_was_held_back_for_long_pushes_the_next_away(mira: Persona) -> None:
    outreach(mira, f"silence:1:{LINE}", at=NOW - HOUR)
    assert found(mira, lines=silent(96)) == []
    assert found(mira, NOW + 46 * HOUR, silent(96)) == []
    assert [reason.key for reason in found(mira, NOW + 47 * HOUR, silent(96))] == [f"silence:2:{LINE}"]


def test_forgetting_the_last_message_makes_no_new_silence(mira: Persona) -> None:
    """An earlier line is the last one then; what was said after it still counts."""
    outreach(mira, f"silence:1:{LINE}", at=NOW - HOUR)
    earlier = SessionMessages(NOW - 60 * HOUR, NOW - 60 * HOUR, uuid4())
    assert found(mira, lines=earlier) == []


def test_a_message_of_hers_ends_a_silence(mira: Persona) -> None:
    outreach(mira, f"silence:1:{LINE}", at=NOW - 50 * HOUR)
    again = SessionMessages(NOW - 49 * HOUR, NOW - 49 * HOUR, uuid4())
    assert [reason.key for reason in found(mira, lines=again)] == [f"silence:1:{again.last_user_line}"]


# --- never twice ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("status", "reason", "stands"),
    [
        ("delivered", "", False),
        ("failed", "provider_unavailable", False),
        ("dropped", "forgotten", False),
        ("wanted", "", False),
        ("dropped", "quiet_hours", True),
        ("dropped", "trigger", True),
    ],
)
def test_a_trigger_that_was_used_is_used_up_unless_a_gate_held_it_back(
    mira: Persona, remember: Remember, status: str, reason: str, stands: bool
) -> None:
    node = remember(mira, "Mira will ask how it went.", **due(TODAY))
    outreach(mira, f"promise:{node.uuid}", status, reason=reason)
    assert kinds(mira) == (["promise"] if stands else [])
    assert kinds(mira, sparing=f"promise:{node.uuid}") == ["promise"]


@pytest.mark.parametrize(("reason", "stands"), [("quiet_hours", True), ("forgotten", False)])
def test_a_silence_that_a_gate_held_back_is_still_the_same_silence(mira: Persona, reason: str, stands: bool) -> None:
    key = f"silence:1:{LINE}"
    outreach(mira, key, "dropped", reason=reason, at=NOW - HOUR)
    assert [each.key for each in found(mira, lines=silent(50))] == ([key] if stands else [])
    assert [each.key for each in found(mira, lines=silent(50), sparing=key)] == [key]


def test_the_best_reason_comes_first(mira: Persona, remember: Remember) -> None:
    remember(mira, "Ana hopes for a letter.", **due(TODAY - DAY, "expectation"))
    remember(mira, "Her cat died.", emotional_impact=-9, created_at=NOW - 2 * HOUR)
    remember(mira, "Her sister came.", emotional_impact=8, created_at=NOW - HOUR)
    remember(mira, "Mira will ask today.", **due(TODAY))
    remember(mira, "Mira wanted to ask yesterday.", **due(TODAY - DAY))
    reasons = found(mira, lines=silent(50))
    assert [reason.kind for reason in reasons] == ["promise", "promise", "shock", "shock", "expectation", "silence"]
    assert [reason.at for reason in reasons[:2]] == [TODAY - DAY, TODAY]
    assert [reason.at for reason in reasons[2:4]] == [NOW - HOUR, NOW - 2 * HOUR]


# --- what is seen of a persona --------------------------------------------------------------------------------------
def test_a_situation_is_read_from_what_was_said(allowed: ReachingOut) -> None:
    mira = allowed.persona
    talk(mira, "Good night.", "> Sleep well.", at=NOW - 60 * HOUR)
    _, second, third = (outreach(mira, f"shock:{uuid4()}", at=NOW - hours * HOUR) for hours in (50, 24, 5))
    talk(mira, "Oh, hello.", at=NOW - 20 * HOUR)
    outreach(mira, "shock:elsewhere", "dropped")
    seen = situation.read_situation(allowed, NOW)
    assert seen.last_user_line_at == seen.last_line_at == NOW - 20 * HOUR
    assert [(said.at, said.answered_at) for said in seen.outreaches] == [
        (third.delivered_at, None),
        (second.delivered_at, NOW - 20 * HOUR),
    ]
    assert seen.sent_at == (third.delivered_at,), "the one of a day ago counts no more"
    assert (seen.enabled, seen.quiet_start, seen.quiet_end, seen.max_per_24h) == (True, 23, 7, 3)
    assert (seen.zone, seen.turn_in_flight, seen.budget_spent) == (ZoneInfo("Asia/Shanghai"), False, False)


@pytest.mark.parametrize(
    ("status", "in_flight"),
    [("collecting", True), ("running", True), ("done", False), ("failed", False), ("stopped", False)],
)
def test_a_turn_is_in_flight_until_it_has_ended(allowed: ReachingOut, status: str, in_flight: bool) -> None:
    talk(allowed.persona, "Hello?", status="open").turns.create(persona=allowed.persona, status=status)
    assert situation.read_situation(allowed, NOW).turn_in_flight is in_flight


def test_what_another_persona_is_doing_does_not_hold_her_back(
    allowed: ReachingOut, otto: Persona, remember: Remember
) -> None:
    talk(otto, "Hello?", status="open").turns.create(persona=otto, status="running")
    Session.objects.create(persona=otto, channel="other", off_the_record=True)
    remember(allowed.persona, "Mira will ask how it went.", **due(TODAY))
    seen = situation.read_situation(allowed, NOW)
    assert (seen.turn_in_flight, [reason.kind for reason in seen.reasons]) == (False, ["promise"])


def test_a_message_of_the_persona_is_no_message_of_the_owner(allowed: ReachingOut) -> None:
    talk(allowed.persona, "Bye.", "> Bye!", at=NOW - DAY)
    seen = situation.read_situation(allowed, NOW)
    assert seen.last_line_at == NOW - DAY + SECOND
    assert seen.last_user_line_at == NOW - DAY
    Message.objects.all().delete()
    assert situation.read_situation(allowed, NOW).last_line_at is None


@pytest.mark.parametrize(
    ("own", "knobs", "effective"),
    [
        ((None, None, None), {}, (23, 7, 3)),
        ((0, 0, 0), {}, (0, 0, 0)),
        ((21, None, 1), {}, (21, 7, 1)),
        ((None, 9, 24), {}, (23, 9, 3)),
        ((None, None, 5), {"proactive.max_per_24h": 10}, (23, 7, 5)),
        ((None, None, None), {"proactive.quiet_hours_start": 22, "proactive.max_per_24h": 1}, (22, 7, 1)),
        ((None, None, 2), {"proactive.max_per_24h": 0}, (23, 7, 0)),
    ],
)
def test_the_owner_sets_the_bounds_and_never_above_the_knob(
    settings: Any, mira: Persona, own: tuple[Any, ...], knobs: dict[str, int], effective: tuple[int, ...]
) -> None:
    settings.KNOBS = knobs
    start, end, most = own
    ReachingOut.objects.create(persona=mira, enabled=True, quiet_start=start, quiet_end=end, max_per_24h=most)
    bounds = situation.bounds(mira)
    assert (bounds.quiet_start, bounds.quiet_end, bounds.max_per_24h) == effective


def test_who_was_never_at_the_switch_has_it_turned_off(mira: Persona) -> None:
    assert situation.bounds(mira) == situation.Bounds(False, 23, 7, 3, push=False)


def test_nothing_that_is_to_be_left_alone_is_a_reason(mira: Persona, remember: Remember) -> None:
    remember(mira, "Mira will ask how Ana's father is.", **due(TODAY))
    other = remember(mira, "Mira will ask how the exam went.", **due(TODAY))
    lesson = add_lesson(mira, Wish("never ask about my dad", "topic", "my dad", is_boundary=True), NOW)
    assert [reason.about for reason in found(mira)] == [other.uuid]
    actions.hide(lesson)
    assert len(found(mira)) == 2
