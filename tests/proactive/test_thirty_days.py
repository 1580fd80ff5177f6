"""Thirty days, a tick an hour: what was sent, for which reason, and what held her back, adds up.

Ana lives in New York, where the clock is put forward in the night to the seventeenth day. Ben never answers. Cleo has
not turned it on. By default the clock ticks every hour, and every quarter of one on the day when a quarter counts; the
campaign every five minutes.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db.models import Sum

from chat.messages import add_message, receive_message
from chat.models import Message, Turn
from chat.sessions import close
from echovessel.llm.models import LLMCall
from memory.models import ConceptNode
from persona.models import Persona
from persona.onboarding.creation import create_persona
from proactive.models import Consideration, Outreach, ReachingOut
from proactive.outreach import runner
from proactive.policy import consider
from proactive.policy.consider import consider_all

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]
NEW_YORK = "America/New_York"
BEGIN = date(2026, 2, 20)
DAYS, HOUR, DAY = 30, timedelta(hours=1), timedelta(days=1)
QUARTER = timedelta(minutes=15)
steps = pytest.mark.parametrize(
    "step", [HOUR, pytest.param(timedelta(minutes=5), marks=pytest.mark.campaign)], ids=["an hour", "five minutes"]
)


def on(day: int, clock: str = "00:00", zone: str = NEW_YORK) -> datetime:
    """A time of the n-th day as the clock there shows it; the first is day 0."""
    hour, minute = map(int, clock.split(":"))
    there = datetime.combine(BEGIN + day * DAY, datetime.min.time(), ZoneInfo(zone))
    return there.replace(hour=hour, minute=minute).astimezone(UTC)


@dataclass
class Life:
    """What happens to one persona at which moment; first words are said the minute they are wanted."""

    persona: Persona
    actions: defaultdict[datetime, list[Callable[[datetime], Any]]] = field(default_factory=lambda: defaultdict(list))
    answers_after: timedelta | None = None

    def then(self, moment: datetime, action: Callable[[datetime], Any]) -> None:
        self.actions[moment].append(action)

    def live(self, now: datetime) -> None:
        for action in self.actions.pop(now, ()):
            action(now)

    def speak(self, outreach_id: int, now: datetime) -> None:
        """Carry out what has begun; the owner answers in her time."""
        assert runner.run(outreach_id, lambda: now) == runner.Outcome.DELIVERED
        if self.answers_after:
            self.then(now + self.answers_after, self.write)

    def write(self, now: datetime, after: timedelta = timedelta()) -> None:
        """A line of the owner, and the reply, so long after."""
        taken = receive_message(self.persona, "I am here.", None, "web", now)
        self.then(now + after, lambda later: self.reply(taken.message, later))
        if not after:
            self.live(now)

    def reply(self, line: Message, now: datetime) -> None:
        Turn.objects.filter(pk=line.turn_id).update(status="done", finished_at=now)
        add_message(line.session, Message.Role.PERSONA, "Good.", now, turn=line.turn)

    def said(self) -> list[tuple[datetime, str]]:
        """When she spoke first, and why: told by the lines themselves, not by the rows of reaching out."""
        lines = Message.objects.filter(persona=self.persona, turn__spoke_first=True).order_by("id")
        why = dict(Outreach.objects.filter(persona=self.persona).values_list("turn_uuid", "trigger"))
        return [(line.created_at, why[line.turn.uuid]) for line in lines.select_related("turn") if line.turn]


def ticks(step: timedelta) -> Iterator[datetime]:
    now = on(0)
    while now < on(DAYS):
        yield now
        now += min(step, QUARTER) if on(26) <= now < on(27) else step


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The jobs, which are done at once."""
    jobs: list[int] = []
    monkeypatch.setattr(consider, "async_task", lambda job, outreach_id: jobs.append(outreach_id))
    return jobs


def pass_by(lives: list[Life], begun: list[int], step: timedelta) -> None:
    of = {life.persona.pk: life for life in lives}
    for now in ticks(step):
        for life in lives:
            life.live(now)
        if now.hour == now.minute == 0:
            close.close_idle(now)
        consider_all(now)
        while begun:
            one = Outreach.objects.get(pk=begun.pop())
            of[one.persona_id].speak(one.pk, now)


# --- three lives ----------------------------------------------------------------------------------------------------
@pytest.fixture
def ana_and_mira(ana: User, remember: Remember, settings: Any) -> Life:
    mira = create_persona(ana, "Mira", user_name="Ana", timezone=NEW_YORK)
    ReachingOut.objects.create(persona=mira, enabled=True, changed_at=on(0))
    life = Life(mira, answers_after=HOUR)

    def awaited(day: int, kind: str = "intention", count: int = 1) -> None:
        for number in range(count):
            due = BEGIN + day * DAY
            remember(mira, f"Day {day}, {number}.", kind=kind, event_time_start=due, event_time_end=due)

    def shock(now: datetime, **values: Any) -> None:
        life.write(now, **values)
        remember(mira, f"Her cat died at {now}.", emotional_impact=-9, created_at=now)

    def crisis(now: datetime) -> None:
        life.write(now)
        Persona.objects.filter(pk=mira.pk).update(care_until=now + 2 * DAY)

    for day in (0, 1, 2, 4, 6, 7, 10, 11, 15, 17, 24, 27):
        life.then(on(day, "19:00"), life.write)
    awaited(3)
    life.then(on(5, "18:00"), shock)
    awaited(8, count=4)
    life.then(on(12, "20:00"), crisis)
    awaited(13)
    awaited(16, "expectation")
    life.then(on(18), lambda now: setattr(life, "answers_after", None))
    awaited(23)
    life.then(on(24), lambda now: setattr(life, "answers_after", HOUR))
    life.then(on(26, "12:00"), lambda now: shock(now, after=5 * QUARTER))
    life.then(on(28), lambda now: ReachingOut.objects.filter(persona=mira).update(max_per_24h=1))
    awaited(28, count=3)
    return life


@pytest.fixture
def ben_who_never_answers(ben: User, remember: Remember) -> Life:
    otto = create_persona(ben, "Otto", user_name="Ben")
    ReachingOut.objects.create(persona=otto, enabled=True, changed_at=on(0, zone="UTC"))
    life = Life(otto)
    life.then(on(0, "10:00"), life.write)
    for day in range(6, 30, 3):
        due = BEGIN + day * DAY
        remember(otto, f"Otto will ask on day {day}.", kind="intention", event_time_start=due, event_time_end=due)
    return life


@pytest.fixture
def cleo_who_has_not_turned_it_on(db: None, remember: Remember) -> Life:
    cleo = User.objects.create_user("cleo")
    ivy = create_persona(cleo, "Ivy")
    ReachingOut.objects.create(persona=ivy)
    due = BEGIN + 5 * DAY
    remember(ivy, "Ivy will ask.", kind="intention", event_time_start=due, event_time_end=due)
    life = Life(ivy)
    life.then(on(0, "10:00"), life.write)
    return life


def counted(persona: Persona, **what: Any) -> int:
    return Consideration.objects.filter(persona=persona, **what).aggregate(times=Sum("times"))["times"] or 0


@steps
def test_thirty_days_add_up(
    ana_and_mira: Life,
    ben_who_never_answers: Life,
    cleo_who_has_not_turned_it_on: Life,
    begun: list[int],
    step: timedelta,
) -> None:
    lives = [ana_and_mira, ben_who_never_answers, cleo_who_has_not_turned_it_on]
    pass_by(lives, begun, step)
    _it_was_what_the_story_gives_rise_to(ana_and_mira)
    assert [why for _, why in ben_who_never_answers.said()] == ["silence", "silence"]
    assert cleo_who_has_not_turned_it_on.said() == []
    assert not Consideration.objects.filter(persona=cleo_who_has_not_turned_it_on.persona).exists()
    for life in lives[:2]:
        _sends_reasons_and_gates_add_up(life, step)
        _nobody_was_bothered(life)
    assert LLMCall.objects.count() == Outreach.objects.count(), "one call for each first word, and no other"


def _it_was_what_the_story_gives_rise_to(life: Life) -> None:
    assert life.said() == [
        (on(3, "09:00"), "promise"),
        (on(5, "19:00"), "shock"),
        (on(8, "09:00"), "promise"),
        (on(8, "13:00"), "promise"),
        (on(8, "17:00"), "promise"),
        (on(9, "09:00"), "promise"),  # the fourth: three in a rolling day
        (on(14, "20:00"), "promise"),  # of the day before, when a crisis held her back
        (on(16, "09:00"), "expectation"),  # an hour was left out in this night
        (on(19, "19:00"), "silence"),
        (on(21, "19:00"), "silence"),  # and then no more: the promise of day 23 has to wait for a line
        (on(24, "20:00"), "promise"),
        (on(26, "14:15"), "shock"),  # the reply took until 13:15
        (on(28, "09:00"), "promise"),
        (on(29, "09:00"), "promise"),  # one a day is what her owner wants now
    ]


def _sends_reasons_and_gates_add_up(life: Life, step: timedelta) -> None:
    persona, zone = life.persona, life.persona.zone
    passed = list(ticks(step))
    sent = Outreach.objects.filter(persona=persona)
    assert counted(persona) == len(passed)
    assert counted(persona, verdict="send") == sent.count() == sent.delivered().count() == len(life.said())
    for one in sent:
        assert counted(persona, outreach=one, trigger_key=one.trigger_key, verdict="send") == 1
    by_day = defaultdict(int)
    for now in passed:
        by_day[now.astimezone(zone).date()] += 1
    assert {day: counted(persona, day=day) for day in by_day} == by_day
    held = [now for now in passed if life.answers_after and on(12, "20:00") <= now < on(14, "20:00")]
    quiet = [now for now in passed if now not in held and not "07:00" <= f"{now.astimezone(zone):%H:%M}" < "23:00"]
    assert counted(persona, gate="crisis_hold") == len(held)
    assert counted(persona, gate="quiet_hours") == len(quiet)
    others = [counted(persona, gate=gate) for gate in ("cold_user", "rate", "spacing", "turn_in_flight", "trigger")]
    assert sum(others) == len(passed) - len(held) - len(quiet) - len(life.said())


def _nobody_was_bothered(life: Life) -> None:
    times = [at for at, _ in life.said()]
    for at in times:
        assert 7 <= at.astimezone(life.persona.zone).hour < 23
        assert sum(at - DAY < other <= at for other in times) <= 3
    assert all(later - earlier >= 4 * HOUR for earlier, later in pairwise(times))
    keys = list(Outreach.objects.filter(persona=life.persona).values_list("trigger_key", flat=True))
    assert len(keys) == len(set(keys))


def test_who_never_answered_is_spoken_to_again_once_he_writes(ben_who_never_answers: Life, begun: list[int]) -> None:
    life = ben_who_never_answers
    pass_by([life], begun, 2 * HOUR)
    assert [why for _, why in life.said()] == ["silence", "silence"]
    life.write(on(DAYS, "10:00"))
    day = BEGIN + DAYS * DAY
    ConceptNode.objects.filter(persona=life.persona).update(event_time_start=day, event_time_end=day)
    consider_all(on(DAYS, "12:00"))
    life.speak(begun.pop(), on(DAYS, "12:00"))
    assert [why for _, why in life.said()] == ["silence", "silence", "promise"]


def test_an_idle_day_costs_no_call(ana_and_mira: Life, begun: list[int]) -> None:
    life = ana_and_mira
    life.actions.clear()
    life.write(on(0))
    for minute in range(0, 24 * 60, 5):
        consider_all(on(0) + timedelta(minutes=minute))
    assert (begun, LLMCall.objects.count()) == ([], 0)
    assert counted(life.persona) == 24 * 12
