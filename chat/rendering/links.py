"""Links that a model wrote lead to a question first, which shows where they go.

The address travels signed: the page of the question opens nothing that no reply of this installation holds.
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
    """Where an address leads. `host` as people read it, `ascii_host` as it is asked for; of a mail its recipient."""

    address: str
    scheme: str
    host: str
    ascii_host: str
    has_user: bool

    @property
    def is_disguisable(self) -> bool:
        """Whether the name has letters that may look like others."""
        return not self.host.isascii()


def destination(address: str) -> Destination | None:
    """Where `address` leads; None where it leads nowhere that a reply may lead to."""
    if len(address) > MAX_ADDRESS_CHARACTERS or any(sign.isspace() or not sign.isprintable() for sign in address):
        return None
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
        parts.port  # noqa: B018  (it is read to be judged)
    except ValueError:
        return None
    if parts.scheme == "mailto" and "@" in parts.path:
        return Destination(address, "mailto", parts.path, parts.path, has_user=False)
    if parts.scheme not in ("http", "https") or not host:
        return None
    # The host with the letters that Punycode stands for.
    return Destination(
        address,
        parts.scheme,
        ".".join(_recode(label, "ascii", "idna") if label.startswith("xn--") else label for label in host.split(".")),
        ".".join(label if label.isascii() else _recode(label, "idna", "ascii") for label in host.split(".")),
        has_user="@" in parts.netloc,
    )


def question_address(address: str) -> str:
    """The page that asks whether to go there, or "" where nothing may lead there."""
    if destination(address) is None:
        return ""
    return f"{reverse('leave')}?{urlencode({'to': _signer.sign(address)})}"


@require_safe
def leave(request: HttpRequest) -> HttpResponse:
    """The question, with the address, and a link for whoever wants to go."""
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
    """A label of a host, in letters for its Punycode or the other way; as it is where there is no such form."""
    try:
        return label.encode(literal).decode(read)
    except UnicodeError:
        return label
