"""Let memories that were never sure, that are settled, or that are old and slight leave recall."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from memory.curation import lifecycle
from memory.curation.lifecycle import Verdict

REASONS = {
    Verdict.EXPIRE: "doubtful, and never confirmed",
    Verdict.SETTLE: "settled long ago",
    Verdict.ARCHIVE: "old and slight",
}


class Command(BaseCommand):
    help = (
        "Archives what was never sure, what is settled and, with memory.archive_old, what is old and slight. It leaves "
        "recall, is listed still, and can be brought back. A job does the same once a day."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only say how many there are")

    def handle(self, *args: Any, **options: Any) -> None:
        counts = lifecycle.run(timezone.now(), dry_run=options["dry_run"])
        done = "to be archived" if options["dry_run"] else "archived"
        for verdict, why in REASONS.items():
            self.stdout.write(f"{done}, {why}: {counts[verdict]}")
