"""How somebody came in, to be asked again for as long as a socket or a stream lasts: logins end, tokens are revoked."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from echovessel.api.tokens import bearer, owner_of


@dataclass(frozen=True)
class Login:
    """A user who came in by a session or by a token."""

    user_id: int
    session_key: str = ""
    secret: str = ""

    def stands(self, now: datetime) -> bool:
        """Whether this user may still come in this way."""
        if self.secret:
            owner = owner_of(self.secret, now)
            return owner is not None and owner.pk == self.user_id
        stored = SessionStore(self.session_key)
        if stored.get(SESSION_KEY) != str(self.user_id) or BACKEND_SESSION_KEY not in stored:
            return False
        user = get_user_model().objects.filter(pk=self.user_id, is_active=True).first()
        return user is not None and constant_time_compare(
            stored.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash()
        )


def login_of(request: HttpRequest, now: datetime) -> Login | None:
    """How the caller came in, a token before a session, or None. Raises bearer.WrongToken, bearer.LockedOut.

    It asks the database: from async code call it in a thread.
    """
    shown = bearer.bearer_of(request, now)
    if shown is not None:
        return Login(shown.pk, secret=request.headers["Authorization"].partition(" ")[2].strip())
    if request.user.is_authenticated:
        return Login(request.user.pk, session_key=request.session.session_key or "")
    return None
