"""Many new rows at once: one statement prepared once, and what triggers would do for each row done once for all.

Django's `bulk_create` composes a statement for every 30 rows; FTS5 and vec0 take a row at a time from a trigger six
times slower than many from one SELECT.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

from echovessel.sqlite import triggers
from echovessel.sqlite.triggers import Trigger

# From so many rows on it is worth the while to set triggers aside: each costs the schema's reading anew.
MANY = 400


# What stands in these fields the driver takes as it is.
_PLAIN = (models.CharField, models.TextField, models.IntegerField, models.BooleanField, models.ForeignKey)


def insert(rows: Sequence[models.Model]) -> None:
    """Store new rows of one model in their order, and give each its key where the database numbers them. Call in a
    transaction, which holds the write lock: keys are counted on here. What a field does before it is saved it does not
    do: `auto_now_add` keeps the time that is given."""
    if not rows:
        return
    model = type(rows[0])
    if isinstance(model._meta.pk, models.AutoField):
        for key, row in zip(reserve(model, len(rows)), rows, strict=True):
            row.pk = key
    names = [field.attname for field in model._meta.concrete_fields]
    insert_values(model, names, map(attrgetter(*names), rows))
    for row in rows:
        row._state.adding = False


def insert_values(model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Store rows that are given as the values of these attributes; every other column must have its default in the
    database, or be its key. Call in a transaction."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    database = connections[DEFAULT_DB_ALIAS]
    prepared = [
        (place, fields[name].get_db_prep_save)
        for place, name in enumerate(names)
        if not isinstance(fields[name], _PLAIN)
    ]

    def stored(row: Sequence[Any]) -> list[Any]:
        values = list(row)
        for place, prepare in prepared:
            if values[place] is not None:
                values[place] = prepare(values[place], database)
        return values

    columns = ", ".join(f'"{fields[name].column}"' for name in names)
    with database.cursor() as cursor:
        cursor.executemany(
            f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({", ".join(["%s"] * len(names))})',
            map(stored, rows),  # type: ignore[arg-type]  # any iterable will do
        )


@contextmanager
def set_aside(database: BaseDatabaseWrapper, wanted: Iterable[Trigger]) -> Iterator[None]:
    """Meanwhile these triggers do not fire; whoever sets them aside does their work. In a transaction only: where that
    is undone they were never gone, and nobody else ever sees the database without them."""
    if not database.in_atomic_block:
        raise RuntimeError("triggers are set aside inside a transaction")
    found = list(wanted)
    triggers.drop(database, found)
    yield
    with database.cursor() as cursor:
        for trigger in found:
            cursor.execute(trigger.sql)


def reserve(model: type[models.Model], count: int) -> range:
    """So many keys above all that the table ever gave, for rows that get one by hand. Call in a transaction."""
    last, name = _last_key(model), model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sqlite_sequence SET seq = %s WHERE name = %s", [last + count, name])
        if not cursor.rowcount:
            cursor.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (%s, %s)", [name, last + count])
    return range(last + 1, last + count + 1)


def _last_key(model: type[models.Model]) -> int:
    """The greatest key that a table ever gave."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [model._meta.db_table])
        found: Any = cursor.fetchone()
    return int(found[0]) if found else 0
