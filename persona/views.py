"""Pages before the chat: home, sign-in, the first owner's one-time link, and three steps to a persona."""

import math
from typing import Any

from axes.helpers import get_cool_off
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import get_language
from django.views.decorators.debug import sensitive_post_parameters

from echovessel.web import first_run as first_runs
from persona.models import Persona
from persona.onboarding.creation import create_persona
from persona.onboarding.forms import STEPS, FirstOwnerForm

DRAFT = "onboarding"
# Drafts and unsent messages in the browser's storage; the next account may be somebody else's.
CLEARED_AT_THE_DOOR = '"storage"'


class SignOut(LogoutView):
    """Sign out, and clear the browser's storage."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post(request, *args, **kwargs)
        response["Clear-Site-Data"] = CLEARED_AT_THE_DOOR
        return response


def locked_out(request: HttpRequest, *_: Any) -> HttpResponse:
    """The response at sign-in while a name is locked after too many wrong passwords from one address."""
    response = render(request, "registration/locked.html", status=429)
    if cool_off := get_cool_off():
        response["Retry-After"] = str(math.ceil(cool_off.total_seconds()))
    return response


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):
    """Sign in; while no account exists yet, explain how to make the first one."""

    redirect_authenticated_user = True

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not User.objects.exists():
            return render(request, "first_run_awaited.html", {})
        return super().dispatch(request, *args, **kwargs)


def home(request: HttpRequest) -> HttpResponse:
    """Redirect to the persona of the last conversation, or to onboarding."""
    persona = Persona.objects.owned_by(request.user).order_by("-turns__id", "-id").first()
    return redirect("chat", persona.uuid) if persona else redirect("onboarding")


@login_not_required
@sensitive_post_parameters()
def first_run(request: HttpRequest, token: str) -> HttpResponse:
    """The one-time link: create the first owner, sign them in, and continue with onboarding."""
    if not first_runs.is_valid(token):
        return render(request, "first_run_gone.html", status=410)
    form = FirstOwnerForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        owner = first_runs.use(token, form.save)
        if owner is None:
            return render(request, "first_run_gone.html", status=410)
        login(request, owner, backend="django.contrib.auth.backends.ModelBackend")
        return redirect("onboarding")
    return render(request, "first_run.html", {"form": form})


def onboarding(request: HttpRequest) -> HttpResponse:
    """Three short steps; the input is kept in the login session until the last one."""
    draft: dict[str, str] = request.session.get(DRAFT, {})
    step_text = request.GET.get("step", "1")
    # A step cannot be reached before those ahead of it are complete.
    unfinished = (number for number, step in enumerate(STEPS, 1) if not step(data=draft).is_valid())
    step = min(int(step_text) if step_text in ("1", "2", "3") else 1, next(unfinished, len(STEPS)))
    language = "zh" if (get_language() or "").startswith("zh") else "en"
    # Take the owner's name and place from their last companion.
    last = Persona.objects.owned_by(request.user).order_by("-id").first()
    owner = {"user_name": last.user_name, "timezone": last.timezone} if last else {}
    form = STEPS[step - 1](request.POST or None, initial={"language": language} | owner | draft)
    if request.method == "POST" and "back" in request.POST:
        _keep(request, draft, request.POST.dict())
        return redirect(f"{request.path}?step={max(1, step - 1)}")
    if request.method == "POST" and form.is_valid():
        draft = _keep(request, draft, form.cleaned_data)
        if step < len(STEPS):
            return redirect(f"{request.path}?step={step + 1}")
        persona = create_persona(
            request.user,  # type: ignore[arg-type]
            draft["name"],
            blocks={label: draft.get(label, "") for label in ("persona", "user", "style")},
            user_name=draft["user_name"],
            timezone=draft.get("timezone", "UTC"),
            language=draft.get("language", "en"),
        )
        del request.session[DRAFT]
        return redirect("chat", persona.uuid)
    return render(request, "onboarding.html", {"form": form, "step": step, "steps_total": len(STEPS)})


def _keep(request: HttpRequest, draft: dict[str, str], typed: dict[str, str]) -> dict[str, str]:
    names = {name for step in STEPS for name in step.base_fields}
    draft_values = draft | {name: str(value) for name, value in typed.items() if name in names}
    request.session[DRAFT] = draft_values
    return draft_values
