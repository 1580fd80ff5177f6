"""Where the replies to one structured question are kept, so that a repeat of the question never pays for them again."""

from collections.abc import Sequence
from typing import Protocol

from echovessel.llm.request import Reply


class Journal(Protocol):
    """The replies to one question, which its asker keeps wherever a repeat of the question will look for them."""

    def heard(self) -> Sequence[Reply]:
        """What was said to the question so far, in order: used as it is, without asking."""
        ...

    def keep(self, number: int, reply: Reply) -> None:
        """Store the `number`-th reply (from 0). Called inside the transaction that enters the call in the ledger."""
        ...
