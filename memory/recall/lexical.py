"""How well words answer words: BM25 over a persona's own rows, with weighted query words. Pure.

The index says which rows hold a word; here they are weighed, with counts of the persona alone, so that other people's
memories change nothing. Source: Robertson & Zaragoza 2009; k1 and b as usual for short texts. All texts of a recall are
weighed at once, as a matrix: one by one they took half of its time.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np

K1 = 1.2
B = 0.5
# Rows that every persona is taken to have besides her own: in a memory of three rows no word is common yet.
PRIOR_ROWS = 100
ENOUGH_WORDS = 6
# Ids that lie farther apart than so many times their number are sorted rather than counted.
SPARSE = 64


@dataclass(frozen=True, eq=False)
class Texts:
    """What n texts hold of a query: `counts` (n, words), how often each of its words; `lengths` (n,), all words."""

    counts: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, columns: np.ndarray, lengths: np.ndarray, words: int) -> "Texts":
        """Texts from their words one after another: of each the place among `words`, or `words` where it is none."""
        cells = columns + np.repeat(np.arange(len(lengths)) * (words + 1), lengths)
        counts = np.bincount(cells, minlength=len(lengths) * (words + 1)).reshape(len(lengths), words + 1)
        return cls(counts[:, :-1].astype(np.float64), lengths.astype(np.float64))

    @classmethod
    def joined(cls, texts: "Sequence[Texts]") -> "Texts":
        """Texts after each other."""
        return cls(np.concatenate([each.counts for each in texts]), np.concatenate([each.lengths for each in texts]))

    @property
    def mean_length(self) -> float:
        return float(self.lengths.mean()) if len(self.lengths) else 1.0


def count_words(bodies: Sequence[str], words: Sequence[str]) -> Texts:
    """What cut texts hold of `words`, which are each of another kind.

    >>> counted(["the cat saw the cat", "a dog"], ["cat", "sofa"]).counts
    array([[2., 0.],
           [0., 0.]])
    """
    spoken = [body.split() for body in bodies]
    lengths = np.fromiter(map(len, spoken), dtype=np.int64, count=len(spoken))
    place = {word: place for place, word in enumerate(words)}
    found = map(place.get, chain.from_iterable(spoken), repeat(len(words)))
    return Texts.of(np.fromiter(found, dtype=np.int64, count=int(lengths.sum())), lengths, len(words))


def join_texts(texts: Texts, of: np.ndarray, number: int) -> Texts:
    """Texts joined to `number` longer ones; `of` (n,) says of which one each is part."""
    counts, lengths = np.zeros((number, texts.counts.shape[1])), np.zeros(number)
    np.add.at(counts, of, texts.counts)
    np.add.at(lengths, of, texts.lengths)
    return Texts(counts, lengths)


def rarity(rows_with: np.ndarray | int, rows: int) -> np.ndarray:
    """The inverse document frequency of words that `rows_with` of `rows` hold; always above 0."""
    total = np.maximum(rows, rows_with) + PRIOR_ROWS
    return np.asarray(np.log1p((total - rows_with + 0.5) / (rows_with + 0.5)))


def worth(query: Mapping[str, float], frequencies: Mapping[str, int], rows: int) -> np.ndarray:
    """What each word of `query` is worth among `rows`, in its order: its weight by its rarity."""
    held = np.fromiter((frequencies.get(word, 0) for word in query), dtype=np.int64, count=len(query))
    return np.fromiter(query.values(), dtype=np.float64, count=len(query)) * rarity(held, rows)


def best(holding: Sequence[tuple[float, np.ndarray]], most: int) -> list[int]:
    """The ids of `most` rows, those first whose words are worth most together, of equals the newest.

    `holding` gives for each word its worth and the ids of the rows that hold it.

    >>> best([(1.0, np.array([7, 3])), (2.0, np.array([3]))], 9)
    [3, 7]
    """
    if not holding:
        return []
    every = np.concatenate([rows for _, rows in holding])
    weights = np.repeat([weight for weight, _ in holding], [len(rows) for _, rows in holding])
    ids, worth = _summed(every, weights)
    if len(ids) > most:
        least = np.partition(worth, len(worth) - most)[len(worth) - most]
        ids, worth = ids[worth >= least], worth[worth >= least]
    return ids[np.lexsort((-ids, -worth))[:most]].tolist()


def _summed(ids: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each id once, and the sum of its weights; counted rather than sorted where ids lie close together."""
    first = int(ids.min(initial=0))
    if int(ids.max(initial=0)) - first > SPARSE * max(len(ids), 1):
        found, places = np.unique(ids, return_inverse=True)
        return found, np.bincount(places, weights)
    sums = np.bincount(ids - first, weights)
    found = np.flatnonzero(np.bincount(ids - first))
    return found + first, sums[found]


def scores(texts: Texts, worth: np.ndarray) -> np.ndarray:
    """The BM25 scores (n,) of texts, 0 where one holds none of the words."""
    damping = K1 * (1 - B + B * texts.lengths / max(1.0, texts.mean_length))
    return (texts.counts * (K1 + 1) / (texts.counts + damping[:, None])) @ worth


def coverage(texts: Texts, worth: np.ndarray, rows: int) -> np.ndarray:
    """Which share of a sufficient answer's worth occurs in each text: (n,), 0 … 1. A sufficient answer holds all words,
    but of a long query at most what ENOUGH_WORDS rare ones are worth: nobody repeats four lines."""
    enough = min(float(worth.sum()), ENOUGH_WORDS * float(rarity(1, rows)))
    return np.minimum(1.0, (texts.counts > 0) @ worth / enough) if enough else np.zeros(len(texts.lengths))
