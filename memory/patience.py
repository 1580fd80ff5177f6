"""Patience: whether a step that went wrong is tried once more, and when. Pure."""

from dataclasses import dataclass
from datetime import timedelta

from echovessel.llm import AnswerUnreadable, LLMError
from memory import knobs


@dataclass(frozen=True)
class Again:
    """Once more after a pause; `tries` is how many that makes so far."""

    pause: timedelta
    tries: int


def once_more(error: Exception, tries: int) -> Again | None:
    """When a step is tried again whose `tries`-th try (from 1) ended with `error`; None where it is given up: for a
    fault that will not pass, or one that came too often. A spent budget is nobody's fault: it costs no try."""
    asked_for = error.retry_after if isinstance(error, LLMError) else None
    if isinstance(error, LLMError) and error.code == "budget_exhausted":
        return Again(pause_after(1, asked_for), tries - 1)
    if tries >= knobs.attempts() or (isinstance(error, LLMError) and error.permanent):
        return None
    return Again(pause_after(tries, asked_for), tries)


def named(error: Exception) -> str:
    """What went wrong, in a word that may be kept and shown: nothing of its message, which may hold words of people."""
    if isinstance(error, AnswerUnreadable):
        return "unreadable"
    return error.code if isinstance(error, LLMError) else type(error).__name__


def pause_after(tries: int, asked_for: float | None = None) -> timedelta:
    """How long to wait after the failure of a step's `tries`-th try (from 1): four times longer each time, bounded, and
    never shorter than the server asked for."""
    seconds = min(knobs.backoff_longest_seconds(), knobs.backoff_seconds() * 4 ** (tries - 1))
    return timedelta(seconds=max(seconds, asked_for or 0))
