"""Leases: a row that one worker holds from step to step, until it is released or the lease expires; the processes that
hold them; and the replies of a model that a step has paid for.

The holder's name is a fencing token. Every lease has a name of its own, and a step commits only while the row still has
it. So a worker that was given up for dead cannot write to the database after its successor began.
"""

import os
import secrets
import socket
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from django.db import transaction
from django.db.models import F, Manager, Model, Q, QuerySet

from echovessel.jobs import knobs
from echovessel.llm import Reply, Usage

HOST = socket.gethostname()

# --- processes as holders ---
_tokens: dict[int, str] = {}  # by pid: a forked child is another process


def current_process() -> str:
    """This process as a holder, "host:pid:token": an earlier process with the same pid had another token."""
    pid = os.getpid()
    return f"{HOST}:{pid}:{_tokens.setdefault(pid, secrets.token_hex(4))}"


def new_holder() -> str:
    """This process as the holder of one lease, "host:pid:token:lease". Every call returns another name, which is the
    fencing token of that lease."""
    return f"{current_process()}:{secrets.token_hex(4)}"


def is_dead(holder: str) -> bool:
    """Whether a holder is known to be dead: a process of this host that no longer runs. Others may be alive."""
    pid = _local_pid(holder)
    if pid is None:
        return False
    if pid == os.getpid():
        return not f"{holder}:".startswith(f"{current_process()}:")
    return not _runs(pid)


def is_other_running_process(holder: str) -> bool:
    """Whether a holder is another running process of this host, as far as its pid shows."""
    pid = _local_pid(holder)
    return pid is not None and pid != os.getpid() and _runs(pid)


def _local_pid(holder: str) -> int | None:
    """The pid of a holder on this host; None for any other."""
    host, _colon, pid_and_token = holder.partition(":")
    pid = pid_and_token.partition(":")[0]
    return int(pid) if host == HOST and pid.isdecimal() else None


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:  # a zombie is dead and only waits for its parent; its state is readable on Linux only
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[:1] != ["Z"]


# --- leases ---
Clock = Callable[[], datetime]
Row = TypeVar("Row", bound=Model)


class LeaseLost(Exception):
    """The lease expired or was revoked: the row is no longer ours."""


@dataclass
class Lease(Generic[Row]):
    """A row that we hold, as it was when we acquired it."""

    row: Row
    clock: Clock

    @classmethod
    def acquire(cls, rows: QuerySet[Row], free: QuerySet[Row], clock: Clock, **values: Any) -> Self | None:
        """Acquire a lease on the one row of `rows` and store these values with it, if it is one of the `free`; else
        return None. A row whose holder is dead is free."""
        reclaim_dead(rows)
        holder = new_holder()
        lease = {"holder": holder, "lease_until": expiry(clock()), "attempts": F("attempts") + 1}
        row = rows.filter(holder=holder).first() if free.update(**lease, **values) else None
        return cls(row, clock) if row else None

    def leased_row(self) -> QuerySet[Row]:
        """The row, while we hold it."""
        row: Any = self.row
        return type(self.row)._default_manager.filter(pk=row.pk, holder=row.holder)

    def attempts(self) -> int:
        """The number of attempts at the current step, including this one. Raises LeaseLost."""
        attempts = self.leased_row().values_list("attempts", flat=True).first()
        if attempts is None:
            raise LeaseLost
        return attempts

    def checkpoint(self) -> None:
        """Mark a step as done: the next one gets all its attempts and a full lease. Call in the transaction that stores
        the step's results, so that it commits only while we hold the row. Raises LeaseLost."""
        self._update(attempts=1, lease_until=expiry(self.clock()))

    def renew(self) -> None:
        """Extend the lease to its full length in the middle of a step. Raises LeaseLost."""
        self._update(lease_until=expiry(self.clock()))

    def release(self, **values: Any) -> None:
        """Release the row and store these values; with `lease_until` nobody acquires it before then. Raises
        LeaseLost."""
        self._update(**{"holder": "", "lease_until": None} | values)

    def _update(self, **values: Any) -> None:
        if not self.leased_row().update(**values):
            raise LeaseLost


def available(now: datetime) -> Q:
    """Rows that are not leased and not waiting for a retry."""
    return Q(lease_until=None) | Q(lease_until__lt=now)


def reclaim_dead(rows: QuerySet[Any]) -> int:
    """Free the rows whose holder is known to be dead, without waiting for their leases; returns how many."""
    holders = set(rows.exclude(holder="").order_by().values_list("holder", flat=True))
    dead = [holder for holder in holders if is_dead(holder)]
    return rows.filter(holder__in=dead).update(holder="", lease_until=None) if dead else 0


def expiry(now: datetime) -> datetime:
    return now + timedelta(seconds=knobs.lease_seconds())


# --- paid replies, stored until a step has used them ---
class LeasedReplyStore:
    """Stored replies to one question (`echovessel.llm.ReplyStore`), written only while we hold a lease.

    `rows` is the manager of a model with `number`, `text`, `whole` and `usage`; `question` are the values of its other
    columns, by which a repeat of the step finds the replies. With `is_checkpoint` each reply counts as a step.
    """

    def __init__(self, lease: Lease[Any], rows: Manager[Any], *, is_checkpoint: bool = False, **question: Any) -> None:
        self.lease, self.rows, self.is_checkpoint, self.question = lease, rows, is_checkpoint, question

    def load(self) -> Sequence[Reply]:
        rows = self.rows.filter(**self.question).order_by("number")
        return [Reply(row.text, row.whole, Usage(**row.usage)) for row in rows]

    def save(self, number: int, reply: Reply) -> None:
        """Store the reply only while we hold the lease. Check and write are one transaction: forgetting revokes the
        lease and deletes the stored replies, and none may be added afterwards."""
        with transaction.atomic():
            if not self.lease.leased_row().exists():
                return
            if self.is_checkpoint:
                self.lease.checkpoint()
            values = {"text": reply.text, "whole": reply.whole, "usage": asdict(reply.usage)}
            self.rows.create(**self.question, number=number, **values)
