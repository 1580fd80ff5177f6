"""Text that can be stored, by one rule for every door: the socket, the API, /v1, forms, imports, archives, models.

A NUL is dropped: it is no sign of any language, databases and full text cut a text there, and whoever typed around it
loses nothing. Half a surrogate pair becomes U+FFFD: UTF-8 has no bytes for it.
"""

from typing import Any

from django.http import HttpRequest, QueryDict
from django.utils.deprecation import MiddlewareMixin

NUL = "\0"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


def storable(text: str) -> str:
    """
    >>> storable("a\\0b \\ud83c"), storable("\\ud83c\\udf19")
    ('ab �', '🌙')
    """
    return text.replace(NUL, "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_nul(value: Any) -> Any:
    """A value of JSON with no NUL in any of its texts, names of fields included."""
    if isinstance(value, str):
        return value.replace(NUL, "")
    if isinstance(value, list):
        return [without_nul(item) for item in value]
    if isinstance(value, dict):
        return {without_nul(name): without_nul(item) for name, item in value.items()}
    return value


class Middleware(MiddlewareMixin):
    """Drops NULs from the query and the form of a request. It stands behind CSRF, which has read the form by then; what
    is exempt from that is no form."""

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        if "%00" in request.META.get("QUERY_STRING", ""):
            request.GET = _without_nul(request.GET)  # type: ignore[assignment]
        if (
            request.method == "POST"
            and request.content_type in FORMS
            and any(NUL in text for name, texts in request.POST.lists() for text in (name, *texts))
        ):
            request.POST = _without_nul(request.POST)  # type: ignore[assignment]


def _without_nul(fields: QueryDict) -> QueryDict:
    cleaned = QueryDict(mutable=True)
    for name, texts in fields.lists():
        cleaned.setlist(name.replace(NUL, ""), [text.replace(NUL, "") for text in texts])
    cleaned._mutable = False
    return cleaned
