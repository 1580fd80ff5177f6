"""Consolidate waiting sessions: enqueue them for the job worker, or do the work in this process."""

import math
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from chat.models import Session
from echovessel.embeddings.embedding import EmbeddingUnavailable
from echovessel.llm import LLMError
from memory import knobs
from memory.consolidation import rereading, runner
from memory.imports import cost
from memory.management import by_hand

Status = Session.Status


class Command(BaseCommand):
    help = (
        "Consolidate closed sessions that are waiting. The exit code is 1 if one of them has failed. With --again, "
        "sessions that were consolidated before there were facts, or in memory mode, are read again: prints the price, "
        "and --yes begins."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        which = parser.add_mutually_exclusive_group()
        which.add_argument(
            "--session", metavar="ID", help="only this session, by id or external id, even if it failed before"
        )
        which.add_argument("--all", action="store_true", help="all sessions that are waiting (default)")
        parser.add_argument("--again", action="store_true", help="read consolidated sessions again for facts")
        parser.add_argument("--persona", metavar="ID", help="with --again: only sessions of this persona")
        parser.add_argument("--yes", action="store_true", help="with --again: begin, or go on after an interruption")
        parser.add_argument(
            "--wait", action="store_true", help="do the work in this process, and return when nothing is waiting"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        sessions = Session.objects.all()
        if options["again"]:
            self.read_again(options)
            return
        if options["session"]:
            session = by_hand.session_by(options["session"])
            if session.status == Status.OPEN:
                raise CommandError("This session is still open: close it first (close_sessions).")
            sessions = sessions.filter(pk=session.pk)
            if not runner.retry(session):  # it may wait in a pause
                sessions.filter(status=Status.CLOSING, holder="").update(lease_until=None)
        if options["wait"]:
            by_hand.do_and_report(sessions, self)
        else:
            waiting = sessions & Session.objects.to_consolidate(timezone.now())
            self.stdout.write(f"{by_hand.enqueue(waiting)} handed to the job worker")

    def read_again(self, options: dict[str, Any]) -> None:
        """Print the price of reading the sessions again, and with --yes read them, oldest first."""
        sessions = Session.objects.all()
        if options["session"]:
            sessions = sessions.filter(pk=by_hand.session_by(options["session"]).pk)
        if options["persona"]:
            sessions = sessions.filter(persona=by_hand.find_persona(options["persona"]))
        waiting = rereading.to_read_again(sessions)
        tokens = list(waiting.values_list("token_count", flat=True))
        calls = sum(math.ceil(max(1, count) / knobs.chunk_tokens()) for count in tokens)
        price = cost.estimate_job(calls, sum(tokens))
        dollars = "price unknown" if price.dollars is None else f"about ${price.dollars:.2f}"
        paid = f"{price.calls} calls, {price.tokens_in + price.tokens_out} tokens, {dollars}"
        self.stdout.write(f"{len(tokens)} sessions to read again: {paid if price.is_connected else 'free'}")
        if not options["yes"]:
            if tokens:
                self.stdout.write("Nothing was done. Run it with --yes to begin.")
            return
        done_count = 0
        for key in list(waiting.values_list("pk", flat=True)):
            try:
                done_count += rereading.read_again(key, timezone.now)
            except (LLMError, EmbeddingUnavailable) as error:
                sessions_left = rereading.to_read_again(sessions).count()
                reason = error.code if isinstance(error, LLMError) else type(error).__name__
                raise CommandError(
                    f"Stopped ({reason}): {done_count} were read, {sessions_left} are left. Run it again."
                ) from error
        self.stdout.write(f"{done_count} sessions were read again")
