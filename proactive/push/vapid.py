"""The key by which push services identify this server (VAPID, RFC 8292); created on first use and kept."""

import contextlib
import os
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.conf import settings

if TYPE_CHECKING:
    from py_vapid import Vapid

NOBODY = "mailto:operator@example.org"
CONTACT = re.compile(r"mailto:[^@\s]+@[\w-]+(\.[\w-]+)+|https://[\w-]+(\.[\w-]+)+")


def key() -> "Vapid":
    """The key of this installation, the same in every process."""
    return load_or_make_key(str(Path(settings.DATA_DIR) / "vapid_key.pem"))


def public_key() -> str:
    """The public key that browsers subscribe with: the point, as base64url without padding."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415
    from py_vapid.utils import b64urlencode  # noqa: PLC0415

    return str(b64urlencode(key().public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)))


def contact() -> str:
    """Contact address for push services: the operator's setting, else the site's address. Services demand a reachable
    one and refuse a local one."""
    if settings.PUSH_CONTACT:
        return str(settings.PUSH_CONTACT)
    trusted = (urlsplit(origin).hostname or "" for origin in settings.CSRF_TRUSTED_ORIGINS)
    hosts = [host.lstrip(".*") for host in (*trusted, *settings.ALLOWED_HOSTS) if host not in settings.LOOPBACK]
    return next((f"https://{host}" for host in hosts if "." in host and not host[-1].isdigit()), NOBODY)


def is_contact(text: str) -> bool:
    """Whether a push service accepts it as a contact: a mail address or a site."""
    return CONTACT.fullmatch(text) is not None


@cache
def load_or_make_key(path: str) -> "Vapid":
    from py_vapid import Vapid  # noqa: PLC0415  (0.1 s, and most processes never send a notice)

    file = Path(path)
    if not file.exists():
        # Write a new key atomically and never over another one: of two processes that create one together, both use the
        # first.
        new_key = Vapid()
        new_key.generate_keys()
        descriptor, bytes_written = tempfile.mkstemp(dir=file.parent, prefix=".vapid")  # readable by its owner alone
        try:
            with os.fdopen(descriptor, "wb") as new:
                new.write(new_key.private_pem())
            with contextlib.suppress(FileExistsError):
                os.link(bytes_written, file)
        finally:
            os.unlink(bytes_written)
    return Vapid.from_pem(file.read_bytes())
