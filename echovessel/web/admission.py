"""Which sockets and logins are admitted, and for how long.

A socket: only pages of this site or of a trusted origin may open one. Channels' own validator compares host names only
and accepts every port; a browser sends cookies to all ports of a host, so a socket must come from the same scheme, host
and port as the page (OWASP ASVS 5.0 V4.4.2).

A login: a session or a token, which is checked repeatedly while a socket or stream lasts, since logins end and tokens
are revoked (`access_revocation`).
"""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY, get_user_model
from django.contrib.sessions.models import Session
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from django.utils.http import is_same_domain

from echovessel.api.tokens import bearer, owner_of
from echovessel.db.compiled_queries import Query

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Application = Callable[..., Awaitable[Any]]


class SameOrigin:
    """Refuses a socket whose Origin is missing or foreign, before any other code sees it."""

    def __init__(self, application: Application) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> Any:
        headers = {name.decode("latin1"): value.decode("latin1") for name, value in scope["headers"]}
        if is_own_origin(headers.get("origin", ""), headers.get("host", "")):
            return await self.application(scope, receive, send)
        logger.warning("a socket was refused: its Origin is not this site's")
        return await WebsocketDenier()(scope, receive, send)


def is_own_origin(origin: str, host: str) -> bool:
    """Whether a page at `origin` may open a socket at `host` (host:port, from the request)."""
    request = HttpRequest()
    request.META["HTTP_HOST"] = host
    try:
        request.get_host()
    except DisallowedHost:
        return False
    scheme, _colon, origin_host = origin.partition("://")
    if origin_host == host and scheme in (("https",) if settings.HTTPS else ("http", "https")):
        return True
    # CSRF_TRUSTED_ORIGINS lists origins, or all subdomains of a domain (https://*.example.org), as for forms.
    trusted = (origin_parts.partition("://") for origin_parts in settings.CSRF_TRUSTED_ORIGINS)
    return any(scheme == name and is_same_domain(origin_host, place.lstrip("*")) for name, _sep, place in trusted)


# --- logins ---
_stored_session: Query[Session] = Query(lambda key, now: Session.objects.filter(session_key=key, expire_date__gt=now))
_active_user: Query[Any] = Query(lambda user: get_user_model().objects.filter(pk=user, is_active=True))


@dataclass(frozen=True)
class Login:
    """A user who is admitted by a session or by a token."""

    user_id: int
    session_key: str = ""
    secret: str = ""

    def stands(self, now: datetime) -> bool:
        """Whether the session or token is still valid."""
        if self.secret:
            owner = owner_of(self.secret, now)
            return owner is not None and owner.pk == self.user_id
        for row in _stored_session(self.session_key, now):
            session = row.get_decoded()
            if session.get(SESSION_KEY) == str(self.user_id) and BACKEND_SESSION_KEY in session:
                return any(
                    constant_time_compare(session.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
                    for user in _active_user(self.user_id)
                )
        return False


def login_of(request: HttpRequest, now: datetime) -> Login | None:
    """The caller's login, by a token before a session, or None. Raises bearer.WrongToken, bearer.LockedOut.

    Queries the database: from async code call it in a thread.
    """
    bearer_token = bearer.bearer_of(request, now)
    if bearer_token is not None:
        return Login(bearer_token.pk, secret=request.headers["Authorization"].partition(" ")[2].strip())
    if request.user.is_authenticated:
        return Login(request.user.pk, session_key=request.session.session_key or "")
    return None
