"""The interface by which a restore asks the apps to repeat what was forgotten since the backup.

The setting FORGET_REPLAY names the module that implements it, so that this package imports no app.
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
    """A place where something forgotten is still found: a table and column or a file, and in which form."""

    @property
    def place(self) -> str: ...

    @property
    def form(self) -> str: ...


@dataclass(frozen=True)
class ForgetLog:
    """What a database records about forgetting. `key_id` identifies the installation's tombstone key at the time."""

    receipts: Sequence[Mapping[str, Any]] = ()
    tombstones: Sequence[Mapping[str, Any]] = ()
    withheld: frozenset[UUID] = frozenset()
    key_id: str = ""


@dataclass
class ReplayResult:
    """The result of a replay: `receipts` that were new here, deleted rows by table, `withheld` messages, tombstones
    that were set and those of another key; `accounts` that were kept because otherwise nobody could administer the
    installation; and traces that were found all the same."""

    receipts: int = 0
    rows: Counter[str] = field(default_factory=Counter)
    withheld: int = 0
    tombstones_added: int = 0
    tombstones_of_another_key: int = 0
    accounts: list[int] = field(default_factory=list)
    hits: Sequence[Hit] = ()


class ForgetReplay(Protocol):
    def read_log(self) -> ForgetLog:
        """Read the log of the current database. Raises DatabaseError if it is not of this version."""
        ...

    def settle(self, now: datetime) -> None:
        """End what processes of the backup's time had begun and nobody will finish."""
        ...

    def replay(self, log: ForgetLog, now: datetime) -> ReplayResult:
        """Forget it in the current database, all or nothing, and erase the bytes."""
        ...

    def check(self, now: datetime) -> dict[str, int]:
        """The number of violations of each invariant: all 0 in a memory that is in order."""
        ...


def forget_replay() -> ForgetReplay:
    return cast(ForgetReplay, import_module(settings.FORGET_REPLAY))
