"""Every value in the database, whoever put it there, as the words that are in it.

Also what no model knows (the tables beneath indexes), and what is wrapped: JSON, sessions, pickled jobs. A value that
cannot be unwrapped is given as it stands, and `sealed` says so.
"""

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection

from echovessel.db import text_columns
from echovessel.db.text_columns import NO_WORDS, TextColumn, strings

READ_AT_ONCE = 500
_TAG = re.compile(r"<[^>]*>")


@dataclass(frozen=True)
class Value:
    """What stands in one column of one row. `row` are all values of the row, `key` its row id where it has one."""

    table: str
    column: str
    key: int | None
    stored: str | bytes
    row: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.table}.{self.column}"

    @property
    def declaration(self) -> TextColumn:
        """That of its column; one that no model has (of an index, say) or that cannot hold words counts as wordless."""
        return text_columns.by_place().get(self.name, NO_WORDS)

    def texts(self) -> list[str]:
        """The texts in it: each string in what it wraps, and of HTML what a reader sees; none in bytes."""
        if isinstance(self.stored, bytes):
            return []
        decode = self.declaration.decode or _of_json
        try:
            found = list(strings(decode(self.stored)))
        except self.declaration.undecodable:
            found = [self.stored]
        return [shown for text in found for shown in _shown(text)]

    @property
    def sealed(self) -> bool:
        """Whether it is wrapped in a way that cannot be undone, so that it cannot be said what is in it."""
        decode = self.declaration.decode
        if not isinstance(self.stored, str) or decode is None:
            return False
        try:
            decode(self.stored)
        except self.declaration.undecodable:
            return True
        return False


def values() -> Iterator[Value]:
    """All texts and bytes of the database."""
    for table, sql in _tables():
        key = "NULL" if sql.rstrip().upper().endswith("WITHOUT ROWID") else "rowid"
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {key}, * FROM {connection.ops.quote_name(table)}")
            columns = [column[0] for column in cursor.description[1:]]
            while rows := cursor.fetchmany(READ_AT_ONCE):
                for at, *stored in rows:
                    row = dict(zip(columns, stored, strict=True))
                    yield from (
                        Value(table, column, at, value, row)
                        for column, value in row.items()
                        if value and isinstance(value, str | bytes)
                    )


def _tables() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%%' ORDER BY name"
        )
        return cursor.fetchall()


def _shown(text: str) -> list[str]:
    """The text, and what a reader sees of it where it is HTML or JSON in a string."""
    if text[:1] in '{["' and (inside := _of_json(text)) is not text:
        return [text, *strings(inside)]
    if "<" in text or "&" in text:
        return [text, html.unescape(_TAG.sub("", text))]
    return [text]


def _of_json(text: str) -> Any:
    if text[:1] not in '{["':
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text
