"""The look of pages: language, theme and text size, kept in cookies. So a person's phone and computer may differ, and
the sign-in page has the chosen look too."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext, override
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

THEMES = {"": _("As the device"), "light": _("Light"), "dark": _("Dark")}
TEXT_SIZES = {"": _("Normal"), "large": _("Large"), "larger": _("Very large")}
YEAR_SECONDS = 365 * 24 * 3600


def chosen_look(request: HttpRequest) -> dict[str, Any]:
    """A context processor: the chosen theme and text size; "" where the device decides."""
    theme, text_size = request.COOKIES.get("theme", ""), request.COOKIES.get("text_size", "")
    return {
        "theme": theme if theme in THEMES else "",
        "text_size": text_size if text_size in TEXT_SIZES else "",
    }


class LookForm(forms.Form):
    """Language, theme and size of text."""

    language = forms.ChoiceField(label=_("Language"), choices=settings.LANGUAGES)
    theme = forms.ChoiceField(label=_("Theme"), choices=THEMES.items(), required=False, widget=forms.RadioSelect)
    text_size = forms.ChoiceField(
        label=_("Text size"), choices=TEXT_SIZES.items(), required=False, widget=forms.RadioSelect
    )


@require_http_methods(["GET", "HEAD", "POST"])
def change_look(request: HttpRequest) -> HttpResponse:
    """Choose language, theme and text size for this browser."""
    is_posted = request.method == "POST"
    form = LookForm(request.POST if is_posted else None, initial=chosen_look(request) | {"language": get_language()})
    if not (is_posted and form.is_valid()):
        return render(request, "account/look.html", {"form": form}, status=422 if is_posted else 200)
    with override(form.cleaned_data["language"]):
        messages.success(request, gettext("Saved."))
    response = redirect("change_look")
    cookies = {settings.LANGUAGE_COOKIE_NAME: "language", "theme": "theme", "text_size": "text_size"}
    for cookie, field in cookies.items():
        if value := form.cleaned_data[field]:
            secure = settings.SESSION_COOKIE_SECURE
            response.set_cookie(cookie, value, YEAR_SECONDS, secure=secure, httponly=True, samesite="Lax")
        else:
            response.delete_cookie(cookie, samesite="Lax")
    return response
