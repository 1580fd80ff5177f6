"""What a memory is worth to a query. Pure: numbers in, numbers out.

    relevance = meaning and words, mixed by the share that the embedding model has earned for the query's script
    total     = 3.0·relevance + lift·(0.5·recency + 2.0·|impact| + 1.0·relational + 1.5·anchor) − penalty
    lift      = how far relevance stands above the floor, 0 … 1

Relevance governs: what is unrelated gets nothing from its weight, however heavy it is (design/recall.md). The plain
sum of the seeds is `classic`. Left out: learning the weights.
"""

import math
from dataclasses import asdict, dataclass

from memory import knobs

# A right angle between unit vectors: 1 - sqrt(2) / 2.
ORTHOGONAL = 1 - math.sqrt(2) / 2
# The span of dense relevance above a right angle that sentences reach in practice: 0.29 … 0.69 (cosine 0.81).
DENSE_SPAN = 0.4
# What an anchored memory gets of its anchor although nothing else speaks for it.
LEAST_ANCHOR = 1 / 3
DISPUTED_PENALTY = 0.3
DOUBT_PENALTY = 0.3
RELATIONAL = 0.5
UNWEIGHTED = frozenset(("raw_relevance", "dense", "words"))


@dataclass(frozen=True)
class Profile:
    """The weights of the five terms."""

    recency: float = 0.5
    relevance: float = 3.0
    impact: float = 2.0
    relational: float = 1.0
    anchor: float = 1.5


@dataclass(frozen=True)
class Parts:
    """The weighted terms of a score; their sum is the total. `raw_relevance` is 0 … 1."""

    relevance: float
    recency: float = 0.0
    impact: float = 0.0
    relational: float = 0.0
    anchor: float = 0.0
    penalty: float = 0.0
    raw_relevance: float = 0.0
    dense: float = 0.0
    words: float = 0.0

    @property
    def total(self) -> float:
        return self.relevance + self.recency + self.impact + self.relational + self.anchor + self.penalty

    def weighted(self) -> dict[str, float]:
        """The terms that count, whose sum is the total."""
        return {name: value for name, value in self.as_json().items() if name not in UNWEIGHTED}

    def as_json(self) -> dict[str, float]:
        """All of it, for the x-ray."""
        return {name: round(value, 4) for name, value in vars(self).items() if value}


def profile() -> Profile:
    """The weights as the operator set them."""
    return Profile(
        knobs.recency_weight(),
        knobs.relevance_weight(),
        knobs.impact_weight(),
        knobs.relational_bonus_weight(),
        knobs.anchor_weight(),
    )


def recency(days: float, half_life_days: float) -> float:
    """1 for now, a half after one half-life; what lies ahead counts as now.

    >>> recency(14, 14)
    0.5
    """
    return math.exp(-math.log(2) * max(0.0, days) / half_life_days)


def dense_relevance(distance: float) -> float:
    """1 - d/2 of the Euclidean distance of unit vectors: identical 1, orthogonal 0.293, opposite 0."""
    return min(1.0, max(0.0, 1 - distance / 2))


def impact(emotional_impact: int) -> float:
    """The weight of a feeling, whichever its sign: 0 … 1."""
    return min(abs(emotional_impact) / 10, 1.0)


def classic(
    *, recency: float, relevance: float, impact: float, relational: float, anchor: float = 0.0, weights: Profile
) -> float:
    """The plain weighted sum of the seeds (000, 002), kept for comparison."""
    return (
        weights.recency * recency
        + weights.relevance * relevance
        + weights.impact * impact
        + weights.relational * relational
        + weights.anchor * anchor
    )


def fused(dense: float | None, words: float, share: float) -> float:
    """Relevance 0 … 1 from dense relevance (None: the arm was not asked) and a lexical score 0 … 1."""
    if dense is None:
        return words
    meaning = min(1.0, max(0.0, (dense - ORTHOGONAL) / DENSE_SPAN))
    return share * meaning + (1 - share) * words


def lift(relevance: float, floor: float) -> float:
    """How much of the bonus terms acts: 0 at the floor, 1 at full relevance."""
    return min(1.0, max(0.0, (relevance - floor) / (1 - floor))) if floor < 1 else 0.0


def bounded(
    *,
    relevance: float,
    recency: float,
    impact: float = 0.0,
    relational: float = 0.0,
    anchor: float = 0.0,
    confidence: float = 1.0,
    disputed: bool = False,
    floor: float,
    weights: Profile,
    dense: float = 0.0,
    words: float = 0.0,
) -> Parts:
    """The parts of a score in which the bonus terms act only as far as relevance stands above `floor`."""
    lifted = lift(relevance, floor)
    parts = Parts(
        relevance=weights.relevance * relevance,
        recency=weights.recency * recency * lifted,
        impact=weights.impact * impact * lifted,
        relational=weights.relational * relational * lifted,
        anchor=weights.anchor * anchor * max(lifted, LEAST_ANCHOR),
        raw_relevance=relevance,
        dense=dense,
        words=words,
    )
    doubt = DISPUTED_PENALTY * disputed + DOUBT_PENALTY * (1 - confidence)
    return Parts(**{**asdict(parts), "penalty": -parts.total * doubt}) if doubt else parts


def floor_of(minimum_relevance: float, share: float) -> float:
    """The floor of dense relevance on the scale of `fused`."""
    return fused(minimum_relevance, 0.0, share)
