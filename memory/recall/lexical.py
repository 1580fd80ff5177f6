"""How well words answer words: BM25 over a persona's own rows, with weighted query words. Pure.

The index says which rows hold a word; here they are weighed, with counts of the persona alone, so that other people's
memories change nothing. Source: Robertson & Zaragoza 2009; k1 and b as usual
for short texts.
"""

import math
from collections.abc import Collection, Container, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

K1 = 1.2
B = 0.5
# Rows that every persona is taken to have besides her own: in a memory of three rows no word is common yet.
PRIOR_ROWS = 100
ENOUGH_WORDS = 6


@dataclass(frozen=True, slots=True)
class Held:
    """What a text holds of a query: how often each of its words, and the number of all words."""

    counts: Mapping[str, int]
    length: int


@dataclass(frozen=True)
class Weights:
    """What each word of a query is worth here. `ideal` is what a row with all of them once would get; `enough` the
    same, but of a long query at most what ENOUGH_WORDS rare ones are worth: nobody repeats four lines."""

    words: Mapping[str, float]
    mean_length: float
    rare: float = math.inf

    @cached_property
    def ideal(self) -> float:
        return sum(self.words.values())

    @cached_property
    def enough(self) -> float:
        return min(self.ideal, ENOUGH_WORDS * self.rare)


def held(body: str, query: Container[str]) -> Held:
    """What a cut text holds of `query`.

    >>> held("the cat saw the cat", {"cat", "dog"})
    Held(counts={'cat': 2}, length=5)
    """
    spoken = body.split()
    counts: dict[str, int] = {}
    for word in [word for word in spoken if word in query]:
        counts[word] = counts.get(word, 0) + 1
    return Held(counts, len(spoken))


def together(texts: Iterable[Held]) -> Held:
    """Texts as one."""
    counts: dict[str, int] = {}
    length = 0
    for text in texts:
        length += text.length
        for word, times in text.counts.items():
            counts[word] = counts.get(word, 0) + times
    return Held(counts, length)


def rarity(rows_with: int, rows: int) -> float:
    """The inverse document frequency of a word that `rows_with` of `rows` hold; always above 0."""
    total = max(rows, rows_with) + PRIOR_ROWS
    return math.log(1 + (total - rows_with + 0.5) / (rows_with + 0.5))


def weighed(query: Mapping[str, float], frequencies: Mapping[str, int], rows: int, texts: Collection[Held]) -> Weights:
    """The worth of each word of `query`, by its rarity among `rows`; the mean length is that of `texts`."""
    worth = {word: weight * rarity(frequencies.get(word, 0), rows) for word, weight in query.items()}
    mean_length = sum(text.length for text in texts) / len(texts) if texts else 1.0
    return Weights(worth, mean_length, rarity(1, rows))


def best(holding: Mapping[str, tuple[float, np.ndarray]], most: int) -> list[int]:
    """The ids of `most` rows, those first whose words are worth most together, of equals the newest.

    `holding` gives for each word its worth and the ids of the rows that hold it.

    >>> best({"cat": (1.0, np.array([7, 3])), "sofa": (2.0, np.array([3]))}, 9)
    [3, 7]
    """
    if not holding:
        return []
    ids, places = np.unique(np.concatenate([rows for _, rows in holding.values()]), return_inverse=True)
    worth = np.repeat([worth for worth, _ in holding.values()], [len(rows) for _, rows in holding.values()])
    return ids[np.lexsort((-ids, -np.bincount(places, worth)))[:most]].tolist()


def score(text: Held, weights: Weights) -> float:
    """The BM25 score of a text, 0 where it holds none of the words."""
    damping = K1 * (1 - B + B * text.length / max(1.0, weights.mean_length))
    return sum([weights.words[word] * times * (K1 + 1) / (times + damping) for word, times in text.counts.items()])


def coverage(text: Held, weights: Weights) -> float:
    """Which share of a sufficient answer's worth occurs in a text: 0 … 1."""
    found = sum([weights.words.get(word, 0.0) for word in text.counts])
    return min(1.0, found / weights.enough) if weights.enough else 0.0
