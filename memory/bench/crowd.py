"""What many small personas take on the disk, against one persona with as many memories."""

from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.db import connections
from tqdm import tqdm

from echovessel.db.sqlite.temporary import temporary_database
from memory.bench.synthetic import LINES_A_TALK, Life, Size, write_life

NODES_EACH = 20
SEED = 21


def measure(personas: int) -> dict[str, Any]:
    """Megabytes of a database with so many personas of NODES_EACH memories and one talk each, and of one with a
    persona who has as many memories and talks of the same kind alone."""

    def add_crowd(owner: Any) -> None:
        life = Life(SEED)
        for _ in tqdm(range(personas), desc="personas", unit=""):
            write_life(owner, Size(NODES_EACH, LINES_A_TALK), life=life, progress=False)

    many = _database_mb(add_crowd)
    one_mb = _database_mb(
        lambda owner: write_life(owner, Size(NODES_EACH * personas, LINES_A_TALK * personas), seed=SEED)
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
        connections.close_all()  # with the last one, the log goes into the file
        return path.stat().st_size / 1e6
