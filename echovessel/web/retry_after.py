"""Every answer with 429 or 503 has a Retry-After header, whichever view it comes from.

Clients follow it, and without it some of them give up (OpenAI's SDK for Node).
"""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

SECONDS = 2  # the default; SDKs retry twice, and a slot or a provider is often available again by then


@sync_and_async_middleware
def middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Adds the header if the answer lacks it."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _add_retry_after(await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _add_retry_after(get_response(request))

    return answer


def _add_retry_after(response: HttpResponseBase) -> HttpResponseBase:
    if response.status_code in (429, 503):
        response.headers.setdefault("Retry-After", str(SECONDS))
    return response
