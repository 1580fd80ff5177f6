"""A temporary database for measurements, so that no real one is touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor


@contextmanager
def temporary_database(keep: Path | None = None) -> Iterator[Path]:
    """In the block, every new connection of this process opens a fresh database in a temporary folder; with `keep`,
    that file, which stays and is used again."""
    with TemporaryDirectory(prefix="echovessel-") as folder:
        path = keep or Path(folder) / "thrown-away.sqlite3"
        usual = connection.settings_dict["NAME"]
        connections.close_all()
        connection.settings_dict["NAME"] = str(path)  # in place: the threads' connections share this dict
        try:
            call_command("migrate", verbosity=0)
            yield path
        finally:
            connections.close_all()
            connection.settings_dict["NAME"] = usual


def is_migrated() -> bool:
    """Whether the current database has all migrations of this version applied."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
