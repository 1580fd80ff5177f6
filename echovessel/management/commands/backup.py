"""Back up the whole installation into one file, while it runs."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone
from tqdm import tqdm

from echovessel.backup import making
from echovessel.backup.copying import NotReadable


class Command(BaseCommand):
    help = (
        "Write one file that holds the whole installation as it is at this moment: database, keys, knobs, help texts "
        "and media; not what comes from the environment. Prints its path. It holds what people said: keep it as safe "
        "as the installation. With DATABASE_KEY it is encrypted by that key."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            type=Path,
            help="or a folder; default: named by the moment, in backups of the data folder",
        )
        parser.add_argument("--keep", type=_at_least_one, metavar="N", help="of those in that folder keep the newest N")
        parser.add_argument("--keep-days", type=_at_least_one, metavar="DAYS", help="delete those that are older")

    def handle(self, *args: Any, **options: Any) -> str:
        now = timezone.now()
        file = _place(options["file"]) or making.default_place(now)
        try:
            with tqdm(unit="B", unit_scale=True, desc=file.name, file=self.stderr) as bar:
                made = making.make(file, now, bar.update)
            gone = making.rotate(file.parent, now, options["keep"], options["keep_days"])
        except OSError as error:
            raise CommandError(f"{error.filename or file} cannot be written: {error.strerror}") from error
        except DatabaseError as error:
            raise CommandError(f"the database cannot be copied: {error}") from error
        except (making.CannotBackUp, NotReadable) as error:
            raise CommandError(str(error)) from error
        self.stderr.write(f"rows: {sum(made.counts.values())}; older backups deleted: {len(gone)}")
        return str(file)


def _place(given: Path | None) -> Path | None:
    if given is not None and given.is_dir():
        return making.named_by_its_moment(given, timezone.now())
    return given


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("a whole number from 1 on")
    return int(text)
