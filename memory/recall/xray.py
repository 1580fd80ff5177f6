"""The account of one recall: what was asked, found, weighed and shown. Ids only: forgetting reaches every text."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

EmptyReason = Literal["", "nothing_asked", "nothing_stored", "everything_filtered"]


@dataclass(frozen=True)
class RetrieverRecord:
    """One arm: how many it found, how long it took, and why it was skipped (else empty)."""

    name: str
    found: int
    ms: float
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
    """One thing that was shown."""

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
    """What the page, the admin, the API and the command tell about a recall."""

    query: dict[str, Any]
    arms: Sequence[RetrieverRecord]
    candidates: Sequence[CandidateRecord]
    chosen: Sequence[ItemRecord]
    budget: int
    tokens: int
    elapsed_ms: dict[str, float]
    empty_reason: EmptyReason

    def as_json(self) -> dict[str, Any]:
        """The account as plain data; lists, not tuples, so that it equals itself after a round trip."""
        return {
            "query": self.query,
            "arms": [asdict(arm) for arm in self.arms],
            "candidates": [vars(seen) | {"arms": list(seen.arms)} for seen in self.candidates],
            "chosen": [vars(item) | {"messages": list(item.messages)} for item in self.chosen],
            "budget": self.budget,
            "tokens": self.tokens,
            "elapsed_ms": self.elapsed_ms,
            "empty_reason": self.empty_reason,
        }


def empty_reason(stored: int, shown: int) -> EmptyReason:
    """Why a recall is empty: nothing was there but the talk itself, or nothing passed."""
    if shown:
        return ""
    return "everything_filtered" if stored else "nothing_stored"
