"""Let talks that could not be remembered wait anew: for the job worker, or done here."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from chat.models import Session
from chat.models.session import SessionQuerySet
from memory.consolidation import runner
from memory.management import by_hand
from persona.lookup import NoSuchPersona, persona_by
from persona.models import Persona

Status = Session.Status


class Command(BaseCommand):
    help = "Remembers again what failed. With --wait it exits with an error when one of the talks fails anew."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument("--session", metavar="ID", help="this one, by id or external id")
        which.add_argument("--persona", metavar="ID", help="those of this persona, by id or external id (default: all)")
        parser.add_argument("--wait", action="store_true", help="do it here, and return when it is done")

    def handle(self, *args: Any, **options: Any) -> None:
        failed = self._chosen(options["session"], options["persona"]).filter(status=Status.FAILED)
        retried = Session.objects.filter(pk__in=[session.pk for session in failed if runner.retry(session)])
        self.stdout.write(f"{retried.count()} wait to be remembered again")
        if options["wait"]:
            done = by_hand.do(retried, self.stderr)
            for words in by_hand.still_waiting(retried):
                self.stderr.write(words)
            self.stdout.write(by_hand.report(done))
        else:
            by_hand.enqueue(retried)

    def _chosen(self, session: str | None, persona: str | None) -> SessionQuerySet:
        if session:
            return Session.objects.filter(pk=by_hand.session_by(session).pk)
        if persona:
            return Session.objects.filter(persona=_persona(persona))
        return Session.objects.all()


def _persona(reference: str) -> Persona:
    try:
        return persona_by(reference)
    except NoSuchPersona as error:
        raise CommandError(str(error)) from error
