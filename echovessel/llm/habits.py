"""How a model thinks: guessed from its name, then learned from its replies, per endpoint, for as long as the process
lives. It decides two things that cannot be seen from a reply that has only begun: whether text is held back until its
reasoning has ended, and how many tokens reasoning needs besides the reply."""

import re

from django.conf import settings

from echovessel.llm.base import Provider
from echovessel.llm.negotiation import Endpoint
from echovessel.llm.request import Tier

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
    """Forget what was learned (for tests)."""
    _thinks.clear()
    _opens_in_prompt.clear()


def _sounds_thoughtful(endpoint: Endpoint) -> bool:
    model = endpoint[2]
    return bool(_THINKERS.search(model)) and not _PLAIN.search(model)
