"""The search structures of L3 and L4: all raw SQL about vectors and the nodes' text index lives here.

`NodeVector` holds the exact vectors in a plain table; `memory_nodevec` (sqlite-vec's vec0) is what is searched.
Triggers carry rows from the one to the other, so the search structure holds a vector exactly as long as its node
exists and may be recalled, whoever writes: Django, a shell, or SQL.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from django.db import connection

from echovessel import embedding, words
from echovessel.sqlite import triggers
from echovessel.sqlite.text_index import TextIndex
from echovessel.sqlite.triggers import Trigger
from memory import constraints
from memory.models import ConceptNode, NodeText, NodeVector

TEXT = TextIndex(table="memory_nodetext", key="node_id", scope="scope", body="body")
# vec0 allocates whole chunks per partition; 64 keeps ten thousand small personas at about 100 KB each (recall.md).
CHUNK_SIZE = 64
SEARCH_SQL = (
    "CREATE VIRTUAL TABLE IF NOT EXISTS memory_nodevec USING vec0("
    f"node_id integer primary key, persona_id integer partition key, embedding float[{embedding.DIMENSION}], "
    f"chunk_size={CHUNK_SIZE})"
)
_PUT = (
    "INSERT INTO memory_nodevec(node_id, persona_id, embedding) SELECT n.id, n.persona_id, v.embedding "
    "FROM memory_conceptnode n JOIN memory_nodevector v ON v.node_id = n.id "
    "WHERE n.id = {id} AND n.status = 'active';"
)
_TAKE = "DELETE FROM memory_nodevec WHERE node_id = {id};"


def _trigger(name: str, table: str, moment: str, body: str) -> Trigger:
    return Trigger(name, table, f"CREATE TRIGGER {name} {moment} ON {table} BEGIN {body} END")


TRIGGERS = [
    _trigger("memory_nodevec_insert", "memory_nodevector", "AFTER INSERT", _PUT.format(id="new.node_id")),
    _trigger("memory_nodevec_delete", "memory_nodevector", "AFTER DELETE", _TAKE.format(id="old.node_id")),
    _trigger(
        "memory_nodevec_update",
        "memory_nodevector",
        "AFTER UPDATE",
        _TAKE.format(id="old.node_id") + _PUT.format(id="new.node_id"),
    ),
    _trigger(
        "memory_node_status",
        "memory_conceptnode",
        "AFTER UPDATE OF status",
        _TAKE.format(id="old.id") + _PUT.format(id="new.id"),
    ),
    _trigger(
        "memory_node_delete",
        "memory_conceptnode",
        "AFTER DELETE",
        "DELETE FROM memory_nodevector WHERE node_id = old.id; DELETE FROM memory_nodetext WHERE node_id = old.id;",
    ),
]


def ensure_indexes(**_: Any) -> None:
    """Make the search structures and triggers where they are missing; fill what a missing trigger missed."""
    if TEXT.table not in connection.introspection.table_names():
        return  # migrated back to nothing
    with connection.cursor() as cursor:
        cursor.execute(SEARCH_SQL)
    TEXT.ensure(connection)
    if triggers.ensure(connection, TRIGGERS):
        rebuild()
    triggers.ensure(connection, constraints.TRIGGERS)


def drop_triggers(**_: Any) -> None:
    """Before a migration: a trigger that names a table makes its rebuilding fail."""
    triggers.drop(connection, [*TRIGGERS, *TEXT.triggers, *constraints.TRIGGERS])


def missing() -> list[str]:
    """The names of absent triggers and indexes."""
    return TEXT.missing(connection) + triggers.missing(connection, [*TRIGGERS, *constraints.TRIGGERS])


def rebuild() -> None:
    """Fill the search structure anew from the exact vectors."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM memory_nodevec")
        cursor.execute(
            "INSERT INTO memory_nodevec(node_id, persona_id, embedding) SELECT n.id, n.persona_id, v.embedding "
            "FROM memory_conceptnode n JOIN memory_nodevector v ON v.node_id = n.id WHERE n.status = 'active'"
        )


def scope_of(persona_id: int) -> str:
    """The token that pins a persona's rows inside the text index."""
    return f"p{persona_id}"


def index(nodes: Sequence[ConceptNode], vectors: np.ndarray) -> None:
    """Store vectors `(n, 384) float32, unit length` and cut words of new nodes. Call in their transaction.

    Raises ValueError for a vector that is not finite or not of unit length: vec0 would accept it and then rank
    it first everywhere.
    """
    _check(nodes, vectors)
    NodeVector.objects.bulk_create(
        [
            NodeVector(node=node, model=node.embedding_model, embedding=vector.astype("<f4").tobytes())
            for node, vector in zip(nodes, vectors, strict=True)
        ]
    )
    NodeText.objects.bulk_create(
        [
            NodeText(node=node, scope=scope_of(node.persona_id), body=" ".join(words.cut(node.description)))
            for node in nodes
        ]
    )


def nearest(persona_id: int, vector: np.ndarray, k: int) -> list[tuple[int, float]]:
    """The `k` recallable nodes of a persona nearest to `vector`: (node id, Euclidean distance), nearest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT node_id, distance FROM memory_nodevec WHERE embedding MATCH %s AND k = %s AND persona_id = %s",
            [vector.astype("<f4").tobytes(), min(k, 4096), persona_id],
        )
        return sorted(cursor.fetchall(), key=lambda row: (row[1], row[0]))


def matching(persona_id: int, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Recallable nodes of a persona whose words hold any of `terms`: (node id, bm25 score), best first."""
    return TEXT.search(
        connection,
        terms,
        scope_of(persona_id),
        limit,
        join="JOIN memory_conceptnode AS node ON node.id = hit.id",
        where="node.status = 'active' AND node.persona_id = %s",
        params=[persona_id],
    )


def frequencies(persona_id: int, terms: Sequence[str], most: int) -> dict[str, int]:
    """How many of a persona's nodes, whatever their status, hold each of `terms`, counted up to `most`."""
    return TEXT.frequencies(connection, terms, scope_of(persona_id), most)


def of(node_ids: Iterable[int]) -> dict[int, np.ndarray]:
    """The exact vectors of nodes, by node id."""
    rows = NodeVector.objects.filter(node_id__in=list(node_ids)).values_list("node_id", "embedding")
    return {node_id: np.frombuffer(stored, dtype="<f4") for node_id, stored in rows}


def _check(nodes: Sequence[ConceptNode], vectors: np.ndarray) -> None:
    if vectors.shape != (len(nodes), embedding.DIMENSION):
        raise ValueError(f"{len(nodes)} nodes need vectors of {embedding.DIMENSION}, not {vectors.shape}")
    lengths = np.linalg.norm(vectors, axis=1)
    if not np.all(np.isfinite(lengths)) or np.any(np.abs(lengths - 1) > 1e-3):
        raise ValueError("a vector must be finite and of unit length")
