"""Archive memories that were never confirmed, that are settled, or that are old and of little impact."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from memory.curation import lifecycle
from memory.curation.lifecycle import Verdict

REASONS = {
    Verdict.EXPIRE: "doubtful, and never confirmed",
    Verdict.SETTLE: "settled long ago",
    Verdict.ARCHIVE: "old and of little impact",
}


class Command(BaseCommand):
    help = (
        "Archive memories that were never confirmed, that are settled and, with the knob memory.archive_old, that are "
        "old and of little impact. They are not recalled, stay listed, and can be restored. A job does this daily."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="print how many would be archived, and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        counts = lifecycle.run(timezone.now(), dry_run=options["dry_run"])
        past_words = "to be archived" if options["dry_run"] else "archived"
        for verdict, why in REASONS.items():
            self.stdout.write(f"{past_words}, {why}: {counts[verdict]}")
