"""What a restore asks of the apps above: that what was forgotten since the backup is forgotten in it once more.

The setting FORGET_REPLAY names the module that does it, so that the frame imports no app.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from importlib import import_module
from typing import Any, Protocol, cast
from uuid import UUID

from django.conf import settings


class Hit(Protocol):
    """Where something that was forgotten still stands: a table and column or a file, and in which form."""

    @property
    def place(self) -> str: ...

    @property
    def form(self) -> str: ...


@dataclass(frozen=True)
class ForgetLog:
    """What a database tells of what was forgotten in it. `key_id` is that of the installation then."""

    receipts: Sequence[Mapping[str, Any]] = ()
    tombstones: Sequence[Mapping[str, Any]] = ()
    withheld: frozenset[UUID] = frozenset()
    key_id: str = ""


@dataclass
class Replayed:
    """What was done again: `receipts` that were new here, rows that went by table, `withheld` messages, tombstones that
    were set and those that could not be; `accounts` that stay because nobody could look after the installation without
    them; and what could be found of it all the same."""

    receipts: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    withheld: int = 0
    tombstones_set: int = 0
    tombstones_of_another_key: int = 0
    accounts: list[int] = field(default_factory=list)
    left: Sequence[Hit] = ()


class ForgetReplay(Protocol):
    def read_log(self) -> ForgetLog:
        """What the database that is open now tells. Raises DatabaseError for one that is not of this version."""
        ...

    def settle(self, now: datetime) -> None:
        """End what processes of the backup's time had begun and none will finish."""
        ...

    def replay(self, log: ForgetLog, now: datetime) -> Replayed:
        """Forget it in the database that is open now, all or nothing, and erase the bytes."""
        ...

    def check(self, now: datetime) -> dict[str, int]:
        """The invariants that do not hold, counted: all 0 in a memory that is in order."""
        ...


def forget_replay() -> ForgetReplay:
    return cast(ForgetReplay, import_module(settings.FORGET_REPLAY))
