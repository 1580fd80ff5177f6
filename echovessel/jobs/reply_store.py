"""Replies of a model, stored from the moment they are paid for until a step has used them."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.db import transaction
from django.db.models import Manager

from echovessel.jobs.lease import Lease
from echovessel.llm import Reply, Usage


class LeasedReplyStore:
    """The replies to one question (`echovessel.llm.ReplyStore`), stored only while we hold a lease.

    `rows` are those of a model with `number`, `text`, `whole` and `usage`; `question` are the values of its other
    columns by which a repeat of the step finds them. With `is_checkpoint` each reply is a step of its own.
    """

    def __init__(self, lease: Lease[Any], rows: Manager[Any], *, is_checkpoint: bool = False, **question: Any) -> None:
        self.lease, self.rows, self.is_checkpoint, self.question = lease, rows, is_checkpoint, question

    def load(self) -> Sequence[Reply]:
        rows = self.rows.filter(**self.question).order_by("number")
        return [Reply(row.text, row.whole, Usage(**row.usage)) for row in rows]

    def save(self, number: int, reply: Reply) -> None:
        """Store the reply only while we hold the lease. Both in one transaction: whoever revokes the lease to forget
        something of the row has deleted its replies by then."""
        with transaction.atomic():
            if not self.lease.leased_row().exists():
                return
            if self.is_checkpoint:
                self.lease.checkpoint()
            values = {"text": reply.text, "whole": reply.whole, "usage": asdict(reply.usage)}
            self.rows.create(**self.question, number=number, **values)
