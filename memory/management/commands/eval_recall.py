"""Measure recall on data sets: each is loaded into a temporary persona, asked its queries, and removed again.

Without a folder the two sets of memory/evaluation are measured. Queries without evidence measure over-recall. Before
the first `migrate` a temporary database is used.
"""

import json
import signal
import threading
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import BaseCommand, CommandError
from django.test.utils import override_settings
from django.utils import timezone
from django.utils.crypto import get_random_string
from tqdm import tqdm

from chat import knobs
from echovessel.db.sqlite.temporary import is_migrated, temporary_database
from echovessel.embeddings import embedding
from echovessel.embeddings.cosine_scale import read_scale
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.language import common_words
from memory import evaluation
from memory import knobs as memory_knobs
from memory.archive import ArchiveError, import_archive
from memory.archive.read import PASSES
from memory.evaluation import measures
from memory.management.commands.recall import aware, queries
from memory.recall import prepare, recall
from memory.store import calibration, vectors
from persona.models import Persona

ANSWERED = ("recall", "recall_at_5", "recall_at_10", "recall_at_20", "precision", "mrr", "tokens")
SCORINGS = {"bounded": 0, "classic": 1}
UNANSWERABLE = ("no_memory", "silent", "tokens")


def evaluated(persona: Persona, path: Path, budget: int, progress: Any = None) -> dict[str, Any]:
    """The measures of a data set's queries in `path`; `persona` remembers the data set."""
    answered: dict[str, list[dict[str, float]]] = defaultdict(list)
    unanswerable: dict[str, list[dict[str, float]]] = defaultdict(list)
    times = []
    prepare(persona.pk)
    common_words.prepare()
    calibration.ensure()
    for query in tqdm(list(queries(path / "queries.jsonl")), desc=path.name, file=progress, disable=progress is None):
        now = aware(query.now or timezone.now())
        recalled = recall(persona, query.turns, now=now, budget_tokens=budget)
        if query.relevant:
            answered[query.category].append(measures.answered(set(query.relevant), recalled))
        else:
            unanswerable[query.category].append(measures.unanswerable(recalled))
        times.append(recalled.xray.elapsed_ms)
    return {
        "queries": len(times),
        "all": measures.average([row for rows in answered.values() for row in rows]),
        "by_category": {name: measures.average(rows) for name, rows in sorted(answered.items())},
        "over_recall": {
            "all": measures.average([row for rows in unanswerable.values() for row in rows]),
            "by_category": {name: measures.average(rows) for name, rows in sorted(unanswerable.items())},
        },
        "elapsed_ms": measures.latency(times),
    }


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "dirs", nargs="*", type=Path, metavar="DIR", help="a folder with archive.jsonl and queries.jsonl"
        )
        parser.add_argument(
            "--budget", type=int, default=None, help="budget in tokens (default: the knob memory.recall_tokens)"
        )
        parser.add_argument(
            "--scoring",
            choices=SCORINGS,
            default="bounded",
            help="classic is the plain sum of the first design, for comparison (default: %(default)s)",
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print the figures as one JSON object")
        parser.add_argument("--save", type=Path, metavar="FILE", help="write the figures to this file, for --compare")
        parser.add_argument(
            "--compare",
            type=Path,
            metavar="FILE",
            help="compare with figures that --save wrote; the exit code is 1 if one fell by more than 0.01",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            earlier = json.loads(options["compare"].read_text(encoding="utf-8")) if options["compare"] else None
            if options["compare"] and not (isinstance(earlier, dict) and isinstance(earlier.get("sets"), dict)):
                raise ValueError("the file to compare with was not written by --save")
            run = self._run(options)
            if options["save"]:
                options["save"].write_text(json.dumps(run, ensure_ascii=False, indent=1), encoding="utf-8")
        except (OSError, ValueError, ArchiveError, EmbeddingUnavailable) as error:
            raise CommandError(str(error)) from error
        except KeyboardInterrupt:
            raise CommandError("interrupted; what was loaded is removed again", returncode=130) from None
        self.stdout.write(json.dumps(run, ensure_ascii=False) if options["as_json"] else "\n".join(_table(run)))
        if earlier is not None:
            # Print the differences on stderr, so that they do not disturb programs that read the figures.
            for name in ("budget", "embedding_model", "scoring"):
                if earlier.get(name, run[name]) != run[name]:
                    self.stderr.write(f"{name}: {earlier[name]} -> {run[name]}")
            changed = measures.changes(earlier["sets"], run["sets"])
            fallen = measures.regressions(changed)
            for name, (before, after) in changed.items():
                self.stderr.write(f"{name}: {before:.4f} -> {after:.4f}{'  worse' if name in fallen else ''}")
            if missing := sorted(earlier["sets"].keys() - run["sets"].keys()):
                self.stderr.write(f"not measured now: {', '.join(missing)}")
            if fallen:
                raise CommandError(f"{len(fallen)} figures fell by more than {measures.TOLERANCE}")

    def _run(self, options: Mapping[str, Any]) -> dict[str, Any]:
        budget = knobs.recall_tokens() if options["budget"] is None else options["budget"]
        if budget < 1:
            raise ValueError("--budget must be at least 1")
        plain = settings.KNOBS | {"memory.plain_sum": SCORINGS[options["scoring"]]}
        with nullcontext() if is_migrated() else temporary_database(), override_settings(KNOBS=plain):
            results = {}
            for path in options["dirs"] or evaluation.SETS.values():
                with _throw_away(path / "archive.jsonl", self.stderr) as persona:
                    results[path.name] = evaluated(persona, path, budget, self.stderr)
            _, dimension, _, cosines = vectors.in_use()
        run = {"budget": budget, "embedding_model": embedding.name(), "scoring": options["scoring"]}
        scale = read_scale(cosines)
        # The thresholds as cosines of the model in use.
        own = {
            "floor": scale.own("sharpened", 1 - 2 * (1 - memory_knobs.minimum_relevance()) ** 2),
            "answer": scale.own("query", memory_knobs.answering_relevance()),
            "same": scale.own("texts", memory_knobs.reinforce_cosine()),
        }
        thresholds = {name: round(cosine, 3) for name, cosine in own.items()}
        return run | {"dimensions": dimension, "cosines": thresholds, "sets": results}


@contextmanager
def _throw_away(archive: Path, progress: Any) -> Iterator[Persona]:
    """A persona with the memories of the archive, and an owner of their own; both are deleted afterwards."""
    owner = get_user_model().objects.create_user(f"eval-{get_random_string(12).lower()}", is_active=False)
    size, title = archive.stat().st_size * PASSES, f"{archive.parent.name}: loading"
    try:
        with archive.open("rb") as file, tqdm(total=size, desc=title, unit="B", unit_scale=True, file=progress) as bar:
            persona = import_archive(file, owner, progress=bar.update).persona
        yield persona
    finally:
        # Ctrl-C must not interrupt the deletion. (Only the main thread may set signal handlers.)
        is_main = threading.current_thread() is threading.main_thread()
        usual = signal.signal(signal.SIGINT, signal.SIG_IGN) if is_main else None
        try:
            owner.delete()
        finally:
            if is_main:
                signal.signal(signal.SIGINT, usual)


def _table(run: Mapping[str, Any]) -> Iterator[str]:
    results: Mapping[str, Mapping[str, Any]] = run["sets"]
    yield f"embedding model {run['embedding_model']}, budget {run['budget']} tokens, {run['scoring']} scoring"
    thresholds = ", ".join(f"{name} {cosine:.3f}" for name, cosine in run["cosines"].items())
    yield f"{run['dimensions']} dimensions; thresholds as its cosines: {thresholds}"
    if any(result["all"] for result in results.values()):
        yield from _part(results, "set", ANSWERED, lambda result: result)
    if any(result["over_recall"]["all"] for result in results.values()):
        yield from _part(results, "without evidence", UNANSWERABLE, lambda result: result["over_recall"])
    for data_set, result in results.items():
        steps = result["elapsed_ms"].items()
        yield f"ms {data_set}: " + ", ".join(f"{step} {value['p50']:.1f} / {value['p95']:.1f}" for step, value in steps)


def _part(results: Mapping[str, Mapping[str, Any]], title: str, names: Sequence[str], part: Any) -> Iterator[str]:
    """One table: a row for each set and each of its categories, and the mean of the sets."""
    yield f"{title:24}" + "".join(f"{name:>14}" for name in names)
    parts = {data_set: part(result) for data_set, result in results.items() if part(result)["all"]}
    for data_set, result in parts.items():
        yield _row(data_set, result["all"], names)
        for category, values in result["by_category"].items():
            yield _row(f"  {category}", values, names)
    if len(parts) > 1:
        yield _row("mean of sets", measures.average([result["all"] for result in parts.values()]), names)


def _row(title: str, values: Mapping[str, float], names: Sequence[str]) -> str:
    return f"{title:24}" + "".join(f"{values.get(name, 0.0):14.3f}" for name in names)
