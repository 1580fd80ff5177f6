"""Converts a model's cosines to the scale of the bundled model, for which all thresholds are written.

A question and an unrelated memory have a cosine of 0.1 by all-MiniLM-L6-v2, of 0.75 by an e5. So every model is
measured on the same texts (memory/store/calibration.py), and its cosines are mapped to the bundled model's scale:
piecewise linear through unrelated pairs, matching pairs, and 1. There are four kinds of cosine:

    query      a question without names to a memory: whether there is an answer at all, and search by meaning
    whole      recall's query vector, minus the direction common to all messages, to a memory
    sharpened  the same with the best memories added, used for recall's scores
    texts      a memory to another one: whether both say the same

>>> scale = CosineScale({"texts": ((0.7, 0.0), (0.9, 0.6))})
>>> scale.comparable("texts", 0.8), scale.comparable("query", 0.8)
(0.3, 0.8)
>>> round(scale.own("texts", 0.3), 6)
0.8
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np

Kind = Literal["query", "whole", "sharpened", "texts"]
KINDS: tuple[Kind, ...] = ("query", "whole", "sharpened", "texts")
# (unrelated, matching) by the bundled model on the sets of memory/evaluation, measured like any other model.
REFERENCE: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "en": {
        "query": (0.0793, 0.2786),
        "whole": (0.0452, 0.2591),
        "sharpened": (0.1715, 0.5043),
        "texts": (0.2723, 0.5286),
    },
    "zh": {
        "query": (0.1124, 0.3502),
        "whole": (0.0729, 0.3094),
        "sharpened": (0.1736, 0.511),
        "texts": (0.2196, 0.5254),
    },
}
# The share of answers that are nearer to their question than other memories; 0.5 by chance. If a model is below this in
# a language, that language is not used to measure it.
MIN_SEPARATION = 0.75
MIN_SPAN = 0.02
SCRIPTS = {"en": "latin", "zh": "han"}

Numbers = Any


@dataclass(frozen=True)
class CosineScale:
    """`points`: by kind, pairs (own cosine, the bundled model's). `unknown`: scripts that the model does not know."""

    points: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()

    def comparable(self, kind: Kind, cosine: Numbers) -> Numbers:
        """Convert a cosine of the model in use to the bundled model's scale."""
        return self._read(kind, cosine, 0, 1)

    def own(self, kind: Kind, cosine: Numbers) -> Numbers:
        """Convert a cosine on the bundled model's scale to that of the model in use."""
        return self._read(kind, cosine, 1, 0)

    def comparable_distance(self, kind: Kind, distance: Numbers) -> Numbers:
        """`comparable` for Euclidean distances of unit vectors."""
        return _distance(self.comparable(kind, _cosine(distance))) if kind in self.points else distance

    def own_distance(self, kind: Kind, distance: Numbers) -> Numbers:
        return _distance(self.own(kind, _cosine(distance))) if kind in self.points else distance

    def _read(self, kind: Kind, cosine: Numbers, of: int, to: int) -> Numbers:
        if kind not in self.points:
            return cosine
        points = np.array([(-1.0, -1.0), *self.points[kind], (1.0, 1.0)])
        read = np.where(np.isnan(cosine), np.nan, np.interp(cosine, points[:, of], points[:, to]))
        return read if np.ndim(cosine) else float(read)


IDENTITY = CosineScale()


@lru_cache(maxsize=8)
def read_scale(scale_json: str) -> CosineScale:
    """The scale of stored measurements: {"en": {"query": [unrelated, matching], …, "separation": 0.9}, …}. A kind whose
    cosines separate nothing gets no points."""
    measured: dict[str, dict[str, Any]] = json.loads(scale_json or "{}")
    separated = [name for name, of_set in measured.items() if of_set["separation"] >= MIN_SEPARATION]
    sets = separated or list(measured)
    points: dict[str, tuple[tuple[float, float], ...]] = {}
    for kind in KINDS if sets else ():
        own = np.mean([measured[name][kind] for name in sets], axis=0).tolist()
        reference = np.mean([REFERENCE[name][kind] for name in sets], axis=0).tolist()
        if own[1] - own[0] >= MIN_SPAN and own[1] < 1 - MIN_SPAN / 2:
            points[kind] = ((own[0], reference[0]), (own[1], reference[1]))
    unknown = frozenset(SCRIPTS[name] for name in measured if separated and name not in separated)
    return CosineScale(points, unknown)


def _cosine(distance: Numbers) -> Numbers:
    return 1 - np.square(distance) / 2


def _distance(cosine: Numbers) -> Numbers:
    distances = np.sqrt(np.maximum(0.0, 2 - 2 * np.asarray(cosine)))
    return distances if np.ndim(cosine) else math.sqrt(max(0.0, 2 - 2 * float(cosine)))
