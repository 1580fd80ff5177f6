"""The retry policy: which errors are tried again, after what delay, and how often."""

from datetime import timedelta

import pytest

from echovessel.jobs.retry import Retry, delay_after, error_code, next_retry
from echovessel.llm import AnswerUnreadable, LLMError

BUSY = LLMError("busy", code="rate_limited", permanent=False)
BUSY_FOR_TWO_MINUTES = LLMError("busy", code="rate_limited", permanent=False, retry_after=120)
REFUSED = LLMError("no", code="content_refused", permanent=True)
UNREADABLE = AnswerUnreadable("…", raw="…")
SPENT = LLMError("tomorrow", code="budget_exhausted", permanent=False, retry_after=7_200)
UNFORESEEN = ZeroDivisionError("words of people")


def test_delays_grow_up_to_a_limit_and_respect_the_server() -> None:
    assert [delay_after(attempts).seconds for attempts in (1, 2, 3, 4, 5)] == [60, 240, 960, 2400, 2400]
    assert delay_after(1, 90.5).total_seconds() == 90.5


@pytest.mark.parametrize(
    ("error", "attempts", "retry", "code"),
    [
        (BUSY, 1, Retry(timedelta(seconds=60), 1), "rate_limited"),
        (BUSY_FOR_TWO_MINUTES, 1, Retry(timedelta(seconds=120), 1), "rate_limited"),
        (BUSY, 5, None, "rate_limited"),
        (REFUSED, 1, None, "content_refused"),
        (UNREADABLE, 1, None, "unreadable"),
        (UNFORESEEN, 4, Retry(timedelta(seconds=2_400), 4), "ZeroDivisionError"),
        (UNFORESEEN, 5, None, "ZeroDivisionError"),
        (SPENT, 3, Retry(timedelta(hours=2), 2), "budget_exhausted"),  # nobody's fault: the attempt is given back
    ],
)
def test_an_error_that_may_pass_is_tried_again_and_is_named_without_words(
    error: Exception, attempts: int, retry: Retry | None, code: str
) -> None:
    assert next_retry(error, attempts) == retry
    assert error_code(error) == code
