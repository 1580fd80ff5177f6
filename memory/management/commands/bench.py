"""Measure how fast memory is, on made-up lives in a throw-away database; your own is not touched."""

from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management import BaseCommand
from tqdm import tqdm

from memory.bench import consolidation, recall, turns
from memory.bench.database import throw_away


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True, metavar="WHAT")
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

    def handle(self, *args: Any, **options: Any) -> None:
        options["measure"](options)

    def _consolidation(self, options: dict[str, Any]) -> None:
        sessions = options["sessions"]
        with throw_away(), tqdm(total=sessions, unit="session", file=self.stderr) as bar:
            figures = consolidation.measured(sessions, options["messages"], options["seed"], bar.update)
        self.stdout.write("\n".join(consolidation.table(figures)))

    def _recall(self, options: dict[str, Any]) -> None:
        with throw_away(options["keep"]) as path:
            figures = recall.measured(options["nodes"], options["messages"], options["queries"])
            self.stdout.write("\n".join(recall.table(figures, path)))

    def _turns(self, options: dict[str, Any]) -> None:
        with throw_away(options["keep"]) as path:
            figures = turns.measured(path, options["owners"], options["nodes"], options["turns"])
        self.stdout.write("\n".join(turns.table(figures)))


def some(text: str) -> int:
    """The number that `text` says, one at least."""
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a number of one or more")
    return int(text)
