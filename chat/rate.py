"""How fast one may talk: a sliding minute per user and process."""

from collections import deque

from chat import knobs

_WINDOW_SECONDS = 60.0
_recent: dict[int, deque[float]] = {}


def admit(user_id: int, now: float) -> bool:
    """Count a line of this user at `now` (seconds, monotonic); False when there were too many in a minute."""
    times = _recent.setdefault(user_id, deque())
    while times and now - times[0] >= _WINDOW_SECONDS:
        times.popleft()
    if len(times) >= knobs.lines_per_minute():
        return False
    times.append(now)
    return True


def forget() -> None:
    """Forget all counts."""
    _recent.clear()
