"""An FTS5 index that triggers keep in step with a plain table: how it is made, looked at and removed."""

from abc import ABC, abstractmethod

from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from echovessel.db.sqlite import triggers
from echovessel.db.sqlite.triggers import Trigger


class SyncedIndex(ABC):
    """What the indexes over words and over parts of words share."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The FTS5 table."""

    @property
    @abstractmethod
    def tables(self) -> dict[str, str]:
        """The statements that make the index, by the table that each makes."""

    @property
    @abstractmethod
    def triggers(self) -> list[Trigger]:
        """Those that carry every change of the plain table into the index."""

    @abstractmethod
    def rebuild(self, connection: BaseDatabaseWrapper) -> None:
        """Make the index anew from the plain table."""

    @property
    def on_insert(self) -> list[Trigger]:
        """Those that take in what is new."""
        return [trigger for trigger in self.triggers if trigger.name.endswith("_insert")]

    @abstractmethod
    def add(self, connection: BaseDatabaseWrapper, first: int, last: int) -> None:
        """Take in the rows of these keys, as the insert trigger would have done with each."""

    def ensure(self, connection: BaseDatabaseWrapper) -> list[str]:
        """Make what is missing, fill it from the table, and return the names of what was missing.

        A missing trigger may have missed rows, so the index is rebuilt then, too. Does nothing the second
        time.
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
        """The names of the index, its tables and its triggers as far as they are absent or not as declared here."""
        return triggers.differing(connection, self.tables) + triggers.missing(connection, self.triggers)

    def drop(self, connection: BaseDatabaseWrapper) -> None:
        """Remove the index and its triggers: when the plain table goes, its words must not stay here."""
        triggers.drop(connection, self.triggers)
        with connection.cursor() as cursor:
            for name in self.tables:
                cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
