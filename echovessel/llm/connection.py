"""The connection to the model that answers: the environment's, else the one that staff saved on the page, else none.

A saved key is encrypted with a key derived from SECRET_KEY. It is decrypted for a call, and never displayed.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.apps import apps
from django.conf import settings
from django.utils import timezone

from echovessel.llm.request import Tier

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Source = Literal["environment", "saved", "none"]
# The variables that choose a model. While one is set, the page only shows their values.
CHOOSING = ("LLM_BASE_URL", "LLM_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY")
OFFLINE = "offline"
_ROW_ID = 1  # the primary key of the one row


@dataclass(frozen=True)
class Connection:
    """A provider by its name (or dotted path), its address ("" for the provider's own), the key, and the models by
    tier."""

    provider: str
    base_url: str = ""
    key: str = field(default="", repr=False)
    models: Mapping[Tier, str] = field(default_factory=dict)
    source: Source = "none"

    def model(self, tier: Tier) -> str:
        """The model chosen for `tier`; else one chosen for another tier, since a local server often has only one; "" if
        none was chosen."""
        return self.models.get(tier) or next(filter(None, self.models.values()), "")


def choosing_variables() -> list[str]:
    """The environment variables that are set and choose the model."""
    set_variables = [name for name in CHOOSING if getattr(settings, name)]
    return ["LLM_PROVIDER", *set_variables] if settings.LLM_PROVIDER != "auto" else set_variables


def of_environment() -> Connection | None:
    """The connection that the environment sets, or None."""
    if not choosing_variables():
        return None
    provider = settings.LLM_PROVIDER
    if provider == "auto":
        provider = automatic(
            base_url=settings.LLM_BASE_URL,
            key=settings.LLM_API_KEY,
            anthropic_key=settings.ANTHROPIC_API_KEY,
            openai_key=settings.OPENAI_API_KEY,
        )
    own_key = {"anthropic": settings.ANTHROPIC_API_KEY, "openai": settings.OPENAI_API_KEY}.get(provider, "")
    return Connection(
        provider, settings.LLM_BASE_URL, settings.LLM_API_KEY or own_key, models_of_environment(), "environment"
    )


def models_of_environment() -> dict[Tier, str]:
    return {
        "large": settings.LLM_MODEL_LARGE,
        "medium": settings.LLM_MODEL_MEDIUM,
        "small": settings.LLM_MODEL_SMALL,
    }


def saved() -> Connection | None:
    """The connection that was saved on the page, or None. Models named in the environment take precedence over saved
    ones."""
    row = apps.get_model("llm", "ModelConnection").objects.filter(pk=_ROW_ID).first()
    if row is None:
        return None
    model_by_tier: dict[Tier, str] = {"large": row.model_large, "medium": row.model_medium, "small": row.model_small}
    environment_models = {tier: name for tier, name in models_of_environment().items() if name}
    return Connection(
        row.provider, row.base_url, decrypt(row.encrypted_key), model_by_tier | environment_models, "saved"
    )


def current() -> Connection:
    """The connection in force now. Reads the database unless the environment sets one."""
    return of_environment() or saved() or Connection(OFFLINE)


def save(connection: Connection, user: "User") -> None:
    """Replace the saved connection. It is in force from the next call on, in every process."""
    apps.get_model("llm", "ModelConnection").objects.update_or_create(
        pk=_ROW_ID,
        defaults={
            "provider": connection.provider,
            "base_url": connection.base_url,
            "encrypted_key": encrypt(connection.key),
            "model_large": connection.models.get("large", ""),
            "model_medium": connection.models.get("medium", ""),
            "model_small": connection.models.get("small", ""),
            "saved_by": user,
            "saved_at": timezone.now(),
        },
    )


def remove() -> None:
    """Delete the saved connection with its key."""
    apps.get_model("llm", "ModelConnection").objects.filter(pk=_ROW_ID).delete()


def automatic(*, base_url: str, key: str, anthropic_key: str, openai_key: str) -> str:
    """The provider that fits what is set. An address wins over keys: it was set for this program, while a provider's
    own key may be in the environment for another one.

    >>> automatic(base_url="http://localhost:11434/v1", key="", anthropic_key="sk-ant-1", openai_key="")
    'openai'
    """
    if base_url:
        return "anthropic" if "anthropic" in (urlsplit(base_url).hostname or "") else "openai"
    if key:
        return "anthropic" if key.startswith("sk-ant-") else "openai"
    if anthropic_key:
        return "anthropic"
    return "openai" if openai_key else OFFLINE


def encrypt(key: str) -> str:
    """The key encrypted for the database; "" for an empty key."""
    return _cipher().encrypt(key.encode()).decode() if key else ""


def decrypt(token: str) -> str:
    """The key in plain text; "" if there is none, or if SECRET_KEY has changed since."""
    try:
        return _cipher().decrypt(token.encode()).decode() if token else ""
    except InvalidToken:
        return ""


def _cipher() -> MultiFernet:
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    derived = [
        HKDF(algorithm=SHA256(), length=32, salt=None, info=b"llm.connection").derive(secret.encode())
        for secret in secrets
    ]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(secret)) for secret in derived])
