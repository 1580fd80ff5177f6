"""Which provider answers, which of its models serves which tier, and the shape of a provider.

After django.core.mail: a dotted path, a base class with one method, small twins.
"""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.module_loading import import_string

from echovessel.llm.request import Finished, Request, ResponseSchema, Thought, Tier


@dataclass(frozen=True)
class Models:
    """The models of a provider when the settings name none."""

    large: str
    medium: str
    small: str


# Current, not deprecated, and named in the SDKs we pin (anthropic 2.11.0, openai 3.52.0; read 2026-11-21).
ANTHROPIC = Models(large="claude-sonnet-5-5", medium="claude-sonnet-5-5", small="claude-haiku-5-5")
OPENAI = Models(large="gpt-6.1-terra", medium="gpt-6.1-terra", small="gpt-6-luna")
OFFLINE = Models(large="offline", medium="offline", small="offline")


def chosen_model(tier: Tier, defaults: Models) -> str:
    """The model named for `tier` in the settings; else another one named there, since a local server often
    has only one; else the provider's own."""
    named = {
        "large": settings.LLM_MODEL_LARGE,
        "medium": settings.LLM_MODEL_MEDIUM,
        "small": settings.LLM_MODEL_SMALL,
    }
    return named[tier] or next(filter(None, named.values()), "") or getattr(defaults, tier)


class Provider:
    """One way to reach a model. Subclasses give `name`, `defaults` and `stream`."""

    name: str
    defaults: Models

    def model(self, tier: Tier) -> str:
        """The model that serves `tier`."""
        return chosen_model(tier, self.defaults)

    def price(self, model: str) -> Mapping[str, float] | None:
        """US dollars per million tokens as {"in", "cached", "out"}, or None where nobody told us."""
        return settings.LLM_PRICES.get(model)

    def stream(
        self, request: Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | Thought | Finished, None]:
        """The reply in pieces and then one `Finished`; with a `shape` the pieces join to JSON of that shape. Reasoning
        that the server tells apart from the reply comes as `Thought`.

        Raises `LLMError` and nothing else for whatever the other side does. The caller sets the deadline.
        """
        raise NotImplementedError


PROVIDERS = {
    "offline": "echovessel.llm.offline.OfflineProvider",
    "openai": "echovessel.llm.openai_provider.OpenAIProvider",
    "anthropic": "echovessel.llm.anthropic_provider.AnthropicProvider",
}


def provider_name() -> str:
    """ "offline", "openai" or "anthropic" (or a dotted path, where the settings name a provider class)."""
    if settings.LLM_PROVIDER != "auto":
        return settings.LLM_PROVIDER
    return automatic(
        base_url=settings.LLM_BASE_URL,
        key=settings.LLM_API_KEY,
        anthropic_key=settings.ANTHROPIC_API_KEY,
        openai_key=settings.OPENAI_API_KEY,
    )


def automatic(*, base_url: str, key: str, anthropic_key: str, openai_key: str) -> str:
    """The provider that fits what is set. An address wins over keys: it was written for this program,
    while a provider's own key may lie in the environment for another.

    >>> automatic(base_url="http://localhost:11434/v1", key="", anthropic_key="sk-ant-1", openai_key="")
    'openai'
    """
    if base_url:
        return "anthropic" if "anthropic" in (urlsplit(base_url).hostname or "") else "openai"
    if key:
        return "anthropic" if key.startswith("sk-ant-") else "openai"
    if anthropic_key:
        return "anthropic"
    return "openai" if openai_key else "offline"


def chosen_provider() -> Provider:
    """The provider of this moment, made anew: it holds nothing but settings."""
    name = provider_name()
    provider: Provider = import_string(PROVIDERS.get(name, name))()
    return provider
