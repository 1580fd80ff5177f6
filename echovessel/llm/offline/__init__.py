"""A provider without a model, key or network: memory mode. It keeps the owner's own words, and answers from them.

It draws no conclusions: if a job asks what something means, the answer is empty. It reads `Request.material` instead
of the prompt, and the same material gives the same words.

    chat        {"language": "en"|"zh", "persona_name", "user_name", "lines": [str],
                 "recollections": [{"text", "layer": "L2"|"L3"|"L4", "speaker": "user"|"persona"|None,
                                    "when": age in words, "at": iso (may be absent),
                                    "lead": "open" or "ended" if it answers how a matter went, "feeling" if it answers
                                    when a feeling last occurred, "overview" if it answers what is known of the owner
                                    (may be absent),
                                    "subject": the person an L3 is about (may be absent)}], best first,
                 "recent": [{"role": "user"|"persona", "content", "at": iso (may be absent)}],
                 "always_known": as recollections, what is in every prompt (may be absent),
                 "blocks": {"persona"|"user": text that the owner wrote} (may be absent),
                 "entities": [{"name", "description"}] named entities (may be absent),
                 "off_the_record": true if nothing is stored (may be absent),
                 "lessons", "boundaries": [str] the owner's wishes, and what to leave alone (may be absent),
                 "new_lessons": [str] lessons stored from the message that is answered (may be absent),
                 "crisis": "plain" or "doubtful" if the user expresses despair, "lately" if they recently did (may
                 be absent)}
    extraction  {"language", "persona_name", "user_name", "timezone",
                 "lines": [{"id", "role": "user"|"persona", "content", "at": iso, "read": true if it is context,
                            "crisis": true if it was classified as a cry}],
                 "known_entities": [{"name", "kind"}], "pairs_in_question": [[name, name]] (both may be absent)}
    import      as extraction, with "dated": false if the days are unknown, and "prose": true if it is no conversation;
                 messages of others have the role "system", "others" are their names if the persona takes no part
    slow_cycle  {"threads_by_rule": story lines in the form of an answer (may be absent)}
    onboarding  {"language", "user_name", "lines": as in extraction} an import, for drafts of the owner's profile
    proactive   {"language", "persona_name", "user_name", "about": the subject or "", "recent": as in chat}
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from echovessel.llm.errors import LLMError
from echovessel.llm.offline.extraction import draft_quotations, extract
from echovessel.llm.offline.reply import first_word, reply
from echovessel.llm.providers import OFFLINE, Provider
from echovessel.llm.request import Request, ResponseSchema, StreamEnd

# Long enough that words visibly stream, short enough that nobody waits.
PAUSE_S = 0.006
PIECE = re.compile(r"(?:[A-Za-z0-9'’\-]+\s*|\s+|.){1,3}", re.DOTALL)

ANSWERS: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "extraction": extract,
    "import": extract,
    "proactive": first_word,
    "reflection": lambda _: {"thoughts": []},
    "slow_cycle": lambda material: {"thoughts": [], "threads": material.get("threads_by_rule", [])},
    "entity": lambda _: {"description": "", "filling": []},
    "onboarding": draft_quotations,
}


class OfflineProvider(Provider):
    """The provider of memory mode: deterministic, free, and open about not being a model."""

    name = "offline"
    defaults = OFFLINE

    def model(self, tier: str) -> str:
        """No model, whatever the settings name for other providers."""
        return "offline"

    def price(self, model: str) -> Mapping[str, float]:
        """Rules cost nothing."""
        return {"in": 0, "cached": 0, "out": 0}

    async def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | StreamEnd, None]:
        """See `Provider.stream`. Raises a permanent `LLMError` for purposes that need a model."""
        if shape is None and request.purpose == "chat":
            text = reply(request.material)
        elif shape is not None and request.purpose in ANSWERS:
            text = json.dumps(ANSWERS[request.purpose](request.material), ensure_ascii=False)
        else:
            raise LLMError("No model is connected.", code="provider_unavailable", permanent=True)
        for piece in PIECE.findall(text):
            yield piece
            if shape is None:
                await asyncio.sleep(PAUSE_S)
        yield StreamEnd("stop")
