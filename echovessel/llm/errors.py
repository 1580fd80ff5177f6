"""What can go wrong with a model, in the few words that callers decide by."""

from typing import Literal

Code = Literal["provider_unavailable", "rate_limited", "timeout", "content_refused", "budget_exhausted", "internal"]

# A server may ask for any pause (an hour has been seen); whoever waits for us does not wait that long.
LONGEST_PAUSE_S = 60.0


class LLMError(Exception):
    """A call that gave no answer. `permanent`: asking again with the same words and settings cannot help.
    `retry_after`: seconds the server asked to wait (0 … 60), or None."""

    def __init__(self, message: str, *, code: Code, permanent: bool, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.permanent = permanent
        self.retry_after = None if retry_after is None else min(max(retry_after, 0.0), LONGEST_PAUSE_S)


class AnswerUnreadable(LLMError):
    """The model answered twice and neither answer fits the schema; `raw` is the last one, word for word."""

    def __init__(self, message: str, *, raw: str) -> None:
        super().__init__(message, code="internal", permanent=True)
        self.raw = raw
