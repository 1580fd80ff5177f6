"""Close talks by hand: what rests, or everything that is open. Memory takes over from there."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.sessions import close as sessions_close
from persona.lookup import NoSuchPersona, persona_by


class Command(BaseCommand):
    help = "Closes the sessions that have rested long enough (or, with --all, every open one) and prints how many."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--idle", action="store_true", help="those that have rested for the knob's minutes (default)"
        )
        which.add_argument("--all", action="store_true", help="every open session")
        parser.add_argument("--persona", metavar="ID", help="only of this persona: its id or external id")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            persona = persona_by(options["persona"]) if options["persona"] else None
        except NoSuchPersona as error:
            raise CommandError(str(error)) from error
        close = sessions_close.close_open if options["all"] else sessions_close.close_idle
        self.stdout.write(f"{close(timezone.now(), persona)} closed")
