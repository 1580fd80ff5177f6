"""API tokens: a program's access to everything its owner may do over the API."""

import uuid
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from echovessel.db.text_columns import NO_WORDS, OF_ACCOUNT

MAX_NAME = 80


class ApiTokenQuerySet(models.QuerySet["ApiToken"]):
    def valid(self, now: datetime) -> "ApiTokenQuerySet":
        """Tokens that work: neither revoked nor expired, of owners who may sign in."""
        in_time = Q(expires_at=None) | Q(expires_at__gt=now)
        return self.filter(in_time, revoked_at=None, owner__is_active=True)


class ApiToken(models.Model):
    """One API token. The secret was shown once, when the token was made; stored are its first characters and its
    SHA-256."""

    uuid = models.UUIDField(_("id"), default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="api_tokens", verbose_name=_("owner")
    )
    name = models.CharField(_("name"), max_length=MAX_NAME, blank=True)
    prefix = models.CharField(_("begins with"), max_length=16)
    digest = models.CharField(_("digest"), max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created at"))
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires at"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True)
    text_columns = {"name": OF_ACCOUNT, "prefix": NO_WORDS, "digest": NO_WORDS}

    objects = ApiTokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("token of the API")
        verbose_name_plural = _("tokens of the API")
        ordering = ["-id"]
        constraints = [models.CheckConstraint(condition=~Q(digest=""), name="api_token_has_a_digest")]

    def __str__(self) -> str:
        return f"token {self.pk}"

    def is_valid(self, now: datetime) -> bool:
        """Whether the token is neither revoked nor expired; the owner's state is not checked."""
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > now)
