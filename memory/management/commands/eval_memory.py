"""Measure remembering: told stories go through the whole pipeline, and what is kept is compared with the truth.

The model that is connected answers, or memory's own rules where none is. With --replay the replies of a capable model
are used that were recorded for the shipped stories: a prompt that has changed since is named, and fails the run, for
an old reply tells nothing about it. Everything happens in a throw-away database.
"""

import json
from argparse import ArgumentParser
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from tqdm import tqdm

from chat.models import Message
from echovessel.db.sqlite.temporary import temporary_database
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.llm.providers import provider_name
from memory.evaluation import measures, memory_measures, reply_recording, stories
from memory.evaluation.memory_measures import Share
from memory.evaluation.stories import Story
from memory.evaluation.story_run import run_story


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stories", type=Path, default=stories.FOLDER, metavar="DIR", help="a JSON file for each")
        parser.add_argument("--only", action="append", default=[], metavar="ID", help="only this story; repeatable")
        parser.add_argument("--replay", action="store_true", help="answer with the recorded replies")
        parser.add_argument(
            "--record",
            type=Path,
            metavar="DIR",
            help="replay; write each prompt without a reply to DIR (.prompt.txt), and use a .reply.json beside it",
        )
        parser.add_argument(
            "--replies", type=Path, default=reply_recording.FOLDER, metavar="DIR", help="recorded replies"
        )
        parser.add_argument("--json", action="store_true", dest="as_json")
        parser.add_argument("--save", type=Path, metavar="FILE", help="save the figures, to compare with later runs")
        parser.add_argument(
            "--compare", type=Path, metavar="FILE", help="fail if a figure fell by more than 0.01 since this run"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            every_story = stories.read_stories(options["stories"])
            if unknown := set(options["only"]) - {story.id for story in every_story}:
                raise ValueError(f"no such story: {', '.join(sorted(unknown))}")
            chosen_stories = [story for story in every_story if story.id in (options["only"] or [story.id])]
            earlier = json.loads(options["compare"].read_text(encoding="utf-8")) if options["compare"] else None
            run = self._run(chosen_stories, options)
            if options["save"]:
                options["save"].write_text(json.dumps(run, ensure_ascii=False, indent=1), encoding="utf-8")
        except (OSError, ValueError, EmbeddingUnavailable) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(json.dumps(run, ensure_ascii=False) if options["as_json"] else "\n".join(_table(run)))
        problems = [f"prompts changed since: {', '.join(run['outdated'])}"] if run["outdated"] else []
        problems += [f"no reply yet: {', '.join(run['missing'])}"] if run["missing"] else []
        if earlier is not None:
            changed = measures.changes({"all": earlier["all"]}, {"all": run["all"]})
            fallen = measures.regressions(changed)
            for name, (before, after) in changed.items():
                self.stderr.write(f"{name}: {before:.4f} -> {after:.4f}{'  worse' if name in fallen else ''}")
            problems += [f"{len(fallen)} figures fell by more than {measures.TOLERANCE}"] if fallen else []
        if problems:
            raise CommandError("; ".join(problems))

    def _run(self, chosen_stories: list[Story], options: Mapping[str, Any]) -> dict[str, Any]:
        replays = options["replay"] or options["record"] is not None
        if options["record"]:
            options["record"].mkdir(parents=True, exist_ok=True)
            options["replies"].mkdir(parents=True, exist_ok=True)
        results: dict[str, dict[str, Share]] = {}
        costs: dict[str, float] = defaultdict(float)
        outdated, missing, changed = [], [], []
        with temporary_database():
            model = "recorded" if replays else provider_name()
            for story in tqdm(chosen_stories, file=self.stderr):
                messages: dict[str, Message] = {}
                with ExitStack() as stack:
                    if replays:
                        replay = reply_recording.replayed(story, messages, options["replies"], options["record"])
                        recording = stack.enter_context(replay)
                    run = run_story(story, messages=messages)
                if replays:
                    outdated += [f"{story.id}.{name}" for name in recording.outdated]
                    missing += [f"{story.id}.{name}" for name in recording.missing]
                    changed += [f"{story.id}.{name}" for name in recording.changed_input]
                    if recording.missing:
                        continue
                elif run.failure:
                    raise ValueError(f"{story.id}, session {run.failure}")
                messages_alone = run_story(story, consolidate=False)
                results[story.id] = (
                    memory_measures.judge(story, run)
                    | memory_measures.ask(story, run, "memories and messages")
                    | memory_measures.ask(story, messages_alone, "messages alone")
                )
                for name, value in memory_measures.cost(run).items():
                    costs[name] += value / len(story.sessions) / len(chosen_stories)
        return {
            "model": model,
            "sessions": sum(len(story.sessions) for story in chosen_stories),
            "all": _average(results.values()),
            "by_story": {name: _average([shares]) for name, shares in results.items()},
            "cost of a session": dict(costs),
            "outdated": outdated,
            "missing": missing,
            "changed_input": changed,
        }


def _average(results: Any) -> dict[str, float]:
    """The mean of each measure over all of its cases; measures without cases are left out."""
    sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for shares in results:
        for name, (hits, of) in shares.items():
            sums[name][0] += hits
            sums[name][1] += of
    return {name: round(hits / of, 4) for name, (hits, of) in sums.items() if of}


def _table(run: Mapping[str, Any]) -> Iterator[str]:
    names = list(run["by_story"])
    yield f"model {run['model']}, {run['sessions']} sessions"
    yield f"{'':44}{'all':>8}" + "".join(f"{name:>8}" for name in names)
    for measure, value in run["all"].items():
        row = (run["by_story"][name].get(measure) for name in names)
        yield f"{measure:44}{value:8.3f}" + "".join(
            f"{story_value:8.3f}" if story_value is not None else f"{'-':>8}" for story_value in row
        )
    yield ", ".join(f"{name} {value:,.4g}" for name, value in run["cost of a session"].items()) + " a session"
    if run["changed_input"]:
        yield f"asked of other lines or memories than when recorded: {', '.join(run['changed_input'])}"
