"""API of cost: what the models were asked for the caller, by day and purpose. No words, and nobody else's."""

from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Count, Q, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema
from pydantic import Field

from echovessel.api.problems import ApiError
from echovessel.llm.models import LLMCall, Purpose

router = Router()
DAYS = 30
MAX_DAYS = 366
Day = Annotated[date, Field(ge=date(2000, 1, 1), le=date(2199, 12, 31))]


class CostOut(Schema):
    """What was asked on one day (UTC) for one purpose. `cost` is in US dollars, and null where no call of it has a
    known price; `unpriced` counts those without one."""

    day: date
    purpose: Purpose
    calls: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    cost: Decimal | None = Field(examples=["0.00420000"])
    unpriced: int


@router.get("/cost", response=list[CostOut], summary="What the models cost, by day and purpose")
def list_costs(
    request: HttpRequest, since: Day | None = None, until: Day | None = None, persona: UUID | None = None
) -> list[dict[str, Any]]:
    """The last thirty days, or from one day to another (both included, at most 366), newest first; of one persona
    where one is given."""
    last = until or timezone.now().astimezone(UTC).date()
    first = since or last - timedelta(days=DAYS - 1)
    if not 0 <= (last - first).days < MAX_DAYS:
        raise ApiError(422, "invalid", f"These are no days, or more than {MAX_DAYS}.", fields=["query.since"])
    calls = LLMCall.objects.filter(owner_id=request.user.pk, at__gte=_midnight(first))
    calls = calls.filter(at__lt=_midnight(last + timedelta(days=1)))
    days = (calls.filter(persona_uuid=persona) if persona else calls).annotate(day=TruncDate("at", tzinfo=UTC))
    sums = {name: Sum(name) for name in ("tokens_in", "tokens_cached", "tokens_out", "cost")}
    unpriced = Count("pk", filter=Q(cost=None))
    rows: Any = days.values("day", "purpose").annotate(calls=Count("pk"), unpriced=unpriced, **sums)
    return list(rows.order_by("-day", "purpose"))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
