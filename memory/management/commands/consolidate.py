"""Consolidate by hand: hand waiting sessions to the job worker, or do the work here and wait for its end."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.models import Session
from chat.models.session import SessionQuerySet
from memory.consolidation import runner
from memory.management import by_hand

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
            waiting = sessions & Session.objects.to_consolidate(timezone.now())
            self.stdout.write(f"{by_hand.enqueue(waiting)} handed to the job worker")

    def _chosen(self, reference: str) -> SessionQuerySet:
        session = by_hand.session_by(reference)
        if session.status == Status.OPEN:
            raise CommandError("This session is still open: close it first (close_sessions).")
        if not runner.retry(session):
            waiting_in_a_pause = Session.objects.filter(pk=session.pk, status=Status.CLOSING, holder="")
            waiting_in_a_pause.update(lease_until=None)
        return Session.objects.filter(pk=session.pk)

    def _do(self, sessions: SessionQuerySet) -> None:
        done = by_hand.do(sessions, self.stderr)
        for words in by_hand.still_waiting(sessions):
            self.stderr.write(words)
        self.stdout.write(by_hand.report(done))
