"""The offline provider: rules in the place of a model."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from echovessel.llm.base import Provider
from echovessel.llm.errors import LLMError
from echovessel.llm.offline.describing import described
from echovessel.llm.offline.diary import imported
from echovessel.llm.offline.extraction import extracted
from echovessel.llm.offline.first_word import spoken_first
from echovessel.llm.offline.portrait import drafted
from echovessel.llm.offline.reflection import reflected
from echovessel.llm.offline.reply import replied
from echovessel.llm.offline.slow_cycle import wondered
from echovessel.llm.request import Finished, Request, ResponseSchema
from echovessel.llm.tiers import OFFLINE

# Long enough to see the words come, short enough that nobody waits.
PAUSE_S = 0.002
PIECE = re.compile(r"[A-Za-z0-9'’\-]+\s*|\s+|.", re.DOTALL)

STRUCTURED: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "extraction": extracted,
    "reflection": reflected,
    "slow_cycle": wondered,
    "entity": described,
    "proactive": spoken_first,
    "import": imported,
    "onboarding": drafted,
}


class OfflineProvider(Provider):
    """Deterministic, free, and honest about what it is not."""

    name = "offline"
    defaults = OFFLINE

    def model(self, tier: str) -> str:
        """There is none, whatever the settings name for other providers."""
        return "offline"

    def price(self, model: str) -> Mapping[str, float]:
        """Rules cost nothing."""
        return {"in": 0, "cached": 0, "out": 0}

    async def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | Finished, None]:
        """See `Provider.stream`. Raises a permanent `LLMError` for purposes that need a model."""
        for piece in PIECE.findall(_words(request, shape)):
            yield piece
            if shape is None:
                await asyncio.sleep(PAUSE_S)
        yield Finished("stop")


def _words(request: Request, shape: ResponseSchema | None) -> str:
    if shape is None and request.purpose == "chat":
        return replied(request.material)
    if shape is not None and request.purpose in STRUCTURED:
        return json.dumps(STRUCTURED[request.purpose](request.material), ensure_ascii=False)
    raise LLMError("No model is connected.", code="provider_unavailable", permanent=True)
