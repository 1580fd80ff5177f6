"""Close sessions manually: idle ones, or all that are open. The job worker then consolidates them."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.sessions import close as sessions_close
from persona.lookup import NoSuchPersona, persona_by


class Command(BaseCommand):
    help = "Close idle sessions, or with --all every open one, so that they are consolidated; print how many."

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--idle", action="store_true", help="sessions without a message for chat.idle_minutes (default)"
        )
        which.add_argument("--all", action="store_true", help="every open session")
        parser.add_argument("--persona", metavar="ID", help="only those of this persona, by id or external id")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            persona = persona_by(options["persona"]) if options["persona"] else None
        except NoSuchPersona as error:
            raise CommandError(str(error)) from error
        close = sessions_close.close_open if options["all"] else sessions_close.close_idle
        self.stdout.write(f"{close(timezone.now(), persona)} closed")
