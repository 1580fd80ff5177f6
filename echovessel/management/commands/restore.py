"""Restore a backup: replace this installation by the one in the file."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError
from django.utils import timezone
from tqdm import tqdm

from echovessel.backup import data_dir_lock, restore
from echovessel.backup.copy import NotReadable
from echovessel.backup.data_dir_lock import Occupied
from echovessel.backup.manifest import NotABackup
from echovessel.backup.restore import RestoreResult


class Command(BaseCommand):
    help = (
        "Replace this installation by the one in a backup; the replaced one is kept beside it. Stop EchoVessel first. "
        "An older backup is migrated to this version, and everything forgotten since it was made is forgotten in it, "
        "too. Everything is checked before anything is changed. Prints the counts of check_memory, which are all 0."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file that backup wrote")
        parser.add_argument("--force", action="store_true", help="also replace an installation that has accounts")
        parser.add_argument(
            "--as-it-is", action="store_true", help="accept a backup in which check_memory finds faults"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            size = file.stat().st_size
            with tqdm(total=size, unit="B", unit_scale=True, desc=file.name, file=self.stderr, disable=None) as bar:
                restored = restore.restore(
                    file, timezone.now(), bar.update, force=options["force"], as_it_is=options["as_it_is"]
                )
        except Occupied as error:
            pids = ", ".join(map(str, data_dir_lock.other_processes(Path(settings.DATA_DIR))))
            process_list = f" (processes {pids})" if pids else ""
            message = f"EchoVessel is running{process_list}, or another program has its database open. Stop it."
            raise CommandError(message) from error
        except OSError as error:
            raise CommandError(f"{error.filename or file}: {error.strerror}. {restore.interrupted_step()}") from error
        except (NotABackup, NotReadable, restore.RestoreRefused) as error:
            raise CommandError(f"{file}: {str(error).rstrip('.')}. Nothing was touched.") from error
        width = max(map(len, restored.counts))
        self.stdout.write("\n".join(f"{name:{width}} {count}" for name, count in restored.counts.items()))
        self.stderr.write(
            f"restored the state of {restored.manifest.made_at.isoformat()}; everybody has to sign in again"
        )
        for text_line in _describe_forgetting(restored):
            self.stderr.write(text_line)
        if restored.aside is not None:
            self.stderr.write(f"the replaced installation is in {restored.aside}; delete it when you no longer need it")
        if wrong := [name for name, count in restored.counts.items() if count]:
            raise CommandError(f"restored with faults: {', '.join(wrong)}")


def _describe_forgetting(restored: RestoreResult) -> list[str]:
    """Lines about the forgetting that was repeated."""
    receipt = restored.replayed
    if receipt is None:
        why = "cannot be read" if restored.before.exists else "is gone"
        return [
            f"the database that was here {why}, and with it the knowledge of what was forgotten after the backup was "
            "made: it is in this installation again, and has to be forgotten again"
        ]
    rows = sum(receipt.rows.values())
    summary = [f"forgotten again: {rows} rows of {receipt.receipts} receipts; lines put away: {receipt.withheld}"]
    if receipt.tombstones_of_another_key:
        summary.append(
            f"{receipt.tombstones_of_another_key} tombstones were made with another key, and refuse nothing any more"
        )
    if receipt.accounts:
        summary.append(f"accounts that stay, because nobody else could look after this: {receipt.accounts}")
    if places := sorted({hit.place for hit in receipt.hits}):
        summary.append(f"words of forgotten messages also occur elsewhere: {', '.join(places)}")
    return summary
