"""A persona's nodes and lines held in memory, for those who are talked with: a recall takes half of the time.

`prepare` makes a snapshot, off the hot path; `of` gives it as the database is now, or None. A few lines that came are
read at once; what else has changed, `prepare` reads: stamps that triggers write tell (memory/store/vectors.py,
chat/search.py). Words are read once, unless they were changed. All personas together keep within
`memory.words_in_memory_mb`; who was not talked with for longest is let go.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from django.db import connection

from chat import search
from echovessel.process import heap
from memory import knobs
from memory.recall import details
from memory.recall.inverted_index import InvertedIndex
from memory.recall.passages import Sessions
from memory.recall.rows import LineRows, NodeColumns, NodeRows
from memory.store import vectors
from memory.store.vector_cache import LRUCache, State, expand_ranges, index_of
from persona.models import Persona

# So many new lines are read in a few milliseconds. Where more came, as when years of talk are brought from elsewhere,
# the database is asked instead, and `prepare` reads them.
MOST_FOLLOWED = 200


@dataclass(frozen=True, eq=False)
class Nodes(NodeColumns):
    """All nodes in one state: `active` says which may be recalled, `by_message` is the evidence in the order of its
    messages."""

    state: State
    active: np.ndarray
    by_message: np.ndarray
    index: InvertedIndex


@dataclass(frozen=True, eq=False)
class Lines:
    """All lines up to one moment: columns (n,), by id. `said` is in microseconds since 1970; `shown` tells which may
    reach a prompt and are on record."""

    stamp: bytes
    epoch: bytes
    ids: np.ndarray
    sessions: np.ndarray
    shown: np.ndarray
    said: np.ndarray
    index: InvertedIndex

    @property
    def newest(self) -> int:
        """The id of the last one."""
        return int(self.ids[-1]) if len(self.ids) else 0


@dataclass(frozen=True, eq=False)
class Snapshot:
    """See rows.Memory."""

    held_nodes: Nodes
    held_lines: Lines

    @cached_property
    def nbytes(self) -> int:
        arrays = (*vars(self.held_nodes).values(), *vars(self.held_lines).values())
        return sum(part.nbytes for part in arrays if isinstance(part, np.ndarray | InvertedIndex))

    @property
    def node_count(self) -> int:
        return len(self.held_nodes.ids)

    @property
    def line_count(self) -> int:
        return len(self.held_lines.ids)

    def nodes_holding(self, words: Sequence[str], most: int) -> dict[str, np.ndarray]:
        found = self.held_nodes.index.holding(words, most)
        return {word: self.held_nodes.ids[rows] for word, rows in found.items()}

    def lines_holding(self, words: Sequence[str], most: int) -> dict[str, np.ndarray]:
        found = self.held_lines.index.holding(words, most)
        return {word: self.held_lines.ids[rows] for word, rows in found.items()}

    def recallable(self, node_ids: Sequence[int], most: int) -> list[int]:
        return self.held_nodes.ids[self._active(node_ids)[:most]].tolist()

    def resting_on(self, line_ids: np.ndarray, most: int) -> list[int]:
        node, message = self.held_nodes.by_message.T
        begins = np.searchsorted(message, line_ids)
        rest = np.unique(node[expand_ranges(begins, np.searchsorted(message, line_ids, side="right") - begins)])
        return self.held_nodes.ids[rest[self.held_nodes.active[rest]][:most]].tolist()

    def nodes(self, node_ids: Sequence[int], words: Sequence[str]) -> NodeRows:
        held, found = self.held_nodes, np.sort(self._active(node_ids))
        columns = {name: getattr(held, name)[found] for name in details.COLUMNS}
        return NodeRows(**columns, texts=held.index.texts(found, words), evidence=self._evidence(found))

    def lines(self, line_ids: Sequence[int], words: Sequence[str], most: int) -> LineRows:
        held, found = self.held_lines, _found(line_ids, self.held_lines.ids)
        best = np.sort(found[held.shown[found]][:most])
        return LineRows(held.ids[best], held.sessions[best], held.index.texts(best, words))

    def talks(self, session_ids: Sequence[int]) -> Sessions:
        held = self.held_lines
        told = np.flatnonzero(np.isin(held.sessions, session_ids) & held.shown)
        told = told[np.lexsort((held.ids[told], held.said[told], held.sessions[told]))]
        sessions, of = np.unique(held.sessions[told], return_inverse=True)
        return Sessions(sessions, held.ids[told], of)

    def _active(self, node_ids: Sequence[int]) -> np.ndarray:
        """The places of those of `node_ids` that may be recalled, in their order."""
        found = _found(node_ids, self.held_nodes.ids)
        return found[self.held_nodes.active[found]]

    def _evidence(self, found: np.ndarray) -> np.ndarray:
        node, message = self.held_nodes.evidence.T
        begins = np.searchsorted(node, found)
        lengths = np.searchsorted(node, found, side="right") - begins
        return np.stack([np.repeat(np.arange(len(found)), lengths), message[expand_ranges(begins, lengths)]], axis=1)


def _found(wanted: Sequence[int], ids: np.ndarray) -> np.ndarray:
    """The places of those of `wanted` that are there, in their order."""
    found = index_of(np.array(wanted, dtype=np.int64), ids)
    return found[found >= 0]


_shelf: LRUCache[Snapshot] = LRUCache()
_NONE = np.zeros(0, dtype=np.int64)
_NOTHING_KNOWN = (_NONE, InvertedIndex())
_NO_LINES = Lines(b"", b"", _NONE, _NONE, _NONE, _NONE, InvertedIndex())


def of(persona_id: int) -> Snapshot | None:
    """The snapshot of a persona as the database is now. None where none was prepared, where more has changed since than
    that lines came, and inside a transaction, whose changes may yet be undone."""
    held = _taken(persona_id)
    if held is None:
        return None
    with _at_one_moment():
        fresh = _followed(persona_id, held) if _only_grew(persona_id, held) else None
    return fresh and _kept(persona_id, fresh)


def prepare(persona_id: int) -> None:
    """Hold a persona's nodes and lines, or follow what has changed in them. It may take seconds."""
    if connection.in_atomic_block:
        return
    _let_go_of_who_is_gone()
    held = _taken(persona_id)
    with _at_one_moment():
        fresh = _followed(persona_id, held)
    _kept(persona_id, fresh)
    if held is None:
        heap.trim_heap()  # what was read to make it took three times as much


def drop_snapshots(persona_id: int | None) -> None:
    """Hold nothing of this persona any more, or of nobody."""
    vectors.drop_cached(persona_id)
    if persona_id is None:
        _shelf.clear()
    else:
        _shelf.drop(persona_id)


def _let_go_of_who_is_gone() -> None:
    """Nobody asks for a persona that another process has deleted: no stamp would tell."""
    held = {*_shelf.keys(), *vectors.cached_persona_ids()}
    for persona_id in held.difference(Persona.objects.filter(pk__in=held).values_list("pk", flat=True)):
        drop_snapshots(persona_id)


def _taken(persona_id: int) -> Snapshot | None:
    return None if connection.in_atomic_block else _shelf.take(persona_id)


@contextmanager
def _at_one_moment() -> Iterator[None]:
    """Whatever is read within is of one state of the database. (Django's `atomic` would keep out all who write.)"""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def _only_grew(persona_id: int, held: Snapshot) -> bool:
    """Whether nothing but lines came, and not too many."""
    stamp, _, newest = search.state(persona_id)
    same = stamp == held.held_lines.stamp and newest >= held.held_lines.newest
    if not same or vectors.state(persona_id) != held.held_nodes.state:
        return False
    return search.count_since(persona_id, held.held_lines.newest, MOST_FOLLOWED + 1) <= MOST_FOLLOWED


def _kept(persona_id: int, snapshot: Snapshot) -> Snapshot:
    if snapshot is not _shelf.take(persona_id):
        _shelf.put(persona_id, snapshot, knobs.words_in_memory_mb() * 1_000_000)
    return snapshot


def _followed(persona_id: int, held: Snapshot | None) -> Snapshot:
    nodes = _nodes(persona_id, held.held_nodes if held else None)
    lines = _lines(persona_id, held.held_lines if held else _NO_LINES)
    unchanged = held and held.held_nodes is nodes and held.held_lines is lines
    return held if held and unchanged else Snapshot(nodes, lines)


def _nodes(persona_id: int, held: Nodes | None) -> Nodes:
    state = vectors.state(persona_id)
    if held and held.state == state:
        return held
    rows = details.all_nodes(persona_id)
    active, *values = zip(*rows, strict=True) if rows else ((),) * (len(details.COLUMNS) + 1)
    columns = details.columns(values)
    known = (held.ids, held.index) if held and held.state.epoch == state.epoch else _NOTHING_KNOWN
    evidence = _evidence_of(persona_id, columns["ids"])
    return Nodes(
        state=state,
        active=np.array(active, dtype=bool),
        evidence=evidence,
        by_message=evidence[np.argsort(evidence[:, 1], kind="stable")],
        index=_index(persona_id, known, columns["ids"], details.words_since),
        **columns,
    )


def _evidence_of(persona_id: int, ids: np.ndarray) -> np.ndarray:
    evidence = details.evidence_of(persona_id)
    evidence[:, 0] = index_of(evidence[:, 0], ids)
    return evidence[evidence[:, 0] >= 0]


def _lines(persona_id: int, held: Lines) -> Lines:
    stamp, epoch, newest = search.state(persona_id)
    if (held.stamp, held.newest) == (stamp, newest):
        return held
    before = held if held.stamp == stamp and held.newest < newest else _NO_LINES
    rows = search.since(persona_id, before.newest)
    columns = np.array(rows, dtype=np.int64).reshape(-1, 4).T
    ids, sessions, shown, said = (
        np.concatenate(both)
        for both in zip((before.ids, before.sessions, before.shown, before.said), columns, strict=True)
    )
    known = (held.ids, held.index) if held.epoch == epoch else _NOTHING_KNOWN
    index = _index(persona_id, known, ids, search.words_since)
    return Lines(stamp, epoch, ids, sessions, shown.astype(bool), said, index)


def _index(
    persona_id: int,
    known: tuple[np.ndarray, InvertedIndex],
    ids: np.ndarray,
    words_since: Callable[[int, int], list[str]],
) -> InvertedIndex:
    """The index of the texts of `ids`. Those that are known are not read again, if all others come after them."""
    before, index = known
    if not np.array_equal(before, ids[: len(before)]):
        left = np.isin(before, ids)
        before, index = before[left], index.kept(left)
    if not np.array_equal(before, ids[: len(before)]):
        before, index = _NOTHING_KNOWN
    return index.followed(words_since(persona_id, int(before[-1]) if len(before) else 0))
