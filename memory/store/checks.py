"""The invariants of memory by name, each as a count of the rows that violate it: all must be 0.

Most are one statement. Imported rows may lack ground: they are as complete as their archive.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from django.db import connection

from chat import search
from echovessel.db.sqlite.text_index import TextIndex
from echovessel.language import tokenizer
from echovessel.language.person_names import occurs
from memory.models import Receipt
from memory.store import tombstones, vectors

# A receipt pending for longer is reported: the job of every minute should have completed it.
PENDING_FOR = timedelta(minutes=10)
READ_AT_ONCE = 2_000

_IMPORTED = "({row}.external_id IS NOT NULL OR {row}.import_uuid IS NOT NULL)"
_EVIDENCE = "EXISTS (SELECT 1 FROM memory_evidence e WHERE e.node_id = n.id)"
_GROUND = (
    "EXISTS (SELECT 1 FROM memory_filling f WHERE f.parent_id = n.id AND NOT f.orphaned AND f.child_id IS NOT NULL)"
)
_IN_USE = "(SELECT name FROM memory_embeddingmodel)"
_LENGTH = "4 * (SELECT dimension FROM memory_embeddingmodel)"

_NODES: Mapping[str, str] = {
    "events_without_evidence": "SELECT count(*) FROM memory_conceptnode n WHERE n.kind IN ('event', 'fact') "
    f"AND n.source IN ('extraction', 'person') AND NOT {_IMPORTED.format(row='n')} AND NOT {_EVIDENCE}",
    "thoughts_without_ground": "SELECT count(*) FROM memory_conceptnode n WHERE n.kind NOT IN ('event', 'fact') "
    f"AND NOT {_IMPORTED.format(row='n')} AND NOT {_EVIDENCE} AND NOT {_GROUND}",
    "edges_without_child": "SELECT count(*) FROM memory_filling WHERE (child_id IS NULL) <> orphaned",
    "edges_across_personas": "SELECT count(*) FROM memory_filling f JOIN memory_conceptnode p ON p.id = f.parent_id "
    "JOIN memory_conceptnode c ON c.id = f.child_id WHERE p.persona_id <> c.persona_id",
    # SQLite cannot search behind a NUL.
    "evidence_out_of_place": "SELECT count(*) FROM memory_evidence e JOIN chat_message m ON m.id = e.message_id "
    'WHERE substr(m.content, e.start + 1, e."end" - e.start) <> e.quote AND instr(m.content, char(0)) = 0',
    "evidence_across_personas": "SELECT count(*) FROM memory_evidence e JOIN chat_message m ON m.id = e.message_id "
    "JOIN memory_conceptnode n ON n.id = e.node_id WHERE n.persona_id <> m.persona_id",
    "superseded_across_personas": "SELECT count(*) FROM memory_conceptnode n JOIN memory_conceptnode o "
    "ON o.id IN (n.superseded_by_id, n.resolved_by_id) WHERE o.persona_id <> n.persona_id",
}
_ENTITIES: Mapping[str, str] = {
    "entities_without_mention": "SELECT count(*) FROM memory_entity x WHERE x.status <> 'merged' "
    f"AND x.described_by <> 'person' AND NOT {_IMPORTED.format(row='x')} "
    "AND NOT EXISTS (SELECT 1 FROM memory_mention WHERE entity_id = x.id)",
    "merged_without_survivor": "SELECT count(*) FROM memory_entity "
    "WHERE (status = 'merged') <> (merged_into_id IS NOT NULL)",
    "merged_in_a_circle": "WITH RECURSIVE above(start, at, steps) AS (SELECT id, merged_into_id, 1 FROM memory_entity "
    "WHERE merged_into_id IS NOT NULL UNION ALL SELECT start, e.merged_into_id, steps + 1 FROM above "
    "JOIN memory_entity e ON e.id = above.at WHERE e.merged_into_id IS NOT NULL AND steps < 1000) "
    "SELECT count(DISTINCT start) FROM above WHERE steps = 1000 OR at = start",
    "merged_across_personas": "SELECT count(*) FROM memory_entity x JOIN memory_entity o ON o.id = x.merged_into_id "
    "WHERE o.persona_id <> x.persona_id",
    "mentions_across_personas": "SELECT count(*) FROM memory_mention m JOIN memory_conceptnode n ON n.id = m.node_id "
    "JOIN memory_entity x ON x.id = m.entity_id WHERE x.persona_id <> n.persona_id",
    "mentions_of_merged": "SELECT count(*) FROM memory_mention m JOIN memory_entity x ON x.id = m.entity_id "
    "WHERE x.status = 'merged'",
    "names_of_another_persona": "SELECT count(*) FROM memory_alias a JOIN memory_entity x ON x.id = a.entity_id "
    "WHERE x.persona_id <> a.persona_id",
    "proposals_across_personas": "SELECT count(*) FROM memory_mergeproposal p JOIN memory_entity a ON a.id = p.a_id "
    "JOIN memory_entity b ON b.id = p.b_id WHERE a.persona_id <> b.persona_id",
}
_VECTORS: Mapping[str, str] = {
    "vectors_missing": "SELECT count(*) FROM memory_conceptnode "
    "WHERE id NOT IN (SELECT node_id FROM memory_nodevector)",
    "vectors_stray": "SELECT count(*) FROM memory_nodevector WHERE node_id NOT IN (SELECT id FROM memory_conceptnode)",
    "vectors_of_another_model": "SELECT count(*) FROM memory_nodevector v JOIN memory_conceptnode n "
    f"ON n.id = v.node_id WHERE v.model IS NOT {_IN_USE} OR n.embedding_model <> v.model",
    "vectors_of_wrong_length": f"SELECT count(*) FROM memory_nodevector WHERE length(embedding) <> {_LENGTH}",
    "staged_vectors_stray": "SELECT count(*) FROM memory_stagedvector "
    "WHERE node_id NOT IN (SELECT id FROM memory_conceptnode)",
    "searched_but_not_recallable": "SELECT count(*) FROM memory_nodevec s LEFT JOIN memory_conceptnode n "
    f"ON n.id = s.node_id AND n.persona_id = s.persona_id AND {vectors.RECALLABLE} "
    "LEFT JOIN memory_nodevector v ON v.node_id = n.id "
    "WHERE v.node_id IS NULL OR s.signs IS NOT vec_quantize_binary(v.embedding)",
    "recallable_but_not_searched": "SELECT count(*) FROM memory_conceptnode n JOIN memory_nodevector v "
    f"ON v.node_id = n.id AND v.model = {_IN_USE} AND length(v.embedding) = {_LENGTH} "
    f"WHERE {vectors.RECALLABLE} AND n.id NOT IN (SELECT node_id FROM memory_nodevec)",
}
_TALKS: Mapping[str, str] = {
    "talks_miscounted": "SELECT count(*) FROM chat_session s LEFT JOIN (SELECT session_id, count(*) AS lines, "
    "sum(token_count) AS tokens FROM chat_message GROUP BY 1) m ON m.session_id = s.id "
    "WHERE s.message_count <> coalesce(m.lines, 0) OR s.token_count <> coalesce(m.tokens, 0)",
    "turns_without_line": "SELECT count(*) FROM chat_turn t WHERE t.status NOT IN ('collecting', 'running') "
    "AND NOT EXISTS (SELECT 1 FROM chat_message WHERE turn_id = t.id)",
    "lines_across_personas": "SELECT count(*) FROM chat_message m JOIN chat_session s ON s.id = m.session_id "
    "WHERE s.persona_id <> m.persona_id",
    "mood_without_change": "SELECT count(*) FROM persona_persona p WHERE json_extract(p.episodic_state, '$.mood') "
    "IS NOT NULL AND NOT EXISTS (SELECT 1 FROM persona_moodchange c WHERE c.persona_id = p.id "
    "AND c.mood = json_extract(p.episodic_state, '$.mood')) AND (p.external_id IS NULL "
    "OR EXISTS (SELECT 1 FROM persona_moodchange c WHERE c.persona_id = p.id))",
}
_DRAFTS: Mapping[str, str] = {
    "drafts_of_lines_gone": "SELECT count(*) FROM persona_draftquote q WHERE q.said_in IS NOT NULL "
    "AND NOT EXISTS (SELECT 1 FROM chat_message m WHERE m.uuid = q.said_in AND NOT m.withheld)",
    "drafts_of_lines_of_others": "SELECT count(*) FROM persona_draftquote q JOIN persona_coredraft d "
    "ON d.id = q.draft_id JOIN chat_message m ON m.uuid = q.said_in WHERE m.persona_id <> d.persona_id",
    "drafts_out_of_place": "SELECT count(*) FROM persona_draftquote q JOIN chat_message m ON m.uuid = q.said_in "
    "WHERE instr(m.content, q.quote) = 0",
}
_IMPORTS: Mapping[str, str] = {
    "pieces_of_imports_that_are_over": "SELECT count(*) FROM memory_importpiece p JOIN memory_importjob j "
    "ON j.id = p.job_id WHERE j.status IN ('done', 'failed', 'refused')",
    "imports_across_owners": "SELECT count(*) FROM memory_importjob j JOIN persona_persona p ON p.id = j.persona_id "
    "WHERE p.owner_id <> j.owner_id",
    "chunks_across_personas": "SELECT count(*) FROM memory_importchunk c JOIN memory_importjob j ON j.id = c.job_id "
    "LEFT JOIN chat_session s ON s.id = c.session_id "
    "WHERE c.persona_id IS NOT j.persona_id OR (s.id IS NOT NULL AND s.persona_id <> c.persona_id)",
}
_DATABASE: Mapping[str, str] = {
    "lines_not_cut": "SELECT count(*) FROM chat_message m LEFT JOIN chat_messagetext t ON t.message_id = m.id "
    "WHERE t.scope IS NOT 'p' || m.persona_id",
    "keys_of_nothing": "SELECT count(*) FROM pragma_foreign_key_check",
}
_TOMBSTONES_OF_OTHER_KEYS = "SELECT count(*) FROM memory_tombstone WHERE key_id <> %s"
# An imported receipt has an external id, its id in the archive.
_IMPORTED_TOMBSTONES = "SELECT e.value FROM memory_receipt r, json_each(r.stones) e WHERE r.external_id IS NOT NULL"
_DAMAGED = "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"
_STATEMENTS: Mapping[str, str] = {**_NODES, **_ENTITIES, **_VECTORS, **_TALKS, **_DRAFTS, **_IMPORTS, **_DATABASE}


def check(now: datetime) -> dict[str, int]:
    """For each invariant, by name, the number of rows that violate it. It reads everything: 100,000 memories take
    seconds."""
    return {name: _count(sql) for name, sql in _STATEMENTS.items()} | {
        name: count(now) for name, count in _FUNCTIONS.items()
    }


def broken_invariants(now: datetime) -> dict[str, int]:
    """The invariants that do not hold, with their counts."""
    return {name: count for name, count in check(now).items() if count}


def tombstones_of_another_key() -> int:
    """Tombstones that no longer refuse anything, because they were made with another key: content forgotten here can
    return."""
    return _count(f"{_TOMBSTONES_OF_OTHER_KEYS} AND id NOT IN ({_IMPORTED_TOMBSTONES})", tombstones.key_id())


def foreign_tombstones() -> int:
    """Tombstones of another installation, imported with an archive. They refuse nothing here, and are kept for the
    installation that has their key. This is no damage."""
    return _count(f"{_TOMBSTONES_OF_OTHER_KEYS} AND id IN ({_IMPORTED_TOMBSTONES})", tombstones.key_id())


def _count(sql: str, *parameters: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters or None)
        return int(cursor.fetchone()[0])


def _count_rows(is_broken: Callable[..., bool], sql: str) -> int:
    """Count the rows of a statement that only Python can judge."""
    with connection.cursor() as cursor:
        cursor.execute(sql)
        count = 0
        while rows := cursor.fetchmany(READ_AT_ONCE):
            count += sum(is_broken(*row) for row in rows)
        return count


def _text_index_astray(index: TextIndex) -> int:
    """Rows of the index that its table lacks, rows that the index lacks, and scopes with a wrong row count."""
    counts_by_scope = f"SELECT {index.scope} AS scope, count(*) AS rows FROM {index.table} GROUP BY 1"
    noted = f"SELECT scope, rows FROM {index.size}"
    plain = f"SELECT {index.key} FROM {index.table}"  # a text without words is indexed by its scope alone
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE VIRTUAL TABLE temp.docs USING fts5vocab(main, '{index.name}', 'instance')")
        try:
            cursor.execute("CREATE TEMP TABLE indexed AS SELECT DISTINCT doc FROM temp.docs")
            return (
                _count(f"SELECT count(*) FROM temp.indexed WHERE doc NOT IN ({plain})")
                + _count(f"SELECT count(*) FROM ({plain} EXCEPT SELECT doc FROM temp.indexed)")
                + _count(
                    f"SELECT count(*) FROM (SELECT * FROM ({counts_by_scope} EXCEPT {noted}) "
                    f"UNION ALL SELECT * FROM ({noted} EXCEPT {counts_by_scope}))"
                )
            )
        finally:
            cursor.execute("DROP TABLE IF EXISTS temp.indexed")
            cursor.execute("DROP TABLE temp.docs")


def _pages_damaged(now: datetime) -> int:
    """Damage is checked again on a new connection: if another process changed an index since this connection last read
    it, FTS5 reports it as corrupt (seen with SQLite 3.53.4), though every search in it is right."""
    damaged = _count(_DAMAGED)
    if damaged and not connection.in_atomic_block:
        connection.close()
        damaged = _count(_DAMAGED)
    return damaged


_FUNCTIONS: Mapping[str, Callable[[datetime], int]] = {
    "pages_damaged": _pages_damaged,
    # Mentions whose memory contains no name of the entity, or of one that it may be merged with. (If several entities
    # share a name that a session gave to one of them, the mention stays with one of these.)
    "mentions_not_literal": lambda now: _count_rows(
        lambda description, names: not any(occurs(name, description) for name in json.loads(names)),
        "SELECT n.description, (SELECT json_group_array(a.text) FROM memory_alias a WHERE a.entity_id = x.id "
        "OR a.entity_id IN (SELECT p.b_id FROM memory_mergeproposal p WHERE p.a_id = x.id "
        "UNION ALL SELECT p.a_id FROM memory_mergeproposal p WHERE p.b_id = x.id)) "
        "FROM memory_mention m JOIN memory_conceptnode n ON n.id = m.node_id "
        f"JOIN memory_entity x ON x.id = m.entity_id WHERE NOT {_IMPORTED.format(row='x')}",
    ),
    # Memories whose words in the text index are missing, or differ from their description.
    "memories_cut_otherwise": lambda now: _count_rows(
        lambda persona, description, scope, body: (
            (scope, body) != (vectors.scope_of(persona), " ".join(tokenizer.tokenize(description)))
        ),
        "SELECT n.persona_id, n.description, t.scope, t.body FROM memory_conceptnode n "
        "LEFT JOIN memory_nodetext t ON t.node_id = n.id",
    ),
    "words_of_lines_astray": lambda now: _text_index_astray(search.INDEX),
    "words_of_memories_astray": lambda now: _text_index_astray(vectors.TEXT),
    "substrings_of_lines_astray": lambda now: int(not search.SUBSTRINGS.is_intact(connection)),
    "substrings_of_memories_astray": lambda now: int(not vectors.SUBSTRINGS.is_intact(connection)),
    "structures_missing": lambda now: len([*search.missing(), *vectors.missing()]),
    "stones_of_another_key": lambda now: tombstones_of_another_key(),
    "receipts_pending": lambda now: Receipt.objects.filter(
        status=Receipt.Status.PENDING, at__lt=now - PENDING_FOR
    ).count(),
}
