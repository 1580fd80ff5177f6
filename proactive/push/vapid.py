"""The key by which push services know this server's notices (VAPID, RFC 8292): made when it is first needed, and
kept."""

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
    """This installation's, the same in every process."""
    return _load_or_make(str(Path(settings.DATA_DIR) / "vapid_key.pem"))


def public_key() -> str:
    """What a browser is given in order to subscribe: the point, as base64url without padding."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415
    from py_vapid.utils import b64urlencode  # noqa: PLC0415

    return str(b64urlencode(key().public_key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)))


def contact() -> str:
    """Whom a push service may write to: the operator's word, else the site's own address. Services ask for one that
    could be reached, and refuse a local one."""
    if settings.PUSH_CONTACT:
        return str(settings.PUSH_CONTACT)
    trusted = (urlsplit(origin).hostname or "" for origin in settings.CSRF_TRUSTED_ORIGINS)
    hosts = [host.lstrip(".*") for host in (*trusted, *settings.ALLOWED_HOSTS) if host not in settings.LOOPBACK]
    return next((f"https://{host}" for host in hosts if "." in host and not host[-1].isdigit()), NOBODY)


def is_contact(text: str) -> bool:
    """Whether a push service takes it for one: an address to write to, or a site."""
    return CONTACT.fullmatch(text) is not None


@cache
def _load_or_make(path: str) -> "Vapid":
    from py_vapid import Vapid  # noqa: PLC0415  (0.1 s, and most processes never send a notice)

    file = Path(path)
    if not file.exists():
        # Write a new key whole, and never over another: of two processes that do so together, both use the first one's.
        new_key = Vapid()
        new_key.generate_keys()
        descriptor, written = tempfile.mkstemp(dir=file.parent, prefix=".vapid")  # readable by its owner alone
        try:
            with os.fdopen(descriptor, "wb") as new:
                new.write(new_key.private_pem())
            with contextlib.suppress(FileExistsError):
                os.link(written, file)
        finally:
            os.unlink(written)
    return Vapid.from_pem(file.read_bytes())
