"""Situations for the tests of policy: one in which she may speak, and what differs from it."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from proactive.models.outreach import Trigger
from proactive.policy.situation import LastMessage, Situation
from proactive.policy.triggers import Reason

NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SECOND = timedelta(seconds=1)
ABOUT = UUID("00000000-0000-4000-8000-000000000001")
PROMISE = Reason(Trigger.PROMISE, f"promise:{ABOUT}", ABOUT, NOON.date())
SHOCK = Reason(Trigger.SHOCK, f"shock:{ABOUT}", ABOUT, NOON - 5 * HOUR)
SILENCE = Reason(Trigger.SILENCE, f"silence:1:{ABOUT}", None, NOON - 50 * HOUR)


def situation(now: datetime = NOON, zone: str = "UTC", **differing: Any) -> Situation:
    """Noon, allowed, nothing said for two days, and a promise to keep."""
    usual: dict[str, Any] = {
        "enabled": True,
        "quiet_start": 23,
        "quiet_end": 7,
        "max_per_24h": 3,
        "last_user_line_at": now - 50 * HOUR,
        "last_line_at": now - 50 * HOUR,
        "reasons": (PROMISE,),
    }
    return Situation(now=now, zone=ZoneInfo(zone), **(usual | differing))


def at(zone: str, *moment: int, fold: int = 0) -> datetime:
    """What a clock on a wall there shows, as a moment; `fold` 1 is the second of an hour that comes twice."""
    return datetime(*moment, fold=fold, tzinfo=ZoneInfo(zone)).astimezone(UTC)  # type: ignore[misc, arg-type]


def said(*hours_ago: float, now: datetime = NOON, answered: tuple[float | None, ...] = ()) -> dict[str, Any]:
    """The outreaches of so many hours ago, the newest first; each `answered` after so many hours, or not at all."""
    times = [now - timedelta(hours=hours) for hours in hours_ago]
    after = [*answered, *[None] * len(times)]
    last_two = tuple(
        LastMessage(time, time + timedelta(hours=hours) if hours is not None else None)
        for time, hours in list(zip(times, after, strict=False))[:2]
    )
    return {"outreaches": last_two, "sent_at": tuple(time for time in times if now - time < DAY)}
