"""Who may open a socket: pages of this very site, or of a trusted origin.

Channels' own validator compares host names only and lets every port in; a browser sends cookies to all ports of
a host, so a socket must come from the same scheme, host and port as the page (OWASP ASVS 5.0 V4.4.2).
"""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http.request import HttpRequest
from django.utils.http import is_same_domain

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Application = Callable[..., Awaitable[Any]]


class SameOrigin:
    """Refuses a socket whose Origin is missing or foreign, before anything else looks at it."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        headers = {name.decode("latin1"): value.decode("latin1") for name, value in scope["headers"]}
        if is_ours(headers.get("origin", ""), headers.get("host", "")):
            return await self.application(scope, receive, send)
        logger.warning("a socket was refused: its Origin is not this site's")
        return await WebsocketDenier()(scope, receive, send)


def is_ours(origin: str, host: str) -> bool:
    """Whether a page at `origin` may open a socket at `host` (host:port, as the request names it)."""
    if not _host_is_allowed(host):
        return False
    schemes = ("https",) if settings.HTTPS else ("http", "https")
    return origin in [f"{scheme}://{host}" for scheme in schemes] or _is_trusted(origin)


def _is_trusted(origin: str) -> bool:
    """Whether CSRF_TRUSTED_ORIGINS names it, or all subdomains of its domain (https://*.example.org), as for forms."""
    scheme, _colon, rest = origin.partition("://")
    trusted = (each.partition("://") for each in settings.CSRF_TRUSTED_ORIGINS)
    return any(scheme == name and is_same_domain(rest, place.lstrip("*")) for name, _sep, place in trusted)


def _host_is_allowed(host: str) -> bool:
    request = HttpRequest()
    request.META["HTTP_HOST"] = host
    try:
        request.get_host()
    except DisallowedHost:
        return False
    return True
