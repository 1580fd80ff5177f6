"""Show what lines bring to mind: as a table for people, or one JSON line per query for programs."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.utils import timezone
from pydantic import BaseModel, ValidationError

from chat import knobs
from memory.recall import Recall, recall
from persona.lookup import NoSuchPersona, persona_by


class QueryLine(BaseModel):
    """One line of a queries file (design/archive.md); `relevant` and `category` are for the evaluation."""

    id: str
    turns: list[str]
    now: datetime | None = None
    relevant: list[str] = []
    category: str = ""


def queries(path: Path) -> Iterator[QueryLine]:
    """The queries of a JSON Lines file. Raises ValueError with the number of a line that is none."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield QueryLine.model_validate_json(line)
                except ValidationError as error:
                    fault = error.errors(include_url=False, include_input=False)[0]
                    raise ValueError(f"{path}, line {number}: {fault['loc']}: {fault['msg']}") from error


def aware(moment: datetime) -> datetime:
    """A moment without a zone is taken in UTC."""
    return moment if timezone.is_aware(moment) else moment.replace(tzinfo=timezone.get_default_timezone())


def result(query: QueryLine, budget: int, found: Recall) -> dict[str, Any]:
    """A result line (design/archive.md)."""
    return {
        "id": query.id,
        "budget": budget,
        "tokens": found.xray.tokens,
        "elapsed_ms": found.xray.elapsed_ms,
        "items": [item.as_json() for item in found.items],
    }


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("persona", help="id, or external id where it is unique")
        parser.add_argument("text", nargs="?", help="the user's current line")
        parser.add_argument("--turn", action="append", default=[], help="an earlier line; the oldest first")
        parser.add_argument("--queries", type=Path, metavar="Q.jsonl")
        parser.add_argument("--json", action="store_true", dest="as_json")
        parser.add_argument("--budget", type=int, default=None, help="tokens; default memory.recall_tokens")
        parser.add_argument("--now", type=datetime.fromisoformat, default=None, metavar="ISO")

    def handle(self, *args: Any, **options: Any) -> None:
        budget = knobs.recall_tokens() if options["budget"] is None else options["budget"]
        if budget < 1:
            raise CommandError("--budget must be at least 1")
        try:
            persona = persona_by(options["persona"])
            for query in self._asked(options):
                now = aware(query.now or options["now"] or timezone.now())
                found = recall(persona, query.turns, now=now, budget_tokens=budget)
                self._tell(query, budget, found, options["as_json"])
        except (NoSuchPersona, ValueError, OSError) as error:
            raise CommandError(str(error)) from error

    def _asked(self, options: dict[str, Any]) -> Iterator[QueryLine]:
        if (options["text"] is None) == (options["queries"] is None):
            raise CommandError("give either a text or --queries FILE")
        if options["queries"] is not None:
            return queries(options["queries"])
        return iter([QueryLine(id="1", turns=[*options["turn"], options["text"]])])

    def _tell(self, query: QueryLine, budget: int, found: Recall, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(result(query, budget, found), ensure_ascii=False))
        else:
            self.stdout.write("\n".join(_table(query, budget, found)))


def _table(query: QueryLine, budget: int, found: Recall) -> Iterator[str]:
    yield f"query {query.id}: {' | '.join(query.turns)}"
    arms = (f"{arm.name} {arm.skipped or arm.found} ({arm.ms:.1f} ms)" for arm in found.xray.arms)
    yield f"arms: {'; '.join(arms)}"
    for item in found.items:
        yield f"{item.score:6.2f}  {item.layer}  {item.tokens:4d}  {item.text}"
    if not found.items:
        yield f"nothing: {found.xray.empty_reason.replace('_', ' ')}"
    yield f"{found.xray.tokens} of {budget} tokens; {found.xray.elapsed_ms}"
