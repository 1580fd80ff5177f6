"""Revoking a token, on its owner's account page."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from echovessel.api.tokens import secret
from echovessel.api.tokens.models import ApiToken


@require_POST
def revoke(request: HttpRequest, token: UUID) -> HttpResponse:
    """Revoke one of the caller's tokens."""
    secret.revoke(get_object_or_404(ApiToken, owner_id=request.user.pk, uuid=token), timezone.now())
    messages.success(request, _("The token is revoked."))
    return redirect("account")
