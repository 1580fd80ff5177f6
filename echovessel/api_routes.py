"""The HTTP API: a section per app, OpenAPI at /api/docs. Callers find only their own objects; others are a 404."""

import time
from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, re_path
from django.utils import timezone
from ninja import NinjaAPI
from ninja.errors import AuthenticationError
from ninja.security import HttpBearer, SessionAuth

import echovessel.llm.api
import memory.web.api
import persona.api
import proactive.api  # noqa: F401  (adds its operations to persona.api.addresses)
from echovessel import seed_routes
from echovessel.api import openapi, problems
from echovessel.api.bodies import StrictParser
from echovessel.api.problems import ApiError
from echovessel.api.tokens import bearer, knobs
from echovessel.web.rate_limit import RateLimiter

DESCRIPTION = """A companion that remembers: personas, what was said, what remains, and recall with its x-ray.

**Who is asking.** A login with its CSRF token, or `Authorization: Bearer ev_…` with a token that
`manage.py create_api_token USERNAME` prints once. What belongs to somebody else does not exist (404).

**Lists** come in pages, the newest first. `next` of a page is the `before` of the one after it, and null on the last.

**Errors** are problem objects (RFC 9457): `status`, a `code` for programs, a `title` for people.

**Events.** `GET /api/personas/{id}/events` is what happens to a persona as server-sent events (`text/event-stream`):
her words as they come, talks that end, memories that are made. It goes on after `Last-Event-ID`, or `?after=`; 0 is all
that is kept.

**Clients of OpenAI** talk with her at `/v1/chat/completions`, by a token; `/v1/models` lists the caller's personas.

**Paths without a persona** mean the caller's only one; whoever has several says which by `?persona=`.
"""
pace = RateLimiter(knobs.requests_per_minute)


class Token(HttpBearer):
    """Authentication by a token, as `manage.py create_api_token` creates them."""

    def __call__(self, request: HttpRequest) -> Any:
        """Authenticate by the token. A request with a wrong token is refused, even if it has a login too."""
        try:
            caller = bearer.shown_by(request, timezone.now())
        except bearer.WrongToken as error:
            raise AuthenticationError from error
        except bearer.LockedOut as error:
            title = "Too many wrong tokens from this address; wait a while."
            raise ApiError(429, "locked_out", title, retry_after=error.seconds) from error
        if caller is None:
            return None
        _limit_rate(("token", caller.token_id))
        request.user = caller.user
        return caller.user

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        """Never called: `__call__` handles the whole request."""
        raise NotImplementedError


class Login(SessionAuth):
    """Authentication by a login, with its CSRF token for changes."""

    def authenticate(self, request: HttpRequest, key: str | None) -> Any:
        user = super().authenticate(request, key)
        if user is not None:
            _limit_rate(("user", user.pk))
        return user


def _limit_rate(caller: tuple[str, int]) -> None:
    now = time.monotonic()
    if not pace.admit(caller, now):
        raise ApiError(429, "rate_limited", "Too many requests in a minute.", retry_after=pace.wait(caller, now))


def _require_caller(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Require a login or a token for the document and its page; others are redirected to the login page."""

    @wraps(view)
    def answer(request: HttpRequest, **options: Any) -> HttpResponse:
        try:
            caller = bearer.shown_by(request, timezone.now())
        except (bearer.WrongToken, bearer.LockedOut):
            return HttpResponse(status=401)
        if caller is None and not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        return view(request, **options)

    return answer


class Api(NinjaAPI):
    """The API, whose document lists the errors of its operations and gives examples."""

    def get_openapi_schema(self, **_options: Any) -> Any:
        return self.document

    @cached_property
    def document(self) -> Any:
        """Made once: it takes half a second, and no operation is added later."""
        return openapi.complete(super().get_openapi_schema())


api = Api(
    title="EchoVessel",
    version="1",
    description=DESCRIPTION,
    auth=[Token(), Login()],
    parser=StrictParser(),
    docs_decorator=_require_caller,
)
problems.install(api)
api.add_router("/personas", persona.api.addresses)
api.add_router("", memory.web.api.account.router, tags=["account"])
api.add_router("", echovessel.llm.api.router, tags=["account"])
api.add_router("", seed_routes.router, tags=["your own persona"])


def _refuse_with_problems(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """Make the view answer unknown methods with problems. Programs get a 401 from its own authentication, not a
    redirect to the login page. A HEAD request gets the headers of the answer to GET."""

    @login_not_required
    @wraps(view)
    def answer(request: HttpRequest, **options: Any) -> HttpResponse:
        # HEAD is answered like GET: servers send no body with it.
        method = request.method
        request.method = "GET" if method == "HEAD" else method
        response = view(request, **options)
        request.method = method
        return problems.not_allowed(sorted(response["Allow"].split(", "))) if response.status_code == 405 else response

    return answer


urls = api.urls
for pattern in urls[0]:
    if isinstance(pattern, URLPattern) and pattern.name != "api-root":
        pattern.callback = _refuse_with_problems(pattern.callback)
urls[0].append(re_path("", problems.unknown_address))
