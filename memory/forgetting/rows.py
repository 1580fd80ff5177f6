"""Rows by the thousand: chosen, deleted and rewritten by key, without a limit on how many and without Django's
collector, which would read every row that it deletes."""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connection
from django.db.models import BooleanField, Model
from django.db.models.expressions import RawSQL

Key = int | str
FEW = 6


def among(keys: Iterable[Key | UUID]) -> RawSQL:
    """For a condition: `filter(pk__in=among(keys))`. One parameter, however many keys there are."""
    return RawSQL("SELECT value FROM json_each(%s)", [_listed(keys)])


def naming(column: str, ids: Collection[str]) -> RawSQL:
    """The condition that a JSON column names one of these UUIDs.

    A few are looked for as they are written: a plan among 10,000 turns with x-rays of 22 KB took 1.0 s of CPU so, and
    2.7 s with each x-ray taken apart, which costs the same for any number of them (2026-11-21).
    """
    said = f"SELECT 1 FROM json_tree({column}) AS said WHERE said.atom IN (SELECT value FROM json_each(%s))"
    written = f"SELECT 1 FROM json_each(%s) AS wanted WHERE instr({column}, wanted.value)"
    looked_for = written if len(ids) <= FEW else said
    return RawSQL(f"EXISTS ({looked_for})", [_listed(ids)], output_field=BooleanField())


def of_table(table: str) -> type[Model]:
    """The model that a table belongs to."""
    return next(model for model in apps.get_models(include_auto_created=True) if _is_of(model, table))


def delete(table: str, keys: Collection[Key]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {_quoted(table)} WHERE {_in_keys(table)}", [_listed(keys)])


def left(table: str, keys: Collection[Key]) -> int:
    """How many of these rows there are."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {_quoted(table)} WHERE {_in_keys(table)}", [_listed(keys)])
        return int(cursor.fetchone()[0])


def overwrite(table: str, column: str, values: Mapping[Key, Any]) -> int:
    """Give a column of each row its new value; returns how many rows there were."""
    field = next(field for field in of_table(table)._meta.local_fields if field.column == column)
    rows = [(field.get_db_prep_save(value, connection), key) for key, value in values.items()]
    with connection.cursor() as cursor:
        cursor.executemany(f"UPDATE {_quoted(table)} SET {_quoted(column)} = %s WHERE {_key_of(table)} = %s", rows)
        return int(cursor.rowcount)


def _is_of(model: type[Model], table: str) -> bool:
    return model._meta.db_table == table and not model._meta.proxy


def _key_of(table: str) -> str:
    key = of_table(table)._meta.pk
    assert key is not None and key.column is not None  # noqa: PT018
    return _quoted(key.column)


def _in_keys(table: str) -> str:
    return f"{_key_of(table)} IN (SELECT value FROM json_each(%s))"


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def _listed(keys: Iterable[Key | UUID]) -> str:
    """As the database keeps them: a UUID in hex."""
    return json.dumps([key.hex if isinstance(key, UUID) else key for key in keys])
