"""Errors in the form and with the statuses that clients of OpenAI know."""

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from django.http import JsonResponse
from django.utils import timezone

from echovessel.web import retry_after

SECONDS_A_DAY = 86_400


class CompletionRefused(Exception):
    """A request that is refused, or a reply that failed. `final`: asking again cannot help."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        final: bool = False,
        retry_after: int = 0,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.param = status, code, param
        self.headers = dict(headers or {}) | ({"x-should-retry": "false"} if final else {})
        if retry_after:
            self.headers["Retry-After"] = str(retry_after)
        if status == 401:
            self.headers["WWW-Authenticate"] = "Bearer"

    @property
    def kind(self) -> str:
        kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}
        kind = kinds.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        return "insufficient_quota" if self.code == "insufficient_quota" else kind

    def as_json(self) -> dict[str, Any]:
        return {"error": {"message": str(self), "type": self.kind, "param": self.param, "code": self.code}}

    def answer(self) -> JsonResponse:
        return JsonResponse(self.as_json(), status=self.status, headers=self.headers)


def not_talk() -> CompletionRefused:
    message = "This is an errand of the client program, not something a person said; a persona runs none."
    return CompletionRefused(400, "not_talk", message, param="messages")


def token_ended() -> CompletionRefused:
    return CompletionRefused(401, "invalid_api_key", "This token was revoked, or has run out.", final=True)


def of_turn(code: str, message: str) -> CompletionRefused:
    """The error for a turn that failed with `code`. Clients ask again where that may help, and the same request retries
    the same turn."""
    match code:
        case "rate_limited":
            return CompletionRefused(429, "rate_limit_exceeded", message, retry_after=retry_after.SECONDS)
        case "budget_exhausted":
            # Until the limits of the next UTC day hold.
            now = timezone.now().astimezone(UTC)
            return CompletionRefused(
                429,
                "insufficient_quota",
                message,
                final=True,
                retry_after=SECONDS_A_DAY - (now.hour * 3600 + now.minute * 60 + now.second),
            )
        case "content_refused":
            return CompletionRefused(400, "content_filter", message)
        case "timeout":
            return CompletionRefused(504, "timeout", message)
        case "provider_unavailable" | "only_reasoning":
            return CompletionRefused(503, code, message, retry_after=retry_after.SECONDS)
        case _:
            return CompletionRefused(500, "internal", message)
