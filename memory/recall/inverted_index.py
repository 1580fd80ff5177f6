"""Which rows hold which words, in memory: the text index of a persona who is talked with. Pure.

Two segments: one of all rows but the newest, and a small one that is made anew with every row that comes; when it has
grown it becomes part of the other. (Looking up 40 words in FTS5 and reading 200 texts takes 5 ms here, in these arrays
0.6; 2026-11-21, 30,000 rows.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

import numpy as np

from memory.recall.lexical import Texts
from memory.store.vector_cache import expand_ranges

# The newest rows are kept apart until they are so many.
MOST_RECENT = 2_048
# So many texts are cut at once; all together would take a gigabyte.
CUT_AT_ONCE = 4_096


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows `first` and following. `tokens` (all,) are the words of one row after another, which begin at `offsets`
    (rows + 1,); `rows` are the places, ascending, that hold each word, those of word w from `starts[w]` on."""

    first: int
    tokens: np.ndarray
    offsets: np.ndarray
    rows: np.ndarray
    starts: np.ndarray

    @classmethod
    def made(cls, first: int, tokens: np.ndarray, lengths: np.ndarray, words: int) -> "Segment":
        """A segment of rows with `lengths` words each, of a vocabulary of `words`."""
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        cells = np.sort(tokens.astype(np.int64) * len(lengths) + np.repeat(np.arange(len(lengths)), lengths))
        cells = cells[np.diff(cells, prepend=-1) > 0]  # np.unique takes ten times as long
        word, row = np.divmod(cells, max(1, len(lengths)))
        starts = np.searchsorted(word, np.arange(words + 1))
        return cls(first, tokens, offsets, (row + first).astype(np.int32), starts)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def nbytes(self) -> int:
        return sum(part.nbytes for part in (self.tokens, self.offsets, self.rows, self.starts))

    def holding(self, word: int) -> np.ndarray:
        """The places that hold a word, ascending."""
        return self.rows[self.starts[word] : self.starts[word + 1]] if word + 1 < len(self.starts) else self.rows[:0]

    def texts(self, places: np.ndarray, columns: np.ndarray, words: int) -> Texts:
        """What the rows at `places` hold of some words; `columns` (vocabulary,) says which of them each word is, and
        `words`, their number, that it is none of them."""
        begins = self.offsets[places - self.first]
        lengths = self.offsets[places - self.first + 1] - begins
        return Texts.of(columns[self.tokens[expand_ranges(begins, lengths)]], lengths, words)


NO_TOKENS, NO_LENGTHS = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
NOTHING = Segment.made(0, NO_TOKENS, NO_LENGTHS, 0)


@dataclass(frozen=True, eq=False)
class InvertedIndex:
    """An index of cut texts, which are known by their places 0, 1, 2, …"""

    vocabulary: Mapping[str, int] = field(default_factory=dict)
    older: Segment = NOTHING
    recent: Segment = NOTHING

    def __len__(self) -> int:
        return len(self.older) + len(self.recent)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes; a word of the vocabulary some 100 bytes."""
        return self.older.nbytes + self.recent.nbytes + 100 * len(self.vocabulary)

    def followed(self, bodies: Sequence[str]) -> "InvertedIndex":
        """The same with further texts at its end."""
        numbers, pieces = self.vocabulary, list[tuple[np.ndarray, np.ndarray]]()
        for start in range(0, len(bodies), CUT_AT_ONCE):
            spoken = [body.split() for body in bodies[start : start + CUT_AT_ONCE]]
            unheard = set(chain.from_iterable(spoken)).difference(numbers)
            numbers = {**numbers, **dict(zip(unheard, count(len(numbers)), strict=False))} if unheard else numbers
            lengths = np.fromiter(map(len, spoken), dtype=np.int64, count=len(spoken))
            said = map(numbers.__getitem__, chain.from_iterable(spoken))
            pieces.append((np.fromiter(said, dtype=np.int32, count=int(lengths.sum())), lengths))
        tokens, lengths = (np.concatenate(part) for part in zip((NO_TOKENS, NO_LENGTHS), *pieces, strict=True))
        recent = _longer(self.recent, tokens, lengths, len(numbers))
        if len(recent) <= MOST_RECENT:
            return InvertedIndex(numbers, self.older, recent)
        older = _longer(self.older, recent.tokens, np.diff(recent.offsets), len(numbers))
        return InvertedIndex(numbers, older, Segment.made(len(older), NO_TOKENS, NO_LENGTHS, len(numbers)))

    def kept(self, rows: np.ndarray) -> "InvertedIndex":
        """An index of the texts that `rows` (all,) says alone: no word that only the others hold stays in it."""
        lengths = np.concatenate([np.diff(self.older.offsets), np.diff(self.recent.offsets)])
        tokens = np.concatenate([self.older.tokens, self.recent.tokens])[np.repeat(rows, lengths)]
        held = np.bincount(tokens, minlength=len(self.vocabulary)) > 0
        numbers = (np.cumsum(held) - 1).astype(np.int32)
        words = {word: int(numbers[number]) for word, number in self.vocabulary.items() if held[number]}
        older = Segment.made(0, numbers[tokens], lengths[rows], len(words))
        return InvertedIndex(words, older, Segment.made(len(older), NO_TOKENS, NO_LENGTHS, len(words)))

    def holding(self, words: Sequence[str], most: int) -> dict[str, np.ndarray]:
        """The places that hold each of `words`: the newest `most`, the newest first."""
        return {word: self._places(word)[::-1][:most] for word in words}

    def _places(self, word: str) -> np.ndarray:
        number = self.vocabulary.get(word, -1)
        if number < 0:
            return np.zeros(0, dtype=np.int64)
        return np.concatenate([self.older.holding(number), self.recent.holding(number)]).astype(np.int64)

    def texts(self, places: np.ndarray, words: Sequence[str]) -> Texts:
        """What the rows at `places`, ascending, hold of `words`, which are each of another kind."""
        columns = np.full(len(self.vocabulary), len(words))
        for column, word in enumerate(words):
            if word in self.vocabulary:
                columns[self.vocabulary[word]] = column
        return Texts.joined([self._part(segment, places, columns, len(words)) for segment in (self.older, self.recent)])

    def _part(self, segment: Segment, places: np.ndarray, columns: np.ndarray, words: int) -> Texts:
        within = (places >= segment.first) & (places < segment.first + len(segment))
        return segment.texts(places[within], columns, words)


def _longer(segment: Segment, tokens: np.ndarray, lengths: np.ndarray, words: int) -> Segment:
    """A segment with further rows."""
    together = np.concatenate([np.diff(segment.offsets), lengths])
    return Segment.made(segment.first, np.concatenate([segment.tokens, tokens]), together, words)
