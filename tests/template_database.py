"""One empty database per schema, made once in `build/` and copied for every test process.

Its tables are created from the models: 0.6 s of a core, where migrating costs 8 to 14 s; a copy costs 1 ms (2 cores,
2026-11). `test_upgrade` shows that a migrated database has the same tables, but for the order of columns. The name of a
template is a digest of whatever decides what is in it; the handlers of `post_migrate`, which make triggers, indexes and
permissions, run on every copy again (0.03 s), so that a copy is never behind the code.

    template_database.copy_to(tmp_path / "echovessel.sqlite3")
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO
from weakref import ReferenceType

import django
import sqlite_vec
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.core.management.sql import emit_post_migrate_signal
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.writer import MigrationWriter
from django.db.models.signals import post_migrate
from django.test import override_settings
from sqlcipher3 import dbapi2 as driver

from echovessel.db.sqlite import temporary

FOLDER = settings.BASE_DIR / "build" / "templates"
# Branches go to and fro: the templates used last stay.
MAX_TEMPLATES = 4


def copy_to(path: Path) -> None:
    """Write a copy of the template to `path`, and make the template first where there is none."""
    with locked():
        template = _template()
        if not template.exists():
            subprocess.run(_command(template), cwd=settings.BASE_DIR, env=_env(), check=True)
        os.utime(template)
        _remove_older()
        shutil.copyfile(template, path)


def begin() -> None:
    """Begin to make the template where there is none, and return: copying waits, since the process that makes it
    inherits the lock."""
    with locked() as lock:
        template = _template()
        if not template.exists():
            subprocess.Popen(_command(template), cwd=settings.BASE_DIR, env=_env(), pass_fds=[lock.fileno()])


def install() -> None:
    """Have every fresh database that a measurement or a restore makes for itself begin as a copy, too."""
    migrate = temporary.call_command

    def copy_or_migrate(command: str, **options: Any) -> None:
        path = Path(connection.settings_dict["NAME"])
        if path.exists() or connection.settings_dict["OPTIONS"].get("key"):
            migrate(command, **options)  # it holds something already, or is encrypted
        else:
            copy_to(path)
            emit_post_migrate_signal(verbosity=0, interactive=False, db=connection.alias)

    temporary.call_command = copy_or_migrate


def schema_digest() -> str:
    """The digest of all that decides what a template holds: migrations, models, `post_migrate` handlers, versions."""
    digest = hashlib.blake2b(digest_size=12)
    for file in sorted({*_migration_files(), *_handler_files()}):
        digest.update(str(file).encode() + b"\0" + file.read_bytes())
    for model in apps.get_models(include_auto_created=True):
        meta = model._meta
        facts = [meta.label, meta.db_table, meta.default_permissions, meta.permissions, meta.verbose_name]
        parts = [*meta.local_fields, *meta.constraints, *meta.indexes, meta.unique_together]
        digest.update(json.dumps([facts, [MigrationWriter.serialize(part)[0] for part in parts]], default=str).encode())
    versions = [django.VERSION, driver.sqlite_version, sqlite_vec.__version__, settings.DATABASES["default"]["OPTIONS"]]
    digest.update(json.dumps([versions, settings.INSTALLED_APPS, settings.DEFAULT_AUTO_FIELD]).encode())
    return digest.hexdigest()


def _migration_files() -> Iterator[Path]:
    for config in apps.get_app_configs():
        yield from (Path(config.path) / "migrations").glob("*.py")


def _handler_files() -> Iterator[Path]:
    """The modules of the handlers, and the package in which triggers and indexes are written."""
    for _, reference, _ in post_migrate.receivers:
        handler = reference() if isinstance(reference, ReferenceType) else reference
        yield Path(str(import_module(handler.__module__).__file__))
    engine = import_module(settings.DATABASES["default"]["ENGINE"])
    yield from Path(str(engine.__file__)).parent.glob("*.py")


def _template() -> Path:
    return FOLDER / f"{schema_digest()}.sqlite3"


def _command(template: Path) -> list[str]:
    """Makes the template in a process of its own, since the caller may be one where Django's ORM does not work (a
    browser test) or may not be used yet (a session fixture)."""
    return [sys.executable, "-m", "tests.template_database", str(template)]


def _env() -> dict[str, str]:
    return {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}


def _make(template: Path) -> None:
    """Create all tables in a new file, and name it `template` only when it is whole."""
    unfinished = template.with_suffix(f".{os.getpid()}")
    connection.settings_dict["NAME"] = str(unfinished)
    with override_settings(MIGRATION_MODULES={config.label: None for config in apps.get_app_configs()}):
        call_command("migrate", run_syncdb=True, verbosity=0, interactive=False)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes(), fake=True)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    unfinished.replace(template)


def _remove_older() -> None:
    newest_first = sorted(FOLDER.glob("*.sqlite3"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in newest_first[MAX_TEMPLATES:]:
        path.unlink(missing_ok=True)


@contextmanager
def locked() -> Iterator[TextIO]:
    """Hold the folder alone: of several test processes that start together one makes the template, the others wait."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file


if __name__ == "__main__":
    django.setup()
    _make(Path(sys.argv[1]))
