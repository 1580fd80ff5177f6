"""SQL of recall over nodes, entities and evidence, by the ids of candidates, within one persona.

Raw SQL, because a turn waits for it: for 500 rows, building Django models takes longer than reading.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection

from echovessel.db.sqlite import bulk
from echovessel.language.dates import Days
from memory.models.node import GUESS_BELOW
from memory.store.corrections import ReplacedText, Resting
from memory.store.vectors import RECALLABLE


def _rows(sql: str, params: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return cursor.fetchall()


def _column(sql: str, params: Sequence[Any]) -> list[int]:
    return [key for (key,) in _rows(sql, params)]


def recallable(persona_id: int, node_ids: Sequence[int], limit: int) -> list[int]:
    """The first `limit` of `node_ids` that may be recalled."""
    return _column(
        "SELECT n.id FROM json_each(%s) AS wanted CROSS JOIN memory_conceptnode n ON n.id = wanted.value "
        f"CROSS JOIN memory_nodetext t ON t.node_id = n.id WHERE n.persona_id = %s AND {RECALLABLE} LIMIT %s",
        [json.dumps(node_ids), persona_id, limit],
    )


def entities_by_names(persona_id: int, names: Sequence[str]) -> list[int]:
    """The ids of the persona's entities, except merged ones, that have any of `names`, in order."""
    return _column(
        "SELECT DISTINCT e.id FROM json_each(%s) AS name "
        "CROSS JOIN memory_alias a ON a.persona_id = %s AND a.normalized = name.value "
        "CROSS JOIN memory_entity e ON e.id = a.entity_id AND e.status <> 'merged' ORDER BY e.id",
        [json.dumps(names), persona_id],
    )


def has_person_or_pet(persona_id: int, names: Sequence[str]) -> bool:
    """Whether a person or a pet of the persona has any of `names`."""
    matches = (
        "SELECT 1 FROM json_each(%s) AS name "
        "CROSS JOIN memory_alias a ON a.persona_id = %s AND a.normalized = name.value "
        "CROSS JOIN memory_entity e ON e.id = a.entity_id AND e.status <> 'merged' AND e.kind IN ('person', 'pet')"
    )
    return bool(_column(f"SELECT EXISTS ({matches})", [json.dumps(names), persona_id])[0])


def mentioning(persona_id: int, entity_id: int, limit: int) -> list[int]:
    """The ids of recallable nodes that mention an entity, the newest first."""
    return _column(
        "SELECT n.id FROM memory_mention m CROSS JOIN memory_conceptnode n ON n.id = m.node_id "
        f"WHERE m.entity_id = %s AND n.persona_id = %s AND {RECALLABLE} ORDER BY m.id DESC LIMIT %s",
        [entity_id, persona_id, limit],
    )


def facts_about(persona_id: int, domains: Sequence[str], of_persona: bool, limit: int) -> list[int]:
    """The ids of recallable facts of `domains`, either about the persona or about all others: per domain the `limit`
    mentioned last."""
    whose = "=" if of_persona else "<>"
    query = (
        "SELECT * FROM (SELECT n.id FROM memory_conceptnode n WHERE n.persona_id = %s AND n.kind = 'fact' "
        f"AND n.domain = %s AND n.subject {whose} 'persona' AND {RECALLABLE} "
        "ORDER BY n.last_mentioned_at DESC, n.id DESC LIMIT %s)"
    )
    params = [value for domain in domains for value in (persona_id, domain, limit)]
    return _column(" UNION ALL ".join([query] * len(domains)), params)


def facts_among(node_ids: Sequence[int], domains: Sequence[str], of_persona: bool) -> list[int]:
    """The recallable nodes that are facts of `domains`, either about the persona or about all others, in order."""
    whose = "=" if of_persona else "<>"
    return _column(
        "SELECT n.id FROM json_each(%s) AS wanted CROSS JOIN memory_conceptnode n ON n.id = wanted.value "
        f"WHERE n.kind = 'fact' AND n.subject {whose} 'persona' AND n.domain IN (SELECT value FROM json_each(%s)) "
        "ORDER BY wanted.key",
        [json.dumps(node_ids), json.dumps(domains)],
    )


def descriptions_of_events(node_ids: Sequence[int]) -> list[tuple[int, str]]:
    """The recallable events, except those of the persona, with their descriptions, in order."""
    rows = _rows(
        "SELECT n.id, n.description "
        "FROM json_each(%s) AS wanted CROSS JOIN memory_conceptnode n ON n.id = wanted.value "
        "WHERE n.kind = 'event' AND n.subject <> 'persona' ORDER BY wanted.key",
        [json.dumps(node_ids)],
    )
    return [(key, description) for key, description in rows]


def dated_among(node_ids: Sequence[int]) -> list[int]:
    """The nodes that have a date of their own, in the given order."""
    return _column(
        "SELECT n.id FROM json_each(%s) AS wanted CROSS JOIN memory_conceptnode n ON n.id = wanted.value "
        "WHERE n.event_time_start IS NOT NULL ORDER BY wanted.key",
        [json.dumps(node_ids)],
    )


def entities_by_relation(persona_id: int) -> list[tuple[int, str, str]]:
    """Id, kind and relation to the owner of all entities with a relation, and of all pets."""
    return _rows(
        "SELECT e.id, e.kind, e.relation FROM memory_entity e "
        "WHERE e.persona_id = %s AND e.status <> 'merged' AND (e.relation <> '' OR e.kind = 'pet')",
        [persona_id],
    )


def recallable_between(persona_id: int, days: Days, since: datetime, until: datetime, limit: int) -> list[int]:
    """The ids of recallable nodes that happened in `days` or, if that is unknown, were recorded between `since` and
    `until` (UTC, naive); the newest first."""
    searches = (
        ("node_by_event_time", "n.event_time_start BETWEEN %s AND %s"),
        (
            "node_of_several_days",
            "n.event_time_start < %s AND n.event_time_end > n.event_time_start AND n.event_time_end >= %s",
        ),
        ("node_undated", "n.event_time_start IS NULL AND n.created_at >= %s AND n.created_at < %s"),
    )
    # A statement per index: one search with OR took 40 ms among 100,000 nodes.
    among = " UNION ALL ".join(
        f"SELECT n.id, n.created_at FROM memory_conceptnode n INDEXED BY {index} "
        f"CROSS JOIN memory_nodetext t ON t.node_id = n.id WHERE n.persona_id = %s AND {RECALLABLE} AND {condition}"
        for index, condition in searches
    )
    start, end = days.start.isoformat(), days.end.isoformat()
    return _column(
        f"SELECT id FROM ({among}) ORDER BY created_at DESC, id DESC LIMIT %s",
        [persona_id, start, end, persona_id, start, start, persona_id, since, until, limit],
    )


def nodes_by_evidence(persona_id: int, message_ids: Sequence[int], limit: int) -> list[int]:
    """The ids of recallable nodes that rest on any of `message_ids`, the first `limit` by id."""
    return _column(
        "SELECT DISTINCT n.id FROM json_each(%s) AS source CROSS JOIN memory_evidence e ON e.message_id = source.value "
        "CROSS JOIN memory_conceptnode n ON n.id = e.node_id CROSS JOIN memory_nodetext t ON t.node_id = n.id "
        f"WHERE n.persona_id = %s AND {RECALLABLE} ORDER BY n.id LIMIT %s",
        [json.dumps(message_ids), persona_id, limit],
    )


UNDATED = -(2**31)
# The columns of a node in rows.NodeColumns; `created` is in seconds since 1970, `sessions` is 0 if there is none.
COLUMNS = {
    "ids": np.int64,
    "impacts": np.float64,
    "relational": bool,
    "confidence": np.float64,
    "created": np.float64,
    "sessions": np.int64,
    "disputed": bool,
    "confirmed": bool,
}
# Those of a node in snapshot.Nodes: whether it may be recalled, whether its words were superseded or corrected, and its
# first and last day since 1970, or UNDATED.
ALL_COLUMNS = {"is_active": bool, "is_replaced": bool, "first_days": np.int32, "last_days": np.int32, **COLUMNS}
_COLUMNS = (
    "n.id, n.emotional_impact, n.relational_tags <> '[]', n.confidence, "
    "unixepoch(n.created_at) + CAST(substr(n.created_at, 20) AS REAL), "  # with microseconds
    "coalesce(n.session_id, 0), n.verification = 'disputed', n.verification = 'confirmed'"
)


# ConceptNode.is_unsure as an SQL condition.
_UNSURE = f"(n.verification = 'disputed' OR n.verification <> 'confirmed' AND n.confidence < {GUESS_BELOW})"


def nodes(persona_id: int, node_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """The recallable nodes among `node_ids`, by id: the COLUMNS, then the tokenized words."""
    return _rows(
        f"SELECT {_COLUMNS}, t.body "
        "FROM json_each(%s) AS wanted CROSS JOIN memory_conceptnode n ON n.id = wanted.value "
        "CROSS JOIN memory_nodetext t ON t.node_id = n.id "
        f"WHERE n.persona_id = %s AND {RECALLABLE} ORDER BY n.id",
        [json.dumps(node_ids), persona_id],
    )


def all_nodes(persona_id: int) -> dict[str, Any]:
    """All nodes that have words, by id: the ALL_COLUMNS as arrays, by name."""
    batches = bulk.read_in_batches(
        f"SELECT {RECALLABLE}, n.superseded_by_id IS NOT NULL OR EXISTS (SELECT 1 FROM memory_nodeversion v "
        f"WHERE v.node_id = n.id), coalesce(unixepoch(n.event_time_start) / 86400, {UNDATED}), "
        "coalesce(unixepoch(max(n.event_time_start, coalesce(n.event_time_end, n.event_time_start))) / 86400, "
        f"{UNDATED}), "
        f"{_COLUMNS} FROM memory_conceptnode n "
        "CROSS JOIN memory_nodetext t ON t.node_id = n.id WHERE n.persona_id = %s ORDER BY n.id",
        [persona_id],
    )
    arrays = [columns(zip(*rows, strict=True), ALL_COLUMNS) for rows in batches]
    arrays.append(columns(((),) * len(ALL_COLUMNS), ALL_COLUMNS))
    return {name: np.concatenate([batch[name] for batch in arrays]) for name in ALL_COLUMNS}


def words_since(persona_id: int, node_id: int) -> Iterator[str]:
    """The tokenized words of all nodes after `node_id`, by id."""
    batches = bulk.read_in_batches(
        "SELECT t.body FROM memory_conceptnode n CROSS JOIN memory_nodetext t ON t.node_id = n.id "
        "WHERE n.persona_id = %s AND n.id > %s ORDER BY n.id",
        [persona_id, node_id],
    )
    return (body for rows in batches for (body,) in rows)


def columns(values: Iterable[Sequence[Any]], kinds: Mapping[str, Any] = COLUMNS) -> dict[str, Any]:
    """Columns as arrays of their `kinds`, by name."""
    return {name: np.array(column, dtype=kind) for (name, kind), column in zip(kinds.items(), values, strict=True)}


def evidence(node_ids: Sequence[int]) -> np.ndarray:
    """The evidence of nodes: (pairs, 2) int64, node id and message id, ordered by both."""
    source_rows = "json_each(%s) AS wanted CROSS JOIN memory_evidence e ON e.node_id = wanted.value"
    return _pairs(source_rows, json.dumps(node_ids))


def evidence_of(persona_id: int) -> np.ndarray:
    """The evidence of all nodes of a persona, in the same form."""
    nodes = "memory_conceptnode n CROSS JOIN memory_evidence e ON e.node_id = n.id WHERE n.persona_id = %s"
    return _pairs(nodes, persona_id)


def _pairs(source: str, of: Any) -> np.ndarray:
    # One string for all pairs, parsed by numpy: as rows they would take ten times as long.
    pairs = f"SELECT DISTINCT e.node_id || ',' || e.message_id AS pair FROM {source} ORDER BY e.node_id, e.message_id"
    ((joined,),) = _rows(f"SELECT group_concat(pair) FROM ({pairs})", [of])
    return np.fromstring(joined or "", dtype=np.int64, sep=",").reshape(-1, 2)


def neighbours(persona_id: int, node_ids: Sequence[int], company: int) -> np.ndarray:
    """The recallable nodes one step away from `node_ids`: (edges, 3) int64, one of `node_ids`, the other node, and the
    number of nodes that share the link. A thought and its source count as two; nodes that mention the same entity count
    as many as mention it, at most `company`."""
    rows = _rows(
        "WITH wanted AS (SELECT value AS id FROM json_each(%s)), mentioned AS MATERIALIZED ("
        "SELECT m.node_id, m.entity_id, (SELECT count(*) FROM (SELECT 1 FROM memory_mention c "
        "WHERE c.entity_id = m.entity_id LIMIT %s)) AS many FROM wanted "
        "CROSS JOIN memory_mention m ON m.node_id = wanted.id), joined AS ("
        "SELECT f.parent_id AS one, f.child_id AS other, 2 AS many FROM wanted "
        "CROSS JOIN memory_filling f ON f.parent_id = wanted.id UNION ALL "
        "SELECT f.child_id, f.parent_id, 2 FROM wanted CROSS JOIN memory_filling f ON f.child_id = wanted.id UNION ALL "
        "SELECT m.node_id, o.node_id, m.many FROM mentioned m "
        "CROSS JOIN memory_mention o ON o.entity_id = m.entity_id AND o.node_id <> m.node_id WHERE m.many <= %s) "
        "SELECT one, other, min(many) FROM joined CROSS JOIN memory_conceptnode n ON n.id = other "
        f"WHERE n.persona_id = %s AND {RECALLABLE} GROUP BY one, other ORDER BY one, other",
        [json.dumps(node_ids), company + 1, company, persona_id],
    )
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


# The fields of render.RenderedNode.
_NODE_FIELDS = (
    "n.id, n.uuid, n.external_id, n.kind, n.description, n.event_time_start, n.event_time_end, "
    f"n.created_at, n.outcome, {_UNSURE}, n.session_id IS NOT NULL, c.id IS NOT NULL, n.since, n.until, n.plan_state, "
    "n.subject, h.id, coalesce(h.title, ''), coalesce(h.state, '')"
)
_NODE_JOINS = (
    "LEFT JOIN memory_importchunk c ON c.session_id = n.session_id AND NOT c.dated "
    "LEFT JOIN memory_threadmember tm ON tm.node_id = n.id AND tm.removed_at IS NULL "
    "LEFT JOIN memory_thread h ON h.id = tm.thread_id"
)


def node_rows(persona_id: int, node_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """The fields of render.RenderedNode, by id."""
    return _rows(
        f"SELECT {_NODE_FIELDS} FROM json_each(%s) AS wanted "
        f"CROSS JOIN memory_conceptnode n ON n.id = wanted.value {_NODE_JOINS} WHERE n.persona_id = %s ORDER BY n.id",
        [json.dumps(node_ids), persona_id],
    )


def always_known_rows(persona_id: int, limit: int) -> list[tuple[Any, ...]]:
    """The rows of what is in every prompt: the group (pinned, asked_for, health or identity), then the fields of
    render.RenderedNode. Of each group the first `limit` by impact, number of mentions and age."""
    # The indexes are named, because otherwise the planner prefers one by kind and reads ten thousand nodes.
    groups = (
        ("'pinned'", "node_pinned", "n.pinned"),
        ("'asked_for'", "node_asked_for", "n.source = 'person' AND n.kind IN ('event', 'fact') AND NOT n.pinned"),
        (
            "n.concern",
            "node_of_concern",
            "NOT (n.concern = '') AND n.concern IN ('health', 'identity') AND n.source <> 'person' AND NOT n.pinned",
        ),
    )
    candidates = " UNION ALL ".join(
        f"SELECT {group} AS of_group, n.id, n.emotional_impact, n.mention_count, n.created_at "
        f"FROM memory_conceptnode n INDEXED BY {index} WHERE n.persona_id = %s AND {condition} AND {RECALLABLE}"
        for group, index, condition in groups
    )
    return _rows(
        f"SELECT placed.of_group, {_NODE_FIELDS} FROM (SELECT id, of_group, row_number() OVER (PARTITION BY of_group "
        "ORDER BY emotional_impact * emotional_impact DESC, mention_count DESC, created_at DESC, id DESC) AS place "
        f"FROM ({candidates})) AS placed CROSS JOIN memory_conceptnode n ON n.id = placed.id {_NODE_JOINS} "
        "WHERE placed.place <= %s ORDER BY placed.of_group, placed.place",
        [*[persona_id] * len(groups), limit],
    )


def threads_with(persona_id: int, node_ids: Sequence[int]) -> list[tuple[int, str, list[int]]]:
    """Id and title of each active thread of the persona, and its nodes among `node_ids`."""
    rows = _rows(
        "SELECT h.id, h.title, (SELECT group_concat(m.node_id) FROM json_each(%s) AS wanted "
        "CROSS JOIN memory_threadmember m ON m.node_id = wanted.value AND m.removed_at IS NULL "
        "WHERE m.thread_id = h.id) "
        "FROM memory_thread h WHERE h.persona_id = %s AND h.dissolved_at IS NULL ORDER BY h.id",
        [json.dumps(node_ids), persona_id],
    )
    return [(key, title, [int(node) for node in (nodes or "").split(",") if node]) for key, title, nodes in rows]


def newest_of_thread(thread_id: int, limit: int) -> list[int]:
    """The ids of a thread's newest recallable nodes, by their own dates."""
    return _column(
        "SELECT n.id FROM memory_threadmember m CROSS JOIN memory_conceptnode n ON n.id = m.node_id "
        f"WHERE m.thread_id = %s AND m.removed_at IS NULL AND {RECALLABLE} "
        "ORDER BY coalesce(n.event_time_start, date(n.created_at)) DESC, n.id DESC LIMIT %s",
        [thread_id, limit],
    )


def emotional_events(persona_id: int, limit: int) -> list[tuple[int, str, str]]:
    """The newest recallable events with emotions: id, emotion tags as JSON, and words; by their own dates."""
    return _rows(
        "SELECT n.id, n.emotion_tags, n.description FROM memory_conceptnode n "
        f"WHERE n.persona_id = %s AND n.kind = 'event' AND {RECALLABLE} "
        "AND (n.emotion_tags <> '[]' OR n.emotional_impact <> 0) "
        "ORDER BY coalesce(n.event_time_start, date(n.created_at)) DESC, n.id DESC LIMIT %s",
        [persona_id, limit],
    )


def events_and_facts(persona_id: int, limit: int) -> list[tuple[int, str, str, str, int]]:
    """The newest events and facts of the owner and their people: id, kind, domain, words, impact."""
    return _rows(
        "SELECT n.id, n.kind, n.domain, n.description, n.emotional_impact FROM memory_conceptnode n "
        f"WHERE n.persona_id = %s AND n.kind IN ('fact', 'event') AND n.subject <> 'persona' AND {RECALLABLE} "
        "ORDER BY n.id DESC LIMIT %s",
        [persona_id, limit],
    )


def undated_sessions(session_ids: Sequence[int]) -> set[int]:
    """The imported sessions whose file has no times for the messages."""
    source_rows = "json_each(%s) AS wanted CROSS JOIN memory_importchunk c ON c.session_id = wanted.value"
    return set(_column(f"SELECT c.session_id FROM {source_rows} WHERE NOT c.dated", [json.dumps(session_ids)]))


def resting_nodes(persona_id: int, message_ids: Sequence[int]) -> list[Resting]:
    """The nodes that rest on messages, each with its words before and after it was superseded or corrected, if it
    was."""
    rows = _rows(
        "SELECT e.message_id, n.id, n.status, CASE WHEN by.id IS NULL THEN v.description ELSE n.description END, "
        f"coalesce(by.description, n.description), {_UNSURE} FROM json_each(%s) AS source "
        "CROSS JOIN memory_evidence e ON e.message_id = source.value "
        "CROSS JOIN memory_conceptnode n ON n.id = e.node_id "
        "LEFT JOIN memory_conceptnode by ON by.id = n.superseded_by_id AND n.status = 'superseded' "
        "LEFT JOIN memory_nodeversion v ON v.node_id = n.id AND v.description <> n.description "
        "WHERE n.persona_id = %s",
        [json.dumps(message_ids), persona_id],
    )
    return [Resting(*row) for row in rows]


def replaced_texts(persona_id: int, node_ids: Sequence[int]) -> list[ReplacedText]:
    """The words before and after, for all `node_ids` that were superseded or corrected."""
    if not node_ids:
        return []
    source_rows = "json_each(%s) AS wanted CROSS JOIN memory_conceptnode n ON n.id = wanted.value"
    rows = _rows(
        f"SELECT n.description, by.description FROM {source_rows} "
        "CROSS JOIN memory_conceptnode by ON by.id = n.superseded_by_id "
        "WHERE n.persona_id = %s AND n.status = 'superseded' UNION "
        f"SELECT v.description, n.description FROM {source_rows} "
        "CROSS JOIN memory_nodeversion v ON v.node_id = n.id AND v.description <> n.description "
        "WHERE n.persona_id = %s AND n.status = 'active'",
        [json.dumps(node_ids), persona_id] * 2,
    )
    return [ReplacedText(*row) for row in rows]
