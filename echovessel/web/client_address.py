"""The client address of a request, used to slow down guessing of passwords and tokens.

Behind a proxy every request comes from the proxy's address. The proxy appends its caller's address to X-Forwarded-For;
earlier entries can be forged by anybody. So PROXY_COUNT gives the number of our proxies; if it is 0, the header is
ignored.
"""

import ipaddress

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address that called the outermost of our proxies, or that of the connection."""
    direct = str(request.META.get("REMOTE_ADDR") or "")
    addresses = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",")]
    if not 0 < settings.PROXY_COUNT <= len(addresses):
        return direct
    return _address_in(addresses[-settings.PROXY_COUNT]) or direct


def _address_in(text: str) -> str:
    """The address in an entry of the header, which may have a port; "" if there is none.

    >>> [_address_in(text) for text in ("192.0.2.7", "192.0.2.7:4711", "[2001:db8::7]:4711", "2001:db8::7", "unknown")]
    ['192.0.2.7', '192.0.2.7', '2001:db8::7', '2001:db8::7', '']
    """
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return ""
