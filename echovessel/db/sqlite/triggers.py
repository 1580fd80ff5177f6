"""Triggers as data: an app declares them, `post_migrate` calls `ensure`, a system check calls `missing`.

Django rebuilds a SQLite table for most changes of it (create a new one, copy, drop, rename). This has two consequences.
The triggers **on** that table are lost without an error, so they are ensured after every migration. A trigger on
another table whose body **names** that table makes the rename fail ("error in trigger …: no such table"), so such
triggers are dropped before a migration (`pre_migrate` with a plan calls `drop`).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.backends.base.base import BaseDatabaseWrapper


@dataclass(frozen=True)
class Trigger:
    """A trigger: its name, its table, and the whole CREATE TRIGGER statement (without IF NOT EXISTS)."""

    name: str
    table: str
    sql: str

    @classmethod
    def on(cls, name: str, table: str, moment: str, body: str) -> "Trigger":
        """A trigger that runs `body` at `moment`, such as "AFTER INSERT"."""
        return cls(name, table, f"CREATE TRIGGER {name} {moment} ON {table} BEGIN {body} END")


def ensure(connection: BaseDatabaseWrapper, triggers: Iterable[Trigger]) -> list[str]:
    """Create absent triggers, replace those that differ from their declaration, and return the names of both."""
    triggers_by_name = {trigger.name: trigger for trigger in triggers}
    absent = missing(connection, triggers_by_name.values())
    with connection.cursor() as cursor:
        for name in absent:
            cursor.execute(f"DROP TRIGGER IF EXISTS {connection.ops.quote_name(name)}")
            cursor.execute(triggers_by_name[name].sql)
    return absent


def missing(connection: BaseDatabaseWrapper, triggers: Iterable[Trigger]) -> list[str]:
    """The names of triggers that are absent, on another table, or different from their declaration."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, tbl_name, sql FROM sqlite_master WHERE type = 'trigger'")
        present = {name: (table, normal(sql)) for name, table, sql in cursor.fetchall()}
    return [trigger.name for trigger in triggers if present.get(trigger.name) != (trigger.table, normal(trigger.sql))]


def differing(connection: BaseDatabaseWrapper, tables: Mapping[str, str]) -> list[str]:
    """The names of tables that are absent, or created by another statement than the declared one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'")
        present = {name: normal(sql) for name, sql in cursor.fetchall()}
    return [name for name, sql in tables.items() if present.get(name) != normal(sql)]


def drop(connection: BaseDatabaseWrapper, triggers: Iterable[Trigger]) -> None:
    """Drop the triggers that exist."""
    with connection.cursor() as cursor:
        for trigger in triggers:
            cursor.execute(f"DROP TRIGGER IF EXISTS {connection.ops.quote_name(trigger.name)}")


def normal(sql: str) -> str:
    """Return a statement as SQLite stores it, with normalized white space, for comparison."""
    return " ".join(sql.split()).removesuffix(";")
