"""Show what recall finds for a message: as a table, or as one JSON line per query."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel, ValidationError

from chat import knobs
from memory.recall import Recall, prepare, recall
from memory.web.presenters.recall_reasons import ARMS, PARTS, RULES, describe_empty, describe_left_out
from persona.lookup import NoSuchPersona, persona_by


class QueryLine(BaseModel):
    """One line of a queries file (design/archive.md); `relevant` and `category` are for the evaluation."""

    id: str
    turns: list[str]
    now: datetime | None = None
    relevant: list[str] = []
    category: str = ""


def queries(path: Path) -> Iterator[QueryLine]:
    """The queries of a JSON Lines file. Raises ValueError with the number of an invalid line."""
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                try:
                    yield QueryLine.model_validate_json(line)
                except ValidationError as error:
                    fault = error.errors(include_url=False, include_input=False)[0]
                    raise ValueError(f"{path}, line {number}: {fault['loc']}: {fault['msg']}") from error


def aware(moment: datetime) -> datetime:
    """Add the default time zone to a moment without one."""
    return moment if timezone.is_aware(moment) else moment.replace(tzinfo=timezone.get_default_timezone())


def result(query: QueryLine, budget: int, recalled: Recall, *, with_xray: bool = False) -> dict[str, Any]:
    """A result line (design/archive.md), with the reason if it is empty."""
    record = {
        "id": query.id,
        "budget": budget,
        "tokens": recalled.xray.tokens,
        "elapsed_ms": recalled.xray.elapsed_ms,
        "items": [item.as_json() for item in recalled.items],
        "empty_reason": recalled.xray.empty_reason,
    }
    return record | {"xray": recalled.xray.as_json()} if with_xray else record


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        # Otherwise argparse counts an optional argument after an option as missing: PERSONA --turn LINE TEXT.
        parser.parse_args = parser.parse_intermixed_args  # type: ignore[method-assign]
        parser.add_argument("persona", help="its id, or its external id if that is unique")
        parser.add_argument("text", nargs="?", help="the owner's message")
        parser.add_argument(
            "--turn", action="append", default=[], help="an earlier message of the owner, oldest first; repeatable"
        )
        parser.add_argument(
            "--queries", type=Path, metavar="Q.jsonl", help="a file with one query per line, instead of TEXT"
        )
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object per query")
        parser.add_argument(
            "--xray", action="store_true", help="also print every candidate, the parts of its score, and the verdict"
        )
        parser.add_argument(
            "--budget", type=int, default=None, help="budget in tokens (default: the knob memory.recall_tokens)"
        )
        parser.add_argument(
            "--now",
            type=datetime.fromisoformat,
            default=None,
            metavar="ISO",
            help="recall as of this time (default: now)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        budget = knobs.recall_tokens() if options["budget"] is None else options["budget"]
        if budget < 1:
            raise CommandError("--budget must be at least 1")
        try:
            persona = persona_by(options["persona"])
            prepare(persona.pk)
            if (options["text"] is None) == (options["queries"] is None):
                raise CommandError("give either a text or --queries FILE")
            typed = iter([QueryLine(id="1", turns=[*options["turn"], options["text"] or ""])])
            for query in typed if options["queries"] is None else queries(options["queries"]):
                now = aware(query.now or options["now"] or timezone.now())
                recalled = recall(persona, query.turns, now=now, budget_tokens=budget)
                if options["as_json"]:
                    record = result(query, budget, recalled, with_xray=options["xray"])
                    self.stdout.write(json.dumps(record, ensure_ascii=False))
                else:
                    self.stdout.write("\n".join(_table(query, budget, recalled)))
                    for row in recalled.xray.candidates if options["xray"] else ():
                        # The score of a candidate, its layer and id, its verdict, and the parts of the score.
                        verdict, parts = RULES.get(row.verdict, row.verdict), row.parts.items()
                        scores = ", ".join(f"{PARTS.get(name, name)} {value:.3f}" for name, value in parts)
                        self.stdout.write(f"{row.score:6.2f}  {row.layer}  {row.id}  {verdict}: {scores}")
        except (NoSuchPersona, ValueError, OSError) as error:
            raise CommandError(str(error)) from error


def _table(query: QueryLine, budget: int, recalled: Recall) -> Iterator[str]:
    yield f"query {query.id}: {' | '.join(query.turns)}"
    for arm in recalled.xray.arms:
        hits = f"{_('skipped:')} {arm.skipped}" if arm.skipped else f"{arm.found} ({arm.ms:.1f} ms)"
        yield f"  {ARMS.get(arm.name, arm.name)}: {hits}"
    for item in recalled.items:
        yield f"{item.score:6.2f}  {item.layer}  {item.tokens:4d}  {item.text}"
    if not recalled.items:
        yield describe_empty(recalled.xray.empty_reason)
    if aside := describe_left_out(recalled.xray.as_json()):
        yield f"{_('Considered, but not used:')} {', '.join(f'{rule}: {count}' for rule, count in aside)}"
    yield _("%(tokens)s of %(budget)s tokens used") % {"tokens": recalled.xray.tokens, "budget": budget}
    yield ", ".join(f"{step} {ms:.1f} ms" for step, ms in recalled.xray.elapsed_ms.items())
