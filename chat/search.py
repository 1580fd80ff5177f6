"""The message index: updated with every message, searched within one persona."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any

import numpy as np
from django.db import connection

from chat.models import Message, MessageText
from echovessel.db.compiled_queries import insert
from echovessel.db.sqlite import bulk, triggers
from echovessel.db.sqlite.substrings import SubstringIndex
from echovessel.db.sqlite.text_index import TextIndex
from echovessel.db.sqlite.triggers import Trigger
from echovessel.language import tokenizer

# What `message_rows` returns of a message.
MessageRow = tuple[int, str, str | None, str, str, datetime, int, str | None, int | None, str | None]
# The same condition as MessageQuerySet.shown_to_models.
_SHOWN = "NOT m.withheld AND m.role <> 'system'"
_ON_RECORD = "NOT s.off_the_record AND s.persona_id = m.persona_id"

INDEX = TextIndex(table="chat_messagetext", key="message_id", scope="scope", body="body")
SUBSTRINGS = SubstringIndex(table="chat_message", column="content", scope="persona_id")
# For each persona a stamp, renewed when a message changes, and an epoch, renewed when the indexed words change. A
# process that caches the persona's messages compares them with the database. (Additions and deletions show in the ids.)
STATE = {
    "chat_linestate": (
        "CREATE TABLE chat_linestate(persona_id INTEGER PRIMARY KEY "
        "REFERENCES persona_persona(id) ON DELETE CASCADE, stamp BLOB NOT NULL, epoch BLOB NOT NULL)"
    )
}


_RENEWED = "stamp = excluded.stamp, epoch = excluded.epoch"


def _changed(persona: str, which: str = "stamp = excluded.stamp") -> str:
    return (
        f"INSERT INTO chat_linestate SELECT id, randomblob(8), randomblob(8) FROM persona_persona WHERE id = {persona} "
        f"ON CONFLICT DO UPDATE SET {which};"
    )


def _persona_of(text: str) -> str:
    return f"(SELECT persona_id FROM chat_message WHERE id = {text}.message_id)"


def _reworded(text: str) -> str:
    return _changed(_persona_of(text), _RENEWED)


TRIGGERS = [
    Trigger.on(
        "chat_message_delete",
        "chat_message",
        "AFTER DELETE",
        "DELETE FROM chat_messagetext WHERE message_id = old.id; "
        f"DELETE FROM chat_crisisflag WHERE message_id = old.id; {_changed('old.persona_id')}",
    ),
    Trigger.on(
        "chat_message_uncounted",
        "chat_message",
        "AFTER DELETE",
        "UPDATE chat_session SET message_count = max(0, message_count - 1), "
        "token_count = max(0, token_count - old.token_count) WHERE id = old.session_id;",
    ),
    # Delete a turn that has lost its last message: it holds partial replies, and the x-ray of the reply.
    Trigger(
        "chat_turn_alone",
        "chat_message",
        "CREATE TRIGGER chat_turn_alone AFTER DELETE ON chat_message WHEN NOT EXISTS (SELECT 1 FROM chat_message "
        "WHERE turn_id = old.turn_id) BEGIN DELETE FROM chat_turn WHERE id = old.turn_id "
        "AND status NOT IN ('collecting', 'running'); END",
    ),
    # Rows are also deleted past Django, and only Django would set these to NULL.
    Trigger.on(
        "chat_turn_unlinked",
        "chat_turn",
        "AFTER DELETE",
        "UPDATE chat_message SET replaced_by_id = NULL WHERE replaced_by_id = old.id; "
        "UPDATE chat_turn SET original_id = NULL WHERE original_id = old.id;",
    ),
    Trigger.on(
        "chat_message_change",
        "chat_message",
        "AFTER UPDATE OF id, withheld, role, session_id, persona_id, created_at",
        f"{_changed('old.persona_id')} {_changed('new.persona_id')}",
    ),
    # A row inserted before the newest would not be noticed as new, or be taken for a deleted message with the same id.
    Trigger(
        "chat_message_worded",
        "chat_messagetext",
        "CREATE TRIGGER chat_message_worded AFTER INSERT ON chat_messagetext WHEN EXISTS (SELECT 1 FROM "
        "chat_messagetext WHERE message_id > new.message_id AND scope = new.scope) BEGIN "
        f"{_reworded('new')} END",
    ),
    Trigger.on(
        "chat_message_unworded",
        "chat_messagetext",
        "AFTER DELETE",
        _changed(_persona_of("old")),
    ),
    Trigger.on("chat_message_reworded", "chat_messagetext", "AFTER UPDATE", f"{_reworded('old')} {_reworded('new')}"),
    Trigger.on(
        "chat_session_record",
        "chat_session",
        "AFTER UPDATE OF off_the_record, persona_id",
        f"{_changed('old.persona_id')} {_changed('new.persona_id')}",
    ),
]


def ensure_index(**_: Any) -> None:
    """Create the index and its triggers where they are missing."""
    if INDEX.table not in connection.introspection.table_names():
        return  # all migrations were reversed
    INDEX.ensure(connection)
    SUBSTRINGS.ensure(connection)
    with connection.cursor() as cursor:
        for name in triggers.differing(connection, STATE):
            cursor.execute(f"DROP TABLE IF EXISTS {name}")
            cursor.execute(STATE[name])
        if triggers.ensure(connection, TRIGGERS):
            cursor.execute(_changed("id", _RENEWED))


def drop_triggers(plan: Sequence[Any] | None = None, **_: Any) -> None:
    """Before a migration: a trigger that names a table makes rebuilding it fail. If there is nothing to migrate the
    triggers stay, because indexes are refilled when triggers are created again."""
    if plan is not None and not plan:
        return
    triggers.drop(connection, [*INDEX.triggers, *SUBSTRINGS.triggers, *TRIGGERS])


def missing() -> list[str]:
    """The names of absent triggers and indexes."""
    return [
        *INDEX.missing(connection),
        *SUBSTRINGS.missing(connection),
        *triggers.differing(connection, STATE),
        *triggers.missing(connection, TRIGGERS),
    ]


def scope_of(persona_id: int) -> str:
    """The token that pins a persona's rows inside the index."""
    return f"p{persona_id}"


def index(messages: Sequence[Message]) -> None:
    """Index new messages. Call in the transaction that stores them."""
    for message in messages:
        insert(MessageText(message_id=message.id, scope=scope_of(message.persona_id), body=_body(message.content)))


def tokenize_texts(texts: Iterable[str]) -> dict[str, str]:
    """Texts with their tokenized form for the index. Tokenize before a transaction begins, so that it holds the lock no
    longer than necessary."""
    return {text: _body(text) for text in texts}


def store(messages: Sequence[Message], bodies_by_text: Mapping[str, str] = MappingProxyType({})) -> None:
    """Store and index many new messages. Tokenized texts are taken from `bodies_by_text` where it has them. Call in a
    transaction."""
    if len(messages) < bulk.MANY:
        _insert(messages, bodies_by_text)
        return
    worded = [trigger for trigger in TRIGGERS if trigger.name == "chat_message_worded"]  # new ids are the highest
    with bulk.temporary_values(connection, [*INDEX.on_insert, *SUBSTRINGS.on_insert, *worded]):
        _insert(messages, bodies_by_text)
        for table in (INDEX, SUBSTRINGS):
            table.add(connection, messages[0].pk, messages[-1].pk)


def _insert(messages: Sequence[Message], bodies_by_text: Mapping[str, str]) -> None:
    bulk.insert(messages)
    bodies = (
        bodies_by_text[message.content] if message.content in bodies_by_text else _body(message.content)
        for message in messages
    )
    bulk.insert_values(
        MessageText,
        ("message_id", "scope", "body"),
        ((message.id, scope_of(message.persona_id), body) for message, body in zip(messages, bodies, strict=True)),
    )


def _body(text: str) -> str:
    return " ".join(tokenizer.tokenize(text))


def find_by_terms(persona_id: int, terms: Sequence[str], limit: int) -> dict[str, np.ndarray]:
    """For each of `terms`, the ids of the newest `limit` messages of a persona that contain it."""
    return INDEX.holding(connection, terms, scope_of(persona_id), limit)


def find_by_all_words(persona_id: int, texts: Sequence[Sequence[str]]) -> list[list[int]]:
    """For each of `texts`, a list of words, the ids of a persona's messages that contain all of them."""
    return INDEX.holding_all(connection, texts, scope_of(persona_id)) if texts else []


def count(persona_id: int) -> int:
    """How many messages a persona has."""
    return INDEX.rows(connection, scope_of(persona_id))


def bodies(persona_id: int, message_ids: Sequence[int], limit: int) -> list[tuple[int, int, str]]:
    """(message, session, tokenized text) of the first `limit` of `message_ids` that may reach a prompt and are on
    record."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT m.id, m.session_id, t.body FROM json_each(%s) AS wanted "
            f"CROSS JOIN chat_message m ON m.id = wanted.value AND {_SHOWN} "
            f"CROSS JOIN chat_session s ON s.id = m.session_id AND {_ON_RECORD} "
            "CROSS JOIN chat_messagetext t ON t.message_id = m.id WHERE m.persona_id = %s LIMIT %s",
            [json.dumps(message_ids), persona_id, limit],
        )
        return cursor.fetchall()


def talks(persona_id: int, session_ids: Sequence[int]) -> dict[int, np.ndarray]:
    """For each session on record, the ids of its messages that may reach a prompt, oldest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.id, (SELECT group_concat(id) FROM (SELECT m.id FROM chat_message m "
            "CROSS JOIN chat_messagetext t ON t.message_id = m.id "
            f"WHERE m.session_id = s.id AND m.persona_id = s.persona_id AND {_SHOWN} ORDER BY m.created_at, m.id)) "
            "FROM json_each(%s) AS wanted CROSS JOIN chat_session s ON s.id = wanted.value "
            "WHERE s.persona_id = %s AND NOT s.off_the_record ORDER BY s.id",
            [json.dumps(session_ids), persona_id],
        )
        return {session: np.fromstring(keys, dtype=np.int64, sep=",") for session, keys in cursor.fetchall() if keys}


def state(persona_id: int) -> tuple[bytes, bytes, int]:
    """The stamp and the epoch of a persona's messages, and the id of the newest message."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.stamp, s.epoch, (SELECT max(id) FROM chat_message WHERE persona_id = %s) "
            "FROM (SELECT 1) LEFT JOIN chat_linestate s ON s.persona_id = %s",
            [persona_id, persona_id],
        )
        stamp, epoch, newest = cursor.fetchone()
    return stamp or b"", epoch or b"", newest or 0


def count_since(persona_id: int, message_id: int, limit: int) -> int:
    """The number of messages after `message_id`, at most `limit`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM (SELECT 1 FROM chat_message WHERE persona_id = %s AND id > %s LIMIT %s)",
            [persona_id, message_id, limit],
        )
        return int(cursor.fetchone()[0])


def since(persona_id: int, message_id: int) -> np.ndarray:
    """All messages after `message_id`: (n, 4) int64, by id: the id, the session, whether it may reach a prompt and is
    on record, microseconds since 1970."""
    batches = bulk.read_in_batches(
        f"SELECT m.id, m.session_id, {_SHOWN} AND {_ON_RECORD}, "
        "unixepoch(m.created_at) * 1000000 + CAST(substr(m.created_at, 21) AS INTEGER) "
        "FROM chat_message m CROSS JOIN chat_session s ON s.id = m.session_id "
        "WHERE m.persona_id = %s AND m.id > %s AND EXISTS "
        "(SELECT 1 FROM chat_messagetext t WHERE t.message_id = m.id) ORDER BY m.id",
        [persona_id, message_id],
    )
    return np.concatenate([np.zeros((0, 4), dtype=np.int64), *(np.array(rows, dtype=np.int64) for rows in batches)])


def words_since(persona_id: int, message_id: int) -> Iterator[str]:
    """The tokenized texts of all messages after `message_id`, by id."""
    batches = bulk.read_in_batches(
        "SELECT t.body FROM chat_message m CROSS JOIN chat_messagetext t ON t.message_id = m.id "
        "WHERE m.persona_id = %s AND m.id > %s ORDER BY m.id",
        [persona_id, message_id],
    )
    return (body for rows in batches for (body,) in rows)


def sessions_between(persona_id: int, since: datetime, until: datetime, limit: int) -> list[int]:
    """The ids of a persona's sessions on record that began between two moments (UTC, naive), newest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.id FROM chat_session s WHERE s.persona_id = %s AND s.started_at >= %s AND s.started_at < %s "
            "AND NOT s.off_the_record ORDER BY s.started_at DESC, s.id DESC LIMIT %s",
            [persona_id, since, until, limit],
        )
        return [key for (key,) in cursor.fetchall()]


def message_rows(persona_id: int, message_ids: Sequence[int]) -> list[MessageRow]:
    """(id, uuid in hex, external id, role, content, created_at (UTC, naive), session, import in hex) of messages, by
    id. Then, from the same session and among messages that may reach a model: for a message that is not the owner's,
    the id of the owner's last message before it; and the content of the owner's next message."""
    of_owner = "FROM chat_message n WHERE n.session_id = m.session_id AND n.role = 'user' AND NOT n.withheld"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT m.id, m.uuid, m.external_id, m.role, m.content, m.created_at, m.session_id, m.import_uuid, "
            f"CASE WHEN m.role <> 'user' THEN (SELECT n.id {of_owner} AND (n.created_at, n.id) < (m.created_at, m.id) "
            "ORDER BY n.created_at DESC, n.id DESC LIMIT 1) END, "
            f"(SELECT n.content {of_owner} AND (n.created_at, n.id) > (m.created_at, m.id) "
            "ORDER BY n.created_at, n.id LIMIT 1) "
            "FROM json_each(%s) AS wanted CROSS JOIN chat_message m ON m.id = wanted.value "
            "WHERE m.persona_id = %s ORDER BY m.id",
            [json.dumps(message_ids), persona_id],
        )
        return cursor.fetchall()


def names(persona_id: int, message_ids: Sequence[int]) -> list[tuple[int, str, str | None]]:
    """(id, uuid in hex, external id) of messages."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT m.id, m.uuid, m.external_id FROM json_each(%s) AS wanted "
            "CROSS JOIN chat_message m ON m.id = wanted.value WHERE m.persona_id = %s",
            [json.dumps(message_ids), persona_id],
        )
        return cursor.fetchall()
