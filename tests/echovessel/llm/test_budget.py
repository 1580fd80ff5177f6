"""Daily caps: what is spent is spent until the next midnight of UTC, whatever clocks do."""

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pydantic import BaseModel

from echovessel import knobs, llm
from echovessel.llm import ledger
from echovessel.llm.models import LLMCall, Purpose
from echovessel.llm.providers import chosen_provider
from tests.scripted import Script

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


class Yes(BaseModel):
    """The smallest answer."""

    yes: bool


@pytest.fixture(autouse=True)
def small_caps(scripted: Script, settings: Any) -> None:
    """A thousand tokens a day for what the tests use."""
    settings.KNOBS |= {"llm.chat_tokens_per_day": 1_000, "llm.extraction_tokens_per_day": 1_000}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A function that sets the time."""

    def at(now: datetime) -> None:
        monkeypatch.setattr(timezone, "now", lambda: now)

    at(NOON)
    return at


def spend(owner: User | None, *, at: datetime = NOON, purpose: str = "extraction", **row: Any) -> LLMCall:
    row = {"provider": "openai", "model": "m", "outcome": "ok", "tokens_in": 900, "tokens_out": 100} | row
    return LLMCall.objects.create(owner=owner, purpose=purpose, at=at, **row)


def a_request(owner: User | None, purpose: str = "extraction") -> llm.Request:
    owner_id = owner.pk if owner else None
    return llm.Request(system="", user="Yes?", tier="small", purpose=purpose, max_tokens=5, owner_id=owner_id)


def may_ask(owner: User | None, now: datetime = NOON, purpose: str = "extraction") -> bool:
    try:
        ledger.demand(a_request(owner, purpose), chosen_provider(), now)
    except llm.LLMError as error:
        return error.code != "budget_exhausted"
    return True


def test_a_spent_cap_asks_nobody_and_says_when_it_opens_again(ana: User, scripted: Script, clock: Any) -> None:
    spend(ana)
    with pytest.raises(llm.LLMError) as caught:
        llm.answer_now(a_request(ana), Yes)
    assert (caught.value.code, caught.value.permanent, caught.value.retry_after) == ("budget_exhausted", False, 43_200)
    assert not scripted.requests
    row = LLMCall.objects.get(outcome="budget_exhausted")
    assert (row.owner, row.purpose, row.tokens_in, row.tokens_out, row.at) == (ana, "extraction", 0, 0, NOON)


def test_one_token_below_the_cap_one_may_still_ask(ana: User, scripted: Script, clock: Any) -> None:
    spend(ana, tokens_out=99)
    scripted.answers({"yes": True})
    assert llm.answer_now(a_request(ana), Yes).value.yes
    assert not may_ask(ana), "what was asked on the last token has used it up"


def test_the_second_question_of_an_answer_is_not_cut_off(ana: User, scripted: Script, clock: Any) -> None:
    spend(ana, tokens_out=99)
    scripted.answers("Perhaps.", {"yes": True})
    assert llm.answer_now(a_request(ana), Yes).value.yes
    assert len(scripted.requests) == 2


def test_the_cap_allows_the_second_attempt_after_a_stored_reply_of_yesterday(
    ana: User, scripted: Script, clock: Any
) -> None:
    class Yesterday:
        def load(self) -> list[llm.Reply]:
            return [llm.Reply("Perhaps.", True, llm.Usage(100, 0, 7))]

        def save(self, number: int, reply: llm.Reply) -> None:
            assert number == 1

    spend(ana)
    scripted.answers({"yes": True})
    assert llm.answer_now(a_request(ana), Yes, replies=Yesterday()).value.yes


def test_each_owner_and_each_purpose_has_a_cap_of_its_own(ana: User, ben: User) -> None:
    spend(ana)
    assert not may_ask(ana)
    assert may_ask(ben)
    assert may_ask(ana, purpose="chat")
    spend(ana, purpose="chat")
    assert not may_ask(ana, purpose="chat")


def test_who_has_no_owner_has_no_cap(ana: User) -> None:
    spend(None, tokens_in=10**9)
    assert may_ask(None)
    assert may_ask(ana)


def test_nought_is_no_cap(ana: User, settings: Any) -> None:
    settings.KNOBS |= {"llm.extraction_tokens_per_day": 0}
    spend(ana, tokens_in=10**9)
    assert may_ask(ana)


def test_the_rules_of_the_offline_provider_are_neither_counted_nor_capped(ana: User, settings: Any) -> None:
    spend(ana, provider="offline", tokens_in=10**9)
    assert may_ask(ana)
    spend(ana)
    settings.LLM_PROVIDER = "offline"
    assert may_ask(ana)


LAST = datetime(2026, 3, 5, 23, 59, 59, tzinfo=UTC)
MIDNIGHT = datetime(2026, 3, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("spent_at", "asked_at", "open_again"),
    [
        (LAST, LAST, False),
        (LAST, MIDNIGHT, True),
        (datetime(2026, 3, 5, tzinfo=UTC), LAST, False),
        (NOON, NOON + timedelta(days=1), True),
        (NOON, NOON - timedelta(hours=1), False),
        (MIDNIGHT, LAST, True),
        (NOON, NOON - timedelta(days=1), True),
        (NOON, datetime(2026, 3, 6, 7, 59, tzinfo=ZoneInfo("Asia/Shanghai")), False),
        (NOON, datetime(2026, 3, 6, 8, 0, tzinfo=ZoneInfo("Asia/Shanghai")), True),
        (
            datetime(2026, 3, 29, 0, 30, tzinfo=UTC),
            datetime(2026, 3, 30, 1, 59, tzinfo=ZoneInfo("Europe/Berlin")),
            False,
        ),
        (datetime(2026, 3, 29, 0, 30, tzinfo=UTC), datetime(2026, 3, 30, 2, 0, tzinfo=ZoneInfo("Europe/Berlin")), True),
        (datetime(2028, 2, 28, 23, 0, tzinfo=UTC), datetime(2028, 2, 29, tzinfo=UTC), True),
    ],
    ids=[
        "in the last second",
        "at midnight",
        "from the first second on",
        "the clock jumped a day ahead",
        "the clock jumped an hour back",
        "the clock jumped back over midnight",
        "the clock jumped a day back",
        "a new day in Shanghai, the old one in UTC",
        "eight in the morning in Shanghai",
        "the day without an hour, before its end",
        "the day without an hour, after its end",
        "a leap day",
    ],
)
def test_the_day_is_that_of_utc(ana: User, spent_at: datetime, asked_at: datetime, open_again: bool) -> None:
    spend(ana, at=spent_at)
    assert may_ask(ana, asked_at) is open_again


def test_the_pause_reaches_to_midnight_of_utc(ana: User) -> None:
    assert ledger.budget_error("chat", LAST).retry_after == 1
    assert ledger.budget_error("chat", MIDNIGHT).retry_after == 86_400
    in_shanghai = datetime(2026, 3, 6, 7, 0, tzinfo=ZoneInfo("Asia/Shanghai"))
    assert ledger.budget_error("chat", in_shanghai).retry_after == 3_600


def test_money_is_a_cap_over_all_background_purposes_and_not_over_chat(ana: User, settings: Any) -> None:
    settings.KNOBS |= {"llm.background_dollars_per_day": 0.5}
    spend(ana, purpose="reflection", tokens_in=1, cost=Decimal("0.3"))
    spend(ana, purpose="chat", tokens_in=1, cost=Decimal("7"))
    spend(ana, purpose="entity", tokens_in=1, cost=None)
    assert may_ask(ana)
    spend(ana, purpose="slow_cycle", tokens_in=1, cost=Decimal("0.2"))
    assert not may_ask(ana)
    assert may_ask(ana, purpose="chat")
    settings.KNOBS |= {"llm.chat_dollars_per_day": 7}
    assert not may_ask(ana, purpose="chat")


def test_asking_costs_one_query_by_the_index(ana: User, settings: Any) -> None:
    settings.KNOBS |= {"llm.background_dollars_per_day": 0.5}
    spend(ana)
    for purpose in ("chat", "extraction"):
        with CaptureQueriesContext(
            connection,
        ) as seen:
            may_ask(ana, purpose=purpose)
        [query] = seen
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plan = " ".join(str(row) for row in cursor.fetchall())
        assert "SEARCH" in plan
        assert "llm_call_budget (owner_id=? AND purpose=? AND at>? AND at<?)" in plan


def test_every_purpose_has_a_cap_and_its_reason() -> None:
    assert {f"llm.{purpose}_tokens_per_day" for purpose in Purpose.values} <= set(knobs.REGISTRY)


@pytest.mark.django_db(transaction=True)
async def test_a_session_is_capped_as_well_and_says_so_before_a_word(scripted: Script) -> None:
    ana = await User.objects.acreate(username="ana")
    await asyncio.to_thread(spend, ana, at=timezone.now(), purpose="chat")
    with pytest.raises(llm.LLMError) as caught:
        async with aclosing(llm.stream(a_request(ana, "chat"))) as pieces:
            await anext(pieces)
    assert caught.value.code == "budget_exhausted"
    assert not scripted.requests
    assert await LLMCall.objects.filter(outcome="budget_exhausted", tokens_in=0, purpose="chat").acount() == 1


@pytest.mark.django_db(transaction=True)
async def test_an_answer_asked_for_in_async_code_is_capped_as_well(scripted: Script) -> None:
    ana = await User.objects.acreate(username="ana")
    await asyncio.to_thread(spend, ana, at=timezone.now())
    with pytest.raises(llm.LLMError) as caught:
        await llm.answer(a_request(ana), Yes)
    assert caught.value.code == "budget_exhausted"
    assert not scripted.requests


@pytest.fixture
def curator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("cora", password="a long word for cora"))
    return client


def test_the_desk_shows_what_today_used_of_the_caps(curator: Client, ana: User, ben: User) -> None:
    now = timezone.now()
    spend(ana, at=now, cost=Decimal("0.25"))
    spend(ana, at=now, tokens_in=500, cost=None)
    spend(ben, at=now, purpose="chat", tokens_in=200)
    spend(ben, at=now - timedelta(days=1), purpose="chat", tokens_in=77_777)
    response = curator.get("/admin/llm/llmcall/")
    lines = [
        (line.owner, line.purpose, line.used.tokens, line.most_tokens, line.spent) for line in response.context["today"]
    ]
    assert lines == [("ana", "extraction", 1_600, 1_000, True), ("ben", "chat", 300, 1_000, False)]
    page = response.content.decode()
    assert "1,600" in page
    assert "0.25" in page
    assert "used up" in page


def test_the_desk_says_so_when_today_used_nothing(curator: Client) -> None:
    assert "Nothing was used today" in curator.get("/admin/llm/llmcall/").content.decode()
