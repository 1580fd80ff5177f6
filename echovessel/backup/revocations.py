"""Revocations: what was revoked since a backup stays revoked after a restore. All logins end. Tokens that no longer
work and people who may no longer sign in do not get access back. Passwords are those of the backup."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as Login

from echovessel.api.tokens.models import ApiToken


@dataclass(frozen=True)
class Revocations:
    """Tokens by their digest, people by primary key and name."""

    tokens: frozenset[str] = frozenset()
    people: frozenset[tuple[int, str]] = frozenset()


def read_revocations(now: datetime) -> Revocations:
    """The tokens and people without access in the current database."""
    opening = ApiToken.objects.valid(now).values("pk")
    return Revocations(
        tokens=frozenset(ApiToken.objects.exclude(pk__in=opening).values_list("digest", flat=True)),
        people=frozenset(User.objects.filter(is_active=False).values_list("pk", "username")),
    )


def apply_revocations(revocations: Revocations, now: datetime) -> None:
    """Revoke the same in the current database, and end every login."""
    Login.objects.all().delete()
    ApiToken.objects.filter(digest__in=revocations.tokens, revoked_at=None).update(revoked_at=now)
    for key, name in revocations.people:
        User.objects.filter(pk=key, username=name).update(is_active=False)
