"""An FTS5 index that triggers keep in sync with a plain table: how it is created, checked and removed."""

from abc import ABC, abstractmethod

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from echovessel.db.sqlite import triggers
from echovessel.db.sqlite.triggers import Trigger


class SyncedIndex(ABC):
    """Base of the indexes over words and over substrings."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the FTS5 table."""

    @property
    @abstractmethod
    def tables(self) -> dict[str, str]:
        """The statements that create the index, by table name."""

    @property
    @abstractmethod
    def triggers(self) -> list[Trigger]:
        """The triggers that apply every change of the plain table to the index."""

    @abstractmethod
    def rebuild(self, connection: BaseDatabaseWrapper) -> None:
        """Rebuild the index from the plain table."""

    @property
    def on_insert(self) -> list[Trigger]:
        """The triggers that index new rows."""
        return [trigger for trigger in self.triggers if trigger.name.endswith("_insert")]

    @abstractmethod
    def add(self, connection: BaseDatabaseWrapper, first: int, last: int) -> None:
        """Index the rows with these keys, as the insert trigger would for each."""

    def ensure(self, connection: BaseDatabaseWrapper) -> list[str]:
        """Create missing tables and triggers, fill the index from the table, and return the names of what was missing.

        A missing trigger may have missed rows, so the index is rebuilt in that case too. A second call does nothing.
        """
        with transaction.atomic(using=connection.alias):
            absent = self.missing(connection)
            if absent:
                with connection.cursor() as cursor:
                    for name, sql in self.tables.items():
                        if name in absent:
                            cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
                            cursor.execute(sql)
                    cursor.execute(f'INSERT INTO "{self.name}"("{self.name}", rank) VALUES (\'secure-delete\', 1)')
                triggers.ensure(connection, self.triggers)
                self.rebuild(connection)
        return absent

    def missing(self, connection: BaseDatabaseWrapper) -> list[str]:
        """The names of tables and triggers of the index that are absent or differ from their declaration."""
        return triggers.differing(connection, self.tables) + triggers.missing(connection, self.triggers)

    def drop(self, connection: BaseDatabaseWrapper) -> None:
        """Drop the index and its triggers: when the plain table is dropped, its words must not stay here."""
        triggers.drop(connection, self.triggers)
        with connection.cursor() as cursor:
            for name in self.tables:
                cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
