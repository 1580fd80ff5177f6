"""Dependent rows, derived from the models themselves, so that models added later are covered.

Foreign keys state dependencies (`on_delete`), and `echovessel.db.text_columns` states which columns hold text. Rows are
selected, deleted and rewritten by key, without a limit on their number and without Django's collector, which would read
every row that it deletes.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from graphlib import TopologicalSorter
from typing import Any
from uuid import UUID

from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import EmptyResultSet
from django.db import connection, models
from django.db.models import BooleanField, QuerySet
from django.db.models.expressions import RawSQL

from chat import search
from echovessel.db import text_columns
from echovessel.db.text_columns import Model, TextColumn, strings
from memory.store import vectors
from persona.models import Persona

Key = int | str
Rows = QuerySet[Any]
# An edge that loses its child may stay, as an orphan; a question is deleted with any of its grounds.
# `memory.forgetting.copies` decides on both.
_DECIDED_ELSEWHERE = {"memory_filling.child_id", "memory_questionground.node_id"}
MAX_IDS_AS_TEXT = 6
MIN_BULK_ROWS = 5_000


# --- the work -------------------------------------------------------------------------------------------------------
@dataclass
class Work:
    """Rows to delete, by table, and values to write, by "table.column"."""

    deletes: dict[str, list[Key]] = field(default_factory=dict)
    overwrites: dict[str, dict[Key, Any]] = field(default_factory=dict)

    def delete(self, table: str, keys: Iterable[Key]) -> None:
        self.deletes[table] = sorted({*self.deletes.get(table, ()), *keys})

    def overwrite(self, column: str, values: Mapping[Any, Any]) -> None:
        self.overwrites.setdefault(column, {}).update(values)

    def counts(self) -> dict[str, int]:
        """The numbers of rows and values, without zeros."""
        counts_by_table = {**self.deletes, **self.overwrites}
        return {name: len(keys) for name, keys in sorted(counts_by_table.items()) if keys}

    def add_dependents(self) -> None:
        """Add the dependents of deleted rows by foreign keys: rows that cascade, and columns to set null unless another
        value was decided on."""
        added = {table: set(keys) for table, keys in self.deletes.items() if keys}
        nulled: dict[str, set[Key]] = {}
        while added:
            referring = _rows_referring(added)
            dependents: dict[str, set[Key]] = {}
            for (model, column), keys in referring.items():
                table = model._meta.db_table
                if column.remote_field.on_delete is models.SET_NULL:
                    nulled.setdefault(f"{table}.{column.column}", set()).update(keys)
                else:
                    dependents.setdefault(table, set()).update(keys.difference(self.deletes.get(table, ())))
            added = {table: keys for table, keys in dependents.items() if keys}
            for table, keys in added.items():
                self.delete(table, keys)
        for name, keys in nulled.items():
            decided = self.overwrites.get(name, {}).keys()
            if staying := keys.difference(self.deletes.get(name.split(".")[0], ()), decided):
                self.overwrite(name, dict.fromkeys(sorted(staying)))


def execute(work: Work) -> None:
    """Rewrite and delete; raises RuntimeError if anything is left, so that a bug cannot leave a half-forgotten state.

    Dependents are deleted before the rows they refer to, so that no trigger deletes rows that were not listed.
    """
    for name, values in work.overwrites.items():
        if not values:
            continue
        table, column = name.split(".")
        field = next(item for item in model_of(table)._meta.local_fields if item.column == column)
        rows = [(field.get_db_prep_save(value, connection), key) for key, value in values.items()]
        with connection.cursor() as cursor:
            cursor.executemany(
                f"UPDATE {_quoted(table)} SET {_quoted(column)} = %s WHERE {_quoted(_key_of(table))} = %s", rows
            )
            if cursor.rowcount != len(values):
                raise RuntimeError(f"not every {name} was rewritten")
    for model in deletion_order():
        if keys := work.deletes.get(model._meta.db_table):
            delete(model._meta.db_table, keys)
    deleted = {table: keys for table, keys in work.deletes.items() if keys}
    remaining_by_table = select_keys([(table, _key_of(table), keys) for table, keys in deleted.items()])
    for table, remaining in zip(deleted, remaining_by_table, strict=True):
        if remaining:
            raise RuntimeError(f"rows of {table} are left")


@contextmanager
def bulk_deletion(rows: int) -> Iterator[None]:
    """Delete this number of messages and memories within the block. Call in the transaction.

    The text indexes erase each word of a deleted row immediately: 0.85 ms per message. For thousands of rows the
    indexes mark the words instead and are merged afterwards, which leaves nothing of the marked words: 0.04 ms per
    message, plus 1 s for every 100,000 remaining messages (2026-11-21, 2 cores).
    """
    if rows < MIN_BULK_ROWS:
        yield
        return
    _configure_indexes("rank", "'secure-delete', 0")
    yield
    _configure_indexes("", "'optimize'")
    _configure_indexes("rank", "'secure-delete', 1")


def _configure_indexes(column: str, values: str) -> None:
    columns = f", {column}" if column else ""
    with connection.cursor() as cursor:
        for index in (search.INDEX, search.SUBSTRINGS, vectors.TEXT, vectors.SUBSTRINGS):
            cursor.execute(f"INSERT INTO {index.name}({index.name}{columns}) VALUES ({values})")


# --- ownership ------------------------------------------------------------------------------------------------------
def rows_of(root: Model, keys: Collection[int], excluded: frozenset[Model] = frozenset()) -> dict[str, Rows]:
    """All rows that cascade from these rows of `root`, by table, in the order of deletion; paths through the models of
    `excluded` are not followed."""
    paths = _paths(root, excluded)
    return {
        model._meta.db_table: model._default_manager.filter(**{f"{paths[model]}__in": among(keys)})
        for model in deletion_order()
        if model in paths
    }


def rows_of_persona(model: Model, persona: Persona) -> Rows:
    """The rows of the persona; all rows of a model without a foreign key path to a persona, such as a job."""
    path = _paths(Persona, frozenset()).get(model)
    return model._default_manager.filter(**{path: persona.pk}) if path else model._default_manager.all()


def rows_to_set_null(root: Model, keys: Collection[int]) -> dict[str, Rows]:
    """The rows that outlive these rows of `root`, by table and column of the reference."""
    return {
        f"{model._meta.db_table}.{column.column}": model._default_manager.filter(**{f"{column.name}__in": among(keys)})
        for model, column in _referring(root, models.SET_NULL)
    }


def matching(persona: Persona, matches: Callable[[TextColumn, str], bool]) -> defaultdict[str, set[Any]]:
    """The keys of the persona's rows with a text that `matches` accepts, by "table.column". Only columns that
    forgetting searches by text, and only rows that are not cleared already."""
    matching_ids: defaultdict[str, set[Any]] = defaultdict(set)
    for model in text_columns.all_models():
        columns = {name: column for name, column in text_columns.declared(model).items() if column.found_by != "key"}
        if not columns:
            continue
        rows = rows_of_persona(model, persona).exclude(**{name: column.cleared for name, column in columns.items()})
        for key, *values in rows.order_by().values_list("pk", *columns).iterator(chunk_size=500):
            for (name, column), value in zip(columns.items(), values, strict=True):
                if (text := "\n".join(strings(value))) and matches(column, text):
                    matching_ids[f"{model._meta.db_table}.{name}"].add(key)
    return matching_ids


@cache
def _paths(root: Model, excluded: frozenset[Model]) -> Mapping[Model, str]:
    """By model, the shortest lookup to `root` over foreign keys that cascade."""
    paths: dict[Model, str] = {root: "pk"}
    ring: list[Model] = [root]
    while ring:
        path_by_model: dict[Model, str] = {}
        for parent in ring:
            for model, column in _referring(parent, models.CASCADE):
                if model not in paths and model not in excluded:
                    path = column.name if parent is root else f"{column.name}__{paths[parent]}"
                    path_by_model.setdefault(model, path)
        paths |= path_by_model
        ring = list(path_by_model)
    return paths


@cache
def _referring(target: Model, on_delete: Any) -> tuple[tuple[Model, Any], ...]:
    """The models and columns that refer to `target` with this `on_delete`."""
    return tuple(
        (model, column)
        for model in text_columns.all_models()
        for column in model._meta.local_fields
        if column.remote_field and column.related_model is target and column.remote_field.on_delete is on_delete
    )


def _rows_referring(deleted: Mapping[str, Collection[Key]]) -> dict[tuple[Model, Any], set[Key]]:
    """By model and column, the keys of the rows whose foreign key is one of the deleted rows."""
    columns = [
        (model, column, keys)
        for table, keys in deleted.items()
        for on_delete in (models.CASCADE, models.SET_NULL)
        for model, column in _referring(model_of(table), on_delete)
        if f"{model._meta.db_table}.{column.column}" not in _DECIDED_ELSEWHERE
    ]
    keys_by_column = select_keys([(model._meta.db_table, column.column, keys) for model, column, keys in columns])
    rows: dict[tuple[Model, Any], set[Key]] = {}
    for (model, column, _keys), column_keys in zip(columns, keys_by_column, strict=True):
        rows.setdefault((model, column), set()).update(column_keys)
    return rows


def select_keys(references: Sequence[tuple[str, str, Collection[Key]]]) -> list[list[Key]]:
    """For each (table, column, values), the keys of the rows with one of these values. One raw statement: Django takes
    ten times as long to compose dozens of them as SQLite takes to answer them."""
    selects = [
        f"SELECT {number}, {_quoted(_key_of(table))} FROM {_quoted(table)} "
        f"WHERE {_quoted(column)} IN (SELECT value FROM json_each(%s))"
        for number, (table, column, _values) in enumerate(references)
    ]
    key_lists: list[list[Key]] = [[] for _select in selects]
    if selects:
        with connection.cursor() as cursor:
            cursor.execute(
                " UNION ALL ".join(selects), [_keys_as_json(values) for _table, _column, values in references]
            )
            for number, key in cursor.fetchall():
                key_lists[number].append(key)
    return key_lists


@cache
def deletion_order() -> tuple[Model, ...]:
    """Every model; referring models come before the models they refer to."""
    referring: dict[Model, set[Model]] = {model: set() for model in text_columns.all_models()}
    for model in referring:
        for column in model._meta.local_fields:
            if column.remote_field and column.related_model not in (model, None):
                referring[column.related_model].add(model)
    return tuple(TopologicalSorter(referring).static_order())


# --- rows by key ----------------------------------------------------------------------------------------------------
def among(keys: Iterable[Key | UUID]) -> Any:
    """A condition value: `filter(pk__in=among(keys))`. One parameter for any number of keys. Without keys it is an
    empty list, for which Django runs no statement: 60 of the 175 of a usual plan."""
    key_list = list(keys)
    return RawSQL("SELECT value FROM json_each(%s)", [_keys_as_json(key_list)]) if key_list else []


def naming(column: str, ids: Collection[str]) -> RawSQL:
    """The condition that a JSON column contains one of these UUIDs.

    A few are searched as text: a plan among 10,000 turns with x-rays of 22 KB took 1.0 s of CPU this way, and 2.7 s
    with each x-ray parsed, which costs the same for any number of UUIDs (2026-11-21).
    """
    parsed = f"SELECT 1 FROM json_tree({column}) AS said WHERE said.atom IN (SELECT value FROM json_each(%s))"
    as_text = f"SELECT 1 FROM json_each(%s) AS wanted WHERE instr({column}, wanted.value)"
    return RawSQL(
        f"EXISTS ({as_text if len(ids) <= MAX_IDS_AS_TEXT else parsed})",
        [_keys_as_json(ids)],
        output_field=BooleanField(),
    )


def read_keys(rows: Mapping[str, QuerySet[Any, Any]]) -> dict[str, list[Any]]:
    """The keys of each query set, by name, in one statement: `read_keys({"turns": Turn.objects.values("pk"), …})`."""
    selects: list[str] = []
    parameters: list[Any] = []
    for name, queryset in rows.items():
        with suppress(EmptyResultSet):  # nothing can match
            sql, values = queryset.order_by().query.sql_with_params()
            selects.append(f"SELECT %s, * FROM ({sql})")
            parameters += [name, *values]
    keys: dict[str, list[Any]] = {name: [] for name in rows}
    if selects:
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(selects), parameters)
            for name, key in cursor.fetchall():
                keys[name].append(key)
    return keys


@cache
def model_of(table: str) -> Model:
    """The model that a table belongs to."""
    return next(model for model in text_columns.all_models() if model._meta.db_table == table)


def content_types(table: str) -> list[int]:
    """The content types of a table, including those of proxy models."""
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.db_table == table]
    return [kind.pk for kind in ContentType.objects.get_for_models(*models, for_concrete_models=False).values()]


def delete(table: str, keys: Collection[Key]) -> None:
    key = f"{_quoted(_key_of(table))} IN (SELECT value FROM json_each(%s))"
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {_quoted(table)} WHERE {key}", [_keys_as_json(keys)])


def _key_of(table: str) -> str:
    key = model_of(table)._meta.pk
    assert key is not None and key.column is not None  # noqa: PT018
    return key.column


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def _keys_as_json(keys: Iterable[Key | UUID]) -> str:
    """The keys as the database stores them: a UUID in hex."""
    return json.dumps([key.hex if isinstance(key, UUID) else key for key in keys])
