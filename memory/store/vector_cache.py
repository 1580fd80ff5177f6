"""Vectors held in memory: one matrix for each persona who is talked with, all together within a bound.

An exact search of 10,000 vectors takes 0.5 ms here, of 100,000 8 ms; through the database, in two passes, it takes 15
and 50 ms and is not exact (2026-11-21, 2 cores). Left out: an index for millions.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np


def index_of(wanted: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Where each of `wanted` stands in `known`, which ascends and repeats nothing; -1 where it does not.

    >>> places(np.array([7, 4]), np.array([3, 7]))
    array([ 1, -1])
    """
    if not len(known):
        return np.full(len(wanted), -1)
    found = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[found] == wanted, found, -1)


def expand_ranges(begins: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The places of spans, one after another.

    >>> spans(np.array([5, 2]), np.array([2, 1]))
    array([5, 6, 2])
    """
    ends = np.cumsum(lengths)
    return np.repeat(begins - (ends - lengths), lengths) + np.arange(ends[-1] if len(ends) else 0)


@dataclass(frozen=True)
class State:
    """Which vectors a persona has: `stamp` is new after every change, `epoch` after one that ids do not show."""

    stamp: bytes
    epoch: bytes


@dataclass(frozen=True, eq=False)
class Matrix:
    """A persona's vectors in one state: ids (n,) int64, ascending; rows (n, 384) float32, of about unit length."""

    state: State
    ids: np.ndarray
    rows: np.ndarray

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes

    @cached_property
    def _squares(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.rows, self.rows)

    def nearest(self, vector: np.ndarray, k: int) -> list[tuple[int, float]]:
        """The `k` nearest: (id, Euclidean distance), nearest first, equals by id."""
        near = np.arange(len(self.ids))
        if k < len(near):
            near = np.argpartition(self._squares - 2 * (self.rows @ vector), k)[:k]
        return self._measured(near, vector)

    def vectors(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """The vectors of `ids`: (n, 384); NaN where one is not held."""
        found = index_of(np.asarray(ids, dtype=np.int64), self.ids)
        rows = np.full((len(found), self.rows.shape[1]), np.nan, dtype=np.float32)
        rows[found >= 0] = self.rows[found[found >= 0]]
        return rows

    def _measured(self, found: np.ndarray, vector: np.ndarray) -> list[tuple[int, float]]:
        distances = np.linalg.norm(self.rows[found] - vector, axis=1)
        ids = self.ids[found]
        order = np.lexsort((ids, distances))
        return list(zip(ids[order].tolist(), distances[order].tolist(), strict=True))

    def without(self, gone: np.ndarray) -> "Matrix":
        """The same without some ids."""
        kept = ~np.isin(self.ids, gone)
        return self if kept.all() else Matrix(self.state, self.ids[kept], self.rows[kept])


class CachedItem(Protocol):
    """What takes memory."""

    @property
    def nbytes(self) -> int: ...


T = TypeVar("T", bound=CachedItem)


class LRUCache(Generic[T]):
    """What is held of personas, by key: what was used longest ago gives way."""

    def __init__(self) -> None:
        self._held: OrderedDict[int, T] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: int) -> T | None:
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
            return found

    def put(self, key: int, held: T, room: int) -> None:
        """Hold `held`, and of the others as many as fit `room` bytes with it."""
        with self._lock:
            self._held[key] = held
            self._held.move_to_end(key)
            while len(self._held) > 1 and sum(each.nbytes for each in self._held.values()) > room:
                self._held.popitem(last=False)

    def drop(self, key: int) -> None:
        with self._lock:
            self._held.pop(key, None)

    def keys(self) -> list[int]:
        with self._lock:
            return list(self._held)

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
