"""Consolidation by hand: handed to the job worker, or done here and waited for, with its progress told."""

import time
from collections import Counter
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError
from django.db.models import Q
from django.utils import timezone
from tqdm import tqdm

from chat.models import Session
from chat.models.session import SessionQuerySet
from chat.sessions import close
from memory import knobs
from memory.consolidation import runner
from memory.consolidation.runner import Outcome

Status = Session.Status
ON_ITS_WAY = (Outcome.NOT_MINE, Outcome.LATER)


def enqueue(sessions: SessionQuerySet) -> int:
    """Queue them; returns how many."""
    waiting = list(sessions.order_by("closed_at", "id"))
    for session in waiting:
        close.enqueue_consolidation(session)
    return len(waiting)


def do(sessions: SessionQuerySet, progress: Any) -> Counter[Outcome]:
    """Consolidate these here, and where another worker or a pause holds something back, look again until none of them
    waits, but for tomorrow; returns what became of them. `progress` is a stream."""
    done: Counter[Outcome] = Counter()
    with tqdm(desc="talks", unit="", file=progress) as bar:
        while waiting := _waiting(sessions):
            bar.total = done.total() + len(waiting)
            outcomes = [_run(pk, bar) for pk in waiting]
            finished = [outcome for outcome in outcomes if outcome not in ON_ITS_WAY]
            done.update(finished)
            if not finished and _waiting(sessions):
                bar.set_postfix_str("held back by a pause or another worker; looking again soon")
                time.sleep(knobs.worker_poll_seconds())
    return done


def still_waiting(sessions: SessionQuerySet) -> Iterator[str]:
    """Of those that still wait, for what, in words for people."""
    closing_ones = sessions.filter(status=Status.CLOSING)
    if parked := closing_ones.filter(_for_tomorrow()).count():
        yield f"{parked} wait for tomorrow's budget"
    if unanswered := closing_ones.exclude(_for_tomorrow()).count():
        yield f"{unanswered} still wait for a reply; they follow when it has been given"


def report(done: Counter[Outcome]) -> str:
    """What became of them, for people. Raises CommandError when one has failed."""
    if failed := done[Outcome.FAILED]:
        raise CommandError(f"{failed} failed; the admin shows the reason of each.")
    return ", ".join(f"{done[kind]} {kind}" for kind in Outcome if done[kind]) or "nothing waits"


def session_by(reference: str) -> Session:
    """The session of a public id, an external id or a key. Raises CommandError when there is none, or several."""
    match = Q(external_id=reference)
    try:
        match |= Q(uuid=UUID(reference))
    except ValueError:
        if reference.isascii() and reference.isdecimal() and len(reference) < 19:
            match |= Q(pk=int(reference))
    found = list(Session.objects.filter(match)[:2])
    if len(found) != 1:
        raise CommandError(f"{'No session has' if not found else 'Several sessions have'} the id {reference!r}.")
    return found[0]


def _run(session_id: int, bar: Any) -> Outcome:
    outcome = runner.run(session_id)
    if outcome not in ON_ITS_WAY:
        bar.update()
    return outcome


def _for_tomorrow() -> Q:
    return Q(waiting_for=Session.WaitingFor.BUDGET, lease_until__gte=timezone.now())


def _waiting(sessions: SessionQuerySet) -> list[int]:
    """The sessions on their way that neither a reply in flight nor a spent budget holds back, oldest first."""
    on_their_way = sessions.filter(status__in=[Status.CLOSING, Status.CONSOLIDATING]).without_turn_in_flight()
    return list(on_their_way.exclude(_for_tomorrow()).order_by("closed_at", "id").values_list("pk", flat=True))
