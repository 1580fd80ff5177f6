"""Django's SQLite backend on the driver `sqlcipher3`, with sqlite-vec loaded into every connection.

Why not the `sqlite3` of the standard library: many builds cannot load extensions, and many bundle a SQLite
older than 3.51.3, which can corrupt a database in WAL mode. There is no fall-back to it, because two SQLite
libraries must never open one file in one process: POSIX locks belong to the process, and each library would
admit its own writer.

    DATABASES = {"default": {"ENGINE": "echovessel.db.sqlite", "NAME": path, "OPTIONS": {"key": ""}}}

OPTIONS are those of Django's backend and `key`: 64 (or, with the salt, 96) hexadecimal digits are a raw key,
anything else is a passphrase, nothing at all means a plain file. A passphrase costs its derivation at each
connection.
"""

import datetime
import decimal
import importlib
import os
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db.backends.sqlite3 import base, creation, features
from django.db.backends.sqlite3._functions import (  # type: ignore[import-untyped]
    register as register_functions,
)
from django.utils.asyncio import async_unsafe
from django.utils.dateparse import parse_date, parse_datetime, parse_time

OLDEST = (3, 51, 3)  # the first release without the WAL-reset corruption bug, 2026-03-13
TIMEOUT_S = 20.0
# Prepared statements per connection, which include those of our triggers. With 256 in place of the driver's 128, SQLite
# needs a fifth less time for the queries of consolidation. At most 3 MB per connection.
CACHED_STATEMENTS = 256

# Set on every connection in this order, after _write_ahead. No mmap_size: with it, a WAL reset has corrupted files in
# public reports.
PRAGMAS = {
    "foreign_keys": "ON",
    "recursive_triggers": "ON",  # a row left without support is deleted, and recursively rows that only it supported
    "legacy_alter_table": "OFF",  # otherwise a table cannot be renamed inside a transaction
    "synchronous": "NORMAL",  # a power cut may lose the last commit, never the file
    "secure_delete": "ON",  # forgotten words are erased from the pages, not only from the index
    "temp_store": "MEMORY",  # and are not copied to a temporary file
    "cache_size": "-16000",  # KiB
    "journal_size_limit": "67108864",  # bytes
}


def load_driver() -> ModuleType:
    """Return the DB-API module of sqlcipher3. Raises ImproperlyConfigured with instructions if it is missing or too
    old."""
    try:
        driver = importlib.import_module("sqlcipher3.dbapi2")
    except ImportError as error:
        raise ImproperlyConfigured(
            f"The database driver sqlcipher3 cannot be imported ({error}). "
            "Mend it with: python -m pip install -r requirements.txt"
        ) from error
    if driver.sqlite_version_info < OLDEST:
        raise ImproperlyConfigured(
            f"sqlcipher3 brings SQLite {driver.sqlite_version}, which can corrupt a database in WAL mode; "
            f"{'.'.join(map(str, OLDEST))} or newer is needed. "
            "Mend it with: python -m pip install --upgrade --force-reinstall -r requirements.txt"
        )
    return driver


def vector_extension() -> str:
    """Return the path of the vec0 extension. Raises ImproperlyConfigured with instructions if it is missing."""
    try:
        return importlib.import_module("sqlite_vec").loadable_path()
    except ImportError as error:
        raise ImproperlyConfigured(
            f"The vector extension sqlite-vec cannot be imported ({error}). It has wheels for Linux (glibc), "
            "macOS and Windows. Mend it with: python -m pip install -r requirements.txt"
        ) from error


Database: Any = load_driver()
VECTOR_EXTENSION = vector_extension()

# The converters and adapters that Django registers on the standard library's module. A bool is b"1" or b"0".
Database.register_converter("bool", b"1".__eq__)
Database.register_converter("date", base.decoder(parse_date))
Database.register_converter("time", base.decoder(parse_time))
Database.register_converter("datetime", base.decoder(parse_datetime))
Database.register_converter("timestamp", base.decoder(parse_datetime))
Database.register_adapter(decimal.Decimal, str)
Database.register_adapter(datetime.date, base.adapt_date)
Database.register_adapter(datetime.datetime, base.adapt_datetime)


def key_pragma(key: str) -> str:
    """Return the PRAGMA that must be the first statement of a connection.

    >>> key_pragma("it's me")
    "PRAGMA key = 'it''s me'"
    """
    if re.fullmatch(r"[0-9a-fA-F]{64}(?:[0-9a-fA-F]{32})?", key):
        return f"PRAGMA key = \"x'{key}'\""
    return "PRAGMA key = '{}'".format(key.replace("'", "''"))


class CursorWrapper(Database.Cursor):
    """Django's parameter styles ("%s", "%(name)s") on this driver's cursor, as in SQLiteCursorWrapper."""

    def execute(self, query: str, params: Sequence[Any] | Mapping[str, Any] | None = None) -> Any:
        if params is None:
            return super().execute(query)
        return super().execute(_convert_placeholders(query, params), params)

    def executemany(self, query: str, param_list: Iterable[Any]) -> Any:
        rows = iter(param_list)
        first = next(rows, None)
        if first is None:
            return super().executemany(_convert_placeholders(query, ()), [])
        return super().executemany(_convert_placeholders(query, first), chain([first], rows))


def _convert_placeholders(query: str, params: Sequence[Any] | Mapping[str, Any]) -> str:
    if isinstance(params, Mapping):
        return query % {name: f":{name}" for name in params}
    return _with_question_marks(query)


@lru_cache(maxsize=256)
def _with_question_marks(query: str) -> str:
    return base.FORMAT_QMARK_REGEX.sub("?", query).replace("%%", "%")


class DatabaseFeatures(features.DatabaseFeatures):
    """Features of this driver's SQLite; Django would ask the standard library's, which may be years older."""

    minimum_database_version = OLDEST
    can_alter_table_drop_column = True
    can_return_columns_from_insert = True


StockCreation: Any = creation.DatabaseCreation  # most of what is overridden is absent from django-stubs


class DatabaseCreation(StockCreation):
    """Test databases in files, because threads cannot share one in memory ("database table is locked")."""

    def _get_test_db_name(self) -> str:
        name = self.connection.settings_dict["NAME"]
        if self.connection.settings_dict["TEST"]["NAME"] or self.is_in_memory_db(name):
            return str(super()._get_test_db_name())
        return str(Path(name).with_name(f"test_{Path(name).name}"))

    def _create_test_db(self, verbosity: int, autoclobber: bool, keepdb: bool = False) -> str:
        name = super()._create_test_db(verbosity, autoclobber, keepdb)
        if not self.is_in_memory_db(name):
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            if not keepdb:
                _remove_companions(name)
        return name

    def _clone_test_db(self, suffix: str, verbosity: int, keepdb: bool = False) -> None:
        # A clone copies only the main file, so the write-ahead log is moved into it first.
        with self.connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.connection.close()
        if not keepdb and not self.is_in_memory_db(self.connection.settings_dict["NAME"]):
            _remove_companions(self.get_test_db_clone_settings(suffix)["NAME"])
        super()._clone_test_db(suffix, verbosity, keepdb)

    def _destroy_test_db(self, test_database_name: str, verbosity: int) -> None:
        super()._destroy_test_db(test_database_name, verbosity)
        if not self.is_in_memory_db(test_database_name):
            _remove_companions(test_database_name)

    def setup_worker_connection(self, _worker_id: int) -> None:
        if self.is_in_memory_db(self.connection.settings_dict["NAME"]):
            super().setup_worker_connection(_worker_id)
            return
        # The dict is changed in place, so that the threads of this worker open the clone too.
        self.connection.settings_dict.update(self.get_test_db_clone_settings(str(_worker_id)))
        self.connection.close()


def _remove_companions(name: str | os.PathLike[str]) -> None:
    for suffix in ("-wal", "-shm"):
        Path(f"{os.fspath(name)}{suffix}").unlink(missing_ok=True)


def _write_ahead(connection: Any, patience_s: float) -> None:
    """Switch the file to WAL mode, waiting for other connections that switch or write.

    Where two connections to a new file would wait for each other, SQLite refuses the change immediately, whatever the
    busy timeout. The refused connection then waits for the write lock like any writer, and tries again.
    """
    deadline = time.monotonic() + patience_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except Database.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("COMMIT")
        else:
            return


class DatabaseWrapper(base.DatabaseWrapper):
    """Connections with our pragmas and sqlite-vec. Transactions take the write lock when they begin."""

    Database = Database  # Django maps this driver's exceptions through it
    creation_class = DatabaseCreation
    features_class = DatabaseFeatures
    init_commands: list[str]

    def get_connection_params(self) -> dict[str, Any]:
        params = super().get_connection_params()
        params.setdefault("timeout", TIMEOUT_S)
        params.setdefault("cached_statements", CACHED_STATEMENTS)
        params.setdefault("key", "")
        if "transaction_mode" not in self.settings_dict["OPTIONS"]:
            # Under DEFERRED, a transaction that reads first and writes later cannot wait for the lock: with six
            # processes, 78-94 % of such transactions failed immediately with "database is locked", none under
            # IMMEDIATE.
            self.transaction_mode = "IMMEDIATE"
        return params

    @async_unsafe
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        params = dict(conn_params)
        key = params.pop("key")
        connection = Database.connect(**params)
        try:
            patience_s = params["timeout"]
            if key:
                connection.execute(key_pragma(key))
            # Raise ImproperlyConfigured if the key does not fit the file.
            try:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            except Database.DatabaseError as error:
                if "not a database" not in str(error):
                    raise
                raise ImproperlyConfigured(
                    f"{self.settings_dict['NAME']} is not a database that can be read with the given key. "
                    "Give the key that it was made with in DATABASE_KEY, or none if it was made without."
                ) from error
            register_functions(connection)
            connection.enable_load_extension(True)
            connection.load_extension(VECTOR_EXTENSION)
            connection.enable_load_extension(False)
            _write_ahead(connection, patience_s)
            for name, value in PRAGMAS.items():
                connection.execute(f"PRAGMA {name} = {value}")
            for command in filter(None, map(str.strip, self.init_commands)):
                connection.execute(command)
        except BaseException:
            connection.close()
            raise
        return connection

    def create_cursor(self, name: str | None = None) -> CursorWrapper:
        return self.connection.cursor(factory=CursorWrapper)
