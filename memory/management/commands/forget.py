"""Forget for good: print the plan, or carry it out and print the receipt."""

import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder
from django.utils import timezone

from memory import forgetting
from memory.forgetting import (
    REASONS,
    REVERT_IMPORT,
    Busy,
    Choice,
    InvalidChoice,
    Plan,
    PlanChanged,
    make_choice,
)
from memory.forgetting.types import MENTION_MODES
from memory.management.by_hand import find_persona
from memory.models import Receipt
from memory.web.serializers import serialize_plan, serialize_receipt
from persona.models import Persona

KINDS = ("node", "message", "session", "entity", "import")
MENTIONS = ("suggested", *MENTION_MODES)
MAX_WAIT_SECONDS = 60
PAUSE_SECONDS = 0.5
TRIES = 3


class Command(BaseCommand):
    help = (
        "Forget what is named, with everything derived from it. --plan only prints what would be deleted; --yes does "
        "it. An import can also be reverted with --take-back, so that the same file can be imported again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--persona", metavar="ID", required=True, help="the persona, by id or external id")
        for kind in KINDS:
            parser.add_argument(
                f"--{kind}", metavar="ID", action="append", default=[], help=f"forget this {kind}; repeatable"
            )
        dependents = parser.add_mutually_exclusive_group()
        dependents.add_argument("--cascade", action="store_true", help="delete memories that rest on it, too (default)")
        dependents.add_argument("--orphan", action="store_true", help="keep memories that also rest on something else")
        dependents.add_argument(
            "--take-back",
            action="store_true",
            help="with --import: delete only what was imported; the same file can be imported again",
        )
        messages = parser.add_mutually_exclusive_group()
        messages.add_argument(
            "--with-messages", action="store_true", help="delete the messages it came from, too (default)"
        )
        messages.add_argument(
            "--keep-messages",
            action="store_true",
            help="withhold the messages it came from: they stay in the history, and no model reads them",
        )
        parser.add_argument(
            "--staying",
            metavar="ID",
            action="append",
            default=[],
            help="keep this memory, if the plan allows it; repeatable",
        )
        parser.add_argument(
            "--mentions",
            choices=MENTIONS,
            default="suggested",
            help="what happens to other messages that mention it (default: what --plan proposes for each)",
        )
        for mode, meaning in (("forget", "delete"), ("withhold", "withhold"), ("leave", "keep")):
            parser.add_argument(
                f"--{mode}-mention",
                metavar="ID",
                action="append",
                default=[],
                help=f"{meaning} this message, which also mentions it; repeatable",
            )
        action = parser.add_mutually_exclusive_group()
        action.add_argument("--plan", action="store_true", help="print what would be deleted, and change nothing")
        action.add_argument("--yes", action="store_true", help="carry the plan out")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        persona = find_persona(options["persona"])
        try:
            targets = [forgetting.target_of(persona, kind, name) for kind in KINDS for name in options[kind]]  # type: ignore[arg-type]
        except LookupError as error:
            raise CommandError(str(error)) from error
        if not targets:
            raise CommandError(f"Say what is to be forgotten: {', '.join(f'--{kind}' for kind in KINDS)}.")
        plan = forgetting.plan(targets, _read_choice(persona, options))
        if options["yes"]:
            receipt = _execute(plan)
            if options["json"]:
                self._print_json({"receipt": receipt.uuid} | serialize_receipt(receipt))
                return
            self._print_counts(receipt.counts)
            if kept_messages := receipt.choice.get("kept_elsewhere"):
                self.stdout.write(f"the same words also stand in {kept_messages} messages that were kept")
            self.stdout.write(f"receipt {receipt.uuid}: {receipt.get_status_display()}")
            return
        if options["json"]:
            self._print_json(serialize_plan(plan))
        else:
            rows = [(section, row) for section, affected in plan.sections.items() for row in affected]
            for section, row in rows:
                self.stdout.write(f"{section:<10} {row.kind:<12} {' '.join(row.text.split())}  ({REASONS[row.why]})")
            for row in plan.mentioned:
                text = " ".join(row.text.split())
                self.stdout.write(f"mentioned  {row.mode:<12} {row.uuid} {text}  ({REASONS[row.why]})")
            self._print_counts(plan.counts)
        if not options["plan"]:
            raise CommandError("Nothing was done. Say --yes to do it, or --plan to only look.")

    def _print_json(self, value: dict[str, Any]) -> None:
        self.stdout.write(json.dumps(value, ensure_ascii=False, cls=DjangoJSONEncoder))

    def _print_counts(self, counts: Any) -> None:
        for name, count in counts.items():
            self.stdout.write(f"{count:>8}  {name}")


def _read_choice(persona: Persona, options: Any) -> Choice:
    if options["take_back"]:
        if any(options[kind] for kind in KINDS if kind != "import"):
            raise CommandError("Only what came in from a file can be taken back: say --import.")
        return REVERT_IMPORT
    modes = ((mode, reference) for mode in MENTION_MODES for reference in options[f"{mode}_mention"])
    try:
        return make_choice(
            "orphan" if options["orphan"] else Choice.dependents,
            "withhold" if options["keep_messages"] else Choice.messages,
            options["mentions"],
            [(forgetting.target_of(persona, "message", reference).key, mode) for mode, reference in modes],
            [forgetting.target_of(persona, "node", reference).key for reference in options["staying"]],
        )
    except LookupError as error:
        raise CommandError(str(error)) from error
    except InvalidChoice as error:
        raise CommandError("Each message can be named only once.") from error


def _execute(plan: Plan) -> Receipt:
    """Forget; waits while a reply is being written, and uses the new plan if it changed meanwhile."""
    deadline = time.monotonic() + MAX_WAIT_SECONDS
    tries = 0
    while tries < TRIES:
        try:
            return forgetting.forget(plan, None, timezone.now())
        except PlanChanged as changed:
            plan, tries = changed.plan, tries + 1
        except Busy as error:
            if time.monotonic() > deadline:
                raise CommandError("A reply is being written. Nothing was done; try again in a moment.") from error
            time.sleep(PAUSE_SECONDS)
    raise CommandError("The plan keeps changing. Nothing was done; try again in a moment.")
