"""Errors of model calls, reduced to the few codes that callers decide by."""

from typing import Literal

Code = Literal[
    "provider_unavailable",
    "rate_limited",
    "timeout",
    "content_refused",
    "budget_exhausted",
    "only_reasoning",
    "internal",
]


class LLMError(Exception):
    """A call without an answer. `permanent`: repeating it with the same text and settings cannot help. `retry_after`:
    seconds after which a retry is worthwhile, or None if unknown."""

    def __init__(self, message: str, *, code: Code, permanent: bool, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.permanent = permanent
        self.retry_after = retry_after


class AnswerUnreadable(LLMError):
    """The model answered twice and neither answer fits the schema; `raw` is the last one, verbatim."""

    def __init__(self, message: str, *, raw: str) -> None:
        super().__init__(message, code="internal", permanent=True)
        self.raw = raw
