"""No browser and no proxy keeps what is answered here, unless the answer itself says otherwise.

Else the back button shows what was said to whoever sits down after somebody has signed out. Static files do not come
this far: WhiteNoise answers before.
"""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware


@sync_and_async_middleware
def middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Marks every answer that says nothing of being kept."""
    if iscoroutinefunction(get_response):

        async def waited(request: HttpRequest) -> HttpResponseBase:
            return _marked(await get_response(request))

        return waited

    def called(request: HttpRequest) -> HttpResponseBase:
        return _marked(get_response(request))

    return called


def _marked(response: HttpResponseBase) -> HttpResponseBase:
    response.headers.setdefault("Cache-Control", "no-store")
    return response
