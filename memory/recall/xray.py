"""The x-ray of one recall: the query, each retriever, each candidate, the items shown. Ids only, so that forgetting
reaches every text."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

EmptyReason = Literal["", "nothing_asked", "nothing_stored", "everything_filtered"]


@dataclass
class RetrieverRecord:
    """One retriever: the number of rows it found, how long it took, and why it was skipped (otherwise empty)."""

    name: str
    found: int = 0
    ms: float = 0.0
    skipped: str = ""


@dataclass(frozen=True)
class CandidateRecord:
    """One candidate: its parts, and either `chosen` or the rule that removed it."""

    id: str
    layer: str
    score: float
    parts: dict[str, float]
    arms: tuple[str, ...]
    verdict: str


@dataclass(frozen=True)
class ItemRecord:
    """One item that was shown."""

    id: str
    layer: str
    kind: str
    speaker: str | None
    messages: tuple[str, ...]
    score: float
    parts: dict[str, float]
    tokens: int


@dataclass(frozen=True)
class XRay:
    """The record that the page, the admin, the API and the command show."""

    query: dict[str, Any]
    arms: Sequence[RetrieverRecord]
    candidates: Sequence[CandidateRecord]
    chosen: Sequence[ItemRecord]
    budget: int
    tokens: int
    elapsed_ms: dict[str, float]
    empty_reason: EmptyReason

    def as_json(self) -> dict[str, Any]:
        """The record as plain data; lists instead of tuples, so that it is equal after a JSON round trip."""
        return {
            "query": self.query,
            "arms": [asdict(arm) for arm in self.arms],
            "candidates": [vars(candidate) | {"arms": list(candidate.arms)} for candidate in self.candidates],
            "chosen": [vars(item) | {"messages": list(item.messages)} for item in self.chosen],
            "budget": self.budget,
            "tokens": self.tokens,
            "elapsed_ms": self.elapsed_ms,
            "empty_reason": self.empty_reason,
        }
