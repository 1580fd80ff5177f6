"""How many things of one owner go on at a time in this process: streams that are open, replies that are waited for."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


class NoneFree(Exception):
    """As many as may be go on already."""


class Slots:
    """Counts by owner."""

    def __init__(self) -> None:
        self._taken: Counter[int] = Counter()

    @contextmanager
    def one(self, owner_id: int, most: int) -> Iterator[None]:
        """One of `most` slots for as long as the block runs. Raises NoneFree."""
        if self._taken[owner_id] >= most:
            raise NoneFree
        self._taken[owner_id] += 1
        try:
            yield
        finally:
            self._taken[owner_id] -= 1
            if not self._taken[owner_id]:
                del self._taken[owner_id]
