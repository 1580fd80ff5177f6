"""Which migrations this version knows, and whether a database can be migrated from those it has applied.

The migrations of version 0.1 were squashed into one per app, which `replaces` them. Django opens a database that has
applied all of them or none; with only some it stops inside the loader with an unhelpful graph error. So `migrate`, `up`
and `restore` check for this case before they begin.
"""

from collections.abc import Collection

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

# The last version that had each of the squashed migrations.
LAST_VERSION_WITH_ALL = "0.1.0"

Name = tuple[str, str]  # (app, name)


def known_migrations() -> set[Name]:
    """Every migration that this version has or has squashed."""
    loader = MigrationLoader(None)
    return {
        *loader.disk_migrations,
        *(name for migration in loader.disk_migrations.values() for name in migration.replaces),
    }


def fault(applied: Collection[Name]) -> str:
    """Why a database with these migrations cannot be migrated; "" if it can."""
    for (app, _), migration in MigrationLoader(None).disk_migrations.items():
        missing = [name for name in migration.replaces if name not in applied]
        if 0 < len(missing) < len(migration.replaces):
            return (
                f"The database comes from a version before {LAST_VERSION_WITH_ALL} (it lacks {app}.{missing[0][1]}). "
                f"Install version {LAST_VERSION_WITH_ALL} first and run `manage.py migrate`, then this version again."
            )
    return ""


def applied(connection: BaseDatabaseWrapper) -> set[Name]:
    """The migrations that the database has applied; empty for a new database."""
    return set(MigrationRecorder(connection).applied_migrations())
