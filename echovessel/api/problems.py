"""Errors of the API as problem objects (RFC 9457) with a code."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig, SuspiciousOperation
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, UnreadablePostError
from django.http.multipartparser import MultiPartParserError
from django.views.decorators.csrf import csrf_exempt
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, HttpError, ValidationError

from echovessel.process import redaction

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
# Statuses that any operation may answer with, and their meaning.
STATUSES: Mapping[int, str] = {
    400: "The body is not JSON, or the request has too many fields.",
    401: "Not signed in, and no valid token.",
    403: "A login without its CSRF token.",
    404: "Not found, or not yours.",
    409: "Not possible in the current state; the code says why.",
    413: "The request is too large.",
    422: "A field is missing or invalid; `fields` says which.",
    429: "Too many requests; `Retry-After` says how many seconds to wait.",
    503: "Temporarily unavailable; try again later.",
}
NOTHING_HERE = "Not found."
_CODES = {400: "unreadable", 403: "csrf"}


class Problem(Schema):
    """Why a request failed: a code for programs and a title for people. Some problems have more fields."""

    status: int
    code: str
    title: str


class ApiError(Exception):
    """A request that fails. The answer has this status, code and title, and the fields in `more`."""

    def __init__(self, status: int, code: str, title: str, retry_after: int = 0, **more: Any) -> None:
        super().__init__(title)
        self.status, self.code, self.title, self.more = status, code, title, more
        self.headers = {"Retry-After": str(retry_after)} if retry_after else {}


def refused_fields(*fields: str) -> ApiError:
    """The error for fields with invalid values."""
    return ApiError(422, "invalid", "A field of this request is missing or invalid.", fields=list(fields))


def problem_response(status: int, code: str, title: str, headers: Mapping[str, str] | None = None) -> HttpResponse:
    """A problem as a response outside of any operation."""
    problem = {"status": status, "code": code, "title": title}
    return JsonResponse(problem, status=status, headers=headers, content_type=MEDIA_TYPE)


@csrf_exempt
@login_not_required
def unknown_address(request: HttpRequest, **_: str) -> HttpResponse:
    """The answer for an unknown address."""
    return problem_response(404, "not_found", NOTHING_HERE)


def not_allowed(allowed: Sequence[str]) -> HttpResponse:
    """The answer for a method that is not allowed."""
    return problem_response(
        405, "method_not_allowed", "This method is not allowed here.", {"Allow": ", ".join(allowed)}
    )


def install(api: NinjaAPI) -> None:
    """Make `api` answer every error with a problem."""

    def problem(request: HttpRequest, status: int, code: str, title: str, **more: Any) -> HttpResponse:
        response = api.create_response(request, {"status": status, "code": code, "title": title} | more, status=status)
        response["Content-Type"] = MEDIA_TYPE
        return response

    @api.exception_handler(Http404)
    def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
        return problem(request, 404, "not_found", NOTHING_HERE)

    @api.exception_handler(AuthenticationError)
    def not_signed_in(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
        response = problem(request, 401, "not_signed_in", "Sign in first.")
        response["WWW-Authenticate"] = "Bearer"
        return response

    @api.exception_handler(HttpError)
    def http_error(request: HttpRequest, error: HttpError) -> HttpResponse:
        return problem(request, error.status_code, _CODES.get(error.status_code, "refused"), error.message)

    @api.exception_handler(ValidationError)
    def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
        fields = [".".join(str(part) for part in item["loc"]) for item in error.errors]
        return problem(request, 422, "invalid", "A field of this request is missing or invalid.", fields=fields)

    @api.exception_handler(RequestDataTooBig)
    def too_large(request: HttpRequest, error: RequestDataTooBig) -> HttpResponse:
        return problem(request, 413, "too_large", "The request is too large.")

    @api.exception_handler(SuspiciousOperation)
    @api.exception_handler(MultiPartParserError)
    @api.exception_handler(UnreadablePostError)
    def unreadable(request: HttpRequest, error: Exception) -> HttpResponse:
        return problem(request, 400, "unreadable", "This request cannot be read.")

    @api.exception_handler(ApiError)
    def refused(request: HttpRequest, error: ApiError) -> HttpResponse:
        response = problem(request, error.status, error.code, error.title, **error.more)
        for name, value in error.headers.items():
            response[name] = value
        return response

    @api.exception_handler(Exception)
    def broken(request: HttpRequest, error: Exception) -> HttpResponse:
        logger.error("a request to the API broke: %s", redaction.format_exception(error))
        return problem(request, 500, "internal", "Something went wrong; the server's log says what.")
