"""Which model serves which tier."""

from dataclasses import dataclass

from django.conf import settings

from echovessel.llm.request import Tier


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
