"""Errors of the API as problem objects (RFC 9457) with a code."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, ValidationError


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
