"""The API of cost: by day and purpose, of the caller alone."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from echovessel.llm.models import LLMCall
from persona.models import Persona

pytestmark = pytest.mark.django_db
LATE = datetime(2026, 3, 1, 23, 59, 59, tzinfo=UTC)


@pytest.fixture
def owner(mira: Persona, client: Client) -> Client:
    client.force_login(mira.owner)
    return client


def call(owner: User, at: datetime, cost: str | None = "0.01", **fields: Any) -> LLMCall:
    given = {"purpose": "chat", "provider": "x", "model": "y", "outcome": "ok", "tokens_in": 10, "tokens_out": 2}
    return LLMCall.objects.create(owner=owner, at=at, cost=cost and Decimal(cost), **(given | fields))


def told(client: Client, asked: str = "since=2026-03-01&until=2026-03-02") -> Any:
    return client.get(f"/api/cost?{asked}").json()


def test_calls_are_summed_by_day_and_purpose(owner: Client, ana: User, ben: User) -> None:
    call(ana, LATE)
    call(ana, LATE, "0.02", tokens_cached=4)
    call(ana, LATE, None, purpose="extraction")
    call(ana, LATE + timedelta(seconds=1))
    call(ben, LATE)
    rows = told(owner)
    assert [(row["day"], row["purpose"], row["calls"], row["unpriced"]) for row in rows] == [
        ("2026-03-02", "chat", 1, 0),
        ("2026-03-01", "chat", 2, 0),
        ("2026-03-01", "extraction", 1, 1),
    ]
    assert [row["cost"] and Decimal(row["cost"]) for row in rows] == [Decimal("0.01"), Decimal("0.03"), None]
    assert (rows[1]["tokens_in"], rows[1]["tokens_cached"], rows[1]["tokens_out"]) == (20, 4, 4)


def test_days_and_a_persona_narrow_it(owner: Client, ana: User, mira: Persona) -> None:
    call(ana, LATE, persona_uuid=mira.uuid)
    call(ana, LATE)
    call(ana, LATE + timedelta(days=2))
    assert sum(row["calls"] for row in told(owner, "since=2026-03-01&until=2026-03-01")) == 2
    assert sum(row["calls"] for row in told(owner, f"until=2026-03-03&persona={mira.uuid}")) == 1


def test_the_last_thirty_days_are_told_by_themselves(owner: Client, ana: User) -> None:
    now = timezone.now()
    call(ana, now)
    call(ana, now - timedelta(days=31))
    assert sum(row["calls"] for row in told(owner, "")) == 1


@pytest.mark.parametrize("asked", ["since=2026-03-02&until=2026-03-01", "since=2020-01-01&until=2026-01-01", "since=x"])
def test_days_that_make_no_span_are_refused(owner: Client, asked: str) -> None:
    assert owner.get(f"/api/cost?{asked}").status_code == 422
