"""An in-memory copy of an active persona's nodes and messages: it halves the time of a recall.

`prepare` makes a snapshot, off the hot path; `of` returns it if it matches the database now, or None. A few new
messages are read immediately, all other changes by `prepare`; stamps written by triggers reveal them
(memory/store/vectors.py, chat/search.py). Unchanged words are read only once. All personas together stay within
`memory.words_in_memory_mb`; the least recently used one is dropped.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date
from functools import cached_property

import numpy as np
from django.db import connection
from django.db.models.expressions import RawSQL

from chat import search
from echovessel.db.compiled_queries import Query
from echovessel.db.sqlite import bulk
from echovessel.process import heap, word_caches
from echovessel.process.word_caches import LRUCache
from memory import knobs
from memory.models.node import GUESS_BELOW
from memory.recall import details
from memory.recall.dates import Window
from memory.recall.inverted_index import InvertedIndex
from memory.recall.passages import Sessions
from memory.recall.rows import MessageRows, NodeColumns, NodeRows
from memory.store import vectors
from memory.store.vector_cache import State, expand_ranges, index_of
from persona.models import Persona

# This many new messages are read in a few milliseconds. If there are more, e.g. from an import of years of messages,
# the database is searched instead until `prepare` has read them.
MAX_NEW_MESSAGES = 200
EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class Nodes(NodeColumns):
    """All nodes in one state: `is_active` marks recallable nodes, `is_replaced` superseded or corrected ones;
    `first_days` and `last_days` are counted from 1970, details.UNDATED if unknown; `by_message` is the evidence ordered
    by message."""

    state: State
    is_active: np.ndarray
    is_replaced: np.ndarray
    first_days: np.ndarray
    last_days: np.ndarray
    by_message: np.ndarray
    index: InvertedIndex

    @cached_property
    def is_shaken(self) -> np.ndarray:
        """Which nodes are unsure (ConceptNode.is_unsure), superseded or corrected."""
        unsure = self.disputed | (~self.confirmed & (self.confidence < GUESS_BELOW))
        return unsure | self.is_replaced | ~self.is_active


@dataclass(frozen=True, eq=False)
class Messages:
    """All messages up to one moment: columns (n,), by id. `written_at` is in microseconds since 1970; `is_shown` marks
    messages on record that may be in a prompt."""

    stamp: bytes
    epoch: bytes
    ids: np.ndarray
    sessions: np.ndarray
    is_shown: np.ndarray
    written_at: np.ndarray
    index: InvertedIndex

    @property
    def newest(self) -> int:
        """The id of the last message."""
        return int(self.ids[-1]) if len(self.ids) else 0


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The rows.Memory of a persona, held in memory."""

    all_nodes: Nodes
    all_messages: Messages

    @cached_property
    def nbytes(self) -> int:
        arrays = (*vars(self.all_nodes).values(), *vars(self.all_messages).values())
        return sum(part.nbytes for part in arrays if isinstance(part, np.ndarray | InvertedIndex))

    @property
    def node_count(self) -> int:
        return len(self.all_nodes.ids)

    @property
    def message_count(self) -> int:
        return len(self.all_messages.ids)

    def nodes_with_words(self, words: Sequence[str], limit: int) -> dict[str, np.ndarray]:
        rows = self.all_nodes.index.positions_of(words, limit)
        return {word: self.all_nodes.ids[positions] for word, positions in rows.items()}

    def messages_with_words(self, words: Sequence[str], limit: int) -> dict[str, np.ndarray]:
        rows = self.all_messages.index.positions_of(words, limit)
        return {word: self.all_messages.ids[positions] for word, positions in rows.items()}

    def recallable(self, node_ids: np.ndarray, limit: int) -> list[int]:
        return self.all_nodes.ids[self._active(node_ids)[:limit]].tolist()

    def replaced_nodes(self, node_ids: np.ndarray) -> list[int]:
        positions = _positions(node_ids, self.all_nodes.ids)
        return self.all_nodes.ids[positions[self.all_nodes.is_replaced[positions]]].tolist()

    def nodes_by_evidence(self, message_ids: np.ndarray, limit: int) -> list[int]:
        nodes, messages = self.all_nodes.by_message.T
        rests = np.unique(nodes[_runs_of(message_ids, messages)[0]])
        return self.all_nodes.ids[rests[self.all_nodes.is_active[rests]][:limit]].tolist()

    def recallable_in(self, window: Window, limit: int) -> list[int]:
        rows = self.all_nodes
        start, end = ((day - EPOCH).days for day in (window.days.start, window.days.end))
        since, until = (moment.replace(tzinfo=UTC).timestamp() for moment in (window.since, window.until))
        happened = (rows.first_days <= end) & (rows.last_days >= start)
        recorded = (rows.first_days == details.UNDATED) & (rows.created >= since) & (rows.created < until)
        places = np.flatnonzero(rows.is_active & (happened | recorded))
        if len(places) > limit:  # sort only those that can be among the newest
            least = np.partition(rows.created[places], -limit)[-limit]
            places = places[rows.created[places] >= least]
        return rows.ids[places[np.lexsort((-places, -rows.created[places]))[:limit]]].tolist()

    def messages_in_doubt(self, message_ids: Sequence[int]) -> list[int]:
        nodes, messages = self.all_nodes.by_message.T
        rests, lengths = _runs_of(np.asarray(message_ids, dtype=np.int64), messages)
        shaken = np.repeat(message_ids, lengths)[self.all_nodes.is_shaken[nodes[rests]]]
        return np.unique(shaken).tolist()

    def nodes(self, node_ids: Sequence[int], words: Sequence[str]) -> NodeRows:
        rows, positions = self.all_nodes, np.sort(self._active(node_ids))
        columns = {name: getattr(rows, name)[positions] for name in details.COLUMNS}
        nodes, messages = rows.evidence.T
        evidence, lengths = _runs_of(positions, nodes)
        pairs = np.stack([np.repeat(np.arange(len(positions)), lengths), messages[evidence]], axis=1)
        return NodeRows(**columns, texts=rows.index.texts(positions, words), evidence=pairs)

    def messages(self, message_ids: np.ndarray, words: Sequence[str], limit: int) -> MessageRows:
        rows, positions = self.all_messages, _positions(message_ids, self.all_messages.ids)
        best = np.sort(positions[rows.is_shown[positions]][:limit])
        return MessageRows(rows.ids[best], rows.sessions[best], rows.index.texts(best, words))

    def sessions(self, session_ids: Sequence[int]) -> Sessions:
        rows = self.all_messages
        # A table of the wanted sessions: np.isin takes three times as long among 300,000 messages.
        is_wanted = np.zeros(rows.sessions.max(initial=0) + 1, dtype=bool)
        is_wanted[[session for session in session_ids if session < len(is_wanted)]] = True
        places = np.flatnonzero(is_wanted[rows.sessions] & rows.is_shown)
        places = places[np.lexsort((rows.ids[places], rows.written_at[places], rows.sessions[places]))]
        begins = np.diff(rows.sessions[places], prepend=-1) > 0
        return Sessions(rows.sessions[places[begins]], rows.ids[places], np.cumsum(begins) - 1)

    def _active(self, node_ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """The positions of the recallable ones of `node_ids`, in order."""
        positions = _positions(node_ids, self.all_nodes.ids)
        return positions[self.all_nodes.is_active[positions]]


def _positions(sought_ids: Sequence[int] | np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The positions in `ids` of those of `sought_ids` that are in it, in order."""
    positions = index_of(np.asarray(sought_ids, dtype=np.int64), ids)
    return positions[positions >= 0]


def _runs_of(sought_ids: np.ndarray, ascending: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All positions of each of `sought_ids` in `ascending`, and the number of positions of each."""
    begins = np.searchsorted(ascending, sought_ids)
    lengths = np.searchsorted(ascending, sought_ids, side="right") - begins
    return expand_ranges(begins, lengths), lengths


_cache: LRUCache[Snapshot] = LRUCache()
_existing_personas: Query[tuple[int]] = Query(
    lambda keys: Persona.objects.filter(pk__in=RawSQL("SELECT value FROM json_each(%s)", [keys])).values_list("pk")
)
_NONE = np.zeros(0, dtype=np.int64)
_EMPTY_INDEX = (_NONE, InvertedIndex())
_NO_MESSAGES = Messages(b"", b"", _NONE, _NONE, _NONE, _NONE, InvertedIndex())


def of(persona_id: int) -> Snapshot | None:
    """The snapshot of a persona as the database is now. None if none was prepared, if more has changed than a few new
    messages, and inside a transaction, whose changes can still be rolled back."""
    cached = None if connection.in_atomic_block else _cache.take(persona_id)
    if cached is None:
        return None
    before = cached.all_messages
    stamp, _, newest = search.state(persona_id)
    if stamp != before.stamp or newest < before.newest or vectors.state(persona_id) != cached.all_nodes.state:
        return None
    if newest == before.newest:
        return cached
    with _read_transaction():
        if search.count_since(persona_id, before.newest, MAX_NEW_MESSAGES + 1) > MAX_NEW_MESSAGES:
            return None
        return _keep(persona_id, Snapshot(cached.all_nodes, _read_messages(persona_id, before, in_turn=True)))


def prepare(persona_id: int) -> None:
    """Load a persona's nodes and messages, or update them. It may take seconds."""
    if connection.in_atomic_block:
        return
    # Personas that another process has deleted are never asked for: no stamp would reveal their deletion.
    cached = {*_cache.keys(), *vectors.cached_persona_ids()}
    for deleted_id in cached.difference(pk for (pk,) in _existing_personas(json.dumps([*cached]))):
        word_caches.drop_persona(deleted_id)
    cached_snapshot = _cache.take(persona_id)
    with _read_transaction():
        nodes = _read_nodes(persona_id, cached_snapshot.all_nodes if cached_snapshot else None)
        messages = _read_messages(persona_id, cached_snapshot.all_messages if cached_snapshot else _NO_MESSAGES)
    is_current = cached_snapshot and cached_snapshot.all_nodes is nodes and cached_snapshot.all_messages is messages
    _keep(persona_id, cached_snapshot if cached_snapshot and is_current else Snapshot(nodes, messages))
    if cached_snapshot is None:
        bulk.release_pages()  # the first reading goes through all of them
        heap.trim_heap()


@contextmanager
def _read_transaction() -> Iterator[None]:
    """All reads inside see one state of the database. (Django's `atomic` would block all writers.)"""
    with connection.cursor() as cursor:
        cursor.execute("BEGIN")
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def _keep(persona_id: int, snapshot: Snapshot) -> Snapshot:
    if snapshot is not _cache.take(persona_id):
        _cache.put(persona_id, snapshot, knobs.words_in_memory_mb() * 1_000_000)
    return snapshot


def _read_nodes(persona_id: int, cached: Nodes | None) -> Nodes:
    state = vectors.state(persona_id)
    if cached and cached.state == state:
        return cached
    columns = details.all_nodes(persona_id)
    previous = (cached.ids, cached.index) if cached and cached.state.epoch == state.epoch else _EMPTY_INDEX
    evidence = details.evidence_of(persona_id)
    evidence[:, 0] = index_of(evidence[:, 0], columns["ids"])
    evidence = evidence[evidence[:, 0] >= 0]
    by_message = evidence[np.argsort(evidence[:, 1], kind="stable")]
    return Nodes(
        state=state,
        # By column: searching a column of rows would copy all of it first.
        evidence=np.asfortranarray(evidence),
        by_message=np.asfortranarray(by_message),
        index=_index(persona_id, previous, columns["ids"], details.words_since),
        **columns,
    )


def _read_messages(persona_id: int, cached: Messages, *, in_turn: bool = False) -> Messages:
    stamp, epoch, newest = search.state(persona_id)
    if (cached.stamp, cached.newest) == (stamp, newest):
        return cached
    before = cached if cached.stamp == stamp and cached.newest < newest else _NO_MESSAGES
    columns = search.since(persona_id, before.newest).T
    ids, sessions, is_shown, written_at = (
        np.concatenate(both)
        for both in zip((before.ids, before.sessions, before.is_shown, before.written_at), columns, strict=True)
    )
    previous = (cached.ids, cached.index) if cached.epoch == epoch else _EMPTY_INDEX
    index = _index(persona_id, previous, ids, search.words_since, in_turn=in_turn)
    return Messages(stamp, epoch, ids, sessions, is_shown.astype(bool), written_at, index)


def _index(
    persona_id: int,
    previous: tuple[np.ndarray, InvertedIndex],
    ids: np.ndarray,
    words_since: Callable[[int, int], Iterable[str]],
    *,
    in_turn: bool = False,
) -> InvertedIndex:
    """The index of the texts of `ids`. Texts that are indexed already are not read again if all others come after
    them."""
    before, index = previous
    if not np.array_equal(before, ids[: len(before)]):
        is_left = np.isin(before, ids)
        before, index = before[is_left], index.keep_rows(is_left)
    if not np.array_equal(before, ids[: len(before)]):
        before, index = _EMPTY_INDEX
    return index.add_texts(words_since(persona_id, int(before[-1]) if len(before) else 0), in_turn=in_turn)
