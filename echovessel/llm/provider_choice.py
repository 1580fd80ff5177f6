"""Which provider answers: the one the settings name, or the one whose key or address is set."""

from urllib.parse import urlsplit

from django.conf import settings
from django.utils.module_loading import import_string

from echovessel.llm.base import Provider

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
