"""Show whether a persona would reach out now, and what holds it back. Changes nothing."""

import json
from datetime import datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from persona.lookup import NoSuchPersona, persona_by
from proactive.models import ReachingOut
from proactive.policy.decision import decide
from proactive.policy.situation import read_situation


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("persona", help="its id, or its external id if that is unique")
        parser.add_argument("--at", metavar="ISO", help="as of this time, with its zone (default: now)")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object with all facts")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            persona = persona_by(options["persona"])
        except NoSuchPersona as error:
            raise CommandError(str(error)) from error
        allowed = ReachingOut.objects.filter(persona=persona).first() or ReachingOut(persona=persona)
        situation = read_situation(allowed, _moment(options["at"]))
        decision = decide(situation)
        report = {
            "verdict": str(decision.verdict),
            "gate": str(decision.gate) if decision.gate else None,
            "reason": decision.reason.facts() if decision.reason else None,
        }
        if options["as_json"]:
            self.stdout.write(json.dumps(report | {"facts": situation.facts()}))
            return
        why = f": {decision.gate.label}" if decision.gate else ""
        self.stdout.write(f"{decision.verdict.label}{why}")
        if decision.reason:
            self.stdout.write(f"a reason would be {decision.reason.kind}, of {decision.reason.at.isoformat()}")


def _moment(moment_text: str | None) -> datetime:
    if moment_text is None:
        return timezone.now()
    try:
        moment = parse_datetime(moment_text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise CommandError("--at is a time with its zone, such as 2026-01-31T09:00+01:00.")
    return moment
