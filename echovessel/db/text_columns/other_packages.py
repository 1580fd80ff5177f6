"""The columns of models of other packages, by model label: Django's own, axes, the queue.

Only ids are queued, never text; but the traceback of a failed job may quote anybody.
"""

import pickle
import zlib
from typing import Any

from django.contrib.sessions.backends.db import SessionStore
from django.core import signing
from django_q.signing import BadSignature, SignedPackage
from picklefield.fields import dbsafe_decode  # type: ignore[import-untyped]

from echovessel.db.text_columns import ACCOUNTS, CLEAR, DELETE_ROW, NO_WORDS, OF_ACCOUNT, OnForget, TextColumn

_UNDECODABLE = (
    signing.BadSignature,
    BadSignature,
    pickle.UnpicklingError,
    zlib.error,
    ValueError,
    EOFError,
    ImportError,
    AttributeError,
)


def _decode_sign_in(text: str) -> Any:
    store = SessionStore()
    return signing.loads(text, salt=store.key_salt, serializer=store.serializer)


_PICKLED = TextColumn(DELETE_ROW, found_by="words", decode=dbsafe_decode, undecodable=_UNDECODABLE)
_SIGNED_JOB = TextColumn(OnForget.NO_WORDS, decode=SignedPackage.loads, undecodable=_UNDECODABLE)
_SIGN_IN = TextColumn(ACCOUNTS, decode=_decode_sign_in, undecodable=_UNDECODABLE)
_ATTEMPT = dict.fromkeys(("user_agent", "username", "http_accept", "path_info"), OF_ACCOUNT)

TEXT_COLUMNS = {
    "auth.User": dict.fromkeys(("username", "first_name", "last_name", "email", "password"), OF_ACCOUNT),
    "auth.Group": {"name": NO_WORDS},
    "auth.Permission": {"name": NO_WORDS, "codename": NO_WORDS},
    "contenttypes.ContentType": {"app_label": NO_WORDS, "model": NO_WORDS},
    "sessions.Session": {"session_key": NO_WORDS, "session_data": _SIGN_IN},
    # The admin's log keeps who did what to which row; the title of a forgotten row is cleared.
    "admin.LogEntry": {
        "object_id": NO_WORDS,
        "object_repr": TextColumn(CLEAR),
        "change_message": TextColumn(CLEAR),
    },
    "axes.AccessAttempt": _ATTEMPT | {"get_data": OF_ACCOUNT, "post_data": OF_ACCOUNT},
    "axes.AccessFailureLog": _ATTEMPT,
    "axes.AccessLog": _ATTEMPT | {"session_hash": OF_ACCOUNT},
    "django_q.Schedule": dict.fromkeys(
        ("name", "func", "hook", "args", "kwargs", "cron", "task", "cluster", "intended_date_kwarg"), NO_WORDS
    ),
    "django_q.Task": dict.fromkeys(("id", "name", "func", "hook", "group", "cluster"), NO_WORDS)
    | dict.fromkeys(("args", "kwargs", "result"), _PICKLED),
    "django_q.OrmQ": {"key": NO_WORDS, "payload": _SIGNED_JOB},
}
