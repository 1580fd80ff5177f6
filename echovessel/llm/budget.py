"""Daily caps: whether an owner may ask once more today, by what the ledger says was used.

A day is a day of UTC, wherever people live and whatever their clocks do. The rules of the offline provider are free:
they are neither counted nor capped. Calls that run at the same time do not see each other, so a cap is overshot by what
is on its way when it is reached.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.apps import apps
from django.db.models import Count, Sum

from echovessel.llm import knobs
from echovessel.llm.base import Provider
from echovessel.llm.errors import LLMError
from echovessel.llm.request import Request

CHAT = "chat"
FREE = "offline"


@dataclass(frozen=True)
class Usage:
    """What one owner's calls for one purpose used. `cost` is None where no price is known."""

    owner_id: int | None
    purpose: str
    calls: int
    tokens_in: int
    tokens_out: int
    cost: Decimal | None

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out


def demand(request: Request, provider: Provider, now: datetime) -> None:
    """Raises `LLMError` with the code "budget_exhausted" where the owner has used up the day for this purpose.

    One query by index; none where nothing is capped.
    """
    if is_spent(request.purpose, request.owner_id, provider, now):
        raise budget_error(request.purpose, now)


def is_spent(purpose: str, owner_id: int | None, provider: Provider, now: datetime) -> bool:
    """Whether the owner has used up the day for this purpose. One query by index; none where nothing is capped."""
    if not _is_capped(purpose, owner_id, provider):
        return False
    most_tokens, most_dollars = caps(purpose)
    # All purposes but chat share one cap.
    purposes = [purpose] if purpose == CHAT else [other for other in knobs.TOKENS_PER_DAY if other != CHAT]
    spent = usage_today(now, owner_id=owner_id, purposes=purposes)
    tokens = sum(one.tokens for one in spent if one.purpose == purpose)
    dollars = sum((one.cost or Decimal(0) for one in spent), Decimal(0))
    return bool((most_tokens and tokens >= most_tokens) or (most_dollars and dollars >= most_dollars))


def is_capped(request: Request, provider: Provider) -> bool:
    """Whether there is a cap to look at: not for calls that are free, that nobody owns or that nothing caps."""
    return _is_capped(request.purpose, request.owner_id, provider)


def _is_capped(purpose: str, owner_id: int | None, provider: Provider) -> bool:
    return owner_id is not None and provider.name != FREE and any(caps(purpose))


def caps(purpose: str) -> tuple[int, Decimal]:
    """The most tokens, and the most US dollars of everything that is paid together with it; 0 is no cap."""
    tokens = knobs.TOKENS_PER_DAY.get(purpose)
    dollars = knobs.chat_dollars_per_day() if purpose == CHAT else knobs.background_dollars_per_day()
    return tokens() if tokens else 0, Decimal(str(dollars))


def usage_today(now: datetime, *, owner_id: int | None = None, purposes: Sequence[str] = ()) -> list[Usage]:
    """What the calls of today used, by owner and purpose; of one owner and of some purposes where they are given."""
    calls = apps.get_model("llm", "LLMCall").objects.exclude(provider=FREE)
    today = calls.filter(at__gte=day_of(now), at__lt=next_day(now))
    if owner_id is not None:
        today = today.filter(owner_id=owner_id)
    if purposes:
        today = today.filter(purpose__in=purposes)
    totals: dict[str, Any] = {name: Sum(name) for name in ("tokens_in", "tokens_out", "cost")}
    by_whom_and_what = today.order_by("owner_id", "purpose").values("owner_id", "purpose")
    rows: Any = by_whom_and_what.annotate(calls=Count("pk"), **totals)
    return [Usage(**row) for row in rows]


def budget_error(purpose: str, now: datetime) -> LLMError:
    """The error of a spent cap: it passes with the day."""
    return LLMError(
        f"Today's budget for {purpose} is spent.",
        code="budget_exhausted",
        permanent=False,
        retry_after=(next_day(now) - now).total_seconds(),
    )


def day_of(now: datetime) -> datetime:
    """The last midnight of UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def next_day(now: datetime) -> datetime:
    """The next midnight of UTC."""
    return day_of(now) + timedelta(days=1)
