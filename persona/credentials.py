"""The owner's account pages: name, password, time zone, and signing out everywhere."""

from typing import Any, cast

from django import forms
from django.contrib import messages
from django.contrib.auth import authenticate, logout, update_session_auth_hash
from django.contrib.auth.forms import PasswordChangeForm, UsernameField
from django.contrib.auth.models import User
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from echovessel.api.tokens import secret
from echovessel.api.tokens.models import ApiToken
from echovessel.web import access_revocation
from persona.companion.editing import edit_persona
from persona.companion.parts import NameField
from persona.companion.zones import ZoneField, describe_zone, listed_zones
from persona.models import Persona
from persona.views import CLEARED_AT_THE_DOOR

MAX_PASSWORD = 1_000
MAX_LISTED_TOKENS = 100


def is_own_password(request: HttpRequest, password: str) -> bool:
    """Whether this is the password of the signed-in user. Wrong ones count as at sign-in, so that nobody can guess it
    in a browser that was left open."""
    name = cast(User, request.user).get_username()
    return authenticate(request, username=name, password=password) == request.user


def posted_data(request: HttpRequest) -> Any:
    """The submitted fields, possibly none; None for a page that is only shown."""
    return request.POST if request.method == "POST" else None


class NameForm(forms.Form):
    """The sign-in name, and what each companion calls the owner."""

    username = UsernameField(max_length=150, validators=[UnicodeUsernameValidator()])
    password = forms.CharField(max_length=MAX_PASSWORD, strip=False, required=False, widget=forms.PasswordInput)

    def __init__(self, request: HttpRequest) -> None:
        self.request, self.user = request, cast(User, request.user)
        self.personas = list(Persona.objects.owned_by(self.user))
        initial_names = {field_name(persona): persona.user_name for persona in self.personas}
        super().__init__(posted_data(request), initial={"username": self.user.get_username()} | initial_names)
        for name in initial_names:
            self.fields[name] = NameField(required=False)

    def called(self) -> list[tuple[Persona, Any]]:
        """Each companion with the form field of the owner's name."""
        return [(persona, self[field_name(persona)]) for persona in self.personas]

    def clean_username(self) -> str:
        name = User.normalize_username(self.cleaned_data["username"])
        if User.objects.exclude(pk=self.user.pk).filter(username__iexact=name).exists():
            raise forms.ValidationError(_("This name is already taken."))
        return name

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        for persona in self.personas:
            name = field_name(persona)
            # The value when the page was shown: a field that was not changed overwrites nothing.
            shown_name = self.data.get(f"was_{name}", persona.user_name)
            if values.get(name) == shown_name:
                values[name] = persona.user_name
            elif persona.user_name not in (shown_name, values.get(name)):
                now = persona.user_name or _("nothing")
                self.add_error(name, _("This was changed in another tab meanwhile, to: %(now)s") % {"now": now})
        is_renamed = values.get("username", self.user.get_username()) != self.user.get_username()
        if is_renamed and not is_own_password(self.request, values.get("password", "")):
            self.add_error("password", _("This is not your password."))
        return values

    def save(self) -> None:
        with transaction.atomic():
            if self.cleaned_data["username"] != self.user.get_username():
                self.user.username = self.cleaned_data["username"]
                self.user.save(update_fields=["username"])
            for persona in self.personas:
                edit_persona(persona, {"user_name": self.cleaned_data[field_name(persona)]}, {}, self.user)


class PasswordForm(PasswordChangeForm):
    """The old password, and the new one twice."""

    def __init__(self, request: HttpRequest) -> None:
        super().__init__(cast(User, request.user), posted_data(request))
        self.request = request

    def clean_old_password(self) -> str:
        if not is_own_password(self.request, self.cleaned_data["old_password"]):
            raise forms.ValidationError(_("This is not your password."))
        return str(self.cleaned_data["old_password"])


class SignOutForm(forms.Form):
    """Whether to disconnect connected apps as well."""

    tokens = forms.BooleanField(required=False)


class ZoneForm(forms.Form):
    """The owner's time zone, for all companions."""

    timezone = ZoneField()


def field_name(persona: Persona) -> str:
    return f"called_{persona.uuid.hex}"


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def change_name(request: HttpRequest) -> HttpResponse:
    """The sign-in name, and the names that companions use."""
    form = NameForm(request)
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, _("Saved."))
        return redirect("account")
    return render(request, "account/name.html", {"form": form}, status=_status(form))


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def change_password(request: HttpRequest) -> HttpResponse:
    """A new password. This browser stays signed in; all others are signed out, and connected apps are disconnected."""
    form = PasswordForm(request)
    if request.method == "POST" and form.is_valid():
        user = cast(User, request.user)
        count = _open_tokens(user).count()
        form.save()
        update_session_auth_hash(request, user)
        access_revocation.sign_out_everywhere(user.pk, besides=request.session.session_key or "")
        text = _("Your password is changed. Everywhere else you are signed out.")
        if count:
            text = ngettext(
                "Your password is changed. Everywhere else you are signed out, and %(count)d app was disconnected.",
                "Your password is changed. Everywhere else you are signed out, and %(count)d apps were disconnected.",
                count,
            ) % {"count": count}
        messages.success(request, text)
        return redirect("account")
    context = {"form": form, "token_count": _open_tokens(cast(User, request.user)).count()}
    return render(request, "account/password.html", context, status=_status(form))


@require_http_methods(["GET", "HEAD", "POST"])
def change_zone(request: HttpRequest) -> HttpResponse:
    """The time zone of the owner, for every companion."""
    personas = list(Persona.objects.owned_by(request.user))
    zones = sorted({persona.timezone for persona in personas})
    form = ZoneForm(posted_data(request), initial={"timezone": zones[0] if len(zones) == 1 else ""})
    if request.method == "POST" and form.is_valid():
        for persona in personas:
            edit_persona(persona, {"timezone": form.cleaned_data["timezone"]}, {}, cast(User, request.user))
        messages.success(request, _("Saved."))
        return redirect("account")
    context = {
        "form": form,
        "zones": listed_zones(timezone.now()),
        "different": [(persona.name, describe_zone(persona.timezone)) for persona in personas if len(zones) > 1],
    }
    return render(request, "account/zone.html", context, status=_status(form))


@require_http_methods(["GET", "HEAD", "POST"])
def sign_out_everywhere(request: HttpRequest) -> HttpResponse:
    """End every sign-in of the owner, this one too, and disconnect the apps if wanted."""
    user = cast(User, request.user)
    form = SignOutForm(posted_data(request))
    if request.method == "POST" and form.is_valid():
        if form.cleaned_data["tokens"]:
            secret.revoke_all(user.pk, timezone.now())
        access_revocation.sign_out_everywhere(user.pk)
        logout(request)
        messages.success(request, _("You are signed out everywhere."))
        response = redirect("login")
        response["Clear-Site-Data"] = CLEARED_AT_THE_DOOR
        return response
    tokens = _open_tokens(user)
    context = {
        "tokens": tokens[:MAX_LISTED_TOKENS],
        "token_count": tokens.count(),
        "session_count": len(access_revocation.open_sessions_of(user.pk, timezone.now())),
        "now": timezone.now(),
    }
    return render(request, "account/sign_out.html", context)


def _open_tokens(user: User) -> Any:
    return ApiToken.objects.valid(timezone.now()).filter(owner=user)


def _status(form: forms.BaseForm) -> int:
    return 422 if form.is_bound and form.errors else 200
