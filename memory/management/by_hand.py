"""Shared by commands: finding personas and sessions, and consolidating sessions in this process or by the job
worker."""

import time
from collections import Counter
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError
from django.db.models import Q
from django.utils import timezone
from tqdm import tqdm

from chat.models import Session
from chat.models.session import SessionQuerySet
from chat.sessions import close
from memory import knobs
from memory.consolidation import runner
from memory.consolidation.runner import Outcome
from persona.lookup import NoSuchPersona, persona_by
from persona.models import Persona

Status = Session.Status
ON_ITS_WAY = (Outcome.NOT_MINE, Outcome.LATER)


def enqueue(sessions: SessionQuerySet) -> int:
    """Enqueue the sessions; returns how many."""
    waiting = list(sessions.order_by("closed_at", "id"))
    for session in waiting:
        close.enqueue_consolidation(session)
    return len(waiting)


def do(sessions: SessionQuerySet, progress: Any) -> Counter[Outcome]:
    """Consolidate these sessions here. If another worker or a retry pause holds some back, check again until all are
    done, except for those that wait for tomorrow's budget. Returns the number of each outcome. `progress` is a
    stream."""
    outcomes: Counter[Outcome] = Counter()
    with tqdm(desc="sessions", unit="", file=progress) as bar:
        while waiting := _waiting(sessions):
            bar.total = outcomes.total() + len(waiting)
            finished = 0
            for key in waiting:
                outcome = runner.run(key)
                if outcome not in ON_ITS_WAY:
                    outcomes[outcome] += 1
                    finished += 1
                    bar.update()
            if not finished and _waiting(sessions):
                bar.set_postfix_str("waiting for a retry or another worker; checking again soon")
                time.sleep(knobs.worker_poll_seconds())
    return outcomes


def do_and_report(sessions: SessionQuerySet, command: BaseCommand) -> None:
    """Consolidate these sessions here, and print the outcomes and why others wait. Raises CommandError if one
    failed."""
    outcomes = do(sessions, command.stderr)
    closing = sessions.filter(status=Status.CLOSING)
    if parked := closing.filter(_for_tomorrow()).count():
        command.stderr.write(f"waiting for tomorrow's budget: {parked}")
    if unanswered := closing.exclude(_for_tomorrow()).count():
        command.stderr.write(f"waiting until a reply is finished: {unanswered}")
    if failed := outcomes[Outcome.FAILED]:
        raise CommandError(f"{failed} failed; the admin shows the reason of each.")
    command.stdout.write(
        ", ".join(f"{outcomes[kind]} {kind}" for kind in Outcome if outcomes[kind]) or "nothing is waiting"
    )


def find_persona(reference: str) -> Persona:
    """The persona with an id or external id. Raises CommandError."""
    try:
        return persona_by(reference)
    except NoSuchPersona as error:
        raise CommandError(str(error)) from error


def session_by(reference: str) -> Session:
    """The session with a public id, an external id or a key. Raises CommandError if there is none, or several."""
    match = Q(external_id=reference)
    try:
        match |= Q(uuid=UUID(reference))
    except ValueError:
        if reference.isascii() and reference.isdecimal() and len(reference) < 19:
            match |= Q(pk=int(reference))
    sessions = list(Session.objects.filter(match)[:2])
    if len(sessions) != 1:
        raise CommandError(f"{'No session has' if not sessions else 'Several sessions have'} the id {reference!r}.")
    return sessions[0]


def _for_tomorrow() -> Q:
    return Q(waiting_for=Session.WaitingFor.BUDGET, lease_until__gte=timezone.now())


def _waiting(sessions: SessionQuerySet) -> list[int]:
    """The waiting sessions that neither a running reply nor a spent budget holds back, oldest first."""
    on_their_way = sessions.filter(status__in=[Status.CLOSING, Status.CONSOLIDATING]).without_turn_in_flight()
    return list(on_their_way.exclude(_for_tomorrow()).order_by("closed_at", "id").values_list("pk", flat=True))
