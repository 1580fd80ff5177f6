"""The ledger: what a call used and cost, measured while it runs and written when it ends, and the daily caps, by what
the ledger says was used.

A day is a day of UTC, wherever people live and whatever their clocks do. The rules of the offline provider are free:
they are neither counted nor capped. Calls that run at the same time do not see each other, so a cap is overshot by the
calls that are under way when it is reached.
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
from echovessel.llm.request import Finished, Request, Thought, Usage
from echovessel.process import redaction

log = logging.getLogger(__name__)

MILLION = Decimal(1_000_000)
CHAT = "chat"
FREE = "offline"


@dataclass
class Meter:
    """Runs beside one call and knows at every moment what a row about it would say."""

    request: Request
    provider: Provider
    started: float = field(default_factory=time.monotonic)
    pieces: list[str] = field(default_factory=list)
    reasoning_bytes: int = 0
    finished: Finished | None = None
    outcome: str = "stopped"
    latency_ms: int = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Notes how the block ends. Who leaves by cancelling the task or closing the stream stopped it."""
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

    def see(self, item: str | Thought | Finished) -> None:
        """Takes note of what the provider yields."""
        if isinstance(item, Finished):
            self.finished = item
        elif isinstance(item, Thought):
            self.reasoning_bytes += len(item.text.encode("utf-8", "replace"))
        else:
            self.pieces.append(item)

    @property
    def text(self) -> str:
        """All words so far, with what of them is reasoning."""
        return "".join(self.pieces)

    @property
    def usage(self) -> Usage:
        """As the provider counted, else estimated from the words; nothing for a call that was turned away."""
        if self.finished and self.finished.usage:
            return self.finished.usage
        if not self.pieces and not self.reasoning_bytes and not self.finished:
            return Usage(estimated=True)
        tokens_in = tokens(self.request.system) + tokens(self.request.user)
        return Usage(tokens_in, 0, tokens(self.text) + self.reasoning_bytes // 4, estimated=True)

    def record(self) -> None:
        """Writes the row. An account that cannot be written is a loud log line, not a lost reply."""
        try:
            self._enter()
        except DatabaseError as error:
            log.error("A call to %s is not in the ledger: %s", self.provider.name, redaction.format_exception(error))

    def record_with(self, keep: Callable[[], None]) -> None:
        """Writes the row and does `keep` in one transaction. Where they cannot both be done, the row stands alone: what
        was used was used. A fault of the database is then a log line as above; any other of `keep` is raised."""
        try:
            with transaction.atomic():
                self._enter()
                keep()
        except Exception as error:
            self.record()
            if not isinstance(error, DatabaseError):
                raise
            log.error("A reply of %s could not be kept: %s", self.provider.name, redaction.format_exception(error))

    def _enter(self) -> None:
        insert(apps.get_model("llm", "LLMCall")(**self.row()))

    def row(self) -> dict[str, object]:
        """What the ledger keeps of the call."""
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
    """US dollars, or None where the price is not known.

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
    if not is_capped(purpose, owner_id, provider):
        return False
    max_tokens, max_dollars = caps(purpose)
    # All purposes but chat share one cap.
    purposes = [purpose] if purpose == CHAT else [other for other in knobs.TOKENS_PER_DAY if other != CHAT]
    usages = usage_today(now, owner_id=owner_id, purposes=purposes)
    tokens_used = sum(usage.tokens for usage in usages if usage.purpose == purpose)
    dollars_used = sum((usage.cost or Decimal(0) for usage in usages), Decimal(0))
    return bool((max_tokens and tokens_used >= max_tokens) or (max_dollars and dollars_used >= max_dollars))


def is_capped(purpose: str, owner_id: int | None, provider: Provider) -> bool:
    """Whether there is a cap to look at: not for calls that are free, that nobody owns or that nothing caps."""
    return owner_id is not None and provider.name != FREE and any(caps(purpose))


def caps(purpose: str) -> tuple[int, Decimal]:
    """The most tokens, and the most US dollars of everything that is paid together with it; 0 is no cap."""
    tokens = knobs.TOKENS_PER_DAY.get(purpose)
    dollars = knobs.chat_dollars_per_day() if purpose == CHAT else knobs.background_dollars_per_day()
    return tokens() if tokens else 0, Decimal(str(dollars))


def usage_today(now: datetime, *, owner_id: int | None = None, purposes: Sequence[str] = ()) -> list[OwnerUsage]:
    """What the calls of today used, by owner and purpose; of one owner and of some purposes where they are given."""
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
