"""Statistics of measured values."""

from collections.abc import Sequence

import numpy as np

Spread = dict[str, float]


def spread(values: Sequence[float]) -> Spread:
    """Median and 95th percentile.

    >>> spread([3.0, 1.0, 2.0])
    {'p50': 2.0, 'p95': 2.9}
    """
    return {"p50": round(float(np.median(values)), 2), "p95": round(float(np.quantile(values, 0.95)), 2)}
