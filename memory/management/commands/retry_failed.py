"""Let talks that could not be remembered wait anew: for the job worker, or done here."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from chat.models import Session
from memory.consolidation import runner
from memory.management import by_hand

Status = Session.Status


class Command(BaseCommand):
    help = "Remembers again what failed. With --wait it exits with an error when one of the talks fails anew."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--session", metavar="ID", help="this one, by id or external id")
        which.add_argument("--persona", metavar="ID", help="those of this persona, by id or external id (default: all)")
        parser.add_argument("--wait", action="store_true", help="do it here, and return when it is done")

    def handle(self, *args: Any, **options: Any) -> None:
        failed = Session.objects.filter(status=Status.FAILED)
        if options["session"]:
            failed = failed.filter(pk=by_hand.session_by(options["session"]).pk)
        elif options["persona"]:
            failed = failed.filter(persona=by_hand.find_persona(options["persona"]))
        retried = Session.objects.filter(pk__in=[session.pk for session in failed if runner.retry(session)])
        self.stdout.write(f"{retried.count()} wait to be remembered again")
        if options["wait"]:
            by_hand.do_and_report(retried, self)
        else:
            by_hand.enqueue(retried)
