"""Check the integrity of memory: every count must be 0."""

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memory.store import checks


class Command(BaseCommand):
    help = (
        "Count the faults in memory: orphaned rows, missing vectors, mixed embedding models, dangling references and "
        "the like. Every count must be 0, else the exit code is 1."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        faults = checks.check(timezone.now())
        if options["json"]:
            self.stdout.write(json.dumps(faults))
        else:
            width = max(map(len, faults))
            self.stdout.write("\n".join(f"{name:{width}} {count}" for name, count in faults.items()))
        if strange := checks.foreign_tombstones():
            self.stderr.write(
                f"{strange} tombstones came with an archive of another installation; without its key (tombstone_key "
                "in its data folder) they refuse nothing here. Nothing is wrong with them."
            )
        if wrong := [name for name, count in faults.items() if count]:
            raise CommandError(f"not in order: {', '.join(wrong)}")
