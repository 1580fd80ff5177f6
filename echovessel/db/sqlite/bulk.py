"""Many new rows at once: a hundred with a statement that is composed once, and what triggers would do for each row
done once for all.

Django's `bulk_create` composes a statement for every 30 rows. At the end of every statement FTS5 writes out what its
triggers gave it: a row at a time takes twice as long as a hundred, which take no longer than one SELECT of all.
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

# From so many rows on it is worth the while to set triggers aside: each costs the schema's reading anew, and that by
# every process that has the database open.
MANY = 400
# Rows of one statement.
TOGETHER = 100


# What stands in these fields the driver takes as it is.
_PLAIN = (models.CharField, models.TextField, models.IntegerField, models.BooleanField, models.ForeignKey)
M = TypeVar("M", bound=models.Model)


def row(model: type[M], **values: Any) -> M:
    """A row to be: these values by attribute (`persona_id`, not `persona`), and what the fields suppose of the rest.

    It is what the constructor makes, at a fifth of its price: nobody listens to it being made, and no relation is
    looked at.
    """
    constant, made_anew = _supposed(model)
    unsaved = model.__new__(model)
    unsaved._state = ModelState()
    vars(unsaved).update(constant)
    vars(unsaved).update(values)
    for name, make in made_anew:
        if name not in values:
            setattr(unsaved, name, make())
    return unsaved


@cache
def _supposed(model: type[models.Model]) -> tuple[Mapping[str, Any], Sequence[tuple[str, Callable[[], Any]]]]:
    """What fields of a model are without being said: what always is the same, and what is made for each row."""
    fields = model._meta.concrete_fields
    anew = [field for field in fields if field.has_default() and callable(field.default)]
    constant = {field.attname: field.get_default() for field in fields if field not in anew}
    return constant, [(field.attname, field.get_default) for field in anew]


def insert(rows: Sequence[models.Model]) -> None:
    """Store new rows of one model in their order, and give each its key where the database numbers them. Call in a
    transaction, which holds the write lock: keys are counted on here. What a field does before it is saved it does not
    do: `auto_now_add` keeps the time that is given."""
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


def insert_values(model: type[models.Model], names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Store rows that are given as the values of these attributes; every other column must have its default in the
    database, or be its key. Call in a transaction."""
    fields = {field.attname: field for field in model._meta.concrete_fields}
    prepared = [
        (place, _prepared(fields[name])) for place, name in enumerate(names) if not isinstance(fields[name], _PLAIN)
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
        while some := list(islice(waiting, TOGETHER)):
            cursor.execute(_statement(model._meta.db_table, columns, len(some)), list(chain.from_iterable(some)))


@lru_cache(64)
def _statement(table: str, columns: Sequence[str], rows: int) -> str:
    """One that stores so many rows."""
    row = f"({', '.join(['%s'] * len(columns))})"
    names = ", ".join(f'"{column}"' for column in columns)
    return f'INSERT INTO "{table}" ({names}) VALUES {", ".join([row] * rows)}'


def _prepared(field: "models.Field[Any, Any]") -> Callable[[Any], Any]:
    """What makes of a value what the driver takes: for the kinds of which there are many, as Django does but without
    asking the field about each."""
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
    model: type[models.Model], where: Mapping[str, Any], column: str, values: Collection[Any], names: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Of the rows that are as `where` says, with one of `values` in `column`: the columns `names`, as they are stored.
    However many values there are, it is one statement, composed once."""
    if not values:
        return []
    conditions = "".join(f' AND t."{name}" IS %s' for name in where)
    columns = ", ".join(f't."{name}"' for name in names)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT {columns} FROM json_each(%s) AS wanted "
            f'CROSS JOIN "{model._meta.db_table}" t ON t."{column}" = wanted.value{conditions}',
            [json.dumps(list(values)), *where.values()],
        )
        return cursor.fetchall()


@contextmanager
def temporary_values(database: BaseDatabaseWrapper, wanted: Iterable[Trigger]) -> Iterator[None]:
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
    name = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [name])
        row: Any = cursor.fetchone()
        last = int(row[0]) if row else 0
        cursor.execute("UPDATE sqlite_sequence SET seq = %s WHERE name = %s", [last + count, name])
        if not cursor.rowcount:
            cursor.execute("INSERT INTO sqlite_sequence(name, seq) VALUES (%s, %s)", [name, last + count])
    return range(last + 1, last + count + 1)
