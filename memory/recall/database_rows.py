"""A persona's nodes and lines as the database holds them: found in its text indexes, read by id."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from chat import search
from memory.recall import details, lexical
from memory.recall.passages import Sessions
from memory.recall.rows import LineRows, NodeRows
from memory.store import vectors
from memory.store.vector_cache import index_of


@dataclass(frozen=True)
class DatabaseRows:
    """See rows.Memory."""

    persona_id: int

    @property
    def node_count(self) -> int:
        return vectors.count(self.persona_id)

    @property
    def line_count(self) -> int:
        return search.count(self.persona_id)

    def nodes_holding(self, words: Sequence[str], most: int) -> dict[str, np.ndarray]:
        return vectors.find_by_terms(self.persona_id, words, most)

    def lines_holding(self, words: Sequence[str], most: int) -> dict[str, np.ndarray]:
        return search.find_by_terms(self.persona_id, words, most)

    def recallable(self, node_ids: Sequence[int], most: int) -> list[int]:
        return details.recallable(self.persona_id, node_ids, most)

    def resting_on(self, line_ids: np.ndarray, most: int) -> list[int]:
        return details.nodes_resting_on(self.persona_id, line_ids.tolist(), most)

    def nodes(self, node_ids: Sequence[int], words: Sequence[str]) -> NodeRows:
        rows = details.nodes(self.persona_id, node_ids)
        ids = np.array([key for key, *_ in rows], dtype=np.int64)
        evidence = details.evidence(ids.tolist())
        evidence[:, 0] = index_of(evidence[:, 0], ids)
        *columns, bodies = zip(*rows, strict=True) if rows else ((),) * (len(details.COLUMNS) + 1)
        return NodeRows(**details.columns(columns), texts=lexical.count_words(bodies, words), evidence=evidence)

    def lines(self, line_ids: Sequence[int], words: Sequence[str], most: int) -> LineRows:
        rows = sorted(search.bodies(self.persona_id, line_ids, most))
        ids = np.array([message for message, _, _ in rows], dtype=np.int64)
        sessions = np.array([session for _, session, _ in rows], dtype=np.int64)
        return LineRows(ids, sessions, lexical.count_words([body for _, _, body in rows], words))

    def talks(self, session_ids: Sequence[int]) -> Sessions:
        return Sessions.told(search.talks(self.persona_id, session_ids))
