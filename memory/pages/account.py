"""The owner's account: her companions, and the way out. What goes here goes wholly, against name and password alone."""

from datetime import UTC
from typing import Any, cast
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from echovessel.tokens.models import ApiToken
from memory import forgetting
from memory.archive import owned
from memory.forgetting import LastSuperuser, Plan, Target
from memory.forgetting_sheet import sheet
from memory.models import Receipt
from memory.pages.forgetting import carried_out, receipt_context
from persona.lookup import own_persona
from persona.models import Persona
from persona.views import CLEARED_AT_THE_DOOR

MOST_RECEIPTS = 20
MOST_TOKENS = 100
NOBODY_LEFT = _(
    "Others have accounts here, and nobody would be left to look after them. Make one of them a superuser first."
)


class Herself(forms.Form):
    """The password, once more: somebody else may sit at a browser that she left open."""

    password = forms.CharField(max_length=1_000, strip=False, widget=forms.PasswordInput)

    def __init__(self, data: Any, user: User) -> None:
        super().__init__(data, auto_id="sure_%s")
        self.user = user

    def clean_password(self) -> str:
        if not self.user.check_password(self.cleaned_data["password"]):
            raise forms.ValidationError(_("This is not your password."))
        return ""


class Sure(Herself):
    """What nobody types by accident: the name of what goes, and the password."""

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


@never_cache
@require_http_methods(["GET", "HEAD"])
def account(request: HttpRequest) -> HttpResponse:
    """Her companions, what was forgotten with others, and the way out."""
    gone = Receipt.objects.filter(owner_id=_key(request), persona=None)[:MOST_RECEIPTS]
    context = {
        "personas": Persona.objects.owned_by(request.user),
        "tokens": ApiToken.objects.filter(owner_id=_key(request), revoked_at=None)[:MOST_TOKENS],
        "now": timezone.now(),
        "receipts": [receipt_context(one) for one in gone],
    }
    return render(request, "account/account.html", context)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def my_data(request: HttpRequest) -> HttpResponseBase:
    """All that is hers, to take along: a zip of archives, made while it is sent."""
    user = _user(request)
    form = Herself(request.POST or None, user)
    if request.method == "POST" and form.is_valid():
        now = timezone.now()
        name = f"echovessel-{now.astimezone(UTC):%Y-%m-%d}.zip"
        headers = {"Content-Disposition": f'attachment; filename="{name}"', "X-Accel-Buffering": "no"}
        return StreamingHttpResponse(owned.zipped(user, now), content_type="application/zip", headers=headers)
    context = {"form": form, "personas": Persona.objects.owned_by(user)}
    return render(request, "account/my_data.html", context, status=422 if form.is_bound and form.errors else 200)


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete_persona(request: HttpRequest, persona: UUID) -> HttpResponse:
    """Forget a companion wholly: who she is, every talk, every memory."""
    found = own_persona(request, persona)
    plan = forgetting.plan([Target("persona", found.pk)])
    form = Sure(request.POST or None, _user(request), found.name)
    trouble: Any = ""
    if request.method == "POST" and form.is_valid():
        done = carried_out(request, plan)
        if isinstance(done, Receipt):
            return redirect("receipt", done.uuid)
        plan, trouble = done.plan, done.trouble
    return _asked(request, plan, form, trouble, {"persona": found, "expected": found.name})


@sensitive_post_parameters()
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def delete_account(request: HttpRequest) -> HttpResponse:
    """Forget the owner wholly: every companion, and the account itself."""
    user = _user(request)
    plan = forgetting.plan([Target("owner", user.pk)])
    form = Sure(request.POST or None, user, user.get_username())
    more = {"expected": user.get_username(), "personas": Persona.objects.owned_by(user)}
    trouble: Any = ""
    if request.method == "POST" and form.is_valid():
        try:
            done = carried_out(request, plan)
        except LastSuperuser:
            return _asked(request, plan, form, NOBODY_LEFT, more)
        if isinstance(done, Receipt):
            return _farewell(request)
        plan, trouble = done.plan, done.trouble
    return _asked(request, plan, form, trouble, more)


def _asked(request: HttpRequest, plan: Plan, form: Sure, trouble: Any, more: dict[str, Any]) -> HttpResponse:
    status = 409 if trouble else 422 if form.is_bound and form.errors else 200
    context = {"sheet": sheet(plan), "form": form, "trouble": trouble} | more
    return render(request, "account/delete.html", context, status=status)


def _farewell(request: HttpRequest) -> HttpResponse:
    """To the door, signed out of an account that is no more."""
    logout(request)
    messages.success(request, str(_("Your account is deleted, with everything that was said and remembered.")))
    response = redirect("login")
    response["Clear-Site-Data"] = CLEARED_AT_THE_DOOR
    return response


def _user(request: HttpRequest) -> User:
    return cast(User, request.user)


def _key(request: HttpRequest) -> int:
    return cast(int, request.user.pk)
