"""The data that recall searches: a persona's nodes and messages, in columns. Two sources give the same answers: the
database (`DatabaseRows`) and, for active personas, memory (snapshot.py)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from chat import search
from memory.recall import details, lexical
from memory.recall.dates import Window
from memory.recall.lexical import Texts
from memory.recall.passages import Sessions
from memory.store import vectors
from memory.store.vector_cache import index_of


@dataclass(frozen=True, eq=False)
class NodeColumns:
    """Nodes in columns (n,), by id. `created` is in seconds since 1970; `sessions` is 0 if there is none; `evidence`
    (pairs, 2) holds the position of a node and the id of a message that it rests on, ordered by both."""

    ids: np.ndarray
    impacts: np.ndarray
    relational: np.ndarray
    confidence: np.ndarray
    created: np.ndarray
    sessions: np.ndarray
    disputed: np.ndarray
    confirmed: np.ndarray
    evidence: np.ndarray


@dataclass(frozen=True, eq=False)
class NodeRows(NodeColumns):
    """Recallable nodes, with the query words they contain."""

    texts: Texts


@dataclass(frozen=True, eq=False)
class MessageRows:
    """Messages that may be in a prompt: their ids (n,), ascending, their sessions (n,), and the query words they
    contain."""

    ids: np.ndarray
    sessions: np.ndarray
    texts: Texts


class Memory(Protocol):
    """The nodes and messages of one persona."""

    @property
    def node_count(self) -> int:
        """The number of nodes, whatever their status."""

    @property
    def message_count(self) -> int:
        """The number of messages, whether or not they may be shown."""

    def nodes_with_words(self, words: Sequence[str], limit: int) -> dict[str, np.ndarray]:
        """The ids of the nodes, whatever their status, that contain each word: the newest `limit`, newest first."""

    def messages_with_words(self, words: Sequence[str], limit: int) -> dict[str, np.ndarray]:
        """The ids of the messages, whether or not they may be shown, that contain each word: the newest `limit`, newest
        first."""

    def recallable(self, node_ids: np.ndarray, limit: int) -> list[int]:
        """The first `limit` of `node_ids` that may be recalled."""

    def replaced_nodes(self, node_ids: np.ndarray) -> list[int]:
        """The nodes that may have been superseded or corrected."""

    def nodes_by_evidence(self, message_ids: np.ndarray, limit: int) -> list[int]:
        """The ids of recallable nodes that rest on any of the messages, the first `limit` by id."""

    def recallable_in(self, window: Window, limit: int) -> list[int]:
        """The ids of recallable nodes that happened on the days of a window or, if that is unknown, were recorded in
        it: the newest `limit`, newest first."""

    def messages_in_doubt(self, message_ids: Sequence[int]) -> list[int]:
        """The messages on which an unsure, superseded or corrected node may rest."""

    def nodes(self, node_ids: Sequence[int], words: Sequence[str]) -> NodeRows:
        """The recallable nodes among `node_ids`, with the occurrences of `words`."""

    def messages(self, message_ids: np.ndarray, words: Sequence[str], limit: int) -> MessageRows:
        """The first `limit` of `message_ids` that may be shown, with the occurrences of `words`."""

    def sessions(self, session_ids: Sequence[int]) -> Sessions:
        """The messages, by session, that may be shown; sessions off the record have none."""


@dataclass(frozen=True)
class DatabaseRows:
    """The rows in the database: searched in its text indexes, read by id."""

    persona_id: int

    @property
    def node_count(self) -> int:
        return vectors.count(self.persona_id)

    @property
    def message_count(self) -> int:
        return search.count(self.persona_id)

    def nodes_with_words(self, words: Sequence[str], limit: int) -> dict[str, np.ndarray]:
        return vectors.find_by_terms(self.persona_id, words, limit)

    def messages_with_words(self, words: Sequence[str], limit: int) -> dict[str, np.ndarray]:
        return search.find_by_terms(self.persona_id, words, limit)

    def recallable(self, node_ids: np.ndarray, limit: int) -> list[int]:
        return details.recallable(self.persona_id, node_ids.tolist(), limit)

    def replaced_nodes(self, node_ids: np.ndarray) -> list[int]:
        return node_ids.tolist()

    def nodes_by_evidence(self, message_ids: np.ndarray, limit: int) -> list[int]:
        return details.nodes_by_evidence(self.persona_id, message_ids.tolist(), limit)

    def recallable_in(self, window: Window, limit: int) -> list[int]:
        return details.recallable_between(self.persona_id, window.days, window.since, window.until, limit)

    def messages_in_doubt(self, message_ids: Sequence[int]) -> list[int]:
        return list(message_ids)

    def nodes(self, node_ids: Sequence[int], words: Sequence[str]) -> NodeRows:
        rows = details.nodes(self.persona_id, node_ids)
        ids = np.array([node_id for node_id, *_ in rows], dtype=np.int64)
        evidence = details.evidence(ids.tolist())
        evidence[:, 0] = index_of(evidence[:, 0], ids)
        *columns, bodies = zip(*rows, strict=True) if rows else ((),) * (len(details.COLUMNS) + 1)
        return NodeRows(**details.columns(columns), texts=lexical.count_words(bodies, words), evidence=evidence)

    def messages(self, message_ids: np.ndarray, words: Sequence[str], limit: int) -> MessageRows:
        rows = sorted(search.bodies(self.persona_id, message_ids.tolist(), limit))
        ids = np.array([message_id for message_id, _, _ in rows], dtype=np.int64)
        sessions = np.array([session_id for _, session_id, _ in rows], dtype=np.int64)
        return MessageRows(ids, sessions, lexical.count_words([body for _, _, body in rows], words))

    def sessions(self, session_ids: Sequence[int]) -> Sessions:
        return Sessions.from_messages(search.talks(self.persona_id, session_ids))
