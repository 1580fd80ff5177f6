"""What happens by the clock: one job a minute that looks for work left undone."""

from typing import Any

from django.db import connection
from django.utils import timezone
from django_q.models import Schedule

from chat import closing, knobs
from chat import turn as turns
from echovessel.outbox import log
from memory import tasks

MINUTE = "echovessel.schedule.minute"


def minute() -> dict[str, int]:
    """Close what rests, take up what a dead worker or server left, drop old events; counts only."""
    now = timezone.now()
    return {
        "abandoned": turns.abandon(now),
        "closed": closing.close_idle(now),
        "waiting": tasks.sweep(now),
        "pruned": log.prune(now),
    }


def ensure(**_: Any) -> None:
    """Have the job scheduled, once. Called after every migration."""
    if Schedule._meta.db_table not in connection.introspection.table_names():
        return
    Schedule.objects.update_or_create(
        func=MINUTE,
        defaults={
            "name": "every minute",
            "schedule_type": Schedule.MINUTES,
            "minutes": max(1, knobs.idle_scan_seconds() // 60),
            "repeats": -1,
        },
    )
