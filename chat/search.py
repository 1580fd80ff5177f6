"""The index over what was said: kept with every message, searched within one persona."""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from chat.models import Message, MessageText
from echovessel import words
from echovessel.sqlite import triggers
from echovessel.sqlite.text_index import TextIndex
from echovessel.sqlite.triggers import Trigger

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


def lines(persona_id: int, terms: Sequence[str], limit: int) -> list[tuple[int, float]]:
    """Ids of a persona's messages that hold any of `terms`, with bm25 scores, best first."""
    return INDEX.search(connection, terms, scope_of(persona_id), limit)


def frequencies(persona_id: int, terms: Sequence[str], most: int) -> dict[str, int]:
    """How many of a persona's messages hold each of `terms`, counted up to `most`."""
    return INDEX.frequencies(connection, terms, scope_of(persona_id), most)
