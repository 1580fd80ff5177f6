"""The text index of a persona that is talked with, in memory: the rows that contain each word. Pure.

Two segments: one of all rows but the newest, and a small one that is rebuilt with every new row; when it has grown it
becomes part of the other, off the hot path: that takes 40 ms of 30,000 rows. (Looking up 40 words in FTS5 and reading
200 texts takes 5 ms here, in these arrays 0.6; 2026-11-21, 30,000 rows.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count

import numpy as np

from memory.recall.lexical import Texts
from memory.store.vector_cache import expand_ranges

# The newest rows are kept apart up to this number: where nobody waits, and while a turn waits.
MAX_RECENT, MAX_RECENT_IN_TURN = 256, 2_048
# This many texts are tokenized together; all of them would take a gigabyte.
BATCH = 4_096


@dataclass(frozen=True, eq=False)
class Segment:
    """Rows `first` and following. `tokens` (all,) are the words of one row after another, which begin at `offsets`
    (rows + 1,); `rows` are the positions, ascending, of each word, those of word w from `starts[w]` on."""

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

    def holding(self, word: int) -> np.ndarray:
        """The positions of a word, ascending."""
        return self.rows[self.starts[word] : self.starts[word + 1]] if word + 1 < len(self.starts) else self.rows[:0]

    def texts(self, positions: np.ndarray, columns: np.ndarray, words: int) -> Texts:
        """The occurrences of some words in those rows of `positions` that are of this segment; `columns` (vocabulary,)
        gives the column of each word, and `words`, their number, for all others."""
        rows = positions[(positions >= self.first) & (positions < self.first + len(self))] - self.first
        begins = self.offsets[rows]
        lengths = self.offsets[rows + 1] - begins
        return Texts.of(columns[self.tokens[expand_ranges(begins, lengths)]], lengths, words)


NO_TOKENS, NO_LENGTHS = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
NOTHING = Segment.of(0, NO_TOKENS, NO_LENGTHS, 0)


@dataclass(frozen=True, eq=False)
class InvertedIndex:
    """An index of tokenized texts, known by their positions 0, 1, 2, …"""

    vocabulary: Mapping[str, int] = field(default_factory=dict)
    older: Segment = NOTHING
    recent: Segment = NOTHING

    def __len__(self) -> int:
        return len(self.older) + len(self.recent)

    @property
    def nbytes(self) -> int:
        """About how much memory it takes; a word of the vocabulary some 100 bytes."""
        return self.older.nbytes + self.recent.nbytes + 100 * len(self.vocabulary)

    def followed(self, bodies: Sequence[str], *, in_turn: bool = False) -> "InvertedIndex":
        """The same with further texts at its end; `in_turn`: somebody waits."""
        numbers, pieces = self.vocabulary, list[tuple[np.ndarray, np.ndarray]]()
        for start in range(0, len(bodies), BATCH):
            texts = [body.split() for body in bodies[start : start + BATCH]]
            new = set(chain.from_iterable(texts)).difference(numbers)
            numbers = {**numbers, **dict(zip(new, count(len(numbers)), strict=False))} if new else numbers
            lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
            words = map(numbers.__getitem__, chain.from_iterable(texts))
            pieces.append((np.fromiter(words, dtype=np.int32, count=int(lengths.sum())), lengths))
        tokens, lengths = (np.concatenate(part) for part in zip((NO_TOKENS, NO_LENGTHS), *pieces, strict=True))
        recent = _longer(self.recent, tokens, lengths, len(numbers))
        if len(recent) <= (MAX_RECENT_IN_TURN if in_turn else MAX_RECENT):
            return InvertedIndex(numbers, self.older, recent)
        older = _longer(self.older, recent.tokens, np.diff(recent.offsets), len(numbers))
        return InvertedIndex(numbers, older, Segment.of(len(older), NO_TOKENS, NO_LENGTHS, len(numbers)))

    def kept(self, rows: np.ndarray) -> "InvertedIndex":
        """An index of the texts marked in `rows` (all,) alone: no word that only the others contain stays in it."""
        lengths = np.concatenate([np.diff(self.older.offsets), np.diff(self.recent.offsets)])
        tokens = np.concatenate([self.older.tokens, self.recent.tokens])[np.repeat(rows, lengths)]
        present = np.bincount(tokens, minlength=len(self.vocabulary)) > 0
        numbers = (np.cumsum(present) - 1).astype(np.int32)  # the new number of each word: how many before it stay
        words = {word: int(numbers[number]) for word, number in self.vocabulary.items() if present[number]}
        older = Segment.of(0, numbers[tokens], lengths[rows], len(words))
        return InvertedIndex(words, older, Segment.of(len(older), NO_TOKENS, NO_LENGTHS, len(words)))

    def holding(self, words: Sequence[str], limit: int) -> dict[str, np.ndarray]:
        """The positions of each of `words`: the newest `limit`, newest first."""
        positions = {}
        for word in words:
            number = self.vocabulary.get(word, len(self.vocabulary))
            recent = self.recent.holding(number)[::-1][:limit]
            older = self.older.holding(number)[::-1][: limit - len(recent)]
            positions[word] = np.concatenate([recent, older]).astype(np.int64)
        return positions

    def texts(self, positions: np.ndarray, words: Sequence[str]) -> Texts:
        """The occurrences of `words`, which are distinct, in the rows at `positions`, ascending."""
        columns = np.full(len(self.vocabulary), len(words), dtype=np.int16)
        for column, word in enumerate(words):
            if word in self.vocabulary:
                columns[self.vocabulary[word]] = column
        return Texts.joined([segment.texts(positions, columns, len(words)) for segment in (self.older, self.recent)])


def _longer(segment: Segment, tokens: np.ndarray, lengths: np.ndarray, words: int) -> Segment:
    """A segment with further rows."""
    together = np.concatenate([np.diff(segment.offsets), lengths])
    return Segment.of(segment.first, np.concatenate([segment.tokens, tokens]), together, words)
