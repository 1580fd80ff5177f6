"""Rows without ground are deleted by triggers, so that this also holds for a shell, a cascade and plain SQL. Deleting
a row of the left column also deletes the rows on the right:

    a node                    its evidence, mentions, edges, thread membership and the questions that rest on it; nodes
                              that it superseded or resolved lose the reference
    a message                 the evidence that quotes it
    evidence or an edge       if it was the last ground, the node (an event rests on evidence alone)
    a mention                 if it was the last one, the entity, unless a person described it
    a thread member           if it was the last one, the thread
    an entity                 its aliases, mentions and proposals, and the entities merged into it
    a lesson about the name   nothing; the newest active one, whatever its source, decides how the owner is called

Only *losing* the last ground deletes: a row stored without ground, as in an archive, stays. All triggers fire AFTER
DELETE (in a chain a BEFORE trigger could delete the row it fires for, which SQLite leaves undefined), and the chain
needs `PRAGMA recursive_triggers`. Triggers do not look at text: `memory.forgetting` finds the copies of deleted text.

Tags are checked here as well, because a trigger can look into a JSON list and a CHECK cannot.
"""

from echovessel.db.sqlite.triggers import Trigger
from memory.models.node import MAX_EMOTION_TAGS, MAX_RELATIONAL_TAGS, RELATIONAL_TAGS

_LIVE = "SELECT 1 FROM memory_filling f WHERE f.parent_id = {node} AND NOT f.orphaned AND f.child_id IS NOT NULL"
_EVIDENCE = "SELECT 1 FROM memory_evidence e WHERE e.node_id = {node}"
_UNGROUNDED = f"NOT EXISTS ({_LIVE}) AND NOT EXISTS ({_EVIDENCE})"

_NOTE_NAME = (
    "UPDATE persona_persona SET asked_name = coalesce((SELECT n.condition FROM memory_conceptnode n "
    "WHERE n.persona_id = {row}.persona_id AND n.kind = 'lesson' AND n.scope = 'name' AND n.status = 'active' "
    "ORDER BY n.created_at DESC, n.id DESC LIMIT 1), '') WHERE id = {row}.persona_id;"
)


_TAGS = ", ".join(f"'{tag}'" for tag in RELATIONAL_TAGS)
_CHECK_TAGS = (
    "SELECT RAISE(ABORT, 'an unknown relational tag') FROM json_each(new.relational_tags) "
    f"WHERE value NOT IN ({_TAGS}); "
    f"SELECT RAISE(ABORT, 'too many tags') WHERE json_array_length(new.relational_tags) > {MAX_RELATIONAL_TAGS} "
    f"OR json_array_length(new.emotion_tags) > {MAX_EMOTION_TAGS};"
)


def _trigger(name: str, table: str, body: str, when: str = "") -> Trigger:
    condition = f" WHEN {when}" if when else ""
    return Trigger(name, table, f"CREATE TRIGGER {name} AFTER DELETE ON {table}{condition} BEGIN {body} END")


TRIGGERS = [
    _trigger(
        "memory_node_alone",
        "memory_conceptnode",
        "UPDATE memory_conceptnode SET superseded_by_id = NULL WHERE superseded_by_id = old.id; "
        "UPDATE memory_conceptnode SET resolved_by_id = NULL WHERE resolved_by_id = old.id; "
        "DELETE FROM memory_nodeversion WHERE node_id = old.id; "
        "DELETE FROM memory_evidence WHERE node_id = old.id; "
        "DELETE FROM memory_mention WHERE node_id = old.id; "
        "DELETE FROM memory_filling WHERE parent_id = old.id; "
        "DELETE FROM memory_filling WHERE child_id = old.id; "
        "UPDATE memory_question SET answered_by_id = NULL WHERE answered_by_id = old.id; "
        "DELETE FROM memory_questionground WHERE node_id = old.id; "
        "DELETE FROM memory_threadmember WHERE node_id = old.id;",
    ),
    _trigger(
        "memory_filling_gone",
        "memory_filling",
        "DELETE FROM memory_conceptnode WHERE id = old.parent_id AND kind NOT IN ('event', 'fact');",
        _UNGROUNDED.format(node="old.parent_id"),
    ),
    _trigger(
        "memory_evidence_gone",
        "memory_evidence",
        "DELETE FROM memory_conceptnode WHERE id = old.node_id;",
        _UNGROUNDED.format(node="old.node_id"),
    ),
    _trigger(
        "memory_question_ground_gone",
        "memory_questionground",
        "DELETE FROM memory_question WHERE id = old.question_id;",
    ),
    _trigger(
        "memory_question_gone", "memory_question", "DELETE FROM memory_questionground WHERE question_id = old.id;"
    ),
    _trigger(
        "memory_thread_member_gone",
        "memory_threadmember",
        "DELETE FROM memory_thread WHERE id = old.thread_id;",
        "NOT EXISTS (SELECT 1 FROM memory_threadmember WHERE thread_id = old.thread_id)",
    ),
    _trigger("memory_thread_gone", "memory_thread", "DELETE FROM memory_threadmember WHERE thread_id = old.id;"),
    _trigger("memory_line_gone", "chat_message", "DELETE FROM memory_evidence WHERE message_id = old.id;"),
    _trigger(
        "memory_mention_gone",
        "memory_mention",
        "DELETE FROM memory_entity WHERE id = old.entity_id AND status <> 'merged' AND described_by <> 'person';",
        "NOT EXISTS (SELECT 1 FROM memory_mention WHERE entity_id = old.entity_id)",
    ),
    _trigger(
        "memory_entity_gone",
        "memory_entity",
        "DELETE FROM memory_alias WHERE entity_id = old.id; "
        "DELETE FROM memory_mention WHERE entity_id = old.id; "
        "DELETE FROM memory_mergeproposal WHERE a_id = old.id OR b_id = old.id; "
        "DELETE FROM memory_entity WHERE merged_into_id = old.id;",
    ),
    # Before Django deletes an entity, it sets references to null in rows that survive it.
    Trigger(
        "memory_entity_let_go",
        "memory_entity",
        "CREATE TRIGGER memory_entity_let_go AFTER UPDATE OF merged_into_id ON memory_entity "
        "WHEN new.status = 'merged' AND new.merged_into_id IS NULL BEGIN "
        "DELETE FROM memory_entity WHERE id = new.id; END",
    ),
    *(
        Trigger(name, "memory_conceptnode", f"CREATE TRIGGER {name} BEFORE {moment} BEGIN {_CHECK_TAGS} END")
        for name, moment in (
            ("memory_node_tags_insert", "INSERT ON memory_conceptnode"),
            ("memory_node_tags_update", "UPDATE OF relational_tags, emotion_tags ON memory_conceptnode"),
        )
    ),
    Trigger(
        "memory_name_asked",
        "memory_conceptnode",
        "CREATE TRIGGER memory_name_asked AFTER INSERT ON memory_conceptnode WHEN new.scope = 'name' "
        f"BEGIN {_NOTE_NAME.format(row='new')} END",
    ),
    Trigger(
        "memory_name_changed",
        "memory_conceptnode",
        "CREATE TRIGGER memory_name_changed AFTER UPDATE OF status, scope, condition ON memory_conceptnode "
        f"WHEN old.scope = 'name' OR new.scope = 'name' BEGIN {_NOTE_NAME.format(row='new')} END",
    ),
    _trigger("memory_name_gone", "memory_conceptnode", _NOTE_NAME.format(row="old"), "old.scope = 'name'"),
]
