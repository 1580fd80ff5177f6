"""Settings of the installations that tests start: those of the product, with the hash embedder, and a template for
every fresh database."""

from typing import Any

from django.conf import global_settings

from echovessel.db.sqlite import temporary
from echovessel.settings import *  # noqa: F403
from tests import hash_embedder

hash_embedder.install()
# A password of the product takes most of a second of a core; those that were stored with it still open.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher", *global_settings.PASSWORD_HASHERS]


def _migrate(*args: Any, **options: Any) -> None:
    """The first of a process: by then Django is set up, which the template needs."""
    from tests import template_database  # noqa: PLC0415

    temporary.call_command = _call_command
    template_database.install()
    temporary.call_command(*args, **options)


_call_command, temporary.call_command = temporary.call_command, _migrate
