"""Full-text indexes over plain tables of tokenized text, one scope at a time.

The plain table (a Django model) holds the tokens that `echovessel.language.tokenizer.tokenize` made of a text, joined
by spaces, and a scope: one token such as "p12" that names whose text it is. The index is FTS5; triggers keep it in sync
with every write to the table. (INSERT OR REPLACE is the exception: it fires no delete trigger. Django never writes it;
its upserts are ON CONFLICT DO UPDATE, which is fine.)

    index = TextIndex(table="chat_messagetext", key="message_id")
    index.ensure(connection)                                         # in post_migrate
    index.holding(connection, content_words("小黑呢"), "p12", 2_000)  # {"小黑": array([7, 9]), …} message ids

A word is indexed with its scope as a prefix: "p12·小黑". So the list of rows that FTS5 keeps for a word contains rows
of one scope only: a search cannot find the rows of another scope, or be slowed by them. (With the scope as a separate
word, AND-ed in, SQLite walks the list of all rows of the scope for every word: 300,000 rows, 112 ms for a question,
against 1.5 ms; 2026-11-21.) The index only stores which rows contain a word, without positions and lengths: that is
half the size, and rows are scored by their text afterwards.

Forgetting: the table's `secure-delete` makes FTS5 erase the terms of a deleted row immediately instead of marking it;
with `PRAGMA secure_delete` and a TRUNCATE checkpoint no byte of them is left in the file.

The tokenizer is FTS5's `ascii`: it splits at ASCII white space and punctuation and keeps every other character as it
is. `tokenize` has already decided what a token is, and emits none with such characters in it. `unicode61` would decide
again by Unicode tables of its own: it breaks words at the 1,581 combining marks that it does not know as parts of
words, which is most of Hindi, Tamil, Thai and Burmese (measured with SQLite 3.53.4).
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.backends.base.base import BaseDatabaseWrapper

from echovessel.db.sqlite.synced_index import SyncedIndex
from echovessel.db.sqlite.triggers import Trigger

# Between scope and word. FTS5's `ascii` treats it as a letter, `tokenize` as punctuation: no word can contain it.
JOINT = "·"
# What FTS5's `ascii` keeps whole; any other character would split the token there, or end the query.
_TOKEN = re.compile("[0-9A-Za-z\x80-\ud7ff\ue000-\U0010ffff]+")


@dataclass(frozen=True)
class TextIndex(SyncedIndex):
    """A full-text index named `<table>_fts` over the columns `scope` and `body` of `table`, and a table `<table>_size`
    with the number of rows of each scope.

    `key` is the table's unique integer column; it becomes the row id of a hit. Names are our own identifiers and are
    not escaped.
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
        """The statements that create the index, by table name."""
        return {
            self.name: f'CREATE VIRTUAL TABLE "{self.name}" USING fts5("{self.body}", '
            "content='', detail=none, columnsize=0, tokenize='ascii')",
            self.size: f'CREATE TABLE "{self.size}"(scope TEXT PRIMARY KEY, rows INTEGER NOT NULL) WITHOUT ROWID',
        }

    @property
    def triggers(self) -> list[Trigger]:
        """Three triggers that apply an insert, a delete and an update of the plain table to the index."""
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
        """The SQL of a row's words, each prefixed with its scope."""
        prefix = f"{row}\"{self.scope}\" || '{JOINT}'"
        return f"{prefix} || replace({row}\"{self.body}\", ' ', ' ' || {prefix})"

    def rebuild(self, connection: BaseDatabaseWrapper) -> None:
        """Rebuild the index from the plain table."""
        with connection.cursor() as cursor:
            cursor.execute(f'INSERT INTO "{self.name}"("{self.name}") VALUES (\'delete-all\')')
            cursor.execute(
                f'INSERT INTO "{self.name}"(rowid, "{self.body}") SELECT "{self.key}", {self._scoped()} '
                f'FROM "{self.table}" ORDER BY "{self.key}"'
            )
            cursor.execute(f'DELETE FROM "{self.size}"')
            cursor.execute(f'INSERT INTO "{self.size}" SELECT "{self.scope}", COUNT(*) FROM "{self.table}" GROUP BY 1')

    def add(self, connection: BaseDatabaseWrapper, first: int, last: int) -> None:
        """Index the rows with these keys, as the insert trigger would for each."""
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
        self, connection: BaseDatabaseWrapper, terms: Sequence[str], scope: str, limit: int
    ) -> dict[str, np.ndarray]:
        """Return, for each of `terms`, the ids of the rows of `scope` that contain it: int64, the `limit` highest ids,
        highest first.

        Terms may be any text; one that is no token of `tokenize` is left out of the result. A scope is ASCII letters
        and digits, else ValueError.
        """
        if not (scope.isascii() and scope.isalnum()):
            raise ValueError(f"a scope is ASCII letters and digits, not {scope!r}")
        tokens = [term for term in dict.fromkeys(terms) if _TOKEN.fullmatch(term)]
        newest = f'SELECT rowid FROM "{self.name}" WHERE "{self.name}" MATCH term.value ORDER BY rowid DESC LIMIT %s'
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT (SELECT group_concat(rowid) FROM ({newest})) FROM json_each(%s) AS term ORDER BY term.key",
                [limit, json.dumps([f'"{scope}{JOINT}{token}"' for token in tokens])],
            )
            id_arrays = [np.fromstring(ids or "", dtype=np.int64, sep=",") for (ids,) in cursor.fetchall()]
        return dict(zip(tokens, id_arrays, strict=True))

    def holding_all(
        self, connection: BaseDatabaseWrapper, texts: Sequence[Sequence[str]], scope: str
    ) -> list[list[int]]:
        """Return, for each of `texts` (the tokens of a text), the ids of the rows of `scope` that contain all of its
        tokens; none for a text without tokens."""
        match_queries = [" AND ".join(f'"{scope}{JOINT}{term}"' for term in dict.fromkeys(text)) for text in texts]
        select = f'SELECT json_group_array(rowid) FROM "{self.name}" WHERE "{self.name}" MATCH asked.value'
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT CASE asked.value WHEN '' THEN '[]' ELSE ({select}) END "
                "FROM json_each(%s) AS asked ORDER BY asked.key",
                [json.dumps(match_queries)],
            )
            return [json.loads(ids) for (ids,) in cursor.fetchall()]

    def rows(self, connection: BaseDatabaseWrapper, scope: str) -> int:
        """Return the number of rows of `scope`."""
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT rows FROM "{self.size}" WHERE scope = %s', [scope])
            row = cursor.fetchone()
        return row[0] if row else 0
