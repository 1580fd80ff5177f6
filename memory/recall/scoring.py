"""The scores of memories. Pure: numbers in, numbers out; each is a single number or an array.

    relevance = meaning and words, mixed by the share that the embedding model has for the query's script
    total     = 3.0·relevance + lift·(0.5·recency + 2.0·|impact| + 1.0·relational + 1.5·anchor + 0.1·confirmed)
                − penalty
    lift      = how far relevance is above the floor, 0 … 1

Relevance decides: an unrelated memory gets no bonus, however great its impact (design/recall.md). The plain sum of the
seeds is `classic`. Left out: learning the weights.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from echovessel.embeddings import embedding
from memory import knobs

# A number, or an array of numbers.
Numbers = Any

# A right angle between unit vectors: 1 - sqrt(2) / 2.
ORTHOGONAL = 1 - math.sqrt(2) / 2
# The range of dense relevance above a right angle that sentences reach in practice: 0.29 … 0.69 (cosine 0.81).
DENSE_SPAN = 0.4
# The share of the anchor term that an anchored memory always gets, even without relevance.
MIN_ANCHOR = 1 / 3
DISPUTED_PENALTY = 0.3
# Applied to memories of the persona if the question is about the owner, and the reverse (LoCoMo 0.925 -> 0.930).
OTHER_PERSON_PENALTY = 0.15
DOUBT_PENALTY = 0.3
RELATIONAL = 0.5
UNWEIGHTED = frozenset(("raw_relevance", "dense", "words"))


@dataclass(frozen=True)
class Profile:
    """The weights of the six terms. `plain`: the bonus terms act in full, whatever the relevance."""

    recency: float = 0.5
    relevance: float = 3.0
    impact: float = 2.0
    relational: float = 1.0
    anchor: float = 1.5
    confirmed: float = 0.1
    plain: bool = False


@dataclass(frozen=True)
class Parts:
    """The weighted terms of scores; their sum is the total. `raw_relevance` is 0 … 1."""

    relevance: Numbers
    recency: Numbers = 0.0
    impact: Numbers = 0.0
    relational: Numbers = 0.0
    anchor: Numbers = 0.0
    confirmed: Numbers = 0.0
    penalty: Numbers = 0.0
    raw_relevance: Numbers = 0.0
    dense: Numbers = 0.0
    words: Numbers = 0.0

    @property
    def total(self) -> Numbers:
        lifted = self.recency + self.impact + self.relational + self.anchor + self.confirmed
        return self.relevance + lifted + self.penalty

    def each(self, positions: np.ndarray) -> "list[Parts]":
        """The parts of the rows at `positions`, one by one."""
        size = np.shape(self.relevance)
        rows = np.array([np.broadcast_to(values, size)[positions] for values in vars(self).values()])
        return [Parts(*row) for row in rows.T.tolist()]

    def weighted(self) -> dict[str, float]:
        """The terms whose sum is the total."""
        return {name: value for name, value in self.as_json().items() if name not in UNWEIGHTED}

    def as_json(self) -> dict[str, float]:
        """All values, for the x-ray."""
        return {name: round(value, 4) for name, value in vars(self).items() if value}


def profile() -> Profile:
    """The weights that the operator configured."""
    return Profile(
        knobs.recency_weight(),
        knobs.relevance_weight(),
        knobs.impact_weight(),
        knobs.relational_bonus_weight(),
        knobs.anchor_weight(),
        knobs.confirmed_weight(),
        bool(knobs.plain_sum()),
    )


def recency(days: Numbers, half_life_days: float) -> Numbers:
    """1 for now, 0.5 after one half-life; the future counts as now.

    >>> float(recency(14, 14))
    0.5
    """
    return np.exp2(-np.maximum(0.0, days) / half_life_days)


def dense_relevance(distance: Numbers) -> Numbers:
    """1 - d/2 of the Euclidean distance of unit vectors: identical 1, orthogonal 0.293, opposite 0."""
    return np.clip(1 - distance / 2, 0.0, 1.0)


def impact(emotional_impact: Numbers) -> Numbers:
    """The strength of a feeling, positive or negative: 0 … 1."""
    return np.minimum(np.abs(emotional_impact) / 10, 1.0)


def classic(
    *,
    recency: Numbers,
    relevance: Numbers,
    impact: Numbers,
    relational: Numbers,
    anchor: Numbers = 0.0,
    weights: Profile,
) -> Numbers:
    """The plain weighted sum of the seeds (000, 002), kept for comparison."""
    return (
        weights.recency * recency
        + weights.relevance * relevance
        + weights.impact * impact
        + weights.relational * relational
        + weights.anchor * anchor
    )


def fuse(dense: Numbers, words: Numbers, share: float) -> Numbers:
    """Relevance 0 … 1 from dense relevance (NaN if there is none) and a lexical score 0 … 1."""
    meaning = np.clip((dense - ORTHOGONAL) / DENSE_SPAN, 0.0, 1.0)
    return np.where(np.isnan(dense), words, share * meaning + (1 - share) * words)


def lift(relevance: Numbers, floor: float) -> Numbers:
    """The share of the bonus terms that acts: 0 at the floor, 1 at full relevance."""
    return np.clip((relevance - floor) / (1 - floor), 0.0, 1.0) if floor < 1 else np.zeros_like(relevance)


def bounded_parts(
    *,
    relevance: Numbers,
    recency: Numbers,
    impact: Numbers = 0.0,
    relational: Numbers = 0.0,
    anchor: Numbers = 0.0,
    confidence: Numbers = 1.0,
    disputed: Numbers = False,
    confirmed: Numbers = False,
    floor: float,
    weights: Profile,
    dense: Numbers = 0.0,
    words: Numbers = 0.0,
) -> Parts:
    """The parts of scores in which the bonus terms act in proportion to the relevance above `floor`. If the weights are
    `plain`, they act in full, so that without doubt the total equals `classic`."""
    lifted = np.ones_like(relevance) if weights.plain else lift(relevance, floor)
    parts = Parts(
        relevance=weights.relevance * relevance,
        recency=weights.recency * recency * lifted,
        impact=weights.impact * impact * lifted,
        relational=weights.relational * relational * lifted,
        anchor=weights.anchor * anchor * np.maximum(lifted, MIN_ANCHOR),
        confirmed=weights.confirmed * confirmed * lifted,
        raw_relevance=relevance,
        dense=dense,
        words=words,
    )
    return replace(parts, penalty=-parts.total * (DISPUTED_PENALTY * disputed + DOUBT_PENALTY * (1 - confidence)))


def floor_distance(minimum_relevance: float | None = None) -> float:
    """The Euclidean distance of unit vectors at the floor (by default 1.2) for the model in use: memories farther apart
    are unrelated. Used by dense retrieval and by the choice of known events for an extraction. `minimum_relevance`
    replaces the floor."""
    relevance = knobs.minimum_relevance() if minimum_relevance is None else minimum_relevance
    return float(embedding.scale().own_distance("query", 2 * (1 - relevance)))


def floor_of(minimum_relevance: float, share: float) -> float:
    """The floor of dense relevance on the scale of `fuse`."""
    return float(fuse(minimum_relevance, 0.0, share))
