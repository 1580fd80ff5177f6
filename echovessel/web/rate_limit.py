"""How fast somebody may ask: a sliding minute for each, counted in this process."""

import math
from collections import deque
from collections.abc import Callable

WINDOW_SECONDS = 60.0


class RateLimiter:
    """At most `limit()` times a minute for each key.

    >>> pace = Pace(lambda: 1)
    >>> pace.admit("ana", 0.0), pace.admit("ana", 59.0), pace.admit("ana", 60.0)
    (True, False, True)
    """

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._recent: dict[object, deque[float]] = {}

    def admit(self, key: object, now: float) -> bool:
        """Count a time at `now` (seconds, monotonic); False when there were too many in a minute."""
        times = self._recent.setdefault(key, deque())
        while times and now - times[0] >= WINDOW_SECONDS:
            times.popleft()
        if len(times) >= self._limit():
            return False
        times.append(now)
        return True

    def wait(self, key: object, now: float) -> int:
        """Whole seconds until one more is admitted."""
        times = self._recent.get(key)
        return max(1, math.ceil(times[0] + WINDOW_SECONDS - now)) if times else 1

    def forget(self) -> None:
        """Forget all counts."""
        self._recent.clear()
