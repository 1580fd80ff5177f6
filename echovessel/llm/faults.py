"""Maps every failure of a server or an SDK to one of a few errors (table: design/platform.md 1.1).

The SDKs differ: a broken stream is an APIConnectionError in one and a bare httpx2.ReadError in the other, an HTML page
is an AttributeError in both, an error event inside a stream comes with status 200. This module hides the differences.
"""

import email.utils
import json
import logging
import math
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

import anyio
import httpx2
from pydantic import ValidationError

from echovessel.llm.errors import LLMError

log = logging.getLogger(__name__)

# The connection broke.
TRANSPORT = (httpx2.HTTPError, httpx2.InvalidURL, ssl.SSLError, anyio.EndOfStream, OSError)
# The answer does not follow the protocol: HTML with status 200, JSON of another shape, bad events.
BABBLE = (
    json.JSONDecodeError, UnicodeDecodeError, ValidationError,
    AttributeError, TypeError, KeyError, IndexError, RuntimeError,
)  # fmt: skip
# Statuses worth a retry, besides all 5xx: timeout, conflict, too early, too many requests.
PASSING = frozenset({408, 409, 425, 429})

# A server may ask for any pause (an hour has been seen); the owner waiting for a reply does not wait that long.
MAX_PAUSE_S = 60.0

RATE_KINDS = frozenset({"rate_limit_error", "rate_limit_exceeded"})
SPENT_KINDS = frozenset({"insufficient_quota", "billing_error"})
REFUSAL_KINDS = frozenset({"content_filter", "content_policy_violation"})
# Kinds of error events for which a retry cannot help; the other kinds are faults of the server.
FATAL_KINDS = frozenset(
    {
        "invalid_request_error",
        "authentication_error",
        "permission_error",
        "not_found_error",
        "request_too_large",
    }
)


@contextmanager
def as_llm_errors(sdk: ModuleType) -> Iterator[None]:
    """Turn every error that `sdk` (openai or anthropic) or the connection raises in the block into an `LLMError`."""
    base: type[Exception] = getattr(sdk, "OpenAIError", None) or sdk.AnthropicError
    try:
        yield
    except (base, *TRANSPORT, *BABBLE) as error:
        raise fault_of(error, sdk) from error


def is_complete_answer(response: httpx2.Response) -> bool:
    """Whether a server that was asked for a stream answered with one JSON document instead."""
    return str(response.headers.get("content-type", "")).startswith("application/json")


async def read_json_answer(response: httpx2.Response) -> bytes:
    """The JSON document. Raises `LLMError` if it reports an error (some gateways send errors with status 200)."""
    content = await response.aread()
    body = json.loads(content)
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        raise error_of_status(200, kinds_of(body), str(body["error"].get("message", "")), response.headers)
    return content


def fault_of(error: Exception, sdk: ModuleType) -> LLMError:
    """The `LLMError` that corresponds to `error`."""
    if isinstance(error, sdk.APIStatusError):
        return error_of_status(error.response.status_code, kinds_of(error.body), error.message, error.response.headers)
    if isinstance(error, sdk.APITimeoutError | httpx2.TimeoutException | TimeoutError):
        return timeout_error()
    if isinstance(error, sdk.APIConnectionError | httpx2.HTTPError | OSError | anyio.EndOfStream):
        return unavailable_error(f"No connection to the model server ({type(error).__name__}).")
    if isinstance(error, sdk.APIError):
        return error_of_status(200, kinds_of(error.body), error.message, {})
    if isinstance(error, BABBLE):
        log.warning("A model server broke its protocol: %s", type(error).__name__)
        return unavailable_error("What came back is not what a model server says.")
    return unavailable_error(f"The model server cannot be asked: {error}", permanent=True)


def error_of_status(status: int, kinds: frozenset[str], words: str, headers: Mapping[str, str]) -> LLMError:
    """The error for a status and the server's kinds. `status` is 200 for an error inside an answer.

    >>> error_of_status(529, frozenset({"overloaded_error"}), "Overloaded", {}).permanent
    False
    """
    message = f"The model server refused ({status}, {', '.join(sorted(kinds)) or 'no kind'}): {words[:200]}"
    if kinds & REFUSAL_KINDS:
        return refusal_error()
    if kinds & SPENT_KINDS:
        return unavailable_error(message, permanent=True)
    pause = retry_after(headers.get("retry-after"))
    if status == 429 or kinds & RATE_KINDS:
        return LLMError(message, code="rate_limited", permanent=False, retry_after=pause)
    if status == 408:
        return timeout_error()
    permanent = bool(kinds & FATAL_KINDS) if status < 400 else status < 500 and status not in PASSING
    return LLMError(message, code="provider_unavailable", permanent=permanent, retry_after=pause)


def kinds_of(body: object) -> frozenset[str]:
    """The server's own names for an error (`type` and `code`), from the body of either protocol."""
    inner: Any = body.get("error", body) if isinstance(body, Mapping) else None
    if not isinstance(inner, Mapping):
        return frozenset()
    return frozenset(kind for kind in (inner.get("code"), inner.get("type")) if isinstance(kind, str))


def retry_after(header: str | None) -> float | None:
    """Seconds to wait (0 … 60) from a Retry-After header, which is a number or a date; None for anything else."""
    if not header:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = email.utils.parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), MAX_PAUSE_S) if math.isfinite(seconds) else None


def unavailable_error(words: str, *, permanent: bool = False) -> LLMError:
    """The error of a server that gives no answer."""
    return LLMError(words, code="provider_unavailable", permanent=permanent)


def timeout_error() -> LLMError:
    """The error of a call that took too long."""
    return LLMError("The model server took too long.", code="timeout", permanent=False)


def refusal_error() -> LLMError:
    """The error of a model that declined."""
    return LLMError("The model declined to answer.", code="content_refused", permanent=True)
