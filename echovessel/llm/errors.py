"""What can go wrong with a model, in the few words that callers decide by."""

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
    """A call that gave no answer. `permanent`: asking again with the same words and settings cannot help.
    `retry_after`: seconds after which asking again is worth it, or None where nobody said."""

    def __init__(self, message: str, *, code: Code, permanent: bool, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.permanent = permanent
        self.retry_after = retry_after


class AnswerUnreadable(LLMError):
    """The model answered twice and neither answer fits the schema; `raw` is the last one, word for word."""

    def __init__(self, message: str, *, raw: str) -> None:
        super().__init__(message, code="internal", permanent=True)
        self.raw = raw
