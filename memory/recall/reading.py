"""What recall reads of nodes, entities and evidence: one statement each, by ids that were found. All within a persona.

Raw SQL, because a turn waits for it: what Django adds to reading 500 rows takes longer than reading them.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection

from echovessel.dates import Days


def _column(sql: str, params: Sequence[Any]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        return [key for (key,) in cursor.fetchall()]


def recallable(persona_id: int, node_ids: Sequence[int], most: int) -> list[int]:
    """The first `most` of `node_ids` that may be recalled."""
    return _column(
        "SELECT n.id FROM json_each(%s) AS wanted CROSS JOIN memory_conceptnode n ON n.id = wanted.value "
        "WHERE n.persona_id = %s AND n.status = 'active' LIMIT %s",
        [json.dumps(node_ids), persona_id, most],
    )


def entities_called(persona_id: int, names: Sequence[str]) -> list[int]:
    """The ids of the persona's entities, merged ones left out, that go by any of `names`, in order."""
    return _column(
        "SELECT DISTINCT e.id FROM json_each(%s) AS called "
        "CROSS JOIN memory_alias a ON a.persona_id = %s AND a.normalized = called.value "
        "CROSS JOIN memory_entity e ON e.id = a.entity_id AND e.status <> 'merged' ORDER BY e.id",
        [json.dumps(names), persona_id],
    )


def mentioning(persona_id: int, entity_id: int, most: int) -> list[int]:
    """The ids of nodes that may be recalled and mention an entity, the one last noted first."""
    return _column(
        "SELECT n.id FROM memory_mention m CROSS JOIN memory_conceptnode n ON n.id = m.node_id "
        "WHERE m.entity_id = %s AND n.persona_id = %s AND n.status = 'active' ORDER BY m.id DESC LIMIT %s",
        [entity_id, persona_id, most],
    )


def within(persona_id: int, days: Days, since: datetime, until: datetime, most: int) -> list[int]:
    """The ids of nodes that may be recalled and happened in `days`, or, where that is not known, were noted between
    `since` and `until` (UTC, naive); the newest first."""
    return _column(
        "SELECT n.id FROM memory_conceptnode n WHERE n.persona_id = %s AND n.status = 'active' AND "
        "((n.event_time_start <= %s AND coalesce(n.event_time_end, n.event_time_start) >= %s) OR "
        "(n.event_time_start IS NULL AND n.created_at >= %s AND n.created_at < %s)) "
        "ORDER BY n.created_at DESC, n.id DESC LIMIT %s",
        [persona_id, days.end.isoformat(), days.start.isoformat(), since, until, most],
    )


def resting_on(persona_id: int, message_ids: Sequence[int], most: int) -> list[int]:
    """The ids of nodes that may be recalled and rest on any of `message_ids`, the first `most` by id."""
    return _column(
        "SELECT DISTINCT n.id FROM json_each(%s) AS said CROSS JOIN memory_evidence e ON e.message_id = said.value "
        "CROSS JOIN memory_conceptnode n ON n.id = e.node_id "
        "WHERE n.persona_id = %s AND n.status = 'active' ORDER BY n.id LIMIT %s",
        [json.dumps(message_ids), persona_id, most],
    )


def nodes(persona_id: int, node_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """Of those of `node_ids` that may be recalled, by id: id, uuid (hex), external id, kind, description, impact,
    whether it has relational tags, confidence, first day, made at (UTC, naive), session, whether it is disputed,
    words, evidence (message ids with commas, some of them more than once)."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT n.id, n.uuid, n.external_id, n.kind, n.description, n.emotional_impact, n.relational_tags <> '[]', "
            "n.confidence, n.event_time_start, n.created_at, n.session_id, n.verification = 'disputed', t.body, "
            "(SELECT group_concat(e.message_id) FROM memory_evidence e WHERE e.node_id = n.id) "
            "FROM json_each(%s) AS wanted CROSS JOIN memory_conceptnode n ON n.id = wanted.value "
            "LEFT JOIN memory_nodetext t ON t.node_id = n.id "
            "WHERE n.persona_id = %s AND n.status = 'active' ORDER BY n.id",
            [json.dumps(node_ids), persona_id],
        )
        return cursor.fetchall()
