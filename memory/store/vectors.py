"""The search structures of L3 and L4: all raw SQL about vectors and the nodes' text index is here.

`NodeVector` holds the exact vectors in a plain table. Triggers keep the searched tables in step with it, so that a
vector is found exactly as long as its node exists and is recallable, whoever writes: Django, a shell, or SQL.

    memory_vectorstate  a stamp per persona, new after every change that recall could notice. By it a process that
                        caches a persona's vectors or words (memory/store/vector_cache.py, memory/recall/snapshot.py)
                        knows that they still equal the database; the epoch is new after changes that ids do not show
    memory_nodevec      sqlite-vec's vec0, the signs of the vectors: the first pass of a search without the cache
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as with_changes
from typing import Any, Protocol

import numpy as np
from django.db import connection

from echovessel.db.sqlite import bulk, triggers
from echovessel.db.sqlite.substrings import SubstringIndex
from echovessel.db.sqlite.text_index import TextIndex
from echovessel.db.sqlite.triggers import Trigger
from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.process.word_caches import LRUCache
from memory import knobs
from memory.models import ConceptNode, EmbeddingModel, Evidence, NodeText, NodeVector
from memory.store import integrity
from memory.store.active_model import dimension_in_use, in_use
from memory.store.vector_cache import Matrix, State, check_size

TEXT = TextIndex(table="memory_nodetext", key="node_id", scope="scope", body="body")
SUBSTRINGS = SubstringIndex(table="memory_conceptnode", column="description", scope="persona_id")
# vec0 allocates whole chunks per partition: with 64 a persona of 20 nodes takes 4 KB.
CHUNK_SIZE = 64
STATE_TABLE = (
    "CREATE TABLE memory_vectorstate(persona_id INTEGER PRIMARY KEY "
    "REFERENCES persona_persona(id) ON DELETE CASCADE, stamp BLOB NOT NULL, epoch BLOB NOT NULL)"
)
EvidenceRow = tuple[int, int, str, int, int]
# The number of nearest by sign that are measured exactly; vec0 gives no more.
FIRST_PASS = 4_096
LOADED_AT_ONCE = 500
LENGTH_TOLERANCE = 1e-3

# Recallable nodes. Lessons are part of the prompt by themselves (memory/recall/lessons.py).
RECALLABLE = "n.status = 'active' AND n.kind <> 'lesson'"
_MODEL_IN_USE = "(SELECT name FROM memory_embeddingmodel)"
_USABLE = f"v.model = {_MODEL_IN_USE} AND length(v.embedding) = 4 * (SELECT dimension FROM memory_embeddingmodel)"
_SEARCHED = (
    "INSERT INTO memory_nodevec(node_id, persona_id, signs) "
    "SELECT n.id, n.persona_id, vec_quantize_binary(v.embedding) "
    f"FROM memory_conceptnode n JOIN memory_nodevector v ON v.node_id = n.id WHERE {RECALLABLE} "
    f"AND {_USABLE}"
)
# (The persona may be deleted before its nodes, as in `manage.py flush`.)
_CHANGED = (
    "INSERT INTO memory_vectorstate SELECT p.id, randomblob(8), randomblob(8) "
    "FROM memory_conceptnode n JOIN persona_persona p ON p.id = n.persona_id WHERE n.id = {id} "
    "ON CONFLICT DO UPDATE SET stamp = excluded.stamp"
)
_RENEWED = f"{_CHANGED}, epoch = excluded.epoch"
_PUT = f"{_SEARCHED} AND n.id = {{id}}; {_CHANGED};"
_TAKE = f"DELETE FROM memory_nodevec WHERE node_id = {{id}}; {_CHANGED};"
_MOVED = "UPDATE OF status, persona_id"
# The first vector decides which model is in use; afterwards vectors of other models are refused.
_FIRST = (
    "INSERT INTO memory_embeddingmodel(id, name, dimension, probe, cosines) "
    f"SELECT 1, new.model, length(new.embedding) / 4, x'', '{{}}' WHERE {_MODEL_IN_USE} IS NULL;"
)
_REFUSED = f"SELECT RAISE(ABORT, 'a vector of a model that is not in use') WHERE new.model IS NOT {_MODEL_IN_USE};"


# Rows are removed BEFORE: in one program with the DELETE, SQLite would pass the INSERT through a temporary table, in
# which vec0's bits lose their type.
TRIGGERS = [
    Trigger.on("memory_nodevec_first", "memory_nodevector", "BEFORE INSERT", f"{_FIRST} {_REFUSED}"),
    Trigger.on("memory_nodevec_model", "memory_nodevector", "BEFORE UPDATE OF model", _REFUSED),
    Trigger.on("memory_nodevec_insert", "memory_nodevector", "AFTER INSERT", _PUT.format(id="new.node_id")),
    Trigger.on("memory_nodevec_delete", "memory_nodevector", "AFTER DELETE", _TAKE.format(id="old.node_id")),
    Trigger.on("memory_nodevec_leave", "memory_nodevector", "BEFORE UPDATE", _TAKE.format(id="old.node_id")),
    Trigger.on(
        "memory_nodevec_update",
        "memory_nodevector",
        "AFTER UPDATE",
        _PUT.format(id="new.node_id") + f" {_RENEWED.format(id='new.node_id')};",
    ),
    Trigger.on(
        "memory_node_leave", "memory_conceptnode", "BEFORE UPDATE OF status, persona_id", _TAKE.format(id="old.id")
    ),
    Trigger.on(
        "memory_node_status", "memory_conceptnode", "AFTER UPDATE OF status, persona_id", _PUT.format(id="new.id")
    ),
    Trigger.on(
        "memory_node_weighed",
        "memory_conceptnode",
        "AFTER UPDATE OF emotional_impact, relational_tags, confidence, verification, created_at, session_id, "
        "event_time_start, event_time_end",
        f"{_CHANGED.format(id='new.id')};",
    ),
    Trigger.on("memory_node_grounded", "memory_evidence", "AFTER INSERT", f"{_CHANGED.format(id='new.node_id')};"),
    Trigger.on("memory_node_ungrounded", "memory_evidence", "AFTER DELETE", f"{_CHANGED.format(id='old.node_id')};"),
    Trigger.on(
        "memory_node_regrounded",
        "memory_evidence",
        "AFTER UPDATE",
        f"{_CHANGED.format(id='old.node_id')}; {_CHANGED.format(id='new.node_id')};",
    ),
    Trigger.on("memory_node_worded", "memory_nodetext", "AFTER INSERT", f"{_CHANGED.format(id='new.node_id')};"),
    # A row inserted before the last id may be mistaken for a deleted node of the same id.
    Trigger(
        "memory_node_worded_late",
        "memory_nodetext",
        "CREATE TRIGGER memory_node_worded_late AFTER INSERT ON memory_nodetext WHEN EXISTS (SELECT 1 FROM "
        "memory_nodetext WHERE node_id > new.node_id AND scope = new.scope) BEGIN "
        f"{_RENEWED.format(id='new.node_id')}; END",
    ),
    Trigger.on("memory_node_unworded", "memory_nodetext", "AFTER DELETE", f"{_CHANGED.format(id='old.node_id')};"),
    Trigger.on(
        "memory_node_reworded",
        "memory_nodetext",
        "AFTER UPDATE",
        f"{_RENEWED.format(id='old.node_id')}; {_RENEWED.format(id='new.node_id')};",
    ),
    Trigger.on(
        "memory_node_delete",
        "memory_conceptnode",
        "AFTER DELETE",
        "DELETE FROM memory_nodevector WHERE node_id = old.id; DELETE FROM memory_nodetext WHERE node_id = old.id; "
        "DELETE FROM memory_stagedvector WHERE node_id = old.id; "
        "UPDATE memory_vectorstate SET stamp = randomblob(8) WHERE persona_id = old.persona_id;",
    ),
    Trigger.on(
        "memory_node_told_otherwise",
        "memory_conceptnode",
        "AFTER UPDATE OF description",
        "DELETE FROM memory_stagedvector WHERE node_id = new.id AND new.description IS NOT old.description;",
    ),
]
# Triggers that fire for each new node and its parts; a new node has the last id, so that no epoch changes.
_EACH = ("memory_nodevec_insert", "memory_node_worded", "memory_node_worded_late", "memory_node_grounded")
_ON_INSERT = [trigger for trigger in TRIGGERS if trigger.name in _EACH]
_cache: LRUCache[Matrix] = LRUCache()


def tables(dimension: int) -> dict[str, str]:
    """The search structures for vectors of this size, by name."""
    return {
        "memory_nodevec": (
            "CREATE VIRTUAL TABLE memory_nodevec USING vec0(node_id integer primary key, "
            f"persona_id integer partition key, signs bit[{dimension}], chunk_size={CHUNK_SIZE})"
        ),
        "memory_vectorstate": STATE_TABLE,
    }


def cached_persona_ids() -> list[int]:
    """The personas whose vectors this process caches."""
    return _cache.keys()


def ensure_indexes(**_: Any) -> None:
    """Create missing search structures and triggers, and fill them."""
    if TEXT.table not in connection.introspection.table_names():
        return  # migrated back to zero
    TEXT.ensure(connection)
    SUBSTRINGS.ensure(connection)
    absent = _fit_tables(dimension_in_use())
    if triggers.ensure(connection, TRIGGERS) or absent:
        rebuild()
    triggers.ensure(connection, integrity.TRIGGERS)


def _fit_tables(dimension: int) -> list[str]:
    """Create the search structures that are missing or of another vector size, empty. Returns their names."""
    structures = tables(dimension)
    differing = triggers.differing(connection, structures)
    with connection.cursor() as cursor:
        for name in differing:
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.execute(structures[name])
    return differing


def drop_triggers(plan: Sequence[Any] | None = None, **_: Any) -> None:
    """Drop the triggers before a migration, because a trigger that names a table makes rebuilding the table fail.
    Without a migration they stay, because creating them refills the indexes."""
    if plan is not None and not plan:
        return
    triggers.drop(connection, [*TRIGGERS, *TEXT.triggers, *SUBSTRINGS.triggers, *integrity.TRIGGERS])


def missing() -> list[str]:
    """The names of absent triggers and indexes."""
    return [
        *TEXT.missing(connection),
        *SUBSTRINGS.missing(connection),
        *triggers.differing(connection, tables(dimension_in_use())),
        *triggers.missing(connection, [*TRIGGERS, *integrity.TRIGGERS]),
    ]


def rebuild() -> None:
    """Refill the search structures from the exact vectors."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM memory_nodevec")
        cursor.execute(_SEARCHED)
        cursor.execute("DELETE FROM memory_vectorstate")
        cursor.execute(
            "INSERT INTO memory_vectorstate SELECT persona_id, randomblob(8), randomblob(8) "
            "FROM memory_conceptnode GROUP BY persona_id"
        )


def scope_of(persona_id: int) -> str:
    """The token that pins a persona's rows inside the text index."""
    return f"p{persona_id}"


def index(nodes: Sequence[ConceptNode], vectors: np.ndarray) -> None:
    """Store vectors `(n, d) float32, unit length` and tokenized words of new nodes. Call in their transaction.

    Raises ValueError for a vector that is not finite or not of unit length: vec0 would accept it and then rank it first
    everywhere.
    """
    _check(nodes, vectors)
    _begin_with(nodes, vectors)
    _insert_searched(nodes, vectors)
    _note_probe(nodes)


def store(nodes: Sequence[ConceptNode], vectors: np.ndarray, evidence: Callable[[], Iterable[EvidenceRow]]) -> None:
    """Store many new nodes of one persona with their vectors, words and evidence. `evidence` is called once the nodes
    have keys: (node, message, quote, start, end). Call in a transaction. Raises ValueError as `index` does."""
    _check(nodes, vectors)
    _begin_with(nodes, vectors)
    if len(nodes) < bulk.MANY:
        _insert(nodes, vectors, evidence)
        _note_probe(nodes)
        return
    with bulk.temporary_values(connection, [*TEXT.on_insert, *SUBSTRINGS.on_insert, *_ON_INSERT]):
        _insert(nodes, vectors, evidence)
        first, last = nodes[0].pk, nodes[-1].pk
        for text_index in (TEXT, SUBSTRINGS):
            text_index.add(connection, first, last)
        with connection.cursor() as cursor:
            cursor.execute(f"{_SEARCHED} AND n.id BETWEEN %s AND %s", [first, last])
            cursor.execute(_CHANGED.format(id="%s"), [last])
    _note_probe(nodes)


def _insert(nodes: Sequence[ConceptNode], vectors: np.ndarray, evidence: Callable[[], Iterable[EvidenceRow]]) -> None:
    bulk.insert(nodes)
    _insert_searched(nodes, vectors)
    bulk.insert_values(Evidence, ("node_id", "message_id", "quote", "start", "end"), evidence())


def _insert_searched(nodes: Sequence[ConceptNode], vectors: np.ndarray) -> None:
    """Insert the vectors and tokenized words of stored nodes."""
    bulk.insert_values(
        NodeVector,
        ("node_id", "model", "embedding"),
        (
            (node.id, node.embedding_model, vector.tobytes())
            for node, vector in zip(nodes, vectors.astype("<f4"), strict=True)
        ),
    )
    bulk.insert_values(
        NodeText,
        ("node_id", "scope", "body"),
        ((node.id, scope_of(node.persona_id), " ".join(tokenizer.tokenize(node.description))) for node in nodes),
    )


class Space(Protocol):
    """A persona's recallable vectors, to be searched."""

    def nearest(self, vector: np.ndarray, k: int) -> list[tuple[int, float]]:
        """The `k` nodes nearest to `vector`: (node id, Euclidean distance), nearest first."""

    def vectors(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        """The exact vectors of nodes: (n, d) float32; NaN for a node without vector or that is not recallable."""


@dataclass(frozen=True)
class _DatabaseSearch:
    """Vectors that are too many for the cache, or not committed yet: searched in the database, in two passes."""

    persona_id: int
    dimension: int

    def nearest(self, vector: np.ndarray, k: int) -> list[tuple[int, float]]:
        """Not quite exact for more than FIRST_PASS nodes: those whose signs agree best are measured exactly."""
        # vec0 refuses another size with an error of its own.
        check_size(vector, in_use().dimension or self.dimension)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT node_id FROM memory_nodevec "
                "WHERE signs MATCH vec_quantize_binary(%s) AND k = %s AND persona_id = %s",
                [vector.astype("<f4").tobytes(), FIRST_PASS, self.persona_id],
            )
            candidates = [node_id for (node_id,) in cursor.fetchall()]
        return _exact(self.persona_id, candidates, self.dimension).nearest(vector, k)

    def vectors(self, ids: Sequence[int] | np.ndarray) -> np.ndarray:
        wanted_ids = np.asarray(ids, dtype=np.int64)
        return _exact(self.persona_id, wanted_ids.tolist(), self.dimension).vectors(wanted_ids)


def space(persona_id: int, current: State | None = None) -> Space:
    """A persona's recallable vectors as the database is now; `current` is their state, if it was just read. From the
    cache, if there is room and no transaction is open, whose changes may yet be rolled back."""
    current = current or state(persona_id)
    if connection.in_atomic_block:
        return _DatabaseSearch(persona_id, current.dimension)
    cached = _cache.take(persona_id)
    if cached is not None and cached.state == current:
        return cached
    with connection.cursor() as cursor:
        # One string parsed by numpy: as rows they would take ten times as long.
        cursor.execute(
            "SELECT group_concat(id) FROM (SELECT n.id FROM memory_conceptnode n "
            f"WHERE n.persona_id = %s AND {RECALLABLE} ORDER BY n.id)",
            [persona_id],
        )
        ids = np.fromstring(cursor.fetchone()[0] or "", dtype=np.int64, sep=",")
    room = knobs.vectors_in_memory_mb() * 1_000_000
    if len(ids) * current.dimension * 4 > room:
        return _DatabaseSearch(persona_id, current.dimension)
    if cached is not None and (cached.state.epoch, cached.state.dimension) == (current.epoch, current.dimension):
        # Cached vectors are not read again.
        added = _exact(persona_id, np.setdiff1d(ids, cached.ids).tolist(), current.dimension)
        matrix = cached.joined(added, ids, current)
    else:
        matrix = with_changes(_exact(persona_id, ids.tolist(), current.dimension), state=current)
    _cache.put(persona_id, matrix, room)
    return matrix


def nearest(persona_id: int, vector: np.ndarray, k: int) -> list[tuple[int, float]]:
    """The `k` recallable nodes of a persona nearest to `vector`: (node id, Euclidean distance), nearest first. Raises
    ModelChanged for a vector of another size than the stored ones."""
    return space(persona_id).nearest(vector, k)


def find_by_terms(persona_id: int, terms: Sequence[str], limit: int) -> dict[str, np.ndarray]:
    """The ids of a persona's nodes, whatever their status, that contain each of `terms`: the newest `limit` of each."""
    return TEXT.holding(connection, terms, scope_of(persona_id), limit)


def count(persona_id: int) -> int:
    """The number of a persona's nodes, whatever their status."""
    return TEXT.rows(connection, scope_of(persona_id))


def of(node_ids: Iterable[int]) -> dict[int, np.ndarray]:
    """The exact vectors of nodes, by node id."""
    model, dimension, *_ = in_use()
    node_vectors = NodeVector.objects.filter(node_id__in=list(node_ids), model=model)
    rows, size = node_vectors.values_list("node_id", "embedding"), 4 * dimension
    return {node_id: np.frombuffer(blob, dtype="<f4") for node_id, blob in rows if len(blob) == size}


def state(persona_id: int) -> State:
    """The state of a persona's nodes, as far as recall could notice."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.stamp, s.epoch, m.dimension FROM (SELECT 1) LEFT JOIN memory_embeddingmodel m "
            "LEFT JOIN memory_vectorstate s ON s.persona_id = %s",
            [persona_id],
        )
        stamp, epoch, dimension = cursor.fetchone()
        return State(stamp or b"", epoch or b"", dimension or embedding.DIMENSION)


def _exact(persona_id: int, node_ids: Sequence[int], dimension: int) -> Matrix:
    """The exact vectors of those `node_ids` that belong to the persona, are recallable and have one. Raises
    ModelChanged if the stored vectors now have another size."""
    wanted_ids, ids = sorted(node_ids), list[int]()
    rows = np.empty((len(wanted_ids), dimension), dtype=np.float32)
    for first in range(0, len(wanted_ids), LOADED_AT_ONCE):
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT v.node_id, v.embedding FROM json_each(%s) AS wanted "
                "CROSS JOIN memory_conceptnode n ON n.id = wanted.value "
                "CROSS JOIN memory_nodevector v ON v.node_id = n.id "
                f"WHERE n.persona_id = %s AND {RECALLABLE} AND {_USABLE} ORDER BY n.id",
                [json.dumps(wanted_ids[first : first + LOADED_AT_ONCE]), persona_id],
            )
            batch = cursor.fetchall()
        matrix = np.frombuffer(b"".join(blob for _, blob in batch), dtype="<f4").reshape(len(batch), -1 if batch else 0)
        if batch:
            check_size(matrix[0], dimension)
            rows[len(ids) : len(ids) + len(batch)] = matrix
        ids += [node_id for node_id, _ in batch]
    return Matrix(State(b"", b"", dimension), np.array(ids, dtype=np.int64), rows[: len(ids)])


def switch_model(model: str, dimension: int, probe: bytes, cosines: Mapping[str, Any]) -> None:
    """Replace all vectors by those that were staged for `model`. Call in a transaction in which every node has one."""
    values = {"name": model, "dimension": dimension, "probe": probe, "cosines": cosines}
    EmbeddingModel.objects.update_or_create(defaults=values)
    _fit_tables(dimension)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO memory_nodevector(node_id, model, embedding) "
            "SELECT node_id, model, embedding FROM memory_stagedvector WHERE model = %s "
            "ON CONFLICT (node_id) DO UPDATE SET model = excluded.model, embedding = excluded.embedding",
            [model],
        )
    ConceptNode.objects.exclude(embedding_model=model).update(embedding_model=model)


def replace(rows: Mapping[int, np.ndarray], model: str) -> None:
    """Replace the vectors of these nodes; `model` is the one in use. Call in a transaction."""
    for node, vector in rows.items():
        values = {"model": model, "embedding": vector.astype("<f4").tobytes()}
        NodeVector.objects.update_or_create(node_id=node, defaults=values)
    ConceptNode.objects.filter(pk__in=rows).update(embedding_model=model)


def is_unit_length(vectors: np.ndarray) -> np.ndarray:
    """Which of `vectors` (n, d) are finite and of unit length: (n,) bool."""
    lengths = np.linalg.norm(vectors, axis=1)
    return np.isfinite(lengths) & (np.abs(lengths - 1) <= LENGTH_TOLERANCE)


def _check(nodes: Sequence[ConceptNode], vectors: np.ndarray) -> None:
    if vectors.ndim != 2 or len(vectors) != len(nodes):
        raise ValueError(f"{len(nodes)} nodes need as many vectors, not {vectors.shape}")
    if not is_unit_length(vectors).all():
        raise ValueError("a vector must be finite and of unit length")


def _begin_with(nodes: Sequence[ConceptNode], vectors: np.ndarray) -> None:
    """Create the structures for this vector size before the first vectors. Raises ModelChanged if the stored vectors
    have another size."""
    if not nodes:
        return
    model, dimension, *_ = in_use()
    if model:
        check_size(vectors[0], dimension)
    else:
        _fit_tables(vectors.shape[1])


def _note_probe(nodes: Sequence[ConceptNode]) -> None:
    """Store the probe of a server's model with its first vectors."""
    if nodes and (probe := embedding.last_probe(nodes[0].embedding_model)):
        EmbeddingModel.objects.filter(name=nodes[0].embedding_model, probe=b"").update(probe=probe)
