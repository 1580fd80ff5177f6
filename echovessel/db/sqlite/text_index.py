"""Full-text indexes over plain tables of pre-cut text, one scope at a time.

The plain table (a Django model) holds what `echovessel.language.tokenizer.tokenize` made of a text, joined by spaces,
and a scope: one token such as "p12" that names whose text it is. The index is FTS5; triggers keep it in step with
the table whoever writes it. (INSERT OR REPLACE is the exception: it fires no delete trigger. Django never
writes it; its upserts are ON CONFLICT DO UPDATE, which is fine.)

    index = TextIndex(table="chat_messagetext", key="message_id")
    index.ensure(connection)                                         # in post_migrate
    index.holding(connection, content_words("小黑呢"), "p12", 2_000)  # {"小黑": array([7, 9]), …} message ids

A word enters the index as the word of its scope: "p12·小黑". So the list that FTS5 keeps of the rows with a word
holds the rows of one scope alone: nobody's rows can be found by, or make slow, the search of another. (With the
scope as a word of its own, AND-ed in, SQLite walks the list of all rows of the scope for every word: 300,000 rows,
112 ms for a question, against 1.5 ms; 2026-11-21.) Only which rows hold a word is kept, no places and no lengths:
that is half the size, and rows are weighed by their text afterwards.

Forgetting: the table's `secure-delete` makes FTS5 erase the terms of a deleted row at once instead of marking
it; with `PRAGMA secure_delete` and a TRUNCATE checkpoint no byte of them is left in the file.

The tokenizer is FTS5's `ascii`: it splits at ASCII white space and punctuation and takes every other
character as it comes. `cut` has already decided what a token is, and emits none with such characters in it.
`unicode61` would decide again by Unicode tables of its own: it breaks words at the 1,581 combining marks that
it does not know as parts of words, which is most of Hindi, Tamil, Thai and Burmese (measured with SQLite
3.53.4).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper

from echovessel.db.sqlite.synced_index import SyncedIndex
from echovessel.db.sqlite.triggers import Trigger

# Between scope and word. FTS5's `ascii` takes it for a letter, `cut` for punctuation: no word can hold one.
JOINT = "·"
# What FTS5's `ascii` keeps whole; anything else would be cut there, or end the query.
_TOKEN = re.compile("[0-9A-Za-z\x80-\ud7ff\ue000-\U0010ffff]+")


@dataclass(frozen=True)
class TextIndex(SyncedIndex):
    """A full-text index named `<table>_fts` over the columns `scope` and `body` of `table`, and beside it
    `<table>_size`, the number of rows of each scope.

    `key` is the table's unique integer column; it becomes the row id of a hit. Names are identifiers of ours
    and are not escaped.
    """

    table: str
    key: str
    scope: str = "scope"
    body: str = "body"

    @property
    def name(self) -> str:
        return f"{self.table}_fts"

    @property
    def size(self) -> str:
        return f"{self.table}_size"

    @property
    def tables(self) -> dict[str, str]:
        """The statements that make the index, by the table that each makes."""
        return {
            self.name: f'CREATE VIRTUAL TABLE "{self.name}" USING fts5("{self.body}", '
            "content='', detail=none, columnsize=0, tokenize='ascii')",
            self.size: f'CREATE TABLE "{self.size}"(scope TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID',
        }

    @property
    def triggers(self) -> list[Trigger]:
        """The three that carry an insert, a delete and an update of the plain table into the index."""
        remove = (
            f'INSERT INTO "{self.name}"("{self.name}", rowid, "{self.body}") '
            f"VALUES ('delete', old.\"{self.key}\", {self._scoped('old.')}); "
            f'UPDATE "{self.size}" SET rows = rows - 1 WHERE scope = old."{self.scope}"; '
            f'DELETE FROM "{self.size}" WHERE scope = old."{self.scope}" AND rows = 0;'
        )
        add = (
            f'INSERT INTO "{self.name}"(rowid, "{self.body}") VALUES (new."{self.key}", {self._scoped("new.")}); '
            f'INSERT INTO "{self.size}" VALUES (new."{self.scope}", 1) ON CONFLICT DO UPDATE SET rows = rows + 1;'
        )
        return [
            self._trigger("insert", add),
            self._trigger("delete", remove),
            self._trigger("update", f"{remove} {add}"),
        ]

    def _trigger(self, event: str, body: str) -> Trigger:
        name = f"{self.name}_{event}"
        sql = f'CREATE TRIGGER "{name}" AFTER {event.upper()} ON "{self.table}" BEGIN {body} END'
        return Trigger(name=name, table=self.table, sql=sql)

    def _scoped(self, row: str = "") -> str:
        """The SQL of a row's words, each with its scope before it."""
        prefix = f"{row}\"{self.scope}\" || '{JOINT}'"
        return f"{prefix} || replace({row}\"{self.body}\", ' ', ' ' || {prefix})"

    def rebuild(self, connection: BaseDatabaseWrapper) -> None:
        """Make the index anew from the plain table."""
        with connection.cursor() as cursor:
            cursor.execute(f'INSERT INTO "{self.name}"("{self.name}") VALUES (\'delete-all\')')
            cursor.execute(
                f'INSERT INTO "{self.name}"(rowid, "{self.body}") SELECT "{self.key}", {self._scoped()} '
                f'FROM "{self.table}" ORDER BY "{self.key}"'
            )
            cursor.execute(f'DELETE FROM "{self.size}"')
            cursor.execute(f'INSERT INTO "{self.size}" SELECT "{self.scope}", COUNT(*) FROM "{self.table}" GROUP BY 1')

    def add(self, connection: BaseDatabaseWrapper, first: int, last: int) -> None:
        """Take in the rows of these keys, as the insert trigger would have done with each."""
        rows = f'FROM "{self.table}" WHERE "{self.key}" BETWEEN %s AND %s'
        with connection.cursor() as cursor:
            cursor.execute(
                f'INSERT INTO "{self.name}"(rowid, "{self.body}") SELECT "{self.key}", {self._scoped()} {rows} '
                f'ORDER BY "{self.key}"',
                [first, last],
            )
            cursor.execute(
                f'INSERT INTO "{self.size}" SELECT "{self.scope}", COUNT(*) {rows} GROUP BY 1 '
                "ON CONFLICT DO UPDATE SET rows = rows + excluded.rows",
                [first, last],
            )

    def holding(
        self, connection: BaseDatabaseWrapper, terms: Sequence[str], scope: str, most: int
    ) -> dict[str, np.ndarray]:
        """Return the ids of the rows of `scope` that hold each of `terms`: int64, the newest `most` by id, the
        newest first.

        Terms may be anything a person can type; one that is no token of `cut` is held by no row. Scope is ours:
        letters and digits of ASCII, else ValueError.
        """
        if not (scope.isascii() and scope.isalnum()):
            raise ValueError(f"a scope is ASCII letters and digits, not {scope!r}")
        tokens = [term for term in dict.fromkeys(terms) if _TOKEN.fullmatch(term)]
        newest = f'SELECT rowid FROM "{self.name}" WHERE "{self.name}" MATCH term.value ORDER BY rowid DESC LIMIT %s'
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT (SELECT group_concat(rowid) FROM ({newest})) FROM json_each(%s) AS term ORDER BY term.key",
                [most, json.dumps([f'"{scope}{JOINT}{token}"' for token in tokens])],
            )
            found = [np.fromstring(ids or "", dtype=np.int64, sep=",") for (ids,) in cursor.fetchall()]
        return dict(zip(tokens, found, strict=True))

    def holding_all(
        self, connection: BaseDatabaseWrapper, texts: Sequence[Sequence[str]], scope: str
    ) -> list[list[int]]:
        """Return, for each of `texts` (the tokens of one), the ids of the rows of `scope` that hold all of its tokens.
        What has none is held by no row."""
        asked = [" AND ".join(f'"{scope}{JOINT}{term}"' for term in dict.fromkeys(text)) for text in texts]
        found = f'SELECT json_group_array(rowid) FROM "{self.name}" WHERE "{self.name}" MATCH asked.value'
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT CASE asked.value WHEN '' THEN '[]' ELSE ({found}) END "
                "FROM json_each(%s) AS asked ORDER BY asked.key",
                [json.dumps(asked)],
            )
            return [json.loads(ids) for (ids,) in cursor.fetchall()]

    def rows(self, connection: BaseDatabaseWrapper, scope: str) -> int:
        """Return how many rows `scope` has."""
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT rows FROM "{self.size}" WHERE scope = %s', [scope])
            row = cursor.fetchone()
        return row[0] if row else 0
