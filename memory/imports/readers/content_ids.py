"""Ids for messages and entries without one in their file. Pure.

The same text has the same id at every reading, also in a later export that begins or ends elsewhere. So an id contains
nothing that another export changes: no line number, no number of a conversation, no translation.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from itertools import chain, islice
from typing import TypeVar

from memory.imports.readers.types import digest

# Messages and sessions that are kept in memory while equal ones are counted.
_MAX_HELD = 30_000
# Messages that identify the beginning of a session: many begin with "Hi".
_BEGINNING = 3

T = TypeVar("T")


class ContentIds:
    """Counts equal texts in one file. A message with a time is identified by the number of equal ones at that moment,
    one without a time by its place in its session; an entry by the number of equal ones of that day.

    >>> places, noon = ContentIds(), datetime(2024, 1, 5, 12)
    >>> first, again = places.id_of("Ana", "Hi", noon), places.id_of("Ana", "Hi", noon)
    >>> first != again, first == ContentIds().id_of("Ana", "Hi", noon)
    (True, True)
    """

    def __init__(self) -> None:
        self._talks: Counter[int] = Counter()
        self._talk = ""
        self._number = 0
        self._same: Counter[int] = Counter()
        self._moment = ""

    def begin(self, talk: str) -> None:
        """Begin another session; its number tells it from others of the same name."""
        key = hash(talk) if len(self._talks) < _MAX_HELD else 0
        self._talks[key] += 1
        self._talk = digest(talk, self._talks[key])
        self._number = 0

    def begin_with(self, talk_id: str, name: str, things: Iterable[T], words: Callable[[T], str]) -> Iterator[T]:
        """The messages of another session; without an id it is identified by its `name` and its first messages."""
        rest = iter(things)
        first = [] if talk_id else list(islice(rest, _BEGINNING))
        self.begin(talk_id or digest(name, *map(words, first)))
        return chain(first, rest)

    def id_of(self, speaker: str, text: str, at: datetime | None) -> str:
        times = self._times(str(at), speaker, text) if at else 0
        self._number += not times
        return digest(times or f"{self._talk} {self._number}", speaker, at, text)

    def id_of_entry(self, title: str, text: str, day: date | None) -> str:
        source_id = digest("entry", day, title, text)
        times = self._times(str(day), source_id)
        return source_id if times < 2 else digest(source_id, times)

    def _times(self, moment: str, *what: str) -> int:
        """How many equal messages there were at that moment; 0 if too many have the same time."""
        if len(self._same) >= _MAX_HELD:
            if moment == self._moment:
                return 0
            self._same.clear()
        self._moment = moment
        key = hash((moment, *what))
        self._same[key] += 1
        return self._same[key]
