"""How well words answer words: BM25 over a persona's own rows, with weighted query words. Pure.

The index finds candidates with statistics of the whole installation; they are weighed again here with those of the
persona alone, so that other people's memories change nothing. Source: Robertson & Zaragoza 2009; k1 and b as usual
for short texts.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

K1 = 1.2
B = 0.5
# Rows that every persona is taken to have besides her own: in a memory of three rows no word is common yet.
PRIOR_ROWS = 100
ENOUGH_WORDS = 6


@dataclass(frozen=True)
class Weights:
    """What each word of a query is worth here. `ideal` is what a row with all of them once would get; `enough` the
    same, but of a long query at most what ENOUGH_WORDS rare ones are worth: nobody repeats four lines."""

    words: Mapping[str, float]
    mean_length: float
    rare: float = math.inf

    @property
    def ideal(self) -> float:
        return sum(self.words.values())

    @property
    def enough(self) -> float:
        return min(self.ideal, ENOUGH_WORDS * self.rare)


def rarity(rows_with: int, rows: int) -> float:
    """The inverse document frequency of a word that `rows_with` of `rows` hold; always above 0."""
    total = max(rows, rows_with) + PRIOR_ROWS
    return math.log(1 + (total - rows_with + 0.5) / (rows_with + 0.5))


def weighed(
    query: Mapping[str, float], frequencies: Mapping[str, int], rows: int, bodies: Sequence[Sequence[str]]
) -> Weights:
    """The worth of each word of `query`, by its rarity among `rows`; the mean length is that of `bodies`."""
    worth = {word: weight * rarity(frequencies.get(word, 0), rows) for word, weight in query.items()}
    lengths = [len(body) for body in bodies]
    return Weights(worth, sum(lengths) / len(lengths) if lengths else 1.0, rarity(1, rows))


def score(body: Sequence[str], weights: Weights) -> float:
    """The BM25 score of one cut text, 0 where it holds none of the words."""
    counts = Counter(body)
    damping = K1 * (1 - B + B * len(body) / max(1.0, weights.mean_length))
    return sum(
        worth * counts[word] * (K1 + 1) / (counts[word] + damping)
        for word, worth in weights.words.items()
        if word in counts
    )


def coverage(body: Sequence[str], weights: Weights) -> float:
    """Which share of a sufficient answer's worth occurs in a cut text: 0 … 1."""
    held = set(body)
    found = sum(worth for word, worth in weights.words.items() if word in held)
    return min(1.0, found / weights.enough) if weights.enough else 0.0
