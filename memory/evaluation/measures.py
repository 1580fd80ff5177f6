"""The measures of one recall and of many, and the changes since an earlier run. Pure."""

import statistics
from collections.abc import Iterator, Mapping, Sequence

from memory.recall import Recall

DEPTHS = (5, 10, 20)
# A comparison fails if a figure falls by more than this; less is the noise of one query in a hundred.
TOLERANCE = 0.01
# Figures of which less is better, or that are neither good nor bad.
UNJUDGED = frozenset(("tokens",))


def coverage(recalled: Recall, depth: int | None = None) -> set[str]:
    """The archive ids that the first `depth` items show."""
    return {name for item in recalled.items[:depth] for name in (item.external_id, *item.messages) if name}


def answered(relevant: set[str], recalled: Recall) -> dict[str, float]:
    """The measures of a query with evidence; recall is the share of `relevant` that is shown."""
    shares = {f"recall_at_{depth}": len(relevant & coverage(recalled, depth)) / len(relevant) for depth in DEPTHS}
    ids = [{item.external_id, *item.messages} & relevant for item in recalled.items]
    first = next((1 / place for place, hit in enumerate(ids, start=1) if hit), 0.0)
    return shares | {
        "recall": len(relevant & coverage(recalled)) / len(relevant),
        "precision": sum(map(bool, ids)) / len(ids) if ids else 0.0,
        "mrr": first,
        "tokens": float(recalled.xray.tokens),
    }


def unanswerable(recalled: Recall) -> dict[str, float]:
    """The measures of a query that nothing stored can answer: 1 if recall correctly returned no memory (L3, L4), and 1
    if it returned nothing at all."""
    return {
        "no_memory": float(all(item.layer == "L2" for item in recalled.items)),
        "silent": float(not recalled.items),
        "tokens": float(recalled.xray.tokens),
    }


def average(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """The mean of each measure."""
    return {name: round(statistics.fmean(row[name] for row in rows), 4) for name in rows[0]} if rows else {}


def latency(times: Sequence[Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Median and 95th percentile of each step, in milliseconds."""
    steps = {
        step: sorted(row[step] for row in times if step in row)
        for step in dict.fromkeys(s for row in times for s in row)
    }
    return {
        step: {"p50": values[len(values) // 2], "p95": values[int(len(values) * 0.95)]}
        for step, values in steps.items()
    }


def figures(results: Mapping[str, object], at: tuple[str, ...] = ()) -> Iterator[tuple[str, float]]:
    """Every judged figure of a saved run, named by its path: `("own-en/all/recall", 0.87)`. Times are not judged."""
    for name, value in results.items():
        if isinstance(value, Mapping) and name != "elapsed_ms":
            yield from figures(value, (*at, name))
        elif isinstance(value, float) and name not in UNJUDGED:
            yield "/".join((*at, name)), value


def changes(before: Mapping[str, object], after: Mapping[str, object]) -> dict[str, tuple[float, float]]:
    """The figures that are in both runs and differ: before and after."""
    old, new = dict(figures(before)), dict(figures(after))
    return {name: (old[name], new[name]) for name in old if name in new and old[name] != new[name]}


def regressions(changed: Mapping[str, tuple[float, float]]) -> list[str]:
    """The names of the figures that fell by more than TOLERANCE."""
    return [name for name, (before, after) in changed.items() if before - after > TOLERANCE + 1e-9]
