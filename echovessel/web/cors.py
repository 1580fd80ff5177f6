"""CORS for the OpenAI-compatible API at /v1/: a chat client that runs in a browser needs permission to call it.

Only pages whose origin is in API_ORIGINS are allowed. /v1/ ignores cookies, so a page can do what its token allows, and
nothing in the name of the user who is signed in here.
"""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.decorators import sync_and_async_middleware

PREFIX = "/v1/"
METHODS = "GET, POST"
EXPOSED_HEADERS = "Retry-After, X-Should-Retry"  # headers of an answer that a page may read
REMEMBERED_SECONDS = 600


@sync_and_async_middleware
def middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Tells browsers which pages may call /v1/."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _add_headers(request, _preflight_response(request) or await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _add_headers(request, _preflight_response(request) or get_response(request))

    return answer


def fault(origin: str) -> str:
    """Why this is not an origin as browsers write it; "" if it is one.

    >>> fault("https://chat.example.org"), fault("app://obsidian.md"), fault("http://localhost:3000")
    ('', '', '')
    >>> fault("*"), fault("https://chat.example.org/")
    ('it is no origin', 'it is no origin')
    """
    scheme, _colon, host = origin.partition("://")
    is_origin = scheme and host and not set("/*?#@, ") & set(scheme + host) and origin == origin.lower()
    return "" if is_origin else "it is no origin"


def _preflight_response(request: HttpRequest) -> HttpResponse | None:
    """The answer to a browser's preflight request, if it is one from an allowed page."""
    requested_method = request.headers.get("Access-Control-Request-Method")
    if request.method != "OPTIONS" or not requested_method or not _is_allowed(request):
        return None
    headers = {
        "Access-Control-Allow-Methods": METHODS,
        # Clients send many headers of their own, none of which gives access without the token.
        "Access-Control-Allow-Headers": request.headers.get("Access-Control-Request-Headers", ""),
        "Access-Control-Max-Age": str(REMEMBERED_SECONDS),
    }
    return HttpResponse(status=204, headers=headers)


def _add_headers(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if settings.API_ORIGINS and request.path_info.startswith(PREFIX):
        patch_vary_headers(response, ["Origin"])
        if _is_allowed(request):
            response["Access-Control-Allow-Origin"] = request.headers["Origin"]
            response["Access-Control-Expose-Headers"] = EXPOSED_HEADERS
    return response


def _is_allowed(request: HttpRequest) -> bool:
    return request.path_info.startswith(PREFIX) and request.headers.get("Origin") in settings.API_ORIGINS
