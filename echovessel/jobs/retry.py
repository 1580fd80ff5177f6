"""The retry policy: whether a failed step is tried again, and when. Pure."""

from dataclasses import dataclass
from datetime import timedelta

from echovessel.embeddings.errors import ServerUnavailable
from echovessel.jobs import knobs
from echovessel.llm import AnswerUnreadable, LLMError


@dataclass(frozen=True)
class Retry:
    """Try again after `delay`; `attempts` is the number made so far."""

    delay: timedelta
    attempts: int


def next_retry(error: Exception, attempts: int) -> Retry | None:
    """The retry of a step whose `attempts`-th attempt (from 1) ended with `error`; None for a permanent error, or if no
    attempts are left. A used-up budget or an embedding server that is down costs no attempt: both pass, and no memory
    is given up for them."""
    if isinstance(error, LLMError) and error.code == "budget_exhausted":
        return Retry(delay_after(1, error.retry_after), attempts - 1)
    if isinstance(error, ServerUnavailable):
        return Retry(delay_after(2), attempts - 1)
    if attempts >= knobs.attempts() or (isinstance(error, LLMError) and error.permanent):
        return None
    return Retry(delay_after(attempts, error.retry_after if isinstance(error, LLMError) else None), attempts)


def delay_after(attempts: int, retry_after: float | None = None) -> timedelta:
    """The delay after the failure of the `attempts`-th attempt (from 1): four times the previous one, up to a limit,
    and never shorter than the server asked for (seconds)."""
    seconds = min(knobs.backoff_longest_seconds(), knobs.backoff_seconds() * 4 ** (attempts - 1))
    return timedelta(seconds=max(seconds, retry_after or 0))


def error_code(error: Exception) -> str:
    """A code for the error that may be stored and shown: never its message, which may contain text of people."""
    if isinstance(error, AnswerUnreadable):
        return "unreadable"
    return error.code if isinstance(error, LLMError) else type(error).__name__
