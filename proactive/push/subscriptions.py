"""Subscribing: a browser puts itself on the list of those that are told of a new message, and off it."""

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from proactive import knobs
from proactive.models import PushSubscription
from proactive.push import endpoints

POINT_BYTES, POINT_BEGINS = 65, 4  # an uncompressed point of P-256 (RFC 8291)
SECRET_BYTES = 16
LONGEST_KEY = 200


class NotSubscribed(Exception):
    """The browser's words cannot be used: `code` is "unreadable", or "unknown_service"."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Address:
    """How a browser is reached: what the Push API calls a PushSubscription."""

    endpoint: str
    p256dh: str
    auth: str


def read(given: Any) -> Address:
    """The address in what `PushSubscription.toJSON()` gave. Raises NotSubscribed."""
    keys = given.get("keys") if isinstance(given, Mapping) else None
    if not isinstance(keys, Mapping):
        raise NotSubscribed("unreadable")
    endpoint, point, secret = given.get("endpoint"), _bytes(keys.get("p256dh")), _bytes(keys.get("auth"))
    if not isinstance(endpoint, str) or not _is_point(point) or len(secret) != SECRET_BYTES:
        raise NotSubscribed("unreadable")
    if not endpoints.is_allowed(endpoint):
        raise NotSubscribed("unknown_service")
    return Address(endpoint, _written(point), _written(secret))


def subscribe(owner_id: int, address: Address) -> PushSubscription:
    """Put the browser on the owner's list. One that somebody else used before tells them nothing any more; where the
    list is full, who was added first goes."""
    with transaction.atomic():
        values = {"owner_id": owner_id, "p256dh": address.p256dh, "auth": address.auth, "failures": 0}
        made, _ = PushSubscription.objects.update_or_create(endpoint=address.endpoint, defaults=values)
        others = PushSubscription.objects.filter(owner=owner_id).exclude(pk=made.pk).order_by("-pk")
        too_many = list(others.values_list("pk", flat=True)[knobs.push_browsers() - 1 :])
        PushSubscription.objects.filter(pk__in=too_many).delete()
    return made


def unsubscribe(owner_id: int, endpoint: str) -> bool:
    """Take the browser off the owner's list; False where it was not on it."""
    return bool(PushSubscription.objects.filter(owner=owner_id, endpoint=endpoint).delete()[0])


def unsubscribe_all(owner_id: int) -> None:
    """Take every browser off the owner's list: one of them may be in the wrong hands."""
    PushSubscription.objects.filter(owner=owner_id).delete()


def _bytes(text: Any) -> bytes:
    """What base64url says, padded or not; nothing where it says nothing."""
    if not isinstance(text, str) or len(text) > LONGEST_KEY:
        return b""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _written(of: bytes) -> str:
    return base64.urlsafe_b64encode(of).rstrip(b"=").decode()


def _is_point(of: bytes) -> bool:
    """Whether it is a point of the curve: what lies beside it could not be sealed for."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415  (rarely needed)

    if len(of) != POINT_BYTES or of[0] != POINT_BEGINS:
        return False
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), of)
    except ValueError:
        return False
    return True
