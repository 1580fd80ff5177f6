"""Errors of the API as problem objects (RFC 9457) with a code."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI, Schema
from ninja.errors import AuthenticationError, ValidationError


class Problem(Schema):
    """Why something was not done, as a code for programs and a title for people; some say more."""

    status: int
    code: str
    title: str


def answers(schema: Any) -> dict[Any, Any]:
    """What a route declares that it answers: `schema`, or a problem."""
    return {200: schema, frozenset({401, 403, 404, 409, 422}): Problem}


class Refused(Exception):
    """What was asked cannot be done: answered with this status, code and title, and whatever else helps."""

    def __init__(self, status: int, code: str, title: str, **more: Any) -> None:
        super().__init__(title)
        self.status, self.code, self.title, self.more = status, code, title, more


def install(api: NinjaAPI) -> None:
    """Have every error of `api` answered as a problem."""

    def problem(request: HttpRequest, status: int, code: str, title: str, **more: Any) -> HttpResponse:
        response = api.create_response(request, {"status": status, "code": code, "title": title} | more, status=status)
        response["Content-Type"] = "application/problem+json"
        return response

    @api.exception_handler(Http404)
    def not_found(request: HttpRequest, error: Http404) -> HttpResponse:
        return problem(request, 404, "not_found", "There is nothing here for you.")

    @api.exception_handler(AuthenticationError)
    def not_signed_in(request: HttpRequest, error: AuthenticationError) -> HttpResponse:
        return problem(request, 401, "not_signed_in", "Sign in first.")

    @api.exception_handler(ValidationError)
    def invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
        fields = [".".join(str(part) for part in item["loc"]) for item in error.errors]
        return problem(request, 422, "invalid", "Something in this request is missing or wrong.", fields=fields)

    @api.exception_handler(Refused)
    def refused(request: HttpRequest, error: Refused) -> HttpResponse:
        return problem(request, error.status, error.code, error.title, **error.more)
