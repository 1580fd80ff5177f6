"""Back up the whole installation into one file, while it runs."""

import os
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand, CommandError
from django.db import DatabaseError
from django.utils import timezone
from tqdm import tqdm

from echovessel.backup import create
from echovessel.backup.copy import NotReadable


class Command(BaseCommand):
    help = (
        "Write one file with the whole installation as it is now: database, keys, knobs, help texts and media, but no "
        "environment variables. Prints the path. The file contains everything people said: keep it as safe as the "
        "installation. If DATABASE_KEY is set, it is encrypted with that key."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            type=_place,
            help="a file, or a folder (default: backups in the data folder), in which the file is named by the time",
        )
        parser.add_argument("--keep", type=_at_least_one, metavar="N", help="keep only the newest N in that folder")
        parser.add_argument("--keep-days", type=_at_least_one, metavar="DAYS", help="delete older ones in that folder")
        parser.add_argument(
            "--with-model-key", action="store_true", help="include the key of the connected model (default: left out)"
        )

    def handle(self, *args: Any, **options: Any) -> str:
        now = timezone.now()
        place: Place | None = options["file"]
        file = place.named(now) if place else create.default_place(now)
        try:
            with tqdm(unit="B", unit_scale=True, desc=file.name, file=self.stderr, disable=None) as bar:
                backup = create.create_backup(file, now, bar.update, with_model_key=options["with_model_key"])
            gone = create.rotate(file.parent, now, options["keep"], options["keep_days"])
        except OSError as error:
            raise CommandError(f"{error.filename or file} cannot be written: {error.strerror}") from error
        except DatabaseError as error:
            raise CommandError(f"the database cannot be copied: {error}") from error
        except (create.CannotBackUp, NotReadable, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        self.stderr.write(f"rows: {sum(backup.counts.values())}; older backups deleted: {len(gone)}")
        return str(file)


@dataclass(frozen=True)
class Place:
    """The target: a file, or a folder in which the file is named by the time."""

    path: Path
    is_folder: bool

    def named(self, now: datetime) -> Path:
        return create.timestamped_name(self.path, now) if self.is_folder else self.path


def _place(text: str) -> Place:
    """Parse the target. A text that ends like a folder is one, even if it does not exist yet.

    >>> _place("/srv/new/").is_folder, _place("/srv/new.tar").is_folder
    (True, False)
    """
    return Place(Path(text), text.endswith(("/", os.sep)) or Path(text).is_dir())


def _at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError("a whole number from 1 on")
    return int(text)
