"""Endpoints that a notification may be sent to: the push services that the operator trusts. Browsers name their
endpoint, and a page must not be able to make this server call its neighbours."""

from urllib.parse import urlsplit

from django.conf import settings
from django.http.request import validate_host

LONGEST = 1_000


def is_allowed(endpoint: str) -> bool:
    """Whether the endpoint belongs to one of `settings.PUSH_SERVICES`: over https at the default port, or at an origin
    listed there in full."""
    if len(endpoint) > LONGEST or not endpoint.isascii() or not endpoint.isprintable() or " " in endpoint:
        return False
    try:
        parts = urlsplit(endpoint)
        port = parts.port
    except ValueError:
        return False
    if parts.username is not None or parts.password is not None or parts.fragment or "\\" in endpoint:
        return False
    if f"{parts.scheme}://{parts.netloc}" in settings.PUSH_SERVICES:
        return True
    services = [service for service in settings.PUSH_SERVICES if "://" not in service and service != "*"]
    return parts.scheme == "https" and port in (None, 443) and validate_host(parts.hostname or "", services)
