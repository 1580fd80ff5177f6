"""A push service on loopback, and a browser that subscribes to it and can open what is sealed for it."""

import base64
import json
import os
import threading
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

import http_ece
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def written(of: bytes) -> str:
    """base64url without padding, as browsers write it."""
    return base64.urlsafe_b64encode(of).rstrip(b"=").decode()


def unwritten(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@dataclass
class Notice:
    """What the service was sent."""

    path: str
    headers: Message
    body: bytes

    @property
    def token(self) -> dict[str, Any]:
        """The claims of its VAPID token."""
        return json.loads(unwritten(self.credentials["t"].split(".")[1]))

    @property
    def credentials(self) -> dict[str, str]:
        scheme, _, parts = self.headers["Authorization"].partition(" ")
        assert scheme == "vapid"
        return dict(part.strip().split("=", 1) for part in parts.split(","))


@dataclass
class PushService:
    """Takes notices on a free port while it is entered; answers with `status`, and with where to go instead."""

    status: int = 201
    location: str = ""
    notices: list[Notice] = field(default_factory=list)

    def __enter__(self) -> Self:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.notices.append(Notice(self.path, self.headers, body))
                self.send_response(service.status)
                if service.location:
                    self.send_header("Location", service.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"


class Browser:
    """The keys that a browser makes when it subscribes, and what it gives away of them."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.secret = os.urandom(16)

    def subscription(self) -> dict[str, Any]:
        """As PushSubscription.toJSON() says it."""
        point = self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        keys = {"p256dh": written(point), "auth": written(self.secret)}
        return {"endpoint": self.endpoint, "expirationTime": None, "keys": keys}

    def opened(self, notice: Notice) -> Any:
        """What a notice says."""
        plain = http_ece.decrypt(notice.body, private_key=self.key, auth_secret=self.secret, version="aes128gcm")
        return json.loads(plain)
