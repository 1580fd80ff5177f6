"""Consolidate by hand: hand waiting sessions to the job worker, or do the work here and wait for its end."""

import time
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Q
from django.utils import timezone

from chat import closing
from chat.models import Session
from chat.models.session import SessionQuerySet
from memory import knobs
from memory.consolidation import runner
from memory.consolidation.runner import Outcome

Status = Session.Status


class Command(BaseCommand):
    help = "Consolidates closed talks that wait for it. Exits with an error when one of them has failed."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--session", metavar="ID", help="this one, by id or external id; a failed one is tried anew")
        which.add_argument("--all", action="store_true", help="all that wait (default)")
        parser.add_argument("--wait", action="store_true", help="do it here, and return when nothing waits")

    def handle(self, *args: Any, **options: Any) -> None:
        sessions = self._chosen(options["session"]) if options["session"] else Session.objects.all()
        if options["wait"]:
            self._do(sessions)
        else:
            self._hand_over(sessions)

    def _chosen(self, reference: str) -> SessionQuerySet:
        session = session_by(reference)
        if session.status == Status.OPEN:
            raise CommandError("This session is still open: close it first (close_sessions).")
        if not runner.retry(session):
            waiting_in_a_pause = Session.objects.filter(pk=session.pk, status=Status.CLOSING)
            waiting_in_a_pause.update(lease_until=None)
        return Session.objects.filter(pk=session.pk)

    def _hand_over(self, sessions: SessionQuerySet) -> None:
        waiting = list((sessions & Session.objects.to_consolidate(timezone.now())).order_by("closed_at", "id"))
        for session in waiting:
            closing.hand_over(session)
        self.stdout.write(f"{len(waiting)} handed to the job worker")

    def _do(self, sessions: SessionQuerySet) -> None:
        """Work, and where another worker or a pause holds something back, look again until nothing waits."""
        done: list[Outcome] = []
        while waiting := _waiting(sessions):
            outcomes = [runner.run(pk) for pk in waiting]
            done += [outcome for outcome in outcomes if outcome not in (Outcome.NOT_MINE, Outcome.LATER)]
            left = len(_waiting(sessions))
            if left and not any(outcome in done for outcome in outcomes):
                self.stderr.write(f"{left} held back by a pause or another worker; looking again soon")
                time.sleep(knobs.worker_poll_seconds())
        self._report(done, sessions)

    def _report(self, done: list[Outcome], sessions: SessionQuerySet) -> None:
        self.stdout.write(
            ", ".join(f"{done.count(kind)} {kind}" for kind in Outcome if kind in done) or "nothing waits"
        )
        unanswered = sessions.filter(status=Status.CLOSING).count()
        if unanswered:
            self.stderr.write(f"{unanswered} still wait for a reply; they follow when it has been given")
        if Outcome.FAILED in done:
            raise CommandError(f"{done.count(Outcome.FAILED)} failed; the admin shows the reason of each.")


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


def _waiting(sessions: SessionQuerySet) -> list[int]:
    """The sessions on their way that no reply in flight holds open, oldest first."""
    on_their_way = sessions.filter(status__in=[Status.CLOSING, Status.CONSOLIDATING]).without_turn_in_flight()
    return list(on_their_way.order_by("closed_at", "id").values_list("pk", flat=True))
