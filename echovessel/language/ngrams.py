"""N-grams of a text as hashed buckets with weights, for linear classifiers. Pure.

The buckets of one kind of n-gram have a total weight of 1, so that no kind dominates by its number.
"""

import math
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

BUCKETS = 1 << 15


def runs(kind: str, tokens: Sequence[str], longest: int, between: str) -> Iterator[str]:
    """All runs of 1 to `longest` tokens, marked with their kind.

    >>> list(runs("w", ["call", "me"], 2, " "))
    ['wcall', 'wme', 'wcall me']
    """
    for length in range(1, longest + 1):
        for start in range(len(tokens) - length + 1):
            yield kind + between.join(tokens[start : start + length])


def counts(kinds: Iterable[Iterable[str]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each kind of n-gram the buckets and their counts, before weighting by rarity."""
    gram_counts = []
    for pieces in kinds:
        buckets = Counter([zlib.crc32(piece.encode("utf-8", "surrogatepass")) % BUCKETS for piece in pieces])
        amounts = 1 + np.log(np.fromiter(buckets.values(), np.float64, len(buckets)))
        gram_counts.append((np.fromiter(buckets, np.int64, len(buckets)), amounts))
    return gram_counts


def weigh(kinds: Sequence[tuple[np.ndarray, np.ndarray]], rarity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All buckets of a text and their weights: rare ones weigh more, and each kind of n-gram has the same length."""
    weighed = []
    for buckets, amounts in kinds:
        values = amounts * rarity[buckets]
        length = math.sqrt(float(values @ values) * len(kinds))
        weighed.append(values / length if length else values)
    return np.concatenate([buckets for buckets, _ in kinds]), np.concatenate(weighed)


def rarity_of(texts: Sequence[Sequence[tuple[np.ndarray, np.ndarray]]]) -> np.ndarray:
    """The weight of each bucket: the fewer texts have it, the higher."""
    having = np.zeros(BUCKETS)
    for kinds in texts:
        for buckets, _amounts in kinds:
            having[buckets] += 1
    return np.log((1 + len(texts)) / (1 + having)) + 1


def matrix(texts: Sequence[Sequence[tuple[np.ndarray, np.ndarray]]], rarity: np.ndarray) -> "csr_matrix":
    """The weighted buckets of many texts, one row each. For training only, so that scipy is needed for nothing else."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    rows = [weigh(kinds, rarity) for kinds in texts]
    ends = np.cumsum([0, *(len(buckets) for buckets, _ in rows)])
    weights = csr_matrix(
        (np.concatenate([values for _, values in rows]), np.concatenate([buckets for buckets, _ in rows]), ends),
        shape=(len(rows), BUCKETS),
    )
    weights.sum_duplicates()
    return weights


def in_bytes(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers in one byte each, and the factor of each column."""
    scale = (np.abs(values).max(0) / 127).astype(np.float32)
    return np.round(values / scale).astype(np.int8), scale
