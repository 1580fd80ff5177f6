"""The owner's account: companions, data export, tokens, and deletion, which needs name and password."""

from datetime import UTC, timedelta
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from echovessel.api.tokens import secret
from echovessel.api.tokens.models import MAX_NAME, ApiToken
from echovessel.web.downloads import download
from memory import forgetting
from memory.archive import account_archive
from memory.exports import WAYS, Way
from memory.forgetting import LastSuperuser, Plan, Target
from memory.models import Receipt
from memory.web.forget_form import LAST_SUPERUSER, confirm_plan
from memory.web.presenters.forgetting import plan_context, receipt_context
from persona.lookup import own_persona
from persona.models import Persona
from persona.views import CLEARED_AT_THE_DOOR

MAX_RECEIPTS = 20
MAX_TOKENS = 100
# For how many days a token is valid; 0 is without limit.
LASTING = [(30, _("a month")), (365, _("a year")), (0, _("until I revoke it"))]


class PasswordForm(forms.Form):
    """The password once more: somebody else may sit at an unlocked browser."""

    password = forms.CharField(max_length=1_000, strip=False, widget=forms.PasswordInput)

    def __init__(self, data: Any, user: User) -> None:
        super().__init__(data, auto_id="sure_%s")
        self.user = user

    def clean_password(self) -> str:
        if not self.user.check_password(self.cleaned_data["password"]):
            raise forms.ValidationError(_("This is not your password."))
        return ""


class DeletionForm(PasswordForm):
    """Guards against accidental deletion: asks for the name of what is deleted, and the password."""

    name = forms.CharField(max_length=200)
    field_order = ("name", "password")

    def __init__(self, data: Any, user: User, name: str) -> None:
        super().__init__(data, user)
        self.expected = name

    def clean_name(self) -> str:
        name = str(self.cleaned_data["name"])
        if name.strip() != self.expected.strip():
            raise forms.ValidationError(_("This is not the name."))
        return name


class DataExportForm(PasswordForm):
    """Everything, or one companion in a chosen format."""

    what = forms.ChoiceField(required=False)
    field_order = ("what", "password")

    def __init__(self, data: Any, user: User) -> None:
        super().__init__(data, user)
        companions = [
            (f"{persona.uuid}:{way.name}", f"{persona.name} · {way.label}")
            for persona in Persona.objects.owned_by(user)
            for way in WAYS.values()
        ]
        cast(forms.ChoiceField, self.fields["what"]).choices = [
            ("", _("Everything, as a zip of archives")),
            *companions,
        ]

    @property
    def selection(self) -> tuple[Persona, Way] | None:
        """The companion and the format; None for everything."""
        whom, _colon, way = self.cleaned_data["what"].partition(":")
        return (Persona.objects.owned_by(self.user).get(uuid=whom), WAYS[way]) if way else None


class TokenForm(PasswordForm):
    """The name of a connected app, and how long its token is valid."""

    name = forms.CharField(max_length=MAX_NAME)
    days = forms.TypedChoiceField(choices=LASTING, coerce=int, initial=LASTING[1][0])
    field_order = ("name", "days", "password")


@require_http_methods(["GET", "HEAD"])
def account(request: HttpRequest) -> HttpResponse:
    """The companions, receipts, and the links to delete."""
    receipts = Receipt.objects.filter(owner_id=_key(request), persona=None)[:MAX_RECEIPTS]
    context = {
        "personas": Persona.objects.owned_by(request.user),
        "tokens": ApiToken.objects.filter(owner_id=_key(request), revoked_at=None)[:MAX_TOKENS],
        "now": timezone.now(),
        "receipts": [receipt_context(receipt_row) for receipt_row in receipts],
    }
    return render(request, "account/account.html", context)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def my_data(request: HttpRequest) -> HttpResponseBase:
    """Export everything as a zip of archives, or one companion in a format of other programs; streamed while it is
    created."""
    user = _user(request)
    form = DataExportForm(request.POST or None, user)
    if request.method == "POST" and form.is_valid():
        now = timezone.now()
        if form.selection:
            persona, way = form.selection
            return download(request, way.write(persona, now), way.media_type, way.file_name(persona, now))
        name = f"echovessel-{now.astimezone(UTC):%Y-%m-%d}.zip"
        return download(request, account_archive.stream_zip(user, now), "application/zip", name)
    context = {"form": form, "personas": Persona.objects.owned_by(user)}
    return render(request, "account/my_data.html", context, status=422 if form.is_bound and form.errors else 200)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def make_token(request: HttpRequest) -> HttpResponse:
    """Create a token for a connected app. Its secret is shown only in this response."""
    form = TokenForm(request.POST or None, _user(request))
    if request.method == "POST" and form.is_valid():
        now, days = timezone.now(), form.cleaned_data["days"]
        until = now + timedelta(days=days) if days else None
        token, plaintext = secret.create(_user(request), form.cleaned_data["name"], now, until)
        return render(request, "account/token_made.html", {"token": token, "secret": plaintext}, status=201)
    return render(request, "account/token.html", {"form": form}, status=422 if form.is_bound and form.errors else 200)


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def delete_persona(request: HttpRequest, persona: UUID) -> HttpResponse:
    """Delete a companion with every session and memory."""
    companion = own_persona(request, persona)
    plan = forgetting.plan([Target("persona", companion.pk)])
    form = DeletionForm(request.POST or None, _user(request), companion.name)
    trouble: Any = ""
    if request.method == "POST" and form.is_valid():
        receipt = confirm_plan(request, plan)
        if isinstance(receipt, Receipt):
            return redirect("receipt", receipt.uuid)
        plan, trouble = receipt.plan, receipt.trouble
    return _confirmation_page(request, plan, form, trouble, {"persona": companion, "expected": companion.name})


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def delete_account(request: HttpRequest) -> HttpResponse:
    """Delete the account with every companion."""
    user = _user(request)
    plan = forgetting.plan([Target("owner", user.pk)])
    form = DeletionForm(request.POST or None, user, user.get_username())
    more = {"expected": user.get_username(), "personas": Persona.objects.owned_by(user)}
    trouble: Any = ""
    if request.method == "POST" and form.is_valid():
        try:
            receipt = confirm_plan(request, plan)
        except LastSuperuser:
            return _confirmation_page(request, plan, form, LAST_SUPERUSER, more)
        if isinstance(receipt, Receipt):
            # Log out: the session's account no longer exists.
            logout(request)
            messages.success(request, str(_("Your account is deleted, with all messages and memories.")))
            response = redirect("login")
            response["Clear-Site-Data"] = CLEARED_AT_THE_DOOR
            return response
        plan, trouble = receipt.plan, receipt.trouble
    return _confirmation_page(request, plan, form, trouble, more)


def _confirmation_page(
    request: HttpRequest, plan: Plan, form: DeletionForm, trouble: Any, more: dict[str, Any]
) -> HttpResponse:
    status = 409 if trouble else 422 if form.is_bound and form.errors else 200
    context = {"preview": plan_context(plan), "form": form, "trouble": trouble} | more
    return render(request, "account/delete.html", context, status=status)


def _user(request: HttpRequest) -> User:
    return cast(User, request.user)


def _key(request: HttpRequest) -> int:
    return cast(int, request.user.pk)
