"""Subscribe browsers to notifications, and unsubscribe them."""

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
    """The subscription cannot be used: `code` is "unreadable" or "unknown_service"."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Address:
    """Address and keys of a browser: the Push API's PushSubscription."""

    endpoint: str
    p256dh: str
    auth: str


def parse_subscription(body: Any) -> Address:
    """Parse the JSON of `PushSubscription.toJSON()`. Raises NotSubscribed."""
    keys = body.get("keys") if isinstance(body, Mapping) else None
    if not isinstance(keys, Mapping):
        raise NotSubscribed("unreadable")
    endpoint, point, secret = body.get("endpoint"), _bytes(keys.get("p256dh")), _bytes(keys.get("auth"))
    if not isinstance(endpoint, str) or not _is_point(point) or len(secret) != SECRET_BYTES:
        raise NotSubscribed("unreadable")
    if not endpoints.is_allowed(endpoint):
        raise NotSubscribed("unknown_service")
    return Address(endpoint, _as_base64(point), _as_base64(secret))


def subscribe(owner_id: int, address: Address) -> PushSubscription:
    """Subscribe the browser for this owner, and no longer for any other. Where the list is full, the oldest
    subscription is deleted."""
    with transaction.atomic():
        values = {"owner_id": owner_id, "p256dh": address.p256dh, "auth": address.auth, "failures": 0}
        subscription, _ = PushSubscription.objects.update_or_create(endpoint=address.endpoint, defaults=values)
        other_subscriptions = (
            PushSubscription.objects.filter(owner=owner_id).exclude(pk=subscription.pk).order_by("-pk")
        )
        too_many = list(other_subscriptions.values_list("pk", flat=True)[knobs.push_browsers() - 1 :])
        PushSubscription.objects.filter(pk__in=too_many).delete()
    return subscription


def unsubscribe(owner_id: int, endpoint: str) -> bool:
    """Unsubscribe the browser; False if it was not subscribed."""
    return bool(PushSubscription.objects.filter(owner=owner_id, endpoint=endpoint).delete()[0])


def unsubscribe_all(owner_id: int) -> None:
    """Unsubscribe all browsers of the owner: one of them may be in the wrong hands."""
    PushSubscription.objects.filter(owner=owner_id).delete()


def _bytes(text: Any) -> bytes:
    """Decode base64url with or without padding; b"" if it is invalid."""
    if not isinstance(text, str) or len(text) > LONGEST_KEY:
        return b""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return b""


def _as_base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _is_point(data: bytes) -> bool:
    """Whether the bytes are a point of the curve P-256; nothing can be encrypted for others."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415  (rarely needed)

    if len(data) != POINT_BYTES or data[0] != POINT_BEGINS:
        return False
    try:
        ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), data)
    except ValueError:
        return False
    return True
