"""Links that a model wrote lead to a page that shows their destination and asks first.

The address is signed: the page opens only addresses from replies of this installation.
"""

from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from django.core import signing
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

MAX_ADDRESS_CHARACTERS = 2_000

_signer = signing.Signer(salt="chat.outbound")


@dataclass(frozen=True)
class Destination:
    """The destination of an address. `host` is readable, `ascii_host` is the form for DNS; for mail both are the
    recipient."""

    address: str
    scheme: str
    host: str
    ascii_host: str
    has_user: bool

    @property
    def is_disguisable(self) -> bool:
        """Whether the host has letters that may look like others."""
        return not self.host.isascii()


def destination(address: str) -> Destination | None:
    """The destination of `address`; None if a reply may not link to it."""
    if len(address) > MAX_ADDRESS_CHARACTERS or any(sign.isspace() or not sign.isprintable() for sign in address):
        return None
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        parts.port  # noqa: B018  (raises ValueError if it is invalid)
    except ValueError:
        return None
    if parts.scheme == "mailto" and "@" in parts.path:
        return Destination(address, "mailto", parts.path, parts.path, has_user=False)
    if parts.scheme not in ("http", "https") or not host:
        return None
    # Decode Punycode labels for `host`, encode others for `ascii_host`.
    return Destination(
        address,
        parts.scheme,
        ".".join(_recode(label, "ascii", "idna") if label.startswith("xn--") else label for label in host.split(".")),
        ".".join(label if label.isascii() else _recode(label, "idna", "ascii") for label in host.split(".")),
        has_user="@" in parts.netloc,
    )


def question_address(address: str) -> str:
    """URL of the page that asks before leaving; "" if nothing may link to `address`."""
    if destination(address) is None:
        return ""
    return f"{reverse('leave')}?{urlencode({'to': _signer.sign(address)})}"


@require_safe
def leave(request: HttpRequest) -> HttpResponse:
    """Show the address and a link to open it."""
    try:
        target = destination(_signer.unsign(request.GET.get("to", "")))
    except signing.BadSignature as error:
        raise Http404 from error
    if target is None:
        raise Http404
    answer = render(request, "chat/leave.html", {"destination": target})
    answer.headers["Referrer-Policy"] = "no-referrer"
    return answer


def _recode(label: str, literal: str, read: str) -> str:
    """A label of a host, encoded to or decoded from Punycode; unchanged if that fails."""
    try:
        return label.encode(literal).decode(read)
    except UnicodeError:
        return label
