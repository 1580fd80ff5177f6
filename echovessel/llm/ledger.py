"""The ledger: usage and cost of each call, measured while it runs and written when it ends; and the daily caps, which
compare the ledger's sums with the knobs.

A day is a UTC day, whatever the owner's time zone. The offline provider is free: its calls are neither counted nor
capped. Calls that run at the same time do not see each other, so a cap may be exceeded by the calls that are running
when it is reached.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.apps import apps
from django.db import DatabaseError, transaction
from django.db.models import Count, Sum
from django.utils import timezone

from echovessel.db.compiled_queries import insert
from echovessel.llm import knobs
from echovessel.llm.errors import LLMError
from echovessel.llm.prompts import tokens
from echovessel.llm.providers import Provider
from echovessel.llm.request import Request, StreamEnd, Thought, Usage
from echovessel.process import redaction

log = logging.getLogger(__name__)

MILLION = Decimal(1_000_000)
CHAT = "chat"
FREE = "offline"


@dataclass
class Meter:
    """Measures one running call; at every moment it can give the ledger row of the call so far."""

    request: Request
    provider: Provider
    started: float = field(default_factory=time.monotonic)
    pieces: list[str] = field(default_factory=list)
    reasoning_bytes: int = 0
    end: StreamEnd | None = None
    outcome: str = "stopped"
    latency_ms: int = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Record how the block ends. A cancelled task or a closed stream counts as stopped."""
        try:
            yield
        except LLMError as error:
            self.outcome = error.code
            raise
        except Exception:
            self.outcome = "internal"
            raise
        else:
            self.outcome = "ok"
        finally:
            self.latency_ms = round((time.monotonic() - self.started) * 1000)

    def see(self, item: str | Thought | StreamEnd) -> None:
        """Count one item that the provider yielded."""
        if isinstance(item, StreamEnd):
            self.end = item
        elif isinstance(item, Thought):
            self.reasoning_bytes += len(item.text.encode("utf-8", "replace"))
        else:
            self.pieces.append(item)

    @property
    def text(self) -> str:
        """The whole text so far, including reasoning that the server did not separate."""
        return "".join(self.pieces)

    @property
    def usage(self) -> Usage:
        """The provider's count, else an estimate from the text; zero for a call that was refused before it began."""
        if self.end and self.end.usage:
            return self.end.usage
        if not self.pieces and not self.reasoning_bytes and not self.end:
            return Usage(estimated=True)
        tokens_in = tokens(self.request.system) + tokens(self.request.user)
        return Usage(tokens_in, 0, tokens(self.text) + self.reasoning_bytes // 4, estimated=True)

    def record(self) -> None:
        """Write the row. If that fails, log an error instead of losing the reply."""
        try:
            self._insert_row()
        except DatabaseError as error:
            log.error("A call to %s is not in the ledger: %s", self.provider.name, redaction.format_exception(error))

    def record_with(self, keep: Callable[[], None]) -> None:
        """Write the row and call `keep` in one transaction. If that fails, write the row alone, for the tokens were
        used. A database error is then logged as in `record`; any other error of `keep` is raised."""
        try:
            with transaction.atomic():
                self._insert_row()
                keep()
        except Exception as error:
            self.record()
            if not isinstance(error, DatabaseError):
                raise
            log.error("A reply of %s could not be kept: %s", self.provider.name, redaction.format_exception(error))

    def _insert_row(self) -> None:
        insert(apps.get_model("llm", "LLMCall")(**self.row()))

    def row(self) -> dict[str, object]:
        """The field values of the ledger row."""
        model, usage = self.provider.model(self.request.tier), self.usage
        return {
            "owner_id": self.request.owner_id,
            "persona_uuid": self.request.persona_uuid,
            "session_uuid": self.request.session_uuid,
            "turn_uuid": self.request.turn_uuid,
            "purpose": self.request.purpose,
            "provider": self.provider.name,
            "model": model,
            "tokens_in": usage.tokens_in,
            "tokens_cached": usage.tokens_cached,
            "tokens_out": usage.tokens_out,
            "estimated": usage.estimated,
            "cost": cost(usage, self.provider.price(model)),
            "latency_ms": self.latency_ms,
            "outcome": self.outcome,
            "at": timezone.now(),
        }


def cost(usage: Usage, price: Mapping[str, float] | None) -> Decimal | None:
    """The cost in US dollars, or None if the price is unknown.

    >>> cost(Usage(1_000_000, 500_000, 0), {"in": 3, "cached": 0.3, "out": 15})
    Decimal('1.65000000')
    """
    if price is None:
        return None
    fresh = Decimal(str(price["in"]))
    cached = Decimal(str(price.get("cached", price["in"])))
    spent = (usage.tokens_in - usage.tokens_cached) * fresh + usage.tokens_cached * cached
    return ((spent + usage.tokens_out * Decimal(str(price["out"]))) / MILLION).quantize(Decimal("1e-8"))


# --- daily caps ---
@dataclass(frozen=True)
class OwnerUsage:
    """The usage of one owner's calls for one purpose. `cost` is None if no price is known."""

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
    """Raise `LLMError` with the code "budget_exhausted" if the owner has used up today's cap for this purpose.

    One query by index; none if nothing is capped.
    """
    if is_spent(request.purpose, request.owner_id, provider, now):
        raise budget_error(request.purpose, now)


def is_spent(purpose: str, owner_id: int | None, provider: Provider, now: datetime) -> bool:
    """Whether the owner has used up today's cap for this purpose. One query by index; none if nothing is capped."""
    if not is_capped(purpose, owner_id, provider):
        return False
    max_tokens, max_dollars = caps(purpose)
    # The cap in US dollars is shared by all purposes but chat.
    purposes = [purpose] if purpose == CHAT else [other for other in knobs.TOKENS_PER_DAY if other != CHAT]
    usages = usage_today(now, owner_id=owner_id, purposes=purposes)
    tokens_used = sum(usage.tokens for usage in usages if usage.purpose == purpose)
    dollars_used = sum((usage.cost or Decimal(0) for usage in usages), Decimal(0))
    return bool((max_tokens and tokens_used >= max_tokens) or (max_dollars and dollars_used >= max_dollars))


def is_capped(purpose: str, owner_id: int | None, provider: Provider) -> bool:
    """Whether a cap applies: not to calls that are free, have no owner, or whose purpose has no cap."""
    return owner_id is not None and provider.name != FREE and any(caps(purpose))


def caps(purpose: str) -> tuple[int, Decimal]:
    """The caps in tokens (of this purpose) and in US dollars (of all purposes that share one); 0 is no cap."""
    tokens = knobs.TOKENS_PER_DAY.get(purpose)
    dollars = knobs.chat_dollars_per_day() if purpose == CHAT else knobs.background_dollars_per_day()
    return tokens() if tokens else 0, Decimal(str(dollars))


def usage_today(now: datetime, *, owner_id: int | None = None, purposes: Sequence[str] = ()) -> list[OwnerUsage]:
    """Today's usage by owner and purpose, optionally of one owner and some purposes only."""
    calls = apps.get_model("llm", "LLMCall").objects.exclude(provider=FREE)
    today = calls.filter(at__gte=day_of(now), at__lt=next_day(now))
    if owner_id is not None:
        today = today.filter(owner_id=owner_id)
    if purposes:
        today = today.filter(purpose__in=purposes)
    totals: dict[str, Any] = {name: Sum(name) for name in ("tokens_in", "tokens_out", "cost")}
    by_owner_and_purpose = today.order_by("owner_id", "purpose").values("owner_id", "purpose")
    rows: Any = by_owner_and_purpose.annotate(calls=Count("pk"), **totals)
    return [OwnerUsage(**row) for row in rows]


def budget_error(purpose: str, now: datetime) -> LLMError:
    """The error of a used-up cap. It may be retried after midnight UTC."""
    return LLMError(
        f"Today's budget for {purpose} is spent.",
        code="budget_exhausted",
        permanent=False,
        retry_after=(next_day(now) - now).total_seconds(),
    )


def day_of(now: datetime) -> datetime:
    """The last midnight UTC."""
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


def next_day(now: datetime) -> datetime:
    """The next midnight UTC."""
    return day_of(now) + timedelta(days=1)
