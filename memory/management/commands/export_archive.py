"""Export a persona, or all personas of an owner, as an archive that import_archive restores; or a persona in a format
of other programs."""

import os
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import BaseCommand, CommandError
from django.utils import timezone

from memory.archive import account_archive
from memory.exports import WAYS
from persona.lookup import NoSuchPersona, persona_by


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        # Otherwise argparse counts an optional argument after an option as missing: PERSONA --format pam FILE.
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        parser.add_argument("persona", nargs="?", help="its id, or its external id if that is unique")
        parser.add_argument("file", nargs="?", type=Path, help="the file to write (default: stdout)")
        parser.add_argument(
            "--owner",
            metavar="USERNAME",
            help="export all personas of this owner as a zip of archives; give FILE alone",
        )
        parser.add_argument(
            "--format",
            choices=("archive", "pam", "card"),
            default="archive",
            help="archive: everything; pam: sessions and memories, as a zip of Portable AI Memory 1.0; "
            "card: the persona as a character card, a picture if FILE ends in .png (default: %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        chunks, file = self._select_personas(options)
        if file is None:
            sys.stdout.buffer.writelines(chunks)
            sys.stdout.buffer.flush()
            return
        # The file appears when it is complete, and only its owner may read it.
        part = file.with_name(f"{file.name}.part")
        try:
            with open(part, "wb", opener=lambda path, flags: os.open(path, flags, mode=0o600)) as archive_file:
                archive_file.writelines(chunks)
            part.replace(file)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror}") from error

    def _select_personas(self, options: dict[str, Any]) -> tuple[Iterable[bytes], Path | None]:
        """The bytes to save, and the file; None for stdout."""
        now = timezone.now()
        if options["owner"] is not None:
            owner = get_user_model().objects.filter(username=options["owner"]).first()
            if owner is None:
                raise CommandError(f"There is no user {options['owner']!r}.")
            if options["file"] is not None:
                raise CommandError("Give a persona, or --owner, not both.")
            if options["format"] != "archive":
                raise CommandError("All of an owner's are saved as archives; give a persona for another format.")
            return account_archive.stream_zip(owner, now), Path(options["persona"]) if options["persona"] else None
        if options["persona"] is None:
            raise CommandError("Give a persona, or --owner USERNAME.")
        try:
            file: Path | None = options["file"]
            is_picture = file is not None and file.suffix.casefold() == WAYS["card_png"].suffix
            return WAYS["card_png" if options["format"] == "card" and is_picture else options["format"]].write(
                persona_by(options["persona"]), now
            ), options["file"]
        except NoSuchPersona as error:
            raise CommandError(str(error)) from error
