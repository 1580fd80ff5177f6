"""What this process has learned of each endpoint: what its server refuses, and how its model thinks.

Servers that speak one protocol differ in what they take: JSON schemas, a JSON mode, fields of newer versions. We ask
for the best, and step down when the server says no. Steps that led to an open stream are
remembered per endpoint and model.

How a model thinks is guessed from its name, then learned from its replies. It decides two things that cannot be seen
from a reply that has only begun: whether text is held back until its reasoning has ended, and how many tokens reasoning
needs besides the reply.
"""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

from django.conf import settings

from echovessel.llm.providers import Provider
from echovessel.llm.request import Tier

Mode = Literal["schema", "json", "text"]
Endpoint = tuple[str, str, str]  # provider, base URL, model
Opened = TypeVar("Opened")

# How servers say "I do not know that": 400 and 422 validation, 404 and 415 unknown, 501 not built.
REFUSALS = frozenset({400, 404, 415, 422, 501})

_agreed: dict[Endpoint, "Terms"] = {}


class TermsRefused(Protocol):
    """A status error of either SDK."""

    status_code: int
    message: str


@dataclass(frozen=True)
class Terms:
    """How to ask: the mode of structured answers, and the request fields to leave out."""

    mode: Mode
    without: frozenset[str] = frozenset()

    def after(self, error: TermsRefused, fields: Sequence[str], modes: Sequence[Mode]) -> "Terms | None":
        """The next poorer terms after a refusal, or None when it was not about terms.

        A field that the server names is left out; else the mode goes down one step. `modes` is empty for
        calls that want plain text.
        """
        if error.status_code not in REFUSALS:
            return None
        for field in fields:
            if field not in self.without and re.search(rf"\b{field}\b", error.message):
                return replace(self, without=self.without | {field})
        poorer = modes[modes.index(self.mode) + 1 :] if self.mode in modes else ()
        return replace(self, mode=poorer[0]) if poorer else None


def terms(endpoint: Endpoint) -> Terms:
    """What the endpoint is known to take; the best, if nothing is known."""
    return _agreed.get(endpoint, Terms("schema"))


async def open_stream(
    endpoint: Endpoint,
    send: Callable[[Terms], Awaitable[Opened]],
    *,
    refusal: type[Exception],
    fields: Sequence[str],
    modes: Sequence[Mode],
) -> Opened:
    """The first stream that opens, from the remembered terms downwards; the last refusal, if none does."""
    current = terms(endpoint)
    while True:
        try:
            stream = await send(current)
        except refusal as error:
            poorer = current.after(error, fields, modes)  # type: ignore[arg-type]
            if poorer is None:
                raise
            current = poorer
        else:
            _agreed[endpoint] = current
            return stream


# --- how its model thinks ---
# Families that think before they answer, as servers and files name them.
_THINKERS = re.compile(
    r"(?:^|[^a-z])(?:r1|qwq|qwen-?3|magistral|gpt-oss|glm-?(?:4\.[5-9]|[5-9]|z1)|minimax-?m|nemotron|seed-oss|smollm3"
    r"|deepseek-(?:r|v3\.[1-9]|v[4-9])|phi-?4.*reasoning|exaone|cogito|hunyuan|step-?3|kimi-k2|gemma-?4)"
    r"|think|reason",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"instruct|non-?(?:think|reason)|no-?think|-chat\b", re.IGNORECASE)

_thinks: dict[Endpoint, bool] = {}
_opens_in_prompt: dict[Endpoint, bool] = {}


def endpoint_of(provider: Provider, tier: Tier) -> Endpoint:
    """Who answers for this tier."""
    return provider.name, settings.LLM_BASE_URL, provider.model(tier)


def thinks(endpoint: Endpoint) -> bool:
    """Whether its replies need room for reasoning. Who has thought once may do so again."""
    return _thinks.get(endpoint) or _sounds_thoughtful(endpoint)


def opens_in_prompt(endpoint: Endpoint) -> bool:
    """Whether its reasoning may begin without a mark: not after a reply that showed the opposite."""
    return _opens_in_prompt.get(endpoint, _sounds_thoughtful(endpoint))


def learn(endpoint: Endpoint, *, thought: bool, was_unopened: bool) -> None:
    """Take note of one whole reply."""
    if thought:
        _thinks[endpoint] = True
    _opens_in_prompt[endpoint] = was_unopened


def forget() -> None:
    """Forget all that was learned (for tests)."""
    _agreed.clear()
    _thinks.clear()
    _opens_in_prompt.clear()


def _sounds_thoughtful(endpoint: Endpoint) -> bool:
    model = endpoint[2]
    return bool(_THINKERS.search(model)) and not _PLAIN.search(model)
