"""Vectors in memory: one matrix for each persona in use, within a common size limit.

An exact search of 10,000 vectors takes 0.5 ms here, of 100,000 8 ms; through the database, in two passes, it takes 15
and 50 ms and is not exact (2026-11-21, 2 cores). Left out: an index for millions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from echovessel.embeddings.errors import ModelChanged


def index_of(wanted_ids: np.ndarray, all_ids: np.ndarray) -> np.ndarray:
    """The position of each of `wanted_ids` in `all_ids`, which is ascending without duplicates; -1 if it is not there.

    >>> index_of(np.array([7, 4]), np.array([3, 7]))
    array([ 1, -1])
    """
    if not len(all_ids):
        return np.full(len(wanted_ids), -1)
    positions = np.minimum(all_ids.searchsorted(wanted_ids), len(all_ids) - 1)
    return np.where(all_ids[positions] == wanted_ids, positions, -1)


def expand_ranges(begins: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The positions of ranges, one after another.

    >>> expand_ranges(np.array([5, 2]), np.array([2, 1]))
    array([5, 6, 2])
    """
    ends = np.cumsum(lengths)
    return np.repeat(begins - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


def check_size(vector: np.ndarray, dimension: int) -> None:
    """Raises ModelChanged unless `vector` has the size of the stored ones."""
    if len(vector) != dimension:
        raise ModelChanged(f"a vector has {len(vector)} dimensions, the stored ones have {dimension}")


@dataclass(frozen=True)
class State:
    """The state of a persona's vectors. `stamp` changes with every change, `epoch` with changes that ids do not show;
    `dimension` is the size of all vectors."""

    stamp: bytes
    epoch: bytes
    dimension: int


@dataclass(frozen=True, eq=False)
class Matrix:
    """A persona's vectors in one state: ids (n,) int64, ascending; rows (n, d) float32, of about unit length."""

    state: State
    ids: np.ndarray
    rows: np.ndarray

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes

    @cached_property
    def squares(self) -> np.ndarray:
        """The squared length of each row."""
        return np.einsum("ij,ij->i", self.rows, self.rows)

    def nearest(self, vector: np.ndarray, k: int) -> list[tuple[int, float]]:
        """The `k` nearest: (id, Euclidean distance), nearest first, ties by id. Raises ModelChanged for a vector of
        another size."""
        check_size(vector, self.rows.shape[1])
        near = np.arange(len(self.ids))
        if k < len(near):  # by |row|² - 2·row·vector, which orders as the distance does: one matrix product
            near = np.argpartition(self.squares - 2 * (self.rows @ vector), k)[:k]
        distances, ids = np.linalg.norm(self.rows[near] - vector, axis=1), self.ids[near]
        order = np.lexsort((ids, distances))
        return list(zip(ids[order].tolist(), distances[order].tolist(), strict=True))

    def vectors(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """The vectors of `ids`: (n, d); NaN for an id that is not cached."""
        positions = index_of(np.asarray(ids, dtype=np.int64), self.ids)
        rows = np.full((len(positions), self.rows.shape[1]), np.nan, dtype=np.float32)
        rows[positions >= 0] = self.rows[positions[positions >= 0]]
        return rows

    def joined(self, others: "Matrix", ids: np.ndarray, state: State) -> "Matrix":
        """These vectors restricted to `ids`, joined with all of `others`, in a new state."""
        is_retained = np.isin(self.ids, ids)
        together = np.concatenate([self.ids[is_retained], others.ids])
        order = np.argsort(together)
        return Matrix(state, together[order], np.concatenate([self.rows[is_retained], others.rows])[order])
