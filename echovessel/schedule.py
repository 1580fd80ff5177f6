"""Scheduled jobs: one every minute that finds unfinished work, and one every day that cleans up."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.db import connection
from django.utils import timezone
from django_q.models import Schedule

from chat import knobs
from chat.care import flags
from chat.sessions import close
from chat.turns import turn as turns
from echovessel.outbox import events
from echovessel.process import redaction
from memory.consolidation import open_items, slow_cycle_requests
from memory.consolidation import runner as consolidation
from memory.curation import lifecycle
from memory.erasure import receipts
from memory.imports import runner as importing
from memory.store import calibration
from proactive.outreach import runner as outreach
from proactive.policy import consider

logger = logging.getLogger(__name__)

MINUTE = "echovessel.schedule.minute"
DAILY = "echovessel.schedule.daily"


# The parts of the minute's job, in this order; each returns a count.
EVERY_MINUTE: Mapping[str, Callable[[datetime], int]] = {
    "abandoned": turns.abandon,
    "closed": close.close_idle,
    "consolidation": consolidation.requeue_stale,
    "imports": importing.requeue_stale,
    "slow_cycle": slow_cycle_requests.requeue_stale,
    "expired": open_items.expire,
    "outreach": outreach.requeue_stale,
    "considered": consider.consider_all,
    "erased": receipts.finish_pending,
    "calibrated": calibration.ensure_quietly,
    "pruned": events.prune,
}


def minute() -> dict[str, int]:
    """Close idle sessions, resume what a dead worker or server left, delete old events; returns counts.

    If a part fails, the others still run: the failure is logged, counts as -1, and the part is tried again in a minute.
    """
    now = timezone.now()
    counts = {}
    for name, part in EVERY_MINUTE.items():
        try:
            counts[name] = part(now)
        except Exception as error:  # noqa: BLE001  (the edge of a job: the other parts are to be done all the same)
            logger.error("the minute's part %r failed: %s", name, redaction.format_exception(error))
            counts[name] = -1
    return counts


def daily() -> dict[str, int]:
    """Delete expired logins, including what was begun in them; end expired holds after a crisis; delete old
    considerations; run the daily work on memories; returns counts."""
    before, now = Session.objects.count(), timezone.now()
    call_command("clearsessions")
    return {
        "sessions": before - Session.objects.count(),
        "held_back": flags.clear_expired_care(now),
        "considerations": consider.prune(now),
        **lifecycle.run(now),
    }


def ensure(**_: Any) -> None:
    """Schedule each job once. Called after every migration."""
    if Schedule._meta.db_table not in connection.introspection.table_names():
        return
    every_minute = {"schedule_type": Schedule.MINUTES, "minutes": max(1, knobs.idle_scan_seconds() // 60)}
    every_day = {"schedule_type": Schedule.DAILY}
    for job, name, when in ((MINUTE, "every minute", every_minute), (DAILY, "every day", every_day)):
        Schedule.objects.update_or_create(func=job, defaults={"name": name, "repeats": -1, **when})
