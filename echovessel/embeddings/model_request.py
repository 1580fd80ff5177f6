"""One request to an embedding or reranking server, with a checked address, a deadline, a size limit and its key."""

import time
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import ValidationError

from echovessel.embeddings.errors import EmbeddingUnavailable, ServerUnavailable, TextsRefused

RETRIED_STATUS = (408, 425, 429, 500, 502, 503, 504)
# An address is resolved and checked again after this many seconds, since its name may resolve differently by then.
CHECKED_SECONDS = 60


def post(url: str, body: dict[str, Any], key: str, deadline: float, model: str, max_bytes: int) -> bytes:
    """The answer of the server of `model`, at most `max_bytes` long, by `deadline` (monotonic). Without `key`, the key
    of the language model's server is used if the address is the same. Raises ServerUnavailable, TextsRefused and
    EmbeddingUnavailable."""
    import httpx2  # noqa: PLC0415  (0.1 s: only where a server is asked)

    from echovessel.llm.certificates import ssl_context  # noqa: PLC0415

    if fault := address_fault(url, int(time.monotonic() // CHECKED_SECONDS)):
        raise EmbeddingUnavailable(f"the server of {model} is not asked: {fault}")
    seconds_left = max(0.05, deadline - time.monotonic())
    try:
        with (
            httpx2.Client(timeout=seconds_left, verify=ssl_context()) as client,
            client.stream("POST", url, json=body, headers=_headers(url, key)) as response,
        ):
            content = bytearray()
            # The library's timeout applies to each piece only.
            for piece in response.iter_bytes():
                content += piece
                if time.monotonic() > deadline:
                    raise ServerUnavailable(f"the server of {model} answers too slowly.")
                if len(content) > max_bytes:
                    raise EmbeddingUnavailable(f"the server of {model} answers with more than was asked for.")
            status, retry_after = response.status_code, response.headers.get("retry-after", "")
    except httpx2.TimeoutException as error:
        raise ServerUnavailable(f"the server of {model} gave no answer in time.") from error
    except (httpx2.HTTPError, OSError) as error:
        raise ServerUnavailable(f"the server of {model} cannot be reached ({type(error).__name__}).") from error
    if status != 200:
        raise _error_of(status, model, retry_after)
    return bytes(content)


@lru_cache(maxsize=8)
def address_fault(url: str, _minute: int) -> str:
    """Why the address may not be called; "" if it may, or if its name does not resolve now."""
    from echovessel.llm.addresses import check_address  # noqa: PLC0415

    try:
        check_address(url)
    except ValidationError as error:
        return "" if error.code == "unknown" else str(error.messages[0])
    return ""


def _headers(url: str, key: str) -> dict[str, str]:
    """The authorization header. A key is only sent to the host for which it was set."""
    host = urlsplit(url).netloc
    if not key and host == urlsplit(settings.LLM_BASE_URL).netloc:
        key = settings.LLM_API_KEY
    if not key and host == "api.openai.com":
        key = settings.OPENAI_API_KEY
    return {"authorization": f"Bearer {key}"} if key else {}


def _error_of(status: int, model: str, retry_after: str) -> EmbeddingUnavailable:
    if status in RETRIED_STATUS:
        error = ServerUnavailable(f"the server of {model} is overloaded or broken (status {status}).")
        error.retry_after = float(retry_after) if retry_after.isdecimal() else 0.0
        return error
    if status in (401, 403):
        return EmbeddingUnavailable(f"the server of {model} refuses the key (status {status}).")
    if status == 404:
        return EmbeddingUnavailable(
            f"the server does not know the model {model}, or has nothing of the kind at this address (status 404): the "
            "address usually ends in /v1."
        )
    if status in (400, 413, 422):
        return TextsRefused(f"the server of {model} refuses texts (status {status}).")
    return EmbeddingUnavailable(f"the server of {model} answers with status {status}.")
