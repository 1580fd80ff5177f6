"""The admin page of tokens: their owners and use, and an action that revokes them. It shows no secrets."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from echovessel.admin import Lately, ReadOnlyAdmin
from echovessel.api.tokens import secret
from echovessel.api.tokens.models import ApiToken


@admin.register(ApiToken)
class ApiTokenAdmin(ReadOnlyAdmin):
    persona_path = None
    list_display = ["prefix", "owner", "name", "created_at", "last_used_at", "expires_at", "revoked_at"]
    list_filter = [Lately]
    list_select_related = ["owner"]
    search_fields = ["owner__username", "name", "prefix"]
    fields = ["uuid", "prefix", "owner", "name", "created_at", "last_used_at", "expires_at", "revoked_at"]
    actions = ["revoke"]

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("tokens.change_apitoken")

    @admin.action(description=_("Revoke the chosen tokens"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> None:
        """Revoke the chosen tokens that are not revoked yet."""
        now = timezone.now()
        revoked: list[Any] = [token for token in tokens if secret.revoke(token, now)]
        for token in revoked:
            self.log_change(request, token, "revoked")
        self.message_user(request, _("%(count)d revoked.") % {"count": len(revoked)}, messages.SUCCESS)
