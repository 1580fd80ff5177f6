"""Measure how fast memory is, with generated data in temporary databases; your own is not touched.

Without WHAT everything is measured: recall, isolation, sizes, restoring, the server, the first word of a reply.
"""

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand
from tqdm import tqdm

from echovessel.db.sqlite.temporary import temporary_database
from memory.bench import admin_pages, consolidation, during_import, full_benchmark, imports, recall, turns


def some(text: str) -> int:
    """A number of at least one."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a number of one or more")
    return int(text)


def time_consolidation(path: Path, options: dict[str, Any]) -> consolidation.Figures:
    with tqdm(total=options["sessions"], unit="session") as bar:
        return consolidation.measure(options["sessions"], options["messages"], options["seed"], bar.update)


@dataclass(frozen=True)
class Measurement:
    """One measurement: its arguments (name, type, default, help), the function that measures in an empty database, and
    the function that formats the figures for people. `has_json`: --json prints the figures themselves."""

    name: str
    help: str
    arguments: tuple[tuple[str, Callable[[str], Any], Any, str], ...]
    measure: Callable[[Path, dict[str, Any]], Any]
    format: Callable[[Any, Path], Iterable[str]]
    has_json: bool = True


KEEP = ("keep", Path, None, "keep the database in this file, and use it if it exists")
NODES, MESSAGES, QUERIES = "number of memories", "number of messages", "number of queries"
MEGABYTES = ("megabytes", int, 188, "size of the imported file, a ChatGPT export, in megabytes")
MEASUREMENTS = (
    Measurement(
        "consolidation",
        "how fast sessions are consolidated, and whether that slows down",
        (
            ("sessions", some, 1000, "number of sessions"),
            ("messages", some, 20, "messages in each session"),
            ("seed", int, 1, "seed of the generated data"),
        ),
        time_consolidation,
        lambda figures, path: consolidation.format_table(figures),
        has_json=False,
    ),
    Measurement(
        "recall",
        "how long recall takes, step by step, and how exact its search is",
        (("nodes", int, 10_000, NODES), ("messages", int, 30_000, MESSAGES), ("queries", int, 200, QUERIES), KEEP),
        lambda path, options: recall.measure(options["nodes"], options["messages"], options["queries"]),
        recall.format_table,
        has_json=False,
    ),
    Measurement(
        "turns",
        "how long a page waits for the first word of a reply",
        (
            ("owners", int, 20, "owners who talk at the same time"),
            ("nodes", int, 10_000, f"memories of the first owner's persona; the others have {turns.OTHER_OWNER_NODES}"),
            ("turns", int, 20, "turns of each owner, alone and together"),
            KEEP,
        ),
        lambda path, options: turns.time_turns(path, options["owners"], options["nodes"], options["turns"]),
        lambda figures, path: turns.format_table(figures),
        has_json=False,
    ),
    Measurement(
        "desk",
        "how long the pages of the admin take",
        (("nodes", int, 100_000, NODES), ("messages", int, 300_000, MESSAGES), KEEP),
        lambda path, options: admin_pages.measure(options["nodes"], options["messages"]),
        lambda figures, path: admin_pages.format_table(figures),
    ),
    Measurement(
        "import",
        "how long the import of a large file takes, and how much RAM",
        (MEGABYTES,),
        lambda path, options: imports.measure(path, options["megabytes"]),
        lambda figures, path: imports.format_table(figures),
    ),
    Measurement(
        "beside",
        "how long a page waits for the first word while a large file is imported",
        (
            MEGABYTES,
            ("nodes", int, 10_000, "memories of the persona that gets the file"),
            ("turns", int, 100, "turns of each page: before, while it is consolidated, after"),
        ),
        lambda path, options: during_import.measure(path, options["megabytes"], options["nodes"], options["turns"]),
        lambda figures, path: during_import.format_table(figures),
    ),
)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = full_benchmark.Scale()
        for name, meaning in (
            ("nodes", "memories of the large persona"),
            ("messages", "messages of the large persona"),
            ("personas", "number of small personas"),
            ("queries", "recall queries to the large persona"),
            ("owners", "owners who talk at the same time"),
            ("turns", "turns of each owner"),
        ):
            default = getattr(usual, name)
            parser.add_argument(f"--{name}", type=some, default=default, help=f"{meaning} (default: {default})")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print the figures as one JSON object")
        kinds = parser.add_subparsers(dest="kind", metavar="WHAT", help="measure only this:")
        for measurement in MEASUREMENTS:
            alone = kinds.add_parser(measurement.name, help=measurement.help)
            for name, kind, default, meaning in measurement.arguments:
                help_text = meaning if default is None else f"{meaning} (default: {default})"
                alone.add_argument(f"--{name}", type=kind, default=default, help=help_text)
            alone.set_defaults(measurement=measurement)

    def handle(self, *args: Any, **options: Any) -> None:
        measurement: Measurement | None = options.get("measurement")
        if measurement is None:
            scale = full_benchmark.Scale(**{field.name: options[field.name] for field in fields(full_benchmark.Scale)})
            figures = full_benchmark.measure(scale)
            self.stdout.write(
                json.dumps(figures) if options["as_json"] else "\n".join(full_benchmark.format_table(figures))
            )
            return
        with temporary_database(options.get("keep")) as path:
            figures = measurement.measure(path, options)
            as_json = options["as_json"] and measurement.has_json
            self.stdout.write(json.dumps(figures) if as_json else "\n".join(measurement.format(figures, path)))
