"""Compiled queries for the hot path: the SQL is composed once and then run with other values.

Django composes the SQL of a query each time it runs, which takes several times as long as SQLite needs to answer (a row
by its key: 0.35 ms, of which 0.03 are SQLite's). A turn has three dozen such queries.

    newest = Query(lambda persona: Message.objects.filter(persona=persona).order_by("-id")[:1])
    newest(persona.pk)  # a list of messages
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache, cached_property
from inspect import signature
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Expression, Model, QuerySet
from django.db.models import query as django_query
from django.db.models.sql import UpdateQuery

Row = TypeVar("Row")
populators: Any = django_query.get_related_populators  # django-stubs lacks an argument that Django 6 adds


class _Value(Expression):
    """Placeholder of a value that is passed when the statement is run."""

    def __init__(self, place: int) -> None:
        super().__init__()
        self.place = place

    def as_sql(self, compiler: Any, connection: Any) -> Any:
        return "%s", [self]


class _Statement:
    """SQL and its parameters, some of them placeholders. Constant texts are written into the SQL itself, because SQLite
    uses a partial index only if it can read the condition."""

    def __init__(self, compiler: Any) -> None:
        self.compiler = compiler
        sql, params = compiler.as_sql()
        quoted = [
            "'" + param.replace("'", "''").replace("%", "%%") + "'" if type(param) is str else "%s" for param in params
        ]
        self.sql = sql.replace("%%", "%%%%") % tuple(quoted)
        self.params = [param for param in params if type(param) is not str]

    def run(self, cursor: Any, values: tuple[Any, ...]) -> None:
        cursor.execute(
            self.sql,
            [_to_parameter(values[param.place]) if isinstance(param, _Value) else param for param in self.params],
        )


class Query(Generic[Row]):
    """A compiled query that returns model instances (with the relations of `select_related`) or tuples of a
    `values_list`."""

    def __init__(self, build: Callable[..., "QuerySet[Any, Row]"]) -> None:
        self._build = build

    def __call__(self, *values: Any) -> list[Row]:
        with connection.cursor() as cursor:
            self._statement.run(cursor, values)
            rows = cursor.fetchall()
        if rows and self._converters:
            rows = list(self._statement.compiler.apply_converters(rows, self._converters))
        return self._read(rows) if rows else []

    @cached_property
    def _rows(self) -> Any:
        return _build_with_placeholders(self._build)

    @cached_property
    def _statement(self) -> _Statement:
        return _Statement(self._rows.query.get_compiler(DEFAULT_DB_ALIAS))

    @cached_property
    def _converters(self) -> Any:
        compiler = self._statement.compiler
        return compiler.get_converters([column for column, *_ in compiler.select])

    @cached_property
    def _read(self) -> Callable[[list[Any]], list[Row]]:
        compiler = self._statement.compiler
        if not issubclass(self._rows._iterable_class, django_query.ModelIterable):
            return lambda rows: [cast(Row, tuple(row)) for row in rows]
        model, places = compiler.klass_info["model"], compiler.klass_info["select_fields"]
        first, end = places[0], places[-1] + 1
        names = [column.target.attname for column, *_ in compiler.select[first:end]]
        related = populators(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS)

        def build_instance(row: Any) -> Row:
            instance = model.from_db(DEFAULT_DB_ALIAS, names, row[first:end])
            for related_model in related:
                related_model.populate(row, instance)
            return cast(Row, instance)

        return lambda rows: [build_instance(row) for row in rows]


class Update:
    """A compiled UPDATE: `build` returns the rows and the new values by field. A dict is stored as JSON."""

    def __init__(self, build: Callable[..., tuple["QuerySet[Any]", Mapping[str, Any]]]) -> None:
        self._build = build

    def __call__(self, *values: Any) -> int:
        """Run the update and return the number of changed rows."""
        with connection.cursor() as cursor:
            self._statement.run(cursor, values)
            return int(cursor.rowcount)

    @cached_property
    def _statement(self) -> _Statement:
        rows, values = _build_with_placeholders(self._build)
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(values)
        return _Statement(query.get_compiler(DEFAULT_DB_ALIAS))


def insert(row: Model) -> None:
    """Insert one row and set its key from the database. Sends no signals."""
    sql, fields = _insertion(type(row))
    with connection.cursor() as cursor:
        cursor.execute(sql, [field.get_db_prep_save(field.pre_save(row, True), connection) for field in fields])
        if row.pk is None:
            row.pk = cursor.lastrowid
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


@cache
def _insertion(model: type[Model]) -> tuple[str, list[Any]]:
    fields = [field for field in model._meta.concrete_fields if field is not model._meta.auto_field]
    quoted = connection.ops.quote_name
    names = ", ".join(quoted(str(field.column)) for field in fields)
    places = ", ".join(["%s"] * len(fields))
    return f"INSERT INTO {quoted(model._meta.db_table)} ({names}) VALUES ({places})", fields


def _build_with_placeholders(build: Callable[..., Any]) -> Any:
    return build(*(_Value(place) for place in range(len(signature(build).parameters))))


def _to_parameter(value: Any) -> Any:
    if isinstance(value, UUID):
        return value.hex
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    return json.dumps(value) if isinstance(value, dict) else value
