"""Save a persona as an archive, to a file or to stdout; import_archive restores it."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from memory.archive import saving
from persona.lookup import NoSuchPersona, persona_by


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("persona", help="id, or external id where it is unique")
        parser.add_argument("file", nargs="?", type=Path, help="default: stdout")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            persona = persona_by(options["persona"])
        except NoSuchPersona as error:
            raise CommandError(str(error)) from error
        lines = saving.lines(persona, timezone.now())
        if options["file"] is None:
            sys.stdout.buffer.writelines(lines)
            sys.stdout.buffer.flush()
            return
        try:
            _write(options["file"], lines)
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be written: {error.strerror}") from error


def _write(path: Path, lines: Iterable[bytes]) -> None:
    """The file appears when it is whole, and its owner alone may read it."""
    part = path.with_name(f"{path.name}.part")
    with open(part, "wb", opener=_for_the_owner_alone) as file:
        file.writelines(lines)
    part.replace(path)


def _for_the_owner_alone(path: str, flags: int) -> int:
    return os.open(path, flags, mode=0o600)
