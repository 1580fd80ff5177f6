"""Where the replies to one structured question are stored, so that a repeat of it never pays for them again."""

from collections.abc import Sequence
from typing import Protocol

from echovessel.llm.request import Reply


class ReplyStore(Protocol):
    """The replies to one question, stored wherever a repeat of the question will look for them."""

    def load(self) -> Sequence[Reply]:
        """The replies so far, in order: they are used as they are, without asking."""
        ...

    def save(self, number: int, reply: Reply) -> None:
        """Store the `number`-th reply (from 0). Called inside the transaction that enters the call in the ledger."""
        ...
