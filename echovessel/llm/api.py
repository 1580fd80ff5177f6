"""API of cost: the caller's own model calls, by day and purpose. It contains no text of prompts or replies."""

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
    """The calls of one day (UTC) for one purpose. `cost` is in US dollars, and null if none of the calls has a known
    price; `unpriced` counts the calls without one."""

    day: date
    purpose: Purpose
    calls: int
    tokens_in: int
    tokens_cached: int
    tokens_out: int
    cost: Decimal | None = Field(examples=["0.00420000"])
    unpriced: int


@router.get("/cost", response=list[CostOut], summary="Cost of model calls, by day and purpose")
def list_costs(
    request: HttpRequest, since: Day | None = None, until: Day | None = None, persona: UUID | None = None
) -> list[dict[str, Any]]:
    """The last thirty days, or from `since` to `until` (both included, at most 366 days), newest first; with `persona`,
    only the calls of that persona."""
    last = until or timezone.now().astimezone(UTC).date()
    first = since or last - timedelta(days=DAYS - 1)
    if not 0 <= (last - first).days < MAX_DAYS:
        raise ApiError(422, "invalid", f"These are not valid days, or more than {MAX_DAYS}.", fields=["query.since"])
    calls = LLMCall.objects.filter(owner_id=request.user.pk, at__gte=_midnight(first))
    calls = calls.filter(at__lt=_midnight(last + timedelta(days=1)))
    days = (calls.filter(persona_uuid=persona) if persona else calls).annotate(day=TruncDate("at", tzinfo=UTC))
    sums = {name: Sum(name) for name in ("tokens_in", "tokens_cached", "tokens_out", "cost")}
    unpriced = Count("pk", filter=Q(cost=None))
    rows: Any = days.values("day", "purpose").annotate(calls=Count("pk"), unpriced=unpriced, **sums)
    return list(rows.order_by("-day", "purpose"))


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, UTC)
