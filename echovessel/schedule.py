"""What happens by the clock: a job a minute that looks for work left undone, and one a day that tidies."""

from typing import Any

from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from django_q.models import Schedule

from chat import closing, knobs
from chat import turn as turns
from echovessel.outbox import log
from memory import lifecycle, tasks
from memory.forgetting import finishing

MINUTE = "echovessel.schedule.minute"
DAILY = "echovessel.schedule.daily"


def minute() -> dict[str, int]:
    """Close what rests, take up what a dead worker or server left, drop old events; counts only."""
    now = timezone.now()
    return {
        "abandoned": turns.abandon(now),
        "closed": closing.close_idle(now),
        "waiting": tasks.sweep(now),
        "erased": finishing.finish_pending(now),
        "pruned": log.prune(now),
    }


def daily() -> dict[str, int]:
    """Drop the sign-ins that have run out, with what was begun in them; give memories their due; counts only."""
    before = Session.objects.count()
    call_command("clearsessions")
    return {"sessions": before - Session.objects.count(), **lifecycle.run(timezone.now())}


def ensure(**_: Any) -> None:
    """Have the jobs scheduled, each once. Called after every migration."""
    if Schedule._meta.db_table not in connection.introspection.table_names():
        return
    every_minute = {"schedule_type": Schedule.MINUTES, "minutes": max(1, knobs.idle_scan_seconds() // 60)}
    every_day = {"schedule_type": Schedule.DAILY}
    for job, name, when in ((MINUTE, "every minute", every_minute), (DAILY, "every day", every_day)):
        Schedule.objects.update_or_create(func=job, defaults={"name": name, "repeats": -1, **when})
