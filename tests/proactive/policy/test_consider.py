"""Every minute: what came of considering it is recorded, and an outreach is begun where she is to speak."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django_q.models import OrmQ

from chat.models import Session
from echovessel.llm.models import LLMCall
from memory.models import ConceptNode
from persona.models import Persona
from proactive.models import Consideration, Outreach, ReachingOut
from proactive.policy import consider
from proactive.policy.consider import consider_all, reconsider
from tests.memory.sessions import NOW, talk
from tests.scripted import Script

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]
HOUR, DAY, MINUTE = timedelta(hours=1), timedelta(days=1), timedelta(minutes=1)
TODAY = date(2026, 3, 5)  # in Shanghai, where it is eight in the evening


def promised(persona: Persona, remember: Remember, day: date = TODAY) -> ConceptNode:
    return remember(persona, f"She will ask on {day}.", kind="intention", event_time_start=day, event_time_end=day)


def rows() -> list[tuple[Any, ...]]:
    """The record, oldest first."""
    told = Consideration.objects.order_by("id").values_list("verdict", "gate", "trigger", "times")
    return list(told)


def jobs() -> list[tuple[str, tuple[Any, ...]]]:
    return [(job.task["func"], job.task["args"]) for job in OrmQ.objects.order_by("id")]


def delivered(outreach: Outreach, now: Any) -> None:
    Outreach.objects.filter(pk=outreach.pk).update(status="delivered", delivered_at=now)


# --- beginning ------------------------------------------------------------------------------------------------------
def test_an_outreach_is_begun_and_handed_over_by_its_key(allowed: ReachingOut, remember: Remember) -> None:
    promise = promised(allowed.persona, remember)
    assert consider_all(NOW) == 1
    outreach = Outreach.objects.get()
    assert (outreach.trigger, outreach.trigger_key) == ("promise", f"promise:{promise.uuid}")
    assert (outreach.about_uuid, outreach.status, outreach.wanted_at) == (promise.uuid, "wanted", NOW)
    assert jobs() == [("proactive.tasks.reach_out", (outreach.pk,))]
    row = Consideration.objects.get()
    assert (row.verdict, row.gate, row.trigger, row.trigger_key) == ("send", "", "promise", outreach.trigger_key)
    assert (row.outreach, row.day, row.first_at, row.at, row.times) == (outreach, TODAY, NOW, NOW, 1)
    assert row.facts["reasons"][0]["about"] == str(promise.uuid)


def test_nothing_is_considered_while_one_is_on_its_way(allowed: ReachingOut, remember: Remember) -> None:
    promised(allowed.persona, remember)
    remember(allowed.persona, "Her cat died.", emotional_impact=-9, created_at=NOW - HOUR)
    assert [consider_all(NOW + minute * MINUTE) for minute in range(3)] == [1, 0, 0]
    assert not consider.consider(allowed, NOW + 3 * MINUTE), "another worker was faster"
    assert (Outreach.objects.count(), rows()) == (1, [("send", "", "promise", 1)])


def test_a_trigger_makes_one_outreach_however_often_it_is_looked_at(allowed: ReachingOut, remember: Remember) -> None:
    promised(allowed.persona, remember)
    consider_all(NOW)
    delivered(Outreach.objects.get(), NOW)
    ReachingOut.objects.update(quiet_start=0, quiet_end=0)
    for hour in range(1, 40):
        consider_all(NOW + hour * HOUR)
    assert Outreach.objects.count() == 1
    assert sum(times for *_, times in rows()) == 40


def test_what_a_gate_held_back_at_the_door_comes_again_as_the_same_outreach(
    allowed: ReachingOut, remember: Remember
) -> None:
    promised(allowed.persona, remember)
    consider_all(NOW)
    first = Outreach.objects.get()
    Outreach.objects.update(status="dropped", reason="rate", attempts=3, holder="somebody", lease_until=NOW + DAY)
    assert consider_all(NOW + HOUR) == 1
    again = Outreach.objects.get()
    assert (again.pk, again.status, again.reason, again.attempts) == (first.pk, "wanted", "", 0)
    assert (again.holder, again.lease_until, again.wanted_at) == ("", None, NOW + HOUR)
    assert jobs() == [("proactive.tasks.reach_out", (first.pk,))] * 2
    assert rows() == [("send", "", "promise", 2)]


# --- who may --------------------------------------------------------------------------------------------------------
def test_who_has_not_turned_it_on_costs_one_statement(mira: Persona, remember: Remember) -> None:
    promised(mira, remember)
    ReachingOut.objects.create(persona=mira)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert consider_all(NOW) == 0
    assert len([query for query in asked if query["sql"].startswith("SELECT")]) == 1
    assert not Consideration.objects.exists()


def test_each_persona_is_considered_by_herself(allowed: ReachingOut, otto: Persona, remember: Remember) -> None:
    ReachingOut.objects.create(persona=otto, enabled=True)
    promised(otto, remember)
    assert consider_all(NOW) == 2
    assert [*Consideration.objects.order_by("persona").values_list("persona", "verdict")] == [
        (allowed.persona.pk, "refuse"),
        (otto.pk, "send"),
    ]


def test_one_personas_fault_does_not_stop_the_others(
    allowed: ReachingOut, otto: Persona, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    ReachingOut.objects.create(persona=otto, enabled=True)
    seen, secret = consider.read_situation, " ".join(("her", "secret"))

    def broken(other: ReachingOut, now: Any) -> Any:
        if other.persona_id == allowed.persona_id:
            raise ValueError(secret)
        return seen(other, now)

    monkeypatch.setattr(consider, "read_situation", broken)
    assert consider_all(NOW) == 1
    assert Consideration.objects.get().persona == otto
    assert f"persona {allowed.persona_id} could not be considered: ValueError" in caplog.text
    assert secret not in caplog.text


# --- the record -----------------------------------------------------------------------------------------------------
def test_what_stays_the_same_is_one_row_that_counts(allowed: ReachingOut) -> None:
    for minute in range(200):
        consider_all(NOW + minute * MINUTE)  # from eight in the evening to 23:20
    assert rows() == [("refuse", "trigger", "", 180), ("refuse", "quiet_hours", "", 20)]
    row = Consideration.objects.earliest("id")
    assert (row.first_at, row.at) == (NOW, NOW + 179 * MINUTE)
    assert row.facts["now"] == (NOW + 179 * MINUTE).isoformat()


def test_each_day_of_the_owner_has_rows_of_its_own(allowed: ReachingOut) -> None:
    for hour in range(48):
        consider_all(NOW + hour * HOUR)
    told = Consideration.objects.order_by("id").values_list("day", "gate", "times")
    assert list(told) == [
        (TODAY, "trigger", 3), (TODAY, "quiet_hours", 1),
        (TODAY + DAY, "quiet_hours", 7), (TODAY + DAY, "trigger", 16), (TODAY + DAY, "quiet_hours", 1),
        (TODAY + 2 * DAY, "quiet_hours", 7), (TODAY + 2 * DAY, "trigger", 13),
    ]  # fmt: skip


def test_a_refusal_tells_what_it_held_back(allowed: ReachingOut, remember: Remember) -> None:
    promise = promised(allowed.persona, remember, TODAY)
    consider_all(NOW + 4 * HOUR)
    row = Consideration.objects.get()
    assert (row.verdict, row.gate, row.trigger_key) == ("refuse", "quiet_hours", f"promise:{promise.uuid}")


def test_a_reply_in_flight_defers_and_the_trigger_is_kept(allowed: ReachingOut, remember: Remember) -> None:
    promised(allowed.persona, remember)
    session = talk(allowed.persona, "Are you there?", at=NOW - 2 * HOUR, status=Session.Status.OPEN)
    turn = session.turns.create(persona=allowed.persona, status="running")
    consider_all(NOW)
    turn.status = "done"
    turn.save()
    consider_all(NOW + MINUTE)
    assert rows() == [("defer", "turn_in_flight", "promise", 1), ("send", "", "promise", 1)]


def test_a_crisis_holds_everything_back_until_its_time_is_over(allowed: ReachingOut, remember: Remember) -> None:
    promised(allowed.persona, remember)
    Persona.objects.update(care_until=NOW + MINUTE)
    consider_all(NOW)
    assert rows() == [("refuse", "crisis_hold", "promise", 1)]
    consider_all(NOW + MINUTE)
    assert Outreach.objects.exists()


def test_a_spent_budget_is_no_time_to_begin(
    allowed: ReachingOut, remember: Remember, scripted: Script, settings: Any
) -> None:
    promised(allowed.persona, remember)
    settings.KNOBS = {"llm.proactive_tokens_per_day": 100}
    LLMCall.objects.create(
        owner=allowed.persona.owner, purpose="proactive", provider="scripted", model="m", tokens_in=100, at=NOW,
        outcome="ok",
    )  # fmt: skip
    consider_all(NOW)
    consider_all(NOW + 12 * HOUR)  # the next day of UTC
    assert rows() == [("refuse", "cost_cap", "promise", 1), ("send", "", "promise", 1)]
    assert scripted.requests == []


def test_the_record_is_kept_for_three_months(allowed: ReachingOut) -> None:
    consider_all(NOW)
    consider_all(NOW + 5 * DAY)
    assert consider.prune(NOW + 90 * DAY) == 0
    assert consider.prune(NOW + 90 * DAY + MINUTE) == 1
    assert Consideration.objects.get().at == NOW + 5 * DAY


def test_that_a_crisis_held_her_back_is_told_as_long_as_it_does(allowed: ReachingOut, remember: Remember) -> None:
    promised(allowed.persona, remember)
    Persona.objects.update(care_until=NOW + HOUR)
    consider_all(NOW)
    assert consider.prune(NOW + MINUTE) == 0
    assert consider.prune(NOW + HOUR) == 1


def test_a_minute_takes_as_many_statements_after_a_year_as_after_a_day(
    allowed: ReachingOut, remember: Remember
) -> None:
    def statements(now: Any) -> int:
        with CaptureQueriesContext(connection) as asked:
            consider_all(now)
        return len(asked)

    talk(allowed.persona, "Hello.", "> Hi!", at=NOW - DAY)
    consider_all(NOW)
    before = statements(NOW + MINUTE)
    talk(allowed.persona, *["Hello.", "> Hi!"] * 20, at=NOW - DAY)
    for number in range(30):
        remember(allowed.persona, f"Ana ate {number} plums.", created_at=NOW - number * HOUR)
        Consideration.objects.create(
            persona=allowed.persona, day=TODAY, verdict="refuse", gate="trigger", first_at=NOW, at=NOW
        )
    assert statements(NOW + 2 * MINUTE) == before <= 16


# --- asked again at the door ----------------------------------------------------------------------------------------
@pytest.fixture
def begun(allowed: ReachingOut, remember: Remember) -> Outreach:
    """One that is on its way for a promise."""
    promised(allowed.persona, remember)
    consider_all(NOW)
    return Outreach.objects.get()


def test_nothing_has_changed_at_the_door(begun: Outreach) -> None:
    assert reconsider(begun, NOW + MINUTE).speaks


def test_an_earlier_first_word_still_counts_at_the_door(begun: Outreach) -> None:
    Outreach.objects.create(
        persona=begun.persona, trigger="shock", trigger_key="shock:1", status="delivered", wanted_at=NOW,
        delivered_at=NOW,
    )  # fmt: skip
    assert reconsider(begun, NOW + MINUTE).gate == "spacing"


@pytest.mark.parametrize(
    ("change", "gate"),
    [
        (lambda begun: ReachingOut.objects.update(enabled=False), "enabled"),
        (lambda begun: ReachingOut.objects.all().delete(), "enabled"),
        (lambda begun: ReachingOut.objects.update(max_per_24h=0), "rate"),
        (lambda begun: ReachingOut.objects.update(quiet_start=20), "quiet_hours"),
        (lambda begun: Persona.objects.update(care_until=NOW + DAY), "crisis_hold"),
        (lambda begun: ConceptNode.objects.update(outcome="fulfilled"), "trigger"),
        (lambda begun: ConceptNode.objects.all().delete(), "trigger"),
        (lambda begun: talk(begun.persona, "Hello!", at=NOW), "trigger"),
    ],
    ids=["off", "never on", "cap", "night", "crisis", "kept", "forgotten", "the talk goes on"],
)
def test_what_has_changed_since_is_seen_at_the_door(
    begun: Outreach, change: Callable[[Outreach], Any], gate: str
) -> None:
    change(begun)
    assert reconsider(begun, NOW + MINUTE).gate == gate


def test_another_reason_is_none_for_this_one(begun: Outreach, remember: Remember) -> None:
    remember(begun.persona, "Her cat died.", emotional_impact=-9, created_at=NOW)
    ConceptNode.objects.filter(kind="intention").update(status="hidden")
    assert reconsider(begun, NOW + MINUTE).gate == "trigger"


def test_a_silence_is_still_the_same_at_the_door(allowed: ReachingOut) -> None:
    talk(allowed.persona, "Good night.", at=NOW - 49 * HOUR)
    consider_all(NOW)
    silence = Outreach.objects.get()
    assert reconsider(silence, NOW + MINUTE).speaks


def test_a_message_being_answered_defers_at_the_door(begun: Outreach) -> None:
    session = talk(begun.persona, "Are you there?", at=NOW - 2 * HOUR, status=Session.Status.OPEN)
    session.turns.create(persona=begun.persona, status="collecting")
    decision = reconsider(begun, NOW + MINUTE)
    assert (decision.verdict, decision.reason and decision.reason.key) == ("defer", begun.trigger_key)


def test_a_death_in_the_middle_leaves_nothing_half_done(
    allowed: ReachingOut, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    promised(allowed.persona, remember)
    with monkeypatch.context() as broken:
        broken.setattr(consider, "async_task", lambda *_: 1 / 0)
        assert consider_all(NOW) == 0
    assert not Outreach.objects.exists()
    assert not Consideration.objects.exists()
    assert consider_all(NOW + MINUTE) == 1
    assert len(jobs()) == Outreach.objects.count() == 1
