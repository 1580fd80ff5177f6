"""Disk use of many small personas, compared with one persona with as many memories."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connections
from tqdm import tqdm

from echovessel.db.sqlite.temporary import temporary_database
from memory.bench.synthetic import MESSAGES_PER_SESSION, Life, Size, write_life

NODES_PER_PERSONA = 20
SEED = 21


def measure(personas: int) -> dict[str, Any]:
    """Megabytes of a database of `personas` personas with NODES_PER_PERSONA memories and one session each, and of a
    database of one persona with as many memories and sessions of the same kind."""

    def add_crowd(owner: Any) -> None:
        life = Life(SEED)
        for _ in tqdm(range(personas), desc="personas", unit=""):
            write_life(owner, Size(NODES_PER_PERSONA, MESSAGES_PER_SESSION), life=life, progress=False)

    many = _database_mb(add_crowd)
    one_mb = _database_mb(
        lambda owner: write_life(owner, Size(NODES_PER_PERSONA * personas, MESSAGES_PER_SESSION * personas), seed=SEED)
    )
    return {
        "personas": personas,
        "many_mb": round(many, 1),
        "one_mb": round(one_mb, 1),
        "ratio": round(many / one_mb, 2),
    }


def _database_mb(fill: Callable[[Any], object]) -> float:
    with temporary_database() as path:
        fill(get_user_model().objects.create_user("bench", is_active=False))
        connections.close_all()  # closing the last connection writes the log into the file
        return path.stat().st_size / 1e6
