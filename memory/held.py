"""Vectors held in memory: one matrix for each persona who is talked with, all together within a bound.

An exact search of 10,000 vectors takes 0.5 ms here, of 100,000 8 ms; through the database, in two passes, it takes 15
and 50 ms and is not exact (2026-11-21, 2 cores). Left out: an index for millions.
"""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np


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

    @cached_property
    def _squares(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.rows, self.rows)

    def nearest(self, vector: np.ndarray, k: int) -> list[tuple[int, float]]:
        """The `k` nearest: (id, Euclidean distance), nearest first, equals by id."""
        places = np.arange(len(self.ids))
        if k < len(places):
            places = np.argpartition(self._squares - 2 * (self.rows @ vector), k)[:k]
        return self._measured(places, vector)

    def distances(self, ids: Sequence[int], vector: np.ndarray) -> dict[int, float]:
        """The Euclidean distances of those of `ids` that are held."""
        wanted = np.array(ids, dtype=np.int64)
        places = np.minimum(np.searchsorted(self.ids, wanted), max(0, len(self.ids) - 1))
        return dict(self._measured(places[self.ids[places] == wanted] if len(self.ids) else places[:0], vector))

    def _measured(self, places: np.ndarray, vector: np.ndarray) -> list[tuple[int, float]]:
        distances = np.linalg.norm(self.rows[places] - vector, axis=1)
        ids = self.ids[places]
        order = np.lexsort((ids, distances))
        return list(zip(ids[order].tolist(), distances[order].tolist(), strict=True))

    def without(self, gone: np.ndarray) -> "Matrix":
        """The same without some ids."""
        kept = ~np.isin(self.ids, gone)
        return self if kept.all() else Matrix(self.state, self.ids[kept], self.rows[kept])


class Shelf:
    """The matrices of personas, by key: the one that was used longest ago gives way."""

    def __init__(self) -> None:
        self._held: OrderedDict[int, Matrix] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, key: int) -> Matrix | None:
        with self._lock:
            found = self._held.get(key)
            if found is not None:
                self._held.move_to_end(key)
            return found

    def put(self, key: int, matrix: Matrix, room: int) -> None:
        """Hold `matrix`, and of the others as many as fit `room` bytes with it."""
        with self._lock:
            self._held[key] = matrix
            self._held.move_to_end(key)
            while len(self._held) > 1 and sum(held.rows.nbytes for held in self._held.values()) > room:
                self._held.popitem(last=False)

    def clear(self) -> None:
        with self._lock:
            self._held.clear()
