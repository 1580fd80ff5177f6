"""Restore an archive as a persona. Prints the persona's id on stdout; progress and rejected lines on stderr."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import BaseCommand, CommandError
from tqdm import tqdm

from echovessel.embeddings.embedding import EmbeddingUnavailable
from memory.archive import ArchiveError, import_archive
from memory.archive.read import PASSES


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="a file that export_archive wrote")
        parser.add_argument("--owner", required=True, metavar="USERNAME", help="the account that gets the persona")
        parser.add_argument("--name", default="", help="name of a new persona (default: its name in the archive)")
        parser.add_argument(
            "--skip-bad",
            action="store_true",
            help="report broken lines and import the rest (default: stop at the first)",
        )

    def handle(self, *args: Any, **options: Any) -> str:
        owner = get_user_model().objects.filter(username=options["owner"]).first()
        if owner is None:
            raise CommandError(f"There is no user {options['owner']!r}. Make one with manage.py createsuperuser.")
        path: Path = options["file"]
        try:
            size = path.stat().st_size * PASSES
            with (
                path.open("rb") as file,
                tqdm(total=size, unit="B", unit_scale=True, desc=path.name, file=self.stderr) as bar,
            ):
                result = import_archive(
                    file,
                    owner,
                    name=options["name"],
                    skip_bad=options["skip_bad"],
                    progress=bar.update,
                    report=lambda text: bar.write(text, file=self.stderr),
                )
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}") from error
        except (ArchiveError, EmbeddingUnavailable) as error:
            raise CommandError(f"{path}: {error}") from error
        counts = ", ".join(f"{count} {what}" for what, count in result.added.items() if count)
        self.stderr.write(f"added: {counts or 'nothing'}; rejected lines: {result.rejected}")
        return str(result.persona.uuid)
