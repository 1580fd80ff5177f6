"""Run the slow cycle now, as the job does between sessions."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memory.consolidation import slow_cycle_requests
from memory.management.by_hand import find_persona
from memory.models import SlowCycle
from memory.slow_cycle import runner
from memory.slow_cycle.runner import Outcome
from persona.models import Persona

OUTCOMES = {
    Outcome.DONE: "done; the admin shows the results",
    Outcome.NOT_NOW: "not now",
    Outcome.LATER: "the model is unavailable; it will be tried again",
    Outcome.NOT_MINE: "a worker is running it, or waits after an error",
    Outcome.FAILED: "failed; the admin shows why",
}


class Command(BaseCommand):
    help = (
        "Run the slow cycle of a persona, or of all of them, on new memories. The rest between "
        "runs, the daily cap and the token budgets apply as they do for the job. The exit code "
        "is 1 if a run failed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "persona", nargs="?", help="its id, or its external id if that is unique (default: all personas)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        reference, failed = options["persona"], 0
        for persona in Persona.objects.all() if reference is None else [find_persona(reference)]:
            if not slow_cycle_requests.note_request(persona, None, timezone.now()):
                self.stdout.write(f"{persona.uuid} {persona.name}: nothing is new")
                continue
            outcome = runner.run(persona.pk)
            failed += outcome == Outcome.FAILED
            until = SlowCycle.objects.values_list("lease_until", flat=True).get(pk=persona.pk)
            when = f" (before {until:%Y-%m-%d %H:%M} UTC)" if until and outcome != Outcome.DONE else ""
            self.stdout.write(f"{persona.uuid} {persona.name}: {OUTCOMES[outcome]}{when}")
        if failed:
            raise CommandError(f"{failed} failed.")
