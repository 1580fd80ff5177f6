"""Verify that something is forgotten: search every table, index and file for it."""

import json
import sys
from itertools import chain
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser

from echovessel.embeddings.embedding import EmbeddingUnavailable
from memory.forgetting import verify
from memory.forgetting.verify import Proof
from memory.models import Receipt

FOUND, PENDING = 1, 2


class Command(BaseCommand):
    help = (
        "Search every table, index, vector and file for what was forgotten. The exit code is 1 if something is left, 2 "
        "if bytes are still to be erased, else 0. --text searches for these words wherever they stand. --receipt "
        "searches for deleted ids, and for any eight words in a row of deleted text; kept messages with the same words "
        "are only counted."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument(
            "--text", nargs="+", metavar="TEXT", help="texts to search for; - reads them from stdin, one per line"
        )
        what.add_argument("--receipt", nargs="+", type=UUID, metavar="ID", help="ids of receipts")
        what.add_argument("--all", action="store_true", help="all receipts")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        receipt_ids = options["receipt"]
        chosen_receipts = (
            Receipt.objects.order_by("id") if receipt_ids is None else Receipt.objects.filter(uuid__in=receipt_ids)
        )
        receipts = [] if options["text"] else list(chosen_receipts)
        if missing := {*(receipt_ids or ())} - {receipt.uuid for receipt in receipts}:
            raise CommandError(f"there is no receipt {min(map(str, missing))}")
        pending = [str(receipt.uuid) for receipt in receipts if receipt.status == Receipt.Status.PENDING]
        try:
            if options["text"]:
                text_lines = (sys.stdin.read().splitlines() if text == "-" else [text] for text in options["text"])
                proof = Proof(verify.find_texts(list(chain.from_iterable(text_lines))), 0)
            else:
                proof = verify.prove(receipts)
        except EmbeddingUnavailable as error:
            raise CommandError(f"{error}. Without it vectors cannot be looked through.") from error
        hits = proof.hits
        if options["json"]:
            report = {"hits": [vars(hit) for hit in hits], "pending": pending, "kept_messages": proof.kept_messages}
            self.stdout.write(json.dumps(report))
        else:
            if proof.kept_messages:
                self.stdout.write(f"the same words also stand in {proof.kept_messages} messages that were kept")
            for hit in hits:
                self.stdout.write(f"{hit.form:7} {hit.place}{'' if hit.key is None else f' row {hit.key}'}")
            if not hits and not pending:
                self.stdout.write("nothing of it is left")
        if hits:
            raise CommandError(f"found: {len(hits)}", returncode=FOUND)
        if pending:
            raise CommandError(f"bytes are still to be erased: {', '.join(pending)}", returncode=PENDING)
