"""What a call used and cost, measured while it runs and written when it ends."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal

from django.apps import apps
from django.db import DatabaseError, transaction
from django.utils import timezone

from echovessel.db.compiled_queries import insert
from echovessel.llm.base import Provider
from echovessel.llm.errors import LLMError
from echovessel.llm.prompt_sections import tokens
from echovessel.llm.request import Finished, Request, Thought, Usage
from echovessel.process import redaction

log = logging.getLogger(__name__)

MILLION = Decimal(1_000_000)


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
        asked = tokens(self.request.system) + tokens(self.request.user)
        return Usage(asked, 0, tokens(self.text) + self.reasoning_bytes // 4, estimated=True)

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
