"""Bulk inserts: a hundred rows per statement, and the work of triggers done once for all rows.

Django's `bulk_create` composes a statement for every 30 rows. FTS5 flushes the entries of its triggers at the end of
every statement: row by row this takes twice as long as by the hundred, which takes no longer than one INSERT … SELECT.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache, lru_cache
from itertools import chain, islice
from operator import attrgetter
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models.base import ModelState

from echovessel.db.sqlite import triggers
from echovessel.db.sqlite.triggers import Trigger

# From this number of rows on, dropping the triggers pays off: each drop makes every process that has the database open
# read the schema again.
MANY = 400
# Rows per statement.
TOGETHER = 100


# Rows read together where many are read: as objects of Python, all of them would take a multiple of what is kept.
READ_TOGETHER = 500


def read_in_batches(sql: str, params: Sequence[Any]) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a query, READ_TOGETHER at a time."""
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        while rows := cursor.fetchmany(READ_TOGETHER):
            yield rows


def release_pages() -> None:
    """Free the pages that this connection caches: after everything was read once, they are not those that are needed
    next."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA shrink_memory")


# Values of these fields are passed to the driver unchanged.
_PLAIN = (models.CharField, models.TextField, models.IntegerField, models.BooleanField, models.ForeignKey)
M = TypeVar("M", bound=models.Model)


def row(model: type[M], **values: Any) -> M:
    """Build an unsaved row from values by attribute name (`persona_id`, not `persona`) and the defaults of the other
    fields.

    The result equals the constructor's, at a fifth of its cost: it sends no signals and looks at no relations.
    """
    constant, made_anew = _field_defaults(model)
    unsaved = model.__new__(model)
    unsaved._state = ModelState()
    vars(unsaved).update(constant)
    vars(unsaved).update(values)
    for name, make in made_anew:
        if name not in values:
            setattr(unsaved, name, make())
    return unsaved


@cache
def _field_defaults(model: type[models.Model]) -> tuple[Mapping[str, Any], Sequence[tuple[str, Callable[[], Any]]]]:
    """The field defaults of a model: the constant ones, and those computed for each row."""
    fields = model._meta.concrete_fields
    anew = [field for field in fields if field.has_default() and callable(field.default)]
    constant = {field.attname: field.get_default() for field in fields if field not in anew}
    return constant, [(field.attname, field.get_default) for field in anew]


def insert(rows: Sequence[models.Model]) -> None:
    """Insert new rows of one model in their order, and set keys that the database numbers. Call in a transaction: it
    holds the write lock, on which the reserved keys depend. `pre_save` of the fields is not called, so an
    `auto_now_add` field keeps the value it has."""
    if not rows:
        return
    model = type(rows[0])
    if isinstance(model._meta.pk, models.AutoField):
        for key, row in zip(reserve(model, len(rows)), rows, strict=True):
            setattr(row, model._meta.pk.attname, key)
    names = [field.attname for field in model._meta.concrete_fields]
    insert_values(model, names, map(attrgetter(*names), rows))
    for row in rows:
        row._state.adding = False


def insert_values(
    model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]], *, ignore_conflicts: bool = False
) -> None:
    """Insert rows given as values of these attributes. Every other column must have a database default or be the key.
    With `ignore_conflicts`, rows that exist already are left out. Call in a transaction."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    prepared = [
        (place, _converter_of(fields[name])) for place, name in enumerate(names) if not isinstance(fields[name], _PLAIN)
    ]

    def stored(row: Sequence[Any]) -> list[Any]:
        values = list(row)
        for place, prepare in prepared:
            if values[place] is not None:
                values[place] = prepare(values[place])
        return values

    columns = tuple(fields[name].column for name in names)
    waiting = map(stored, rows)
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        while batch := list(islice(waiting, TOGETHER)):
            sql = _statement(model._meta.db_table, columns, len(batch))
            # (Not OR IGNORE, which also leaves out rows without a required value.)
            sql += " ON CONFLICT DO NOTHING" if ignore_conflicts else ""
            cursor.execute(sql, list(chain.from_iterable(batch)))


@lru_cache(64)
def _statement(table: str, columns: Sequence[str], rows: int) -> str:
    """An INSERT of `rows` rows."""
    row = f"({', '.join(['%s'] * len(columns))})"
    names = ", ".join(f'"{column}"' for column in columns)
    return f'INSERT INTO "{table}" ({names}) VALUES {", ".join([row] * rows)}'


def _converter_of(field: "models.Field[Any, Any]") -> Callable[[Any], Any]:
    """A function that converts a field's value for the driver. For frequent field types it does what Django does,
    without asking the field about each value."""
    database = connections[DEFAULT_DB_ALIAS]

    def by_the_field(value: Any) -> Any:
        return field.get_db_prep_save(value, database)

    def moment(value: Any) -> Any:
        if not isinstance(value, datetime) or value.tzinfo is None:
            return by_the_field(value)
        return str(value.astimezone(UTC).replace(tzinfo=None))

    if isinstance(field, models.DateTimeField):
        return moment
    if isinstance(field, models.UUIDField):
        return attrgetter("hex")
    if isinstance(field, models.JSONField) and field.encoder is None:
        return json.dumps
    return by_the_field


def select_by_values(
    model: type[models.Model], conditions: Mapping[str, Any], column: str, values: Collection[Any], names: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Return the columns `names`, as stored, of the rows that match `conditions` and have one of `values` in `column`.
    One statement, composed once, for any number of values."""
    if not values:
        return []
    condition_sql = "".join(f' AND t."{name}" IS %s' for name in conditions)
    columns = ", ".join(f't."{name}"' for name in names)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {columns} FROM json_each(%s) AS wanted "
            f'CROSS JOIN "{model._meta.db_table}" t ON t."{column}" = wanted.value{condition_sql}',
            [json.dumps(list(values)), *conditions.values()],
        )
        return cursor.fetchall()


@contextmanager
def temporary_values(database: BaseDatabaseWrapper, trigger_iterable: Iterable[Trigger]) -> Iterator[None]:
    """Drop these triggers in the block and create them again after it; the caller does their work. Only in a
    transaction: a rollback restores them, and no other connection ever sees the database without them."""
    if not database.in_atomic_block:
        raise RuntimeError("triggers are set aside inside a transaction")
    trigger_list = list(trigger_iterable)
    triggers.drop(database, trigger_list)
    yield
    with database.cursor() as cursor:
        for trigger in trigger_list:
            cursor.execute(trigger.sql)


def reserve(model: type[models.Model], count: int) -> range:
    """Reserve `count` keys above all that the table ever used, for rows whose key we set. Call in a transaction."""
    name = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [name])
        row: Any = cursor.fetchone()
        last = int(row[0]) if row else 0
        cursor.execute("UPDATE sqlite_sequence SET seq = %s WHERE name = %s", [last + count, name])
        if not cursor.rowcount:
            cursor.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (%s, %s)", [name, last + count])
    return range(last + 1, last + count + 1)
