"""Views for notifications (key, subscribe, unsubscribe, service worker) and for the home screen (manifest, offline
page)."""

import json
from typing import Any, cast

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from proactive.push import subscriptions as push_subscriptions
from proactive.push import vapid
from proactive.push.subscriptions import NotSubscribed

LONGEST_BODY = 4_096


@require_POST
def subscriptions(request: HttpRequest) -> HttpResponse:
    """Subscribe this browser: {"subscription": the JSON of PushSubscription.toJSON()}."""
    try:
        address = push_subscriptions.parse_subscription(_json_body(request).get("subscription"))
    except NotSubscribed as error:
        return JsonResponse({"code": error.code, "message": _words_for(error.code)}, status=400)
    push_subscriptions.subscribe(cast(int, request.user.pk), address)
    return JsonResponse({"subscribed": True}, status=201)


@require_POST
def unsubscribed(request: HttpRequest) -> HttpResponse:
    """Unsubscribe this browser: {"endpoint": …}. An unknown one is fine, too."""
    endpoint = _json_body(request).get("endpoint")
    if not isinstance(endpoint, str) or not endpoint.isascii():
        return JsonResponse({"code": "unreadable", "message": _words_for("unreadable")}, status=400)
    push_subscriptions.unsubscribe(cast(int, request.user.pk), endpoint)
    return JsonResponse({"subscribed": False})


@require_GET
def key(request: HttpRequest) -> HttpResponse:
    """The public key with which browsers subscribe."""
    return JsonResponse({"key": vapid.public_key()})


@login_not_required  # a browser looks for a new one whoever is signed in, and it says nothing of anybody
@require_GET
def service_worker(request: HttpRequest) -> HttpResponse:
    """The service worker that shows notifications and the offline page, in the language of the page that requested
    it."""
    words = {
        "title": "EchoVessel",
        "body": _("There is a new message for you."),
        "icon": static("img/icon-192.png"),
        "badge": static("img/badge-96.png"),
        "offline": [reverse("offline"), static("css/base.css"), static("img/favicon.svg"), static("img/vessel.svg")],
    }
    source = (settings.BASE_DIR / "static" / "js" / "sw.js").read_text(encoding="utf-8")
    script = f"const WORDS = {json.dumps(words)};\n{source}"
    return HttpResponse(script, content_type="text/javascript; charset=utf-8")


@login_not_required
@require_GET
def offline(request: HttpRequest) -> HttpResponse:
    """The page that an installed app shows while the server does not answer. It is cached on the device and shows
    nothing of anybody."""
    return render(request, "offline.html")


@login_not_required
@require_GET
def manifest(request: HttpRequest) -> HttpResponse:
    """The web app manifest for the home screen; some phones notify of new messages only from there."""
    manifest_data = {
        "id": "/",
        "name": "EchoVessel",
        "short_name": "EchoVessel",
        "start_url": reverse("home"),
        "scope": "/",
        "display": "standalone",
        "description": _("A companion that remembers, on a server of your own."),
        "lang": get_language() or "en",
        "categories": ["lifestyle", "social"],
        "background_color": "#f1f0e9",
        "theme_color": "#f1f0e9",
        "icons": [
            {"src": static("img/icon-192.png"), "sizes": "192x192", "type": "image/png"},
            {"src": static("img/icon-512.png"), "sizes": "512x512", "type": "image/png"},
            {
                "src": static("img/icon-maskable-512.png"),
                "sizes": "512x512",
                "type": "image/png",
                "purpose": "maskable",
            },
            {"src": static("img/vessel.svg"), "sizes": "any", "type": "image/svg+xml"},
        ],
    }
    return JsonResponse(manifest_data, content_type="application/manifest+json")


def _json_body(request: HttpRequest) -> dict[str, Any]:
    """The JSON object of the request; an empty one if it is no object or too long."""
    if len(request.body) > LONGEST_BODY:
        return {}
    try:
        body = json.loads(request.body)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _words_for(code: str) -> str:
    if code == "unknown_service":
        return _("This server does not allow your browser's push service. Its administrator can add it.")
    return _("Your browser sent something that this server does not understand.")
