"""A database of its own for a measurement, so that nobody's is touched."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from django.core.management import call_command
from django.db import connection, connections
from django.db.migrations.executor import MigrationExecutor


@contextmanager
def temporary_database(keep: Path | None = None) -> Iterator[Path]:
    """While this lasts every connection of this process that opens leads to a fresh database in a temporary folder;
    with `keep`, to that file, which stays and is used again."""
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
    """Whether the present database has the tables of this version."""
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
