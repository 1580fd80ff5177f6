"""One talk, told in many places: whoever lives where, days and hours are those of the owner."""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.test import Client
from django.utils.formats import date_format

from chat.context import bucket_of, recent_conversation, right_now
from chat.models import Session
from chat.sessions import close
from echovessel.llm.offline import OfflineProvider
from echovessel.llm.prompts import ContextRequest
from echovessel.llm.request import Request, ResponseSchema, StreamEnd
from echovessel.outbox.models import OutboxEvent
from memory.consolidation import runner
from memory.context import promises
from memory.models import ConceptNode, ReflectionRun
from memory.recall import Item, recall
from persona import mood as moods
from persona.models import Persona
from tests.memory.sessions import Clock, cite, event, extraction, talk, thought
from tests.scripted import Script

Remember = Callable[..., ConceptNode]
UTC_, SHANGHAI, LOS_ANGELES, BERLIN = "UTC", "Asia/Shanghai", "America/Los_Angeles", "Europe/Berlin"
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def at(zone: str, *moment: int, fold: int = 0) -> datetime:
    """A wall-clock time in a zone, as the database has it; `fold` 1 is the second of an hour that comes twice."""
    return datetime(*moment, fold=fold, tzinfo=ZoneInfo(zone)).astimezone(UTC)  # type: ignore[misc, arg-type]


@dataclass(frozen=True)
class Told:
    """Where and when somebody says that she moved yesterday, and which day that was."""

    zone: str
    at: datetime
    yesterday: date

    @property
    def local(self) -> datetime:
        return self.at.astimezone(ZoneInfo(self.zone))


TOLD = {
    "noon in UTC": Told(UTC_, at(UTC_, 2026, 3, 5, 12), date(2026, 3, 4)),
    "after midnight in Shanghai": Told(SHANGHAI, at(SHANGHAI, 2026, 3, 6, 1, 30), date(2026, 3, 5)),
    "evening in Los Angeles": Told(LOS_ANGELES, at(LOS_ANGELES, 2026, 3, 4, 21), date(2026, 3, 3)),
    "before the hour is left out": Told(LOS_ANGELES, at(LOS_ANGELES, 2026, 3, 8, 0, 30), date(2026, 3, 7)),
    "after the hour was left out": Told(LOS_ANGELES, at(LOS_ANGELES, 2026, 3, 8, 23, 30), date(2026, 3, 7)),
    "just after midnight of the next day": Told(LOS_ANGELES, at(LOS_ANGELES, 2026, 3, 9, 0, 15), date(2026, 3, 8)),
    "in the hour that comes twice": Told(LOS_ANGELES, at(LOS_ANGELES, 2026, 11, 1, 1, 30), date(2026, 10, 31)),
    "in that hour, again": Told(LOS_ANGELES, at(LOS_ANGELES, 2026, 11, 1, 1, 30, fold=1), date(2026, 10, 31)),
    "end of a day of 25 hours": Told(LOS_ANGELES, at(LOS_ANGELES, 2026, 11, 1, 23, 45), date(2026, 10, 31)),
    "Berlin before the change": Told(BERLIN, at(BERLIN, 2026, 3, 29, 0, 30), date(2026, 3, 28)),
    "Berlin after the change": Told(BERLIN, at(BERLIN, 2026, 3, 29, 3, 1), date(2026, 3, 28)),
    "the day after a leap day": Told(BERLIN, at(BERLIN, 2028, 3, 1, 0, 30), date(2028, 2, 29)),
    "a leap day": Told(LOS_ANGELES, at(LOS_ANGELES, 2028, 2, 29, 23, 30), date(2028, 2, 28)),
    "no leap day": Told(SHANGHAI, at(SHANGHAI, 2027, 3, 1, 0, 10), date(2027, 2, 28)),
    "New Year in Shanghai": Told(SHANGHAI, at(SHANGHAI, 2027, 1, 1, 0, 30), date(2026, 12, 31)),
    "New Year's Eve in Los Angeles": Told(LOS_ANGELES, at(LOS_ANGELES, 2026, 12, 31, 23, 30), date(2026, 12, 30)),
}
pytestmark = pytest.mark.django_db
anywhere = pytest.mark.parametrize("told", TOLD.values(), ids=TOLD.keys())
MOVED = {"en": "I moved to Lyon with my cat Milo yesterday.", "zh": "我昨天带着我的猫搬到了里昂。"}
# Each moment in one of the languages, in turn; in both in the campaign.
IN_TURN = [
    pytest.param(
        told, language, id=f"{name}-{language}", marks=[pytest.mark.campaign] * (language != ("en", "zh")[number % 2])
    )
    for number, (name, told) in enumerate(TOLD.items())
    for language in MOVED
]


@pytest.fixture
def asked(settings: Any, monkeypatch: pytest.MonkeyPatch) -> list[Request]:
    """What the rules that stand in for a model are asked, in order."""
    requests: list[Request] = []
    answers = OfflineProvider.stream

    async def overheard(
        self: OfflineProvider, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | StreamEnd, None]:
        requests.append(request)
        async for item in answers(self, request, shape):
            yield item

    settings.LLM_PROVIDER = "offline"
    monkeypatch.setattr(OfflineProvider, "stream", overheard)
    return requests


def living_in(persona: Persona, zone: str, language: str = "en") -> Persona:
    persona.timezone, persona.language = zone, language
    persona.save()
    return persona


def asking(persona: Persona, now: datetime, **values: Any) -> ContextRequest:
    return ContextRequest(persona=persona, turns=["hello"], now=now, budget=2_000, **values)


# --- one talk, everywhere -----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("told", "language"), IN_TURN)
def test_yesterday_is_the_owners(mira: Persona, asked: list[Request], told: Told, language: str) -> None:
    line = MOVED[language]
    session = talk(living_in(mira, told.zone, language), line, "> Oh!", at=told.at)
    assert runner.run(session.pk, Clock(told.at + 40 * timedelta(minutes=1))) == runner.Outcome.CLOSED
    [said, _] = session.messages.order_by("id")
    assert said.day == told.local.date()
    assert f"[m{said.pk}] {told.local:%Y-%m-%d %a %H:%M} Ana:" in asked[0].user
    assert f"{(told.at + 40 * timedelta(minutes=1)).astimezone(told.local.tzinfo):%Y-%m-%d %a %H:%M}" in asked[0].user
    node = ConceptNode.objects.get(kind="event")
    assert (node.event_time_start, node.event_time_end) == (told.yesterday, told.yesterday)
    assert node.created_at == told.at
    assert f"[e{node.pk}] {told.yesterday:%Y-%m-%d} (impact" in asked[1].user


@anywhere
def test_relative_days_in_recall_follow_the_owners_time_zone(mira: Persona, asked: list[Request], told: Told) -> None:
    session = talk(living_in(mira, told.zone), "I moved to Lyon with my cat Milo yesterday.", "> Oh!", at=told.at)
    runner.run(session.pk, Clock(told.at + HOUR))
    same_evening = told.local.replace(hour=23, minute=59, fold=1).astimezone(UTC)
    next_morning = (told.local.replace(hour=0, minute=1, fold=0) + DAY).astimezone(UTC)

    def recollected(now: datetime) -> Item:
        found = recall(mira, ["Where did I move to with Milo?"], now=now, budget_tokens=400)
        return next(item for item in found.items if item.layer == "L3")

    days = f"- [on {told.yesterday}; said {told.local.date()}] "
    assert recollected(same_evening).text.startswith(days)
    assert recollected(same_evening).age == "yesterday"
    assert recollected(next_morning).text.startswith(days)
    assert recollected(next_morning).age == "two days ago"


@anywhere
def test_the_prompt_tells_the_owners_time_and_the_timeline_the_owners_day(
    mira: Persona, remember: Remember, client: Client, told: Told
) -> None:
    living_in(mira, told.zone)
    text = right_now(asking(mira, told.at)).text
    assert f"{told.local:%A}, {told.local:%H:%M}" in text
    assert date_format(told.local) in text
    remember(mira, "Ana moved to Lyon.", created_at=told.at)
    client.force_login(mira.owner)
    page = client.get(f"/memory/{mira.uuid}/timeline/").content.decode()
    assert f'trace__day">{date_format(told.local)}<' in page
    assert f">{told.local:%H:%M}</time>" in page


def test_a_promise_is_due_by_the_owners_calendar(mira: Persona, remember: Remember) -> None:
    due = date(2028, 2, 29)
    remember(mira, "I will ask about the vet.", kind="intention", subject="persona",
             event_time_start=due, event_time_end=due)  # fmt: skip
    moment = datetime(2028, 2, 29, 5, tzinfo=UTC)
    for zone, words in ((UTC_, "today"), (SHANGHAI, "today"), (LOS_ANGELES, "tomorrow")):
        section = promises(asking(living_in(mira, zone), moment))
        assert section is not None
        assert f"- (29 February 2028, {words}) I will ask" in section.text


# --- how long ago -------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("zone", "then", "now", "bucket"),
    [
        (SHANGHAI, at(SHANGHAI, 2026, 3, 5, 23, 50), at(SHANGHAI, 2026, 3, 6, 0, 10), "just_now"),
        (SHANGHAI, at(SHANGHAI, 2026, 3, 5, 23, 0), at(SHANGHAI, 2026, 3, 6, 0, 10), "yesterday"),
        (LOS_ANGELES, at(LOS_ANGELES, 2026, 3, 8, 1, 50), at(LOS_ANGELES, 2026, 3, 8, 3, 10), "just_now"),
        (
            LOS_ANGELES,
            at(LOS_ANGELES, 2026, 11, 1, 0, 50),
            at(LOS_ANGELES, 2026, 11, 1, 1, 10, fold=1),
            "earlier_today",
        ),
        (LOS_ANGELES, at(LOS_ANGELES, 2026, 11, 1, 1, 50), at(LOS_ANGELES, 2026, 11, 1, 1, 10, fold=1), "just_now"),
        (BERLIN, at(BERLIN, 2026, 3, 28, 3, 30), at(BERLIN, 2026, 3, 29, 3, 30), "yesterday"),
        (UTC_, at(UTC_, 2028, 2, 28, 12), at(UTC_, 2028, 3, 1, 12), "this_week"),
        (UTC_, at(UTC_, 2026, 12, 31, 12), at(UTC_, 2027, 1, 1, 12), "yesterday"),
        (UTC_, at(UTC_, 2026, 3, 5, 13), at(UTC_, 2026, 3, 5, 12), "just_now"),
        (UTC_, at(UTC_, 2026, 3, 1, 12), at(UTC_, 2026, 3, 8, 12), "older"),
    ],
)
def test_a_message_stands_in_the_right_part_of_the_past(zone: str, then: datetime, now: datetime, bucket: str) -> None:
    assert bucket_of(then.astimezone(ZoneInfo(zone)), now.astimezone(ZoneInfo(zone))) == bucket


def test_the_window_is_divided_at_the_owners_midnight(mira: Persona) -> None:
    talk(living_in(mira, SHANGHAI), "Late on Thursday.", at=at(SHANGHAI, 2026, 3, 5, 22), status="closed")
    talk(mira, "Early on Friday.", at=at(SHANGHAI, 2026, 3, 6, 0, 30), status="closed")
    now = at(SHANGHAI, 2026, 3, 6, 9)
    section = recent_conversation(asking(mira, now, window=list(mira.messages.order_by("id"))))
    assert section is not None
    words = section.text.casefold()
    assert words.index("yesterday") < words.index("late on thursday") < words.index("today") < words.index("early on")


@pytest.mark.parametrize("ahead", [HOUR, DAY])
def test_a_clock_that_was_set_back_makes_nothing_younger_than_now(
    mira: Persona, remember: Remember, ahead: timedelta
) -> None:
    now = datetime(2026, 11, 1, 8, tzinfo=UTC)
    remember(mira, "Ana moved to Lyon.", created_at=now + ahead)
    remember(mira, "Ana grew up in Nantes.", created_at=now - 30 * DAY)
    chosen = recall(mira, ["Did Ana move to Lyon, or grow up in Nantes?"], now=now, budget_tokens=400).xray.as_json()
    recencies = [one["parts"]["recency"] for one in chosen["chosen"]]
    assert len(recencies) == 2
    assert all(0 < recency <= 0.5 for recency in recencies)
    mira.episodic_state = {"mood": "warm", "energy": 6, "updated_at": (now + ahead).isoformat()}
    assert moods.current(mira, now) is not None
    assert moods.current(mira, now + ahead + 13 * HOUR) is None


# --- what goes by the clock ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("zone", "last_line"),
    [
        (LOS_ANGELES, at(LOS_ANGELES, 2026, 3, 8, 1, 45)),
        (LOS_ANGELES, at(LOS_ANGELES, 2026, 11, 1, 1, 45)),
        (BERLIN, at(BERLIN, 2026, 3, 29, 1, 45)),
        (SHANGHAI, at(SHANGHAI, 2026, 12, 31, 23, 45)),
        (UTC_, at(UTC_, 2028, 2, 28, 23, 45)),
    ],
)
def test_a_session_rests_half_an_hour_whatever_the_clocks_do(mira: Persona, zone: str, last_line: datetime) -> None:
    session = talk(living_in(mira, zone), "I have a cat named Milo.", at=last_line, status=Session.Status.OPEN)
    closed = [close.close_idle(last_line + timedelta(minutes=minutes)) for minutes in (0, 15, 29, 30, 31, 90, 120)]
    assert closed == [0, 0, 0, 1, 0, 0, 0]
    assert OutboxEvent.objects.filter(name="chat.session.closing").count() == 1
    session.refresh_from_db()
    assert session.closed_at == last_line + timedelta(minutes=30)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        (at(LOS_ANGELES, 2026, 3, 7, 12), at(LOS_ANGELES, 2026, 3, 8, 12), "not_due"),  # 23 hours
        (at(LOS_ANGELES, 2026, 3, 7, 12), at(LOS_ANGELES, 2026, 3, 8, 13, 1), "timer"),
        (at(LOS_ANGELES, 2026, 10, 31, 12), at(LOS_ANGELES, 2026, 11, 1, 11, 30), "timer"),  # 24 hours and a half
        (at(LOS_ANGELES, 2026, 10, 31, 12), at(LOS_ANGELES, 2026, 11, 1, 10, 30), "not_due"),
        (at(BERLIN, 2026, 3, 28, 12), at(BERLIN, 2026, 3, 29, 12), "not_due"),
        (at(SHANGHAI, 2026, 12, 31, 12), at(SHANGHAI, 2027, 1, 1, 12, 1), "timer"),
        (at(UTC_, 2028, 2, 28, 12), at(UTC_, 2028, 2, 29, 11, 59), "not_due"),
    ],
)
def test_reflection_counts_hours_not_days(
    mira: Persona, model: Script, first: datetime, second: datetime, reason: str
) -> None:
    for number, moment in enumerate((first, second)):
        remembered(mira, model, moment, f"thing number {number}")
    assert list(ReflectionRun.objects.order_by("id").values_list("reason", flat=True)) == ["timer", reason]


def test_three_reflections_a_day_are_three_in_24_hours(mira: Persona, model: Script) -> None:
    """The 25 hours of a local day hold four, where the first is more than 24 hours old."""
    living_in(mira, LOS_ANGELES)
    morning = at(LOS_ANGELES, 2026, 11, 1, 0, 5)
    for number, hours in enumerate((0, 8, 16, 23.5, 24.5)):
        remembered(mira, model, morning + hours * HOUR, f"shock number {number}", impact=-9)
    reasons = list(ReflectionRun.objects.order_by("id").values_list("reason", flat=True))
    assert reasons == ["shock", "shock", "shock", "hard_gate", "shock"]


def remembered(persona: Persona, model: Script, moment: datetime, words: str, impact: int = 2) -> Session:
    """A talk with one event, consolidated at `moment`."""
    session = talk(persona, f"I tell of {words}.", "a", "b", at=moment)
    told = event(f"Ana told of {words}.", cite(session.messages.order_by("id")[0]), emotional_impact=impact)
    impression: Callable[[Request], Any] = lambda request: {  # noqa: E731
        "thoughts": [thought(f"After {words}.", [request.material["events"][0]["id"]])]
    }
    model.structured[:] = [extraction([told]), impression]
    assert runner.run(session.pk, Clock(moment)) == runner.Outcome.CLOSED
    return session
