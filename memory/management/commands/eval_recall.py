"""Measure recall on data sets: each is loaded into a throw-away persona, asked its queries, and removed again."""

import json
import statistics
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import BaseCommand, CommandError
from django.utils import timezone
from django.utils.crypto import get_random_string
from tqdm import tqdm

from chat import knobs
from memory.archive import ArchiveError, import_archive
from memory.management.commands.recall import QueryLine, aware, queries
from memory.recall import Recall, recall
from persona.models import Persona

DEPTHS = (5, 10, 20)


def covered(found: Recall, depth: int | None = None) -> set[str]:
    """The archive ids that the first `depth` items show."""
    return {name for item in found.items[:depth] for name in (item.external_id, *item.messages) if name}


def measured(query: QueryLine, found: Recall) -> dict[str, float]:
    """The measures of one query; recall is the share of what is relevant that is shown."""
    relevant = set(query.relevant)
    shares = {f"recall_at_{depth}": len(relevant & covered(found, depth)) / len(relevant) for depth in DEPTHS}
    ids = [{item.external_id, *item.messages} & relevant for item in found.items]
    first = next((1 / place for place, hit in enumerate(ids, start=1) if hit), 0.0)
    return shares | {
        "recall": len(relevant & covered(found)) / len(relevant),
        "precision": sum(map(bool, ids)) / len(ids) if ids else 0.0,
        "mrr": first,
        "tokens": float(found.xray.tokens),
    }


def averaged(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    return {name: round(statistics.fmean(row[name] for row in rows), 4) for name in rows[0]} if rows else {}


def latency(times: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Median and 95th percentile of each step, in milliseconds."""
    steps = {step: sorted(row[step] for row in times) for step in (times[0] if times else {})}
    return {
        step: {"p50": values[len(values) // 2], "p95": values[int(len(values) * 0.95)]}
        for step, values in steps.items()
    }


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("dirs", nargs="+", type=Path, metavar="DIR", help="holds archive.jsonl and queries.jsonl")
        parser.add_argument("--budget", type=int, default=None, help="tokens; default memory.recall_tokens")
        parser.add_argument("--json", action="store_true", dest="as_json")

    def handle(self, *args: Any, **options: Any) -> None:
        budget = options["budget"] or knobs.recall_tokens()
        try:
            results = {path.name: self._evaluated(path, budget) for path in options["dirs"]}
        except (OSError, ValueError, ArchiveError) as error:
            raise CommandError(str(error)) from error
        if options["as_json"]:
            self.stdout.write(json.dumps({"budget": budget, "sets": results}, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_table(results)))

    def _evaluated(self, path: Path, budget: int) -> dict[str, Any]:
        with _throw_away(path / "archive.jsonl") as persona:
            asked = [query for query in queries(path / "queries.jsonl") if query.relevant]
            by_category = defaultdict(list)
            times = []
            for query in tqdm(asked, desc=path.name, file=self.stderr):
                now = aware(query.now or timezone.now())
                found = recall(persona, query.turns, now=now, budget_tokens=budget)
                by_category[query.category].append(measured(query, found))
                times.append(found.xray.elapsed_ms)
        rows = [row for category in by_category.values() for row in category]
        return {
            "queries": len(rows),
            "all": averaged(rows),
            "by_category": {name: averaged(found) for name, found in sorted(by_category.items())},
            "elapsed_ms": latency(times),
        }


@contextmanager
def _throw_away(archive: Path) -> Iterator[Persona]:
    """A persona of an owner of her own, with what the archive holds; both are gone afterwards."""
    owner = get_user_model().objects.create_user(f"eval-{get_random_string(12).lower()}", is_active=False)
    try:
        with archive.open("rb") as file:
            yield import_archive(file, owner).persona
    finally:
        owner.delete()


def _table(results: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    names = ("recall", "recall_at_5", "recall_at_10", "recall_at_20", "precision", "mrr", "tokens")
    yield f"{'set':24}" + "".join(f"{name:>14}" for name in names)
    for data_set, found in results.items():
        yield _row(data_set, found["all"], names)
        for category, values in found["by_category"].items():
            yield _row(f"  {category}", values, names)
        steps = found["elapsed_ms"].items()
        yield "  ms " + ", ".join(f"{step} {value['p50']:.1f} / {value['p95']:.1f}" for step, value in steps)
    if len(results) > 1:
        yield _row("mean of sets", averaged([found["all"] for found in results.values()]), names)


def _row(title: str, values: Mapping[str, float], names: Sequence[str]) -> str:
    return f"{title:24}" + "".join(f"{values.get(name, 0.0):14.3f}" for name in names)
