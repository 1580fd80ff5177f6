"""Lexical score: BM25 over a persona's own rows, with weighted query words. Pure.

    score     = Σ worth(word) · tf · (K1 + 1) / (tf + K1 · (1 - B + B · length / mean length))
    worth     = weight in the query · rarity
    rarity    = ln(1 + (rows - rows with it + 0.5) / (rows with it + 0.5)), over the rows of the persona and PRIOR_ROWS

The counts are of the persona alone, so that other people's memories have no influence. Source: Robertson & Zaragoza
2009; k1 and b as usual for short texts. All texts of a recall are scored together, as a matrix: scored one by one they
took half of its time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat

import numpy as np

K1 = 1.2
B = 0.5
# Rows that are added to those of every persona: in a memory of three rows no word would be common.
PRIOR_ROWS = 100
ENOUGH_WORDS = 6
# Ids spread over more than this many times their number are sorted rather than counted.
SPARSE = 64


@dataclass(frozen=True, eq=False)
class Texts:
    """The occurrences of a query's words in n texts: `counts` (n, words); `lengths` (n,) in words."""

    counts: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray, lengths: np.ndarray, words: int) -> "Texts":
        """Count concatenated texts: `columns` holds for each word its position among the query's words, or `words` if
        it is none of them."""
        # One count over (text, word) pairs as single integers, instead of a loop over the texts.
        cells = np.repeat(np.arange(len(lengths)) * (words + 1), lengths) + columns
        counts = np.bincount(cells, minlength=len(lengths) * (words + 1)).reshape(len(lengths), words + 1)
        return cls(counts[:, :-1].astype(np.float64), lengths.astype(np.float64))

    @classmethod
    def joined(cls, texts: "Sequence[Texts]") -> "Texts":
        """Several batches of texts, concatenated."""
        return cls(np.concatenate([part.counts for part in texts]), np.concatenate([part.lengths for part in texts]))

    @cached_property
    def damped(self) -> np.ndarray:
        """Term frequencies as BM25 weights them: the tenth occurrence adds less than the first, and less in a long
        text."""
        mean_length = max(1.0, float(self.lengths.mean())) if len(self.lengths) else 1.0
        damping = K1 * (1 - B + B * self.lengths / mean_length)
        return np.asarray(self.counts * (K1 + 1) / (self.counts + damping[:, None]))

    @cached_property
    def contained(self) -> np.ndarray:
        """Which words each text contains, as 0 or 1."""
        return (self.counts > 0).astype(np.float64)


def count_words(bodies: Sequence[str], words: Sequence[str]) -> Texts:
    """The occurrences of `words` (distinct) in tokenized texts.

    >>> count_words(["the cat saw the cat", "a dog"], ["cat", "sofa"]).counts
    array([[2., 0.],
           [0., 0.]])
    """
    tokens = [body.split() for body in bodies]
    lengths = np.fromiter(map(len, tokens), dtype=np.int64, count=len(tokens))
    position = {word: position for position, word in enumerate(words)}
    columns = map(position.get, chain.from_iterable(tokens), repeat(len(words)))
    return Texts.of(np.fromiter(columns, dtype=np.int64, count=int(lengths.sum())), lengths, len(words))


def join_texts(texts: Texts, of: np.ndarray, number: int) -> Texts:
    """Texts merged into `number` longer ones; `of` (n,) is the position of the longer text of each."""
    counts, lengths = np.zeros((number, texts.counts.shape[1])), np.zeros(number)
    np.add.at(counts, of, texts.counts)
    np.add.at(lengths, of, texts.lengths)
    return Texts(counts, lengths)


def rarity(rows_with: np.ndarray | int, rows: int) -> np.ndarray:
    """The inverse document frequency of words that `rows_with` of `rows` contain; always above 0."""
    total = np.maximum(rows, rows_with) + PRIOR_ROWS
    return np.asarray(np.log1p((total - rows_with + 0.5) / (rows_with + 0.5)))


def worth(query: Mapping[str, float], frequencies: Mapping[str, int], rows: int) -> np.ndarray:
    """The worth of each word of `query` among `rows`, in order: weight · rarity."""
    rows_with = np.fromiter((frequencies.get(word, 0) for word in query), dtype=np.int64, count=len(query))
    return np.fromiter(query.values(), dtype=np.float64, count=len(query)) * rarity(rows_with, rows)


def best(holding: Sequence[tuple[float, np.ndarray]], limit: int) -> np.ndarray:
    """The ids of the best `limit` rows by the summed worth of their words; of equal rows the newest.

    `holding` gives for each word its worth and the ids of the rows that contain it.

    >>> best([(1.0, np.array([7, 3])), (2.0, np.array([3]))], 9)
    array([3, 7])
    """
    if not holding:
        return np.zeros(0, dtype=np.int64)
    every = np.concatenate([rows for _, rows in holding])
    weights = np.repeat([weight for weight, _ in holding], [len(rows) for _, rows in holding])
    # The summed weight of each id. Ids that lie close together are counted, which is faster than sorting.
    first = int(every.min(initial=0))
    if int(every.max(initial=0)) - first > SPARSE * max(len(every), 1):
        ids, positions = np.unique(every, return_inverse=True)
        worth = np.bincount(positions, weights)
    else:  # every worth is above 0
        worth = np.bincount(every - first, weights)
        present = np.flatnonzero(worth)
        ids, worth = present + first, worth[present]
    if len(ids) > limit:  # sort only those that can be among the best
        least = np.partition(worth, len(worth) - limit)[len(worth) - limit]
        ids, worth = ids[worth >= least], worth[worth >= least]
    return ids[np.lexsort((-ids, -worth))[:limit]]


def scores(texts: Texts, worth: np.ndarray) -> np.ndarray:
    """The BM25 scores (n,) of texts; 0 for a text with none of the words."""
    return np.asarray(texts.damped @ worth)


def coverage(texts: Texts, worth: np.ndarray, rows: int) -> np.ndarray:
    """Per text the share (n,), 0 … 1, of the worth of a sufficient answer. A sufficient answer contains all words, but
    of a long query at most the worth of ENOUGH_WORDS rare ones: nobody repeats four messages."""
    enough = min(float(worth.sum()), ENOUGH_WORDS * float(rarity(1, rows)))
    return np.minimum(1.0, texts.contained @ worth / enough) if enough else np.zeros(len(texts.lengths))
