"""The one-time link that creates the first owner: valid while there is no user, and deleted on its first use."""

import hmac
import secrets
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction


def token() -> str | None:
    """The link's secret, created on the first call; None once there is a user."""
    if User.objects.exists():
        return None
    file = _file()
    if not file.exists() or not file.read_text().strip():
        file.touch(mode=0o600)
        file.write_text(secrets.token_urlsafe(24))
    return file.read_text().strip()


def is_valid(code: str) -> bool:
    expected = token() if _file().exists() else None
    return expected is not None and hmac.compare_digest(code.encode(), expected.encode())


def use(code: str, make_owner: Callable[[], User]) -> User | None:
    """Create the first owner, once; None if somebody else was faster."""
    with transaction.atomic():
        if not is_valid(code):
            return None
        owner = make_owner()
        transaction.on_commit(lambda: _file().unlink(missing_ok=True))
    return owner


def _file() -> Path:
    return Path(settings.DATA_DIR) / "first_run_token"
