"""Puts the messages of a file in chronological order, in whichever direction the file runs. Pure.

>>> from datetime import datetime
>>> hours = [datetime(2024, 1, 5, 12), None, datetime(2024, 1, 5, 11)]
>>> list(oldest_first("cba", at=lambda letter: hours["cba".index(letter)], size=len, limits=Limits()))
['a', 'b', 'c']
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, TypeVar

from memory.imports.readers.types import Limits

# The most messages of a file that are kept in memory to be sorted.
MAX_HELD = 200_000
# The size that a number, a list and the like count as, in characters.
_SMALL = 50

T = TypeVar("T")


def oldest_first(
    items: Iterable[T],
    at: Callable[[T], datetime | None],
    size: Callable[[T], int],
    limits: Limits,
    *,
    newest_first: bool = False,
) -> Iterator[T]:
    """`items` by their times. Items with equal times, and those without one, follow the direction of the file, which is
    judged by all of it, and is `newest_first` if the times do not tell. A file that is too large to keep in memory
    (`size` gives the characters of an item) keeps its order."""
    rest = iter(items)
    held_back: list[T] = []
    characters = 0
    for item in rest:
        held_back.append(item)
        characters += size(item)
        if len(held_back) > MAX_HELD or characters > limits.item_bytes:
            yield from held_back
            yield from rest
            return
    if runs_back([at(item) for item in held_back], newest_first=newest_first):
        held_back.reverse()
    last = datetime.min.replace(tzinfo=UTC)
    keys: list[datetime] = []
    for item in held_back:
        last = _aware(at(item)) or last
        keys.append(last)
    for index in sorted(range(len(held_back)), key=keys.__getitem__):
        yield held_back[index]


def runs_back(times: Iterable[datetime | None], *, newest_first: bool = False) -> bool:
    """Whether the times mostly decrease."""
    aware_times = [aware for aware in map(_aware, times) if aware]
    falls = sum(later < earlier for earlier, later in pairwise(aware_times))
    rises = sum(later > earlier for earlier, later in pairwise(aware_times))
    return falls > rises or (falls == rises and newest_first)


def weight(value: Any) -> int:
    """The approximate number of characters in a JSON value.

    >>> weight({"text": "Hello", "n": [1, 2]})
    255
    """
    if isinstance(value, str):
        return _SMALL + len(value)
    if isinstance(value, dict):
        return _SMALL + sum(map(weight, value.values()))
    return _SMALL + (sum(map(weight, value)) if isinstance(value, list) else 0)


def _aware(at: datetime | None) -> datetime | None:
    return at.replace(tzinfo=UTC) if at and at.tzinfo is None else at
