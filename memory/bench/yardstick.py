"""A measure of this machine at this moment, by which figures of different days and machines compare: one search of
sqlite-vec (vec0, float vectors, exact) for the 40 nearest among the very vectors that recall searches, on one thread.
"""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db import connection

from memory.models import ConceptNode, NodeVector
from persona.models import Persona

NEIGHBOURS = 40
SEARCHES = 40
MAX_VECTORS = 100_000


def measure(persona: Persona) -> float:
    """The median of SEARCHES searches in milliseconds."""
    active = NodeVector.objects.filter(node__persona=persona, node__status=ConceptNode.Status.ACTIVE)
    vectors = [bytes(vector) for vector in active.order_by("pk").values_list("embedding", flat=True)[:MAX_VECTORS]]
    if not vectors:
        return 0.0
    times = []
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE VIRTUAL TABLE temp.yardstick USING vec0(vector float[{len(vectors[0]) // 4}])")
        try:
            cursor.executemany("INSERT INTO temp.yardstick(vector) VALUES (%s)", [[vector] for vector in vectors])
            for vector in vectors[:: max(1, len(vectors) // SEARCHES)][:SEARCHES]:
                started = time.perf_counter()
                cursor.execute(
                    "SELECT rowid FROM temp.yardstick WHERE vector MATCH %s AND k = %s", [vector, NEIGHBOURS]
                )
                cursor.fetchall()
                times.append((time.perf_counter() - started) * 1000)
        finally:
            cursor.execute("DROP TABLE temp.yardstick")
    return round(float(np.median(times)), 3)


def multiples(figures: Mapping[str, Any], yardstick_ms: float) -> dict[str, Any]:
    """Every time among the figures as a multiple of the yardstick, by its name without the unit.

    >>> multiples({"recall_ms": {"search": {"p50": 5.0}}, "check_s": 1.0, "nodes": 7, "import_nodes_per_s": 9.0}, 2.0)
    {'recall': {'search': {'p50': 2.5}}, 'check': 500.0}
    """
    multiples_by_name: dict[str, Any] = {}
    for name, value in figures.items():
        if isinstance(value, Mapping) and not _unit(name):
            multiples_by_name |= {name: inner} if (inner := multiples(value, yardstick_ms)) else {}
        elif (unit := _unit(name)) and yardstick_ms:
            short = name.replace("_ms_by_", "_by_").removesuffix("_ms").removesuffix("_s")
            multiples_by_name[short] = _divide(value, yardstick_ms / unit)
    return multiples_by_name


def _unit(name: str) -> float:
    """The milliseconds in the unit of a time with this name; 0 if it is not a time."""
    if name.endswith("_ms") or "_ms_by_" in name:
        return 1
    return 1000 if name.endswith("_s") and not name.endswith("_per_s") else 0


def _divide(value: Any, by: float) -> Any:
    if isinstance(value, Mapping):
        return {name: _divide(inner, by) for name, inner in value.items()}
    return round(value / by, 2)
