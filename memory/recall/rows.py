"""What recall looks through: a persona's nodes and lines, in columns. Two things give it, with the same answers: the
database (database_rows.py), and memory (snapshot.py) for those who are talked with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from memory.recall.lexical import Texts
from memory.recall.passages import Sessions


@dataclass(frozen=True, eq=False)
class NodeColumns:
    """Nodes in columns (n,), by id. `created` is in seconds since 1970; `sessions` 0 where there is none; `evidence`
    (pairs, 2) holds the place of a node and the id of a message that it rests on, by both."""

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
    """Nodes that may be recalled, with what they hold of the words of a query."""

    texts: Texts


@dataclass(frozen=True, eq=False)
class LineRows:
    """Messages that may reach a prompt: their ids (n,), ascending, their sessions (n,), and what they hold."""

    ids: np.ndarray
    sessions: np.ndarray
    texts: Texts


class Memory(Protocol):
    """The nodes and lines of one persona."""

    @property
    def node_count(self) -> int:
        """How many nodes there are, whatever their status."""

    @property
    def line_count(self) -> int:
        """How many lines there are, whether or not they may be shown."""

    def nodes_holding(self, words: Sequence[str], most: int) -> dict[str, np.ndarray]:
        """The ids of the nodes, whatever their status, that hold each word: the newest `most`, the newest first."""

    def lines_holding(self, words: Sequence[str], most: int) -> dict[str, np.ndarray]:
        """The same of lines, whether or not they may be shown."""

    def recallable(self, node_ids: Sequence[int], most: int) -> list[int]:
        """The first `most` of `node_ids` that may be recalled."""

    def resting_on(self, line_ids: np.ndarray, most: int) -> list[int]:
        """The ids of nodes that may be recalled and rest on any of the lines, the first `most` by id."""

    def nodes(self, node_ids: Sequence[int], words: Sequence[str]) -> NodeRows:
        """Those of `node_ids` that may be recalled, with what they hold of `words`."""

    def lines(self, line_ids: Sequence[int], words: Sequence[str], most: int) -> LineRows:
        """The first `most` of `line_ids` that may be shown, with what they hold of `words`."""

    def talks(self, session_ids: Sequence[int]) -> Sessions:
        """The lines that may be shown of sessions on record, by session."""
