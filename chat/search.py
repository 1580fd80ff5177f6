"""The index over what was said: kept with every message, searched within one persona."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
from django.db import connection

from chat.models import Message, MessageText
from echovessel import words
from echovessel.sqlite import triggers
from echovessel.sqlite.text_index import TextIndex
from echovessel.sqlite.triggers import Trigger

# As MessageQuerySet.shown_to_models says it.
_SHOWN = "NOT m.withheld AND m.role <> 'system'"

INDEX = TextIndex(table="chat_messagetext", key="message_id", scope="scope", body="body")


GONE = Trigger(
    "chat_message_delete",
    "chat_message",
    "CREATE TRIGGER chat_message_delete AFTER DELETE ON chat_message "
    "BEGIN DELETE FROM chat_messagetext WHERE message_id = old.id; END",
)


def ensure_index(**_: Any) -> None:
    """Make the index and its triggers, where they are missing."""
    if INDEX.table not in connection.introspection.table_names():
        return  # migrated back to nothing
    INDEX.ensure(connection)
    triggers.ensure(connection, [GONE])


def drop_triggers(**_: Any) -> None:
    """Before a migration: a trigger that names a table makes its rebuilding fail."""
    triggers.drop(connection, [*INDEX.triggers, GONE])


def missing() -> list[str]:
    """The names of absent triggers and indexes."""
    return INDEX.missing(connection) + triggers.missing(connection, [GONE])


def scope_of(persona_id: int) -> str:
    """The token that pins a persona's rows inside the index."""
    return f"p{persona_id}"


def index(messages: Sequence[Message]) -> None:
    """Index new messages. Call in the transaction that stores them."""
    MessageText.objects.bulk_create(
        [
            MessageText(
                message_id=message.id,
                scope=scope_of(message.persona_id),
                body=" ".join(words.cut(message.content)),
            )
            for message in messages
        ]
    )


def holding(persona_id: int, terms: Sequence[str], most: int) -> dict[str, np.ndarray]:
    """The ids of a persona's messages that hold each of `terms`: the newest `most` of each."""
    return INDEX.holding(connection, terms, scope_of(persona_id), most)


def count(persona_id: int) -> int:
    """How many messages a persona has."""
    return INDEX.rows(connection, scope_of(persona_id))


def bodies(persona_id: int, message_ids: Sequence[int], most: int) -> list[tuple[int, int, str]]:
    """(message, session, cut words) of the first `most` of `message_ids` that may reach a prompt and are on record."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT m.id, m.session_id, t.body FROM json_each(%s) AS wanted "
            f"CROSS JOIN chat_message m ON m.id = wanted.value AND {_SHOWN} "
            "CROSS JOIN chat_session s ON s.id = m.session_id AND NOT s.off_the_record "
            "CROSS JOIN chat_messagetext t ON t.message_id = m.id WHERE m.persona_id = %s LIMIT %s",
            [json.dumps(message_ids), persona_id, most],
        )
        return cursor.fetchall()


def talks(persona_id: int, session_ids: Sequence[int]) -> dict[int, list[int]]:
    """The ids of the messages of each session that may reach a prompt, in the order they were said; of sessions on
    record alone."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.id, (SELECT group_concat(id) FROM (SELECT m.id FROM chat_message m "
            f"WHERE m.session_id = s.id AND m.persona_id = s.persona_id AND {_SHOWN} ORDER BY m.created_at, m.id)) "
            "FROM json_each(%s) AS wanted CROSS JOIN chat_session s ON s.id = wanted.value "
            "WHERE s.persona_id = %s AND NOT s.off_the_record ORDER BY s.id",
            [json.dumps(session_ids), persona_id],
        )
        return {session: [int(key) for key in keys.split(",")] for session, keys in cursor.fetchall() if keys}


def talks_between(persona_id: int, since: datetime, until: datetime, most: int) -> list[int]:
    """The ids of a persona's sessions on record that began between two moments (UTC, naive), the newest first."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT s.id FROM chat_session s WHERE s.persona_id = %s AND s.started_at >= %s AND s.started_at < %s "
            "AND NOT s.off_the_record ORDER BY s.started_at DESC, s.id DESC LIMIT %s",
            [persona_id, since, until, most],
        )
        return [key for (key,) in cursor.fetchall()]


def told(persona_id: int, message_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    """(id, uuid in hex, external id, role, content, when it was said: UTC, naive) of messages, by id."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT m.id, m.uuid, m.external_id, m.role, m.content, m.created_at FROM json_each(%s) AS wanted "
            "CROSS JOIN chat_message m ON m.id = wanted.value WHERE m.persona_id = %s ORDER BY m.id",
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
