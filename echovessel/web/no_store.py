"""Answers are not cached by browsers and proxies unless the answer itself allows it.

Otherwise, after a sign-out, the back button would show the conversation to the next person. Static files are not
affected: WhiteNoise answers before this middleware.
"""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware


@sync_and_async_middleware
def middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Adds `Cache-Control: no-store` to every answer without that header."""
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _add_no_store(await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return _add_no_store(get_response(request))

    return answer


def _add_no_store(response: HttpResponseBase) -> HttpResponseBase:
    response.headers.setdefault("Cache-Control", "no-store")
    return response
