"""The in-memory text index of an active persona: the rows that contain each word. Pure.

Two segments: a large one, and a small one of the newest rows, which is rebuilt with every new row. A small segment that
has grown is merged into the large one, off the hot path: merging takes 40 ms for 30,000 rows. (Looking up 40 words and
reading 200 texts takes 5 ms in FTS5 and 0.6 ms in these arrays; 2026-11-21, 30,000 rows.)
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count, islice
from typing import cast

import numpy as np

from memory.recall.lexical import Texts
from memory.store.vector_cache import expand_ranges

# Maximum rows of the small segment: off the hot path, and while a turn waits.
MAX_RECENT, MAX_RECENT_IN_TURN = 256, 2_048
# Texts tokenized per batch; all together would take a gigabyte. The words of the vocabulary lie among strings that are
# freed: the larger a batch, the more memory they keep from being returned.
BATCH = 512


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows `first` and following. `tokens` (all,) are the words of the rows, one row after another, beginning at
    `offsets` (rows + 1,). `rows` are the positions of each word, ascending; those of word w begin at `starts[w]`."""

    first: int
    tokens: np.ndarray
    offsets: np.ndarray
    rows: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, first: int, tokens: np.ndarray, lengths: np.ndarray, words: int) -> "Segment":
        """A segment of rows with `lengths` words each, of a vocabulary of `words`."""
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        # (word, row) as one integer, sorted: the distinct ones are the postings, by word and then by row.
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

    def positions_of(self, word: int) -> np.ndarray:
        """The positions of a word, ascending."""
        return self.rows[self.starts[word] : self.starts[word + 1]] if word + 1 < len(self.starts) else self.rows[:0]

    def texts(self, positions: np.ndarray, columns: np.ndarray, words: int) -> Texts:
        """The occurrences of words in those `positions` that are in this segment; `columns` (vocabulary,) gives the
        column of each word, and `words`, their number, for all other words."""
        rows = positions[(positions >= self.first) & (positions < self.first + len(self))] - self.first
        begins = self.offsets[rows]
        lengths = self.offsets[rows + 1] - begins
        return Texts.of(columns[self.tokens[expand_ranges(begins, lengths)]], lengths, words)


NO_TOKENS, NO_LENGTHS = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
NO_ROWS = np.zeros(0, dtype=np.int64)
EMPTY = Segment.of(0, NO_TOKENS, NO_LENGTHS, 0)


@dataclass(frozen=True, eq=False)
class InvertedIndex:
    """An index of tokenized texts, identified by their positions 0, 1, 2, …"""

    vocabulary: Mapping[str, int] = field(default_factory=dict)
    older: Segment = EMPTY
    recent: Segment = EMPTY

    def __len__(self) -> int:
        return len(self.older) + len(self.recent)

    @property
    def nbytes(self) -> int:
        """Approximate memory use; about 100 bytes per word of the vocabulary."""
        return self.older.nbytes + self.recent.nbytes + 100 * len(self.vocabulary)

    def add_texts(self, bodies: Iterable[str], *, in_turn: bool = False) -> "InvertedIndex":
        """The index with further texts appended; `in_turn`: a turn waits for it."""
        numbers = cast("dict[str, int]", self.vocabulary)
        pieces, remaining = list[tuple[np.ndarray, np.ndarray]](), iter(bodies)
        while texts := [body.split() for body in islice(remaining, BATCH)]:
            if new := set(chain.from_iterable(texts)).difference(numbers):
                # This index is still read: its vocabulary stays, and is copied only for a new word.
                if numbers is self.vocabulary:
                    numbers = dict(numbers)
                numbers.update(zip(new, count(len(numbers)), strict=False))
            lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
            words = map(numbers.__getitem__, chain.from_iterable(texts))
            pieces.append((np.fromiter(words, dtype=np.int32, count=int(lengths.sum())), lengths))
        tokens, lengths = (np.concatenate(part) for part in zip((NO_TOKENS, NO_LENGTHS), *pieces, strict=True))
        recent = _append_rows(self.recent, tokens, lengths, len(numbers))
        if len(recent) <= (MAX_RECENT_IN_TURN if in_turn else MAX_RECENT):
            return InvertedIndex(numbers, self.older, recent)
        older = _append_rows(self.older, recent.tokens, np.diff(recent.offsets), len(numbers))
        return InvertedIndex(numbers, older, Segment.of(len(older), NO_TOKENS, NO_LENGTHS, len(numbers)))

    def keep_rows(self, rows: np.ndarray) -> "InvertedIndex":
        """An index of only the texts marked in `rows` (all,); words that occur only in the others are removed."""
        lengths = np.concatenate([np.diff(self.older.offsets), np.diff(self.recent.offsets)])
        tokens = np.concatenate([self.older.tokens, self.recent.tokens])[np.repeat(rows, lengths)]
        present = np.bincount(tokens, minlength=len(self.vocabulary)) > 0
        numbers = (np.cumsum(present) - 1).astype(np.int32)  # new number of each word: the kept words before it
        words = {word: int(numbers[number]) for word, number in self.vocabulary.items() if present[number]}
        older = Segment.of(0, numbers[tokens], lengths[rows], len(words))
        return InvertedIndex(words, older, Segment.of(len(older), NO_TOKENS, NO_LENGTHS, len(words)))

    def positions_of(self, words: Sequence[str], limit: int) -> dict[str, np.ndarray]:
        """The positions of each of `words`: the newest `limit`, newest first."""
        positions = dict.fromkeys(words, NO_ROWS)
        for word in words:
            if (number := self.vocabulary.get(word)) is not None:
                recent = self.recent.positions_of(number)[::-1][:limit]
                older = self.older.positions_of(number)[::-1][: limit - len(recent)]
                positions[word] = np.concatenate([recent, older], dtype=np.int64)
        return positions

    def texts(self, positions: np.ndarray, words: Sequence[str]) -> Texts:
        """The occurrences of `words` (distinct) in the rows at `positions` (ascending)."""
        columns = np.full(len(self.vocabulary), len(words), dtype=np.int16)
        for column, word in enumerate(words):
            if word in self.vocabulary:
                columns[self.vocabulary[word]] = column
        return Texts.joined([segment.texts(positions, columns, len(words)) for segment in (self.older, self.recent)])


def _append_rows(segment: Segment, tokens: np.ndarray, lengths: np.ndarray, words: int) -> Segment:
    """A segment with further rows appended."""
    all_lengths = np.concatenate([np.diff(segment.offsets), lengths])
    return Segment.of(segment.first, np.concatenate([segment.tokens, tokens]), all_lengths, words)
