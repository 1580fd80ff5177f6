"""Doors: what was closed since a backup stays closed when it is restored. Logins all end; tokens that open nothing any
more, and people who may not sign in any more, are not let in by an older state. Passwords are the backup's."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.contrib.sessions.models import Session as Login

from echovessel.api.tokens.models import ApiToken


@dataclass(frozen=True)
class Revocations:
    """Tokens by their digest, people by key and name."""

    tokens: frozenset[str] = frozenset()
    people: frozenset[tuple[int, str]] = frozenset()


def read_revocations(now: datetime) -> Revocations:
    """What does not open in the database that is open now."""
    opening = ApiToken.objects.valid(now).values("pk")
    return Revocations(
        tokens=frozenset(ApiToken.objects.exclude(pk__in=opening).values_list("digest", flat=True)),
        people=frozenset(User.objects.filter(is_active=False).values_list("pk", "username")),
    )


def apply_revocations(what: Revocations, now: datetime) -> None:
    """Have it closed in the database that is open now, and every login ended."""
    Login.objects.all().delete()
    ApiToken.objects.filter(digest__in=what.tokens, revoked_at=None).update(revoked_at=now)
    for key, name in what.people:
        User.objects.filter(pk=key, username=name).update(is_active=False)
