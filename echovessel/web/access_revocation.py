"""Users who lose access are disconnected immediately. A changed password, a sign-out, a deactivated or deleted account
and a revoked token are published; every socket and stream of that user, in every server process, then checks whether
its login or token is still valid (`admission.Login`).

A changed password also revokes the user's tokens: people change it when somebody else got in, who could come back with
a token. This holds wherever it is changed: the account page, the admin, `manage.py changepassword`.
"""

from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.conf import settings
from django.db.models.signals import post_delete, post_save
from django.utils import timezone
from django.utils.module_loading import import_string

CHANGED = "account.access_changed"
_NAMESPACE = UUID("6f0f8bd5-4c0f-4d0c-9a57-0f8a4d3f6c11")


def stream_of(user_id: int) -> UUID:
    """The stream in which changes to a user's access are published."""
    return uuid5(_NAMESPACE, str(user_id))


def publish_change(user_id: int) -> None:
    """Make every socket and stream of this user check its login once the surrounding transaction commits."""
    from echovessel.outbox import events  # noqa: PLC0415  (models exist only once the apps are ready)

    events.publish(stream_of(user_id), CHANGED)


def sign_out_everywhere(user_id: int, besides: str = "") -> None:
    """End every session of this user except the one with the key `besides`, and call the functions in
    SIGNED_OUT_EVERYWHERE. Tokens are revoked separately (`tokens.secret.revoke_all`)."""
    for session in _sessions_of(user_id):
        if session.session_key != besides:
            session.delete()
    _call_followers(user_id)


def open_sessions_of(user_id: int, now: datetime) -> list[Any]:
    """The sessions in which this user is signed in now."""
    return [session for session in _sessions_of(user_id) if session.expire_date > now]


def _call_followers(user_id: int) -> None:
    for path in settings.SIGNED_OUT_EVERYWHERE:
        import_string(path)(user_id)


def _sessions_of(user_id: int) -> list[Any]:
    """All sessions are decoded, because their data is signed and has no column for the user."""
    from django.contrib.sessions.models import Session  # noqa: PLC0415

    return [session for session in Session.objects.all() if session.get_decoded().get("_auth_user_id") == str(user_id)]


def connect() -> None:
    """Connect to the signals of the rows that give access. Called once the apps are ready."""
    from django.contrib.auth.models import User  # noqa: PLC0415
    from django.contrib.sessions.models import Session  # noqa: PLC0415

    post_save.connect(_user_saved, sender=User, dispatch_uid="access")
    post_delete.connect(_user_deleted, sender=User, dispatch_uid="access")
    post_delete.connect(_session_deleted, sender=Session, dispatch_uid="access")


def _user_saved(instance: Any, created: bool, update_fields: Any = None, **_: Any) -> None:
    if created or update_fields == frozenset({"last_login"}):
        return
    if instance._password is not None:  # set_password was called; a hash that is only renewed leaves it None
        from echovessel.api.tokens import secret  # noqa: PLC0415

        secret.revoke_all(instance.pk, timezone.now())
        _call_followers(instance.pk)
    publish_change(instance.pk)


def _user_deleted(instance: Any, **_: Any) -> None:
    publish_change(instance.pk)


def _session_deleted(instance: Any, **_: Any) -> None:
    """Publish a sign-out, here or elsewhere. Django's own signal comes before the session is deleted."""
    user_id = str(instance.get_decoded().get("_auth_user_id", ""))
    if user_id.isdecimal():
        publish_change(int(user_id))
