"""Consolidate by hand: hand waiting sessions to the job worker, or do the work here and wait for its end."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.models import Session
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
        sessions = Session.objects.all()
        if options["session"]:
            session = by_hand.session_by(options["session"])
            if session.status == Status.OPEN:
                raise CommandError("This session is still open: close it first (close_sessions).")
            sessions = sessions.filter(pk=session.pk)
            if not runner.retry(session):  # it may wait in a pause
                sessions.filter(status=Status.CLOSING, holder="").update(lease_until=None)
        if options["wait"]:
            by_hand.do_and_report(sessions, self)
        else:
            waiting = sessions & Session.objects.to_consolidate(timezone.now())
            self.stdout.write(f"{by_hand.enqueue(waiting)} handed to the job worker")
