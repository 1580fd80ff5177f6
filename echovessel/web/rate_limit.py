"""Rate limits: a sliding window of one minute per key, counted in this process, from any thread."""

import math
import threading
from collections import deque
from collections.abc import Callable

WINDOW_SECONDS = 60.0


class RateLimiter:
    """At most `limit()` requests a minute for each key.

    >>> pace = RateLimiter(lambda: 1)
    >>> pace.admit("ana", 0.0), pace.admit("ana", 59.0), pace.admit("ana", 60.0)
    (True, False, True)
    """

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._recent: dict[object, deque[float]] = {}
        self._lock = threading.Lock()

    def admit(self, key: object, now: float) -> bool:
        """Count a request at `now` (seconds, monotonic); False if the minute's limit is reached."""
        with self._lock:
            times = self._recent.setdefault(key, deque())
            while times and now - times[0] >= WINDOW_SECONDS:
                times.popleft()
            if len(times) >= self._limit():
                return False
            times.append(now)
            return True

    def wait(self, key: object, now: float) -> int:
        """Whole seconds until the next request is admitted."""
        with self._lock:
            times = self._recent.get(key)
            return max(1, math.ceil(times[0] + WINDOW_SECONDS - now)) if times else 1

    def forget(self) -> None:
        """Forget all counts."""
        with self._lock:
            self._recent.clear()
