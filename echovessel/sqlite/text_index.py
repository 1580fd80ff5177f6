"""Full-text indexes over plain tables of pre-cut text, one scope at a time.

The plain table (a Django model) holds what `echovessel.words.cut` made of a text, joined by spaces, and a
scope: one token such as "p12" that names whose text it is. The index is FTS5 with that table as its external
content, so nothing is stored twice, and triggers keep it in step with the table whoever writes it. (INSERT OR
REPLACE is the exception: it fires no delete trigger. Django never writes it; its upserts are ON CONFLICT DO
UPDATE, which is fine.)

    index = TextIndex(table="chat_messagetext", key="message_id")
    index.ensure(connection)                                   # in post_migrate
    index.search(connection, content_words("小黑呢"), "p12", 20)  # [(message id, score), …] best first

Forgetting: the table's `secure-delete` makes FTS5 erase the terms of a deleted row at once instead of marking
it; with `PRAGMA secure_delete` and a TRUNCATE checkpoint no byte of them is left in the file.

The tokenizer is FTS5's `ascii`: it splits at ASCII white space and punctuation and takes every other
character as it comes. `cut` has already decided what a token is, and emits none with such characters in it.
`unicode61` would decide again by Unicode tables of its own: it breaks words at the 1,581 combining marks that
it does not know as parts of words, which is most of Hindi, Tamil, Thai and Burmese (measured with SQLite
3.53.4).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from echovessel.sqlite import triggers
from echovessel.sqlite.triggers import Trigger


@dataclass(frozen=True)
class TextIndex:
    """A full-text index named `<table>_fts` over the columns `scope` and `body` of `table`.

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
    def sql(self) -> str:
        return (
            f'CREATE VIRTUAL TABLE "{self.name}" USING fts5("{self.scope}", "{self.body}", '
            f"content='{self.table}', content_rowid='{self.key}', tokenize='ascii')"
        )

    @property
    def triggers(self) -> list[Trigger]:
        """The three that carry an insert, a delete and an update of the plain table into the index."""
        columns = (self.key, self.scope, self.body)
        old = ", ".join(f'old."{column}"' for column in columns)
        new = ", ".join(f'new."{column}"' for column in columns)
        fields = f'rowid, "{self.scope}", "{self.body}"'
        remove = f'INSERT INTO "{self.name}"("{self.name}", {fields}) VALUES (\'delete\', {old});'
        add = f'INSERT INTO "{self.name}"({fields}) VALUES ({new});'
        return [
            self._trigger("insert", add),
            self._trigger("delete", remove),
            self._trigger("update", f"{remove} {add}"),
        ]

    def _trigger(self, event: str, body: str) -> Trigger:
        name = f"{self.name}_{event}"
        sql = f'CREATE TRIGGER "{name}" AFTER {event.upper()} ON "{self.table}" BEGIN {body} END'
        return Trigger(name=name, table=self.table, sql=sql)

    def ensure(self, connection: BaseDatabaseWrapper) -> list[str]:
        """Make what is missing, fill it from the table, and return the names of what was missing.

        A missing trigger may have missed rows, so the index is rebuilt then, too. Does nothing the second
        time.
        """
        with transaction.atomic(using=connection.alias):
            absent = self.missing(connection)
            if self.name in absent:
                self._create(connection)
            triggers.ensure(connection, self.triggers)
            if absent:
                self.rebuild(connection)
        return absent

    def _create(self, connection: BaseDatabaseWrapper) -> None:
        with connection.cursor() as cursor:
            cursor.execute(f'DROP TABLE IF EXISTS "{self.name}"')
            cursor.execute(self.sql)
            cursor.execute(f'INSERT INTO "{self.name}"("{self.name}", rank) VALUES (\'secure-delete\', 1)')

    def missing(self, connection: BaseDatabaseWrapper) -> list[str]:
        """The names of the index and of its triggers as far as they are absent or not as declared here."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = %s", [self.name])
            row = cursor.fetchone()
        stale = row is None or triggers.normal(row[0]) != triggers.normal(self.sql)
        return [self.name] * stale + triggers.missing(connection, self.triggers)

    def drop(self, connection: BaseDatabaseWrapper) -> None:
        """Remove the index and its triggers: when the plain table goes, its words must not stay here."""
        triggers.drop(connection, self.triggers)
        with connection.cursor() as cursor:
            cursor.execute(f'DROP TABLE IF EXISTS "{self.name}"')

    def rebuild(self, connection: BaseDatabaseWrapper) -> None:
        """Make the index anew from the plain table."""
        with connection.cursor() as cursor:
            cursor.execute(f'INSERT INTO "{self.name}"("{self.name}") VALUES (\'rebuild\')')

    def match(self, terms: Iterable[str], scope: str) -> str:
        """Return the MATCH expression for rows of `scope` with any of `terms`, or "" where no term is usable.

        Terms may be anything a person can type: they are only ever quoted strings. Scope is ours: letters and
        digits of ASCII, else ValueError.

        >>> TextIndex(table="t", key="id").match(["a", "b"], "p12")
        '"scope":"p12" AND "body":("a" OR "b")'
        """
        if not (scope.isascii() and scope.isalnum()):
            raise ValueError(f"a scope is ASCII letters and digits, not {scope!r}")
        alternatives = " OR ".join(f'"{term}"' for term in map(_inert, terms) if term)
        return f'"{self.scope}":"{scope}" AND "{self.body}":({alternatives})' if alternatives else ""

    def search(
        self,
        connection: BaseDatabaseWrapper,
        terms: Iterable[str],
        scope: str,
        limit: int,
        *,
        join: str = "",
        where: str = "",
        params: Sequence[Any] = (),
    ) -> list[tuple[int, float]]:
        """Return `(row id, score)` of the best `limit` rows of `scope`, best first, equals by row id.

        The score is bm25 over the body alone (the scope weighs nothing), turned so that more is better, and
        always above 0. Its word weights come from the whole index: a word that more than half of all rows
        have weighs almost nothing (1e-6), as it does in an index of two rows.

        `join` and `where` are SQL of ours that narrow the hits, which they know as `hit.id` and `hit.score`;
        `params` are the values of their %s in order:

            join="JOIN chat_message AS m ON m.id = hit.id", where="m.session_id <> %s", params=[7]
        """
        expression = self.match(terms, scope)
        if not expression:
            return []
        with connection.cursor() as cursor:
            # bm25() may only be called where the index itself is scanned, hence the materialised first step.
            cursor.execute(
                f'WITH hit(id, score) AS MATERIALIZED (SELECT rowid, -bm25("{self.name}", 0.0, 1.0) '
                f'FROM "{self.name}" WHERE "{self.name}" MATCH %s) '
                f"SELECT hit.id, hit.score FROM hit {join} WHERE {where or 'TRUE'} "
                "ORDER BY hit.score DESC, hit.id LIMIT %s",
                [expression, *params, limit],
            )
            return cursor.fetchall()

    def frequencies(
        self, connection: BaseDatabaseWrapper, terms: Sequence[str], scope: str, most: int
    ) -> dict[str, int]:
        """Return how many rows of `scope` hold each of `terms`, counted up to `most` (beyond it a word is common)."""
        counted = [(term, expression) for term in dict.fromkeys(terms) if (expression := self.match([term], scope))]
        if not counted:
            return {}
        count = f'(SELECT COUNT(*) FROM (SELECT 1 FROM "{self.name}" WHERE "{self.name}" MATCH %s LIMIT {most:d}))'
        with connection.cursor() as cursor:
            cursor.execute("SELECT " + ", ".join([count] * len(counted)), [expression for _, expression in counted])
            return dict(zip((term for term, _ in counted), cursor.fetchone(), strict=True))


def _inert(term: str) -> str:
    """`term` as the inside of a quoted FTS5 string: no NUL (it would end the query), no half characters."""
    return term.encode("utf-8", "ignore").decode().replace("\0", "").replace('"', '""')
