"""Let personas think now about what is new since they last did, as the job does between talks."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memory.consolidation import slow_cycle_requests
from memory.models import SlowCycle
from memory.slow_cycle import runner
from memory.slow_cycle.runner import Outcome
from persona.lookup import NoSuchPersona, persona_by
from persona.models import Persona

TOLD = {
    Outcome.DONE: "done; the desk shows what came of it",
    Outcome.NOT_NOW: "not now",
    Outcome.LATER: "the model could not be asked; it is tried again",
    Outcome.NOT_MINE: "a worker is at it, or waits after a fault",
    Outcome.FAILED: "failed; the desk shows why",
}


class Command(BaseCommand):
    help = (
        "Lets a persona, or all of them, think about what is new. Her rest, the daily cap and the token walls hold as "
        "they do for the job. Exits with an error when a run has failed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("persona", nargs="?", help="id, or external id where it is unique; default: all")

    def handle(self, *args: Any, **options: Any) -> None:
        outcomes = [self._think(persona) for persona in _chosen(options["persona"])]
        if Outcome.FAILED in outcomes:
            raise CommandError(f"{outcomes.count(Outcome.FAILED)} failed.")

    def _think(self, persona: Persona) -> Outcome | None:
        if not slow_cycle_requests.note_request(persona, None, timezone.now()):
            self.stdout.write(f"{persona.uuid} {persona.name}: nothing is new")
            return None
        outcome = runner.run(persona.pk)
        until = SlowCycle.objects.values_list("lease_until", flat=True).get(pk=persona.pk)
        when = f" (before {until:%Y-%m-%d %H:%M} UTC)" if until and outcome != Outcome.DONE else ""
        self.stdout.write(f"{persona.uuid} {persona.name}: {TOLD[outcome]}{when}")
        return outcome


def _chosen(reference: str | None) -> list[Persona]:
    if reference is None:
        return list(Persona.objects.all())
    try:
        return [persona_by(reference)]
    except NoSuchPersona as error:
        raise CommandError(str(error)) from error
