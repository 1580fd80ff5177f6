"""Measure how fast memory is, on made-up lives in throw-away databases; your own is not touched.

Without a WHAT the whole is measured: recall, isolation, sizes, restoring, the server, the first word of a reply.
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
from memory.bench import consolidation, desk, during_import, imports, recall, turns, whole


def some(text: str) -> int:
    """A number of one or more."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a number of one or more")
    return int(text)


def time_consolidation(path: Path, options: dict[str, Any]) -> consolidation.Figures:
    with tqdm(total=options["sessions"], unit="session") as bar:
        return consolidation.measure(options["sessions"], options["messages"], options["seed"], bar.update)


@dataclass(frozen=True)
class Measurement:
    """One measurement: its arguments (name, type, default, help), what measures in an empty database, and the lines
    for people. `has_json`: --json prints the figures themselves."""

    name: str
    help: str
    arguments: tuple[tuple[str, Callable[[str], Any], Any, str | None], ...]
    measure: Callable[[Path, dict[str, Any]], Any]
    format: Callable[[Any, Path], Iterable[str]]
    has_json: bool = True


KEEP = ("keep", Path, None, "make the database in this file, which stays; use what it holds")
MEGABYTES = ("megabytes", int, 188, "size of the file (ChatGPT's export)")
MEASUREMENTS = (
    Measurement(
        "consolidation",
        "how fast talks become memory, and whether it stays so",
        (
            ("sessions", some, 1000, None),
            ("messages", some, 20, "in each talk"),
            ("seed", int, 1, "another one makes another life"),
        ),
        time_consolidation,
        lambda figures, path: consolidation.format_table(figures),
        has_json=False,
    ),
    Measurement(
        "recall",
        "how long recall takes, step by step, and how exact its search is",
        (("nodes", int, 10_000, None), ("messages", int, 30_000, None), ("queries", int, 200, None), KEEP),
        lambda path, options: recall.measure(options["nodes"], options["messages"], options["queries"]),
        recall.format_table,
        has_json=False,
    ),
    Measurement(
        "turns",
        "how long a page waits for the first word of a reply",
        (
            ("owners", int, 20, None),
            ("nodes", int, 10_000, f"of the first owner; the others have {turns.OTHERS_NODES}"),
            ("turns", int, 20, "of each, alone and together"),
            KEEP,
        ),
        lambda path, options: turns.time_turns(path, options["owners"], options["nodes"], options["turns"]),
        lambda figures, path: turns.format_table(figures),
        has_json=False,
    ),
    Measurement(
        "desk",
        "how long the pages of the desk take",
        (("nodes", int, 100_000, None), ("messages", int, 300_000, None), KEEP),
        lambda path, options: desk.measure(options["nodes"], options["messages"]),
        lambda figures, path: desk.format_table(figures),
    ),
    Measurement(
        "import",
        "how long a large file takes on its way in, and how much memory",
        (MEGABYTES,),
        lambda path, options: imports.measure(path, options["megabytes"]),
        lambda figures, path: imports.format_table(figures),
    ),
    Measurement(
        "beside",
        "how long a page waits while a large file comes in",
        (
            MEGABYTES,
            ("nodes", int, 10_000, "memories of the persona into which it goes"),
            ("turns", int, 100, "of each page: before, while it is remembered, after"),
        ),
        lambda path, options: during_import.measure(path, options["megabytes"], options["nodes"], options["turns"]),
        lambda figures, path: during_import.format_table(figures),
    ),
)


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        usual = whole.Scale()
        parser.add_argument("--nodes", type=some, default=usual.nodes, help="memories of the large persona")
        parser.add_argument("--messages", type=some, default=usual.messages, help="lines of the large persona")
        parser.add_argument("--personas", type=some, default=usual.personas, help="how many small ones are made")
        parser.add_argument("--queries", type=some, default=usual.queries, help="questions asked of the large persona")
        parser.add_argument("--owners", type=some, default=usual.owners, help="who talk at once")
        parser.add_argument("--turns", type=some, default=usual.turns, help="of each of them")
        parser.add_argument("--json", action="store_true", dest="as_json")
        kinds = parser.add_subparsers(dest="kind", metavar="WHAT", help="measure this alone:")
        for measurement in MEASUREMENTS:
            alone = kinds.add_parser(measurement.name, help=measurement.help)
            for name, kind, default, meaning in measurement.arguments:
                alone.add_argument(f"--{name}", type=kind, default=default, help=meaning)
            alone.set_defaults(measurement=measurement)

    def handle(self, *args: Any, **options: Any) -> None:
        measurement: Measurement | None = options.get("measurement")
        if measurement is None:
            scale = whole.Scale(**{field.name: options[field.name] for field in fields(whole.Scale)})
            figures = whole.measure(scale)
            self.stdout.write(json.dumps(figures) if options["as_json"] else "\n".join(whole.format_table(figures)))
            return
        with temporary_database(options.get("keep")) as path:
            figures = measurement.measure(path, options)
            as_json = options["as_json"] and measurement.has_json
            self.stdout.write(json.dumps(figures) if as_json else "\n".join(measurement.format(figures, path)))
