"""Measure how fast memory is, on made-up lives in throw-away databases; your own is not touched.

Without a WHAT the whole is measured: recall, isolation, sizes, restoring, the server, the first word of a reply.
"""

import json
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import fields
from typing import Any

from django.core.management import BaseCommand
from tqdm import tqdm

from echovessel.db.sqlite.temporary import temporary_database
from memory.bench import consolidation, desk, during_import, imports, recall, turns, whole


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
        parser.set_defaults(measure=self._whole)
        kinds = parser.add_subparsers(dest="kind", metavar="WHAT", help="measure this alone:")
        talks = kinds.add_parser("consolidation", help="how fast talks become memory, and whether it stays so")
        talks.add_argument("--sessions", type=some, default=1000)
        talks.add_argument("--messages", type=some, default=20, help="in each talk")
        talks.add_argument("--seed", type=int, default=1, help="another one makes another life")
        talks.set_defaults(measure=self._consolidation)

        asked = kinds.add_parser("recall", help="how long recall takes, step by step, and how exact its search is")
        recall.add_arguments(asked)
        asked.set_defaults(measure=self._recall)

        talking = kinds.add_parser("turns", help="how long a page waits for the first word of a reply")
        turns.add_arguments(talking)
        talking.set_defaults(measure=self._turns)

        looking = kinds.add_parser("desk", help="how long the pages of the desk take")
        desk.add_arguments(looking)
        looking.set_defaults(measure=self._desk)

        bringing = kinds.add_parser("import", help="how long a large file takes on its way in, and how much memory")
        imports.add_arguments(bringing)
        bringing.set_defaults(measure=self._import)

        meanwhile = kinds.add_parser("beside", help="how long a page waits while a large file comes in")
        during_import.add_arguments(meanwhile)
        meanwhile.set_defaults(measure=self._beside)

    def handle(self, *args: Any, **options: Any) -> None:
        options["measure"](options)

    def _whole(self, options: dict[str, Any]) -> None:
        scale = whole.Scale(**{field.name: options[field.name] for field in fields(whole.Scale)})
        figures = whole.measure(scale)
        self.stdout.write(json.dumps(figures) if options["as_json"] else "\n".join(whole.format_table(figures)))

    def _consolidation(self, options: dict[str, Any]) -> None:
        sessions = options["sessions"]
        with temporary_database(), tqdm(total=sessions, unit="session", file=self.stderr) as bar:
            figures = consolidation.measure(sessions, options["messages"], options["seed"], bar.update)
        self.stdout.write("\n".join(consolidation.format_table(figures)))

    def _recall(self, options: dict[str, Any]) -> None:
        with temporary_database(options["keep"]) as path:
            figures = recall.measure(options["nodes"], options["messages"], options["queries"])
            self.stdout.write("\n".join(recall.format_table(figures, path)))

    def _turns(self, options: dict[str, Any]) -> None:
        with temporary_database(options["keep"]) as path:
            figures = turns.time_turns(path, options["owners"], options["nodes"], options["turns"])
        self.stdout.write("\n".join(turns.format_table(figures)))

    def _desk(self, options: dict[str, Any]) -> None:
        with temporary_database(options["keep"]):
            figures = desk.measure(options["nodes"], options["messages"])
        self.stdout.write(json.dumps(figures) if options["as_json"] else "\n".join(desk.format_table(figures)))

    def _import(self, options: dict[str, Any]) -> None:
        with temporary_database() as path:
            figures = imports.measure(path, options["megabytes"])
        self.stdout.write(json.dumps(figures) if options["as_json"] else "\n".join(imports.format_table(figures)))

    def _beside(self, options: dict[str, Any]) -> None:
        with temporary_database() as path:
            figures = during_import.measure(path, options["megabytes"], options["nodes"], options["turns"])
        self.stdout.write(json.dumps(figures) if options["as_json"] else "\n".join(during_import.format_table(figures)))


def some(text: str) -> int:
    """The number that `text` says, one at least."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a number of one or more")
    return int(text)
