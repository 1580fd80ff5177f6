"""Send one encrypted notification to a push service (RFC 8030, 8188, 8291, 8292). Imported only when one is sent."""

import time
from typing import Any
from urllib.parse import urlsplit

from pywebpush import WebPusher
from requests import PreparedRequest, Response, Session

from proactive import knobs
from proactive.models import PushSubscription
from proactive.push import vapid

SECONDS_AN_HOUR = 3_600
TOKEN_HOURS = 12  # at most 24 by the clock of the service, which need not be ours


class NoFurther(Session):
    """An HTTP session that follows no redirect and sends no password of a .netrc file."""

    def __init__(self) -> None:
        super().__init__()
        self.auth = lambda request: request

    def send(self, request: PreparedRequest, **kwargs: Any) -> Response:
        return super().send(request, **(kwargs | {"allow_redirects": False}))


def send(browser: PushSubscription, notice: str, topic: str) -> int:
    """HTTP status of the push service. Raises what requests, cryptography and py_vapid raise."""
    parts = urlsplit(browser.endpoint)
    expires = int(time.time()) + TOKEN_HOURS * SECONDS_AN_HOUR
    claims = {"aud": f"{parts.scheme}://{parts.netloc}", "sub": vapid.contact(), "exp": expires}
    keys = {"p256dh": browser.p256dh, "auth": browser.auth}
    with NoFurther() as session:
        answer: Any = WebPusher({"endpoint": browser.endpoint, "keys": keys}, requests_session=session).send(
            notice,
            dict(vapid.key().sign(claims)) | {"Topic": topic, "Urgency": "normal"},
            ttl=knobs.push_keep_hours() * SECONDS_AN_HOUR,
            timeout=knobs.push_seconds(),
        )
    return int(answer.status_code)
