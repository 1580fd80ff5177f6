"""Answer an errand of a client program: by the small model if one is connected, else by rule.

Nothing is stored: no message, no turn, no memory. The ledger gets its row, without words.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID, uuid4

from django.utils import timezone

from chat import knobs
from chat.openai_api import errands
from chat.openai_api.errors import CompletionRefused
from chat.openai_api.reply import Usage, acquire_slot
from chat.openai_api.requests import CompletionRequest
from echovessel import llm
from echovessel.llm.prompts import render_wording, shorten, tokens
from echovessel.llm.providers import achosen_provider
from echovessel.web.rate_limit import RateLimiter
from persona.models import Persona

MAX_PROMPT_TOKENS = 8_000
MAX_ANSWER_TOKENS = 1_000

pace = RateLimiter(knobs.errands_per_minute)


@dataclass
class ErrandReply:
    """An errand that is being answered."""

    persona: Persona
    request: CompletionRequest
    uuid: UUID = field(default_factory=uuid4)
    created_at: datetime = field(default_factory=timezone.now)
    text: str = ""
    preface: str = ""
    is_cut: bool = False

    async def pieces(self) -> AsyncGenerator[str | llm.Withdrawal | None, None]:
        """The answer, in one piece. Raises CompletionRefused."""
        now = time.monotonic()
        if not pace.admit(self.persona.owner_id, now):
            wait = pace.wait(self.persona.owner_id, now)
            message = "This program asks for more than a persona's small model is there for. Wait a moment."
            raise CompletionRefused(429, "rate_limit_exceeded", message, retry_after=wait)
        async with acquire_slot(self.persona.owner_id):
            self.text = await self._by_model() or errands.answer_by_rule(self.request.errand)
        yield self.text

    async def usage(self) -> Usage:
        return Usage(tokens(self.request.errand), 0, tokens(self.text))

    async def _by_model(self) -> str:
        """The model's answer; "" if none is connected or it fails: a title is worth no error."""
        if (await achosen_provider()).name == "offline":
            return ""
        request = llm.Request(
            system=render_wording("client_task"),
            user=shorten(self.request.errand, MAX_PROMPT_TOKENS),
            tier="small",
            purpose="chat",
            max_tokens=MAX_ANSWER_TOKENS,
            owner_id=self.persona.owner_id,
            persona_uuid=self.persona.uuid,
        )
        with suppress(llm.LLMError):
            async with aclosing(llm.stream(request)) as pieces:
                text = ""
                async for piece in pieces:
                    if isinstance(piece, llm.Withdrawal):
                        text = ""
                    elif isinstance(piece, str):
                        text += piece
                return text.strip()
        return ""
