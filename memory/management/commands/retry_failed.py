"""Consolidate failed sessions again: through the job worker, or in this process."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from chat.models import Session
from memory.consolidation import runner
from memory.management import by_hand

Status = Session.Status


class Command(BaseCommand):
    help = "Consolidate failed sessions again. With --wait, the exit code is 1 if one of them fails again."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--session", metavar="ID", help="only this session, by id or external id")
        which.add_argument(
            "--persona",
            metavar="ID",
            help="only sessions of this persona, by id or external id (default: all personas)",
        )
        parser.add_argument(
            "--wait", action="store_true", help="do the work in this process, and return when it is done"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        failed = Session.objects.filter(status=Status.FAILED)
        if options["session"]:
            failed = failed.filter(pk=by_hand.session_by(options["session"]).pk)
        elif options["persona"]:
            failed = failed.filter(persona=by_hand.find_persona(options["persona"]))
        retried = Session.objects.filter(pk__in=[session.pk for session in failed if runner.retry(session)])
        self.stdout.write(f"waiting to be remembered again: {retried.count()}")
        if options["wait"]:
            by_hand.do_and_report(retried, self)
        else:
            by_hand.enqueue(retried)
