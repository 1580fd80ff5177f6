"""Secrets of tokens: generated once, and verified by their SHA-256."""

import hashlib
import secrets
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db.models import Q
from django.utils.crypto import constant_time_compare

from echovessel.web import access_revocation

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from echovessel.api.tokens.models import ApiToken

BEGINNING = "ev_"
SHOWN = 8  # characters shown to tell secrets apart: "ev_" and five of the forty-three random ones
# `last_used_at` is updated at most this often, to avoid a write for every request.
NOTED_EVERY = timedelta(minutes=1)
_NO_DIGEST = hashlib.sha256(b"").hexdigest()


def create(owner: "User", name: str, now: datetime, expires_at: datetime | None = None) -> tuple["ApiToken", str]:
    """Create a token, and return it with its secret, which cannot be shown again. The secret has 256 random bits."""
    secret = BEGINNING + secrets.token_urlsafe(32)
    token = _tokens().create(
        owner=owner,
        name=name.strip(),
        prefix=secret[:SHOWN],
        digest=digest_of(secret),
        created_at=now,
        expires_at=expires_at,
    )
    return token, secret


def revoke(token: "ApiToken", now: datetime) -> bool:
    """Revoke the token; False if it was revoked already."""
    is_revoked = bool(_tokens().filter(pk=token.pk, revoked_at=None).update(revoked_at=now))
    if is_revoked:
        access_revocation.publish_change(token.owner_id)
    return is_revoked


def revoke_all(owner_id: int, now: datetime) -> int:
    """Revoke all tokens of this owner; return how many were valid before."""
    count: int = _tokens().filter(owner_id=owner_id, revoked_at=None).update(revoked_at=now)
    if count:
        access_revocation.publish_change(owner_id)
    return count


def owner_of(secret: str, now: datetime) -> "User | None":
    """The owner of the token, or None if it is unknown, revoked, expired, or of somebody who may not sign in. Updates
    `last_used_at`."""
    token = valid_token(secret, now)
    return token.owner if token else None


def valid_token(secret: str, now: datetime) -> "ApiToken | None":
    """The valid token with this secret, or None. Known and unknown secrets take the same steps, and so the same time:
    both are hashed, looked up and compared. Updates `last_used_at`."""
    digest = digest_of(secret)
    token: ApiToken | None = _tokens().valid(now).filter(digest=digest).select_related("owner").first()
    is_right = constant_time_compare(token.digest if token else _NO_DIGEST, digest)
    if token is None or not is_right:
        return None
    long_ago = Q(last_used_at=None) | Q(last_used_at__lte=now - NOTED_EVERY)
    if token.last_used_at is None or token.last_used_at <= now - NOTED_EVERY:
        _tokens().filter(long_ago, pk=token.pk).update(last_used_at=now)
    return token


def digest_of(secret: str) -> str:
    """SHA-256 in hex. A slow hash is not needed: a secret is random, not a password."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def _tokens() -> Any:
    return apps.get_model("tokens", "ApiToken").objects
