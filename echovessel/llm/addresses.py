"""Which addresses of model servers may be saved and called: this machine, private networks, and any public host over
https.

Refused are the metadata services by which clouds hand out credentials, and names that resolve to them. Only staff save
addresses.
"""

import ipaddress
import socket
from typing import NamedTuple
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

MAX_ADDRESS = 300
# Metadata services of clouds, which hand out credentials. Link-local addresses are refused as a whole.
METADATA = frozenset(
    map(ipaddress.ip_address, ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"))
)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class Place(NamedTuple):
    """A checked address without a trailing slash."""

    url: str
    is_near: bool  # this machine, or a private network


def check_address(text: str) -> Place:
    """Return the address if it may be called. Raises ValidationError with a message for its reader.

    The name is resolved, and every address it resolves to is judged.
    """
    url = text.strip().rstrip("/")
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise ValidationError(_("This is not the address of a server."), code="address") from None
    if len(url) > MAX_ADDRESS or parts.scheme not in ("http", "https") or not host or port == 0:
        raise ValidationError(_("Enter an address such as http://127.0.0.1:11434/v1."), code="address")
    unwanted = parts.username or parts.password or parts.query or parts.fragment or "\\" in url
    if unwanted or any(ord(letter) <= 32 or ord(letter) == 127 for letter in url):
        raise ValidationError(
            _("Enter only the address, without a user name, password, question mark or space."), code="address"
        )
    addresses = _look_up(host, port or (443 if parts.scheme == "https" else 80))
    if not addresses:
        raise ValidationError(_("No server of this name was found."), code="unknown")
    if any(_is_forbidden(address) for address in addresses):
        raise ValidationError(_("This address cannot be used for a model."), code="forbidden")
    is_near = all(address.is_loopback or address.is_private for address in addresses)
    if parts.scheme == "http" and not is_near:
        raise ValidationError(
            _("Use https for a server outside your home: over http others could read what you say."), code="insecure"
        )
    return Place(url, is_near)


def _look_up(host: str, port: int) -> list[Address]:
    try:
        address_infos = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return [ipaddress.ip_address(str(place[0]).split("%")[0]) for *_kind, place in address_infos]


def _is_forbidden(address: Address) -> bool:
    """Also judges an IPv4 address embedded in an IPv6 one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo or (None, None))[1]
        if address in ipaddress.ip_network("64:ff9b::/96"):
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner and _is_forbidden(inner):
            return True
    if address in METADATA or address.is_link_local or address.is_multicast or address.is_unspecified:
        return True
    return address.is_reserved and not address.is_loopback
