"""Compresses pages: a chat page of 60 KB is sent as 9 KB.

BREACH recovers a secret from the size of a compressed page that repeats words of the attacker. Django adds up to a
hundred random bytes to each answer ("Heal The Breach", since 4.2) and masks CSRF tokens anew in each page, and our
searches are sent by POST, so that no address puts words into a page. Only complete text answers are compressed: an
event stream or the tokens of a reply would wait in the compressor, and downloads and files are compressed already or
large.
"""

from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils.decorators import sync_and_async_middleware

TEXT = ("text/html", "text/javascript", "application/json", "application/manifest+json")


@sync_and_async_middleware
def middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Compresses text answers for clients that accept gzip."""
    gzip = GZipMiddleware(get_response)

    def compress(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_text = response.headers.get("Content-Type", "").startswith(TEXT)
        is_complete_text = isinstance(response, HttpResponse) and is_text
        return gzip.process_response(request, response) if is_complete_text else response

    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return compress(request, await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        return compress(request, get_response(request))

    return answer
