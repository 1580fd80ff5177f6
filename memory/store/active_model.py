"""The embedding model in use: a row of the database, the same for web server, workers and commands.

A change of the model (`memory.store.reembedding`) replaces all vectors in one transaction while others work: a turn has
embedded its message, a worker its drafts. A reader of vectors passes the model of its own vectors to `expect` at the
end; the write gate does so inside its transaction. If this is no longer the model in use, `expect` raises ModelChanged,
and `@with_one_model` repeats the work.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from echovessel.embeddings import embedding
from echovessel.embeddings.errors import ModelChanged

MAX_TRIES = 3
P = ParamSpec("P")
T = TypeVar("T")


def model_in_use() -> str:
    """The name of the embedding model of all vectors; "" before there is one. Checks call it before an upgrade, when
    other columns may not exist yet."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM memory_embeddingmodel")
        return next((str(name) for (name,) in cursor.fetchall()), "")


class InUse(NamedTuple):
    """The embedding model of all vectors, their size, the probe of a server's model, and the calibration of its cosines
    as JSON; empty and 0 before there is a vector."""

    model: str = ""
    dimension: int = 0
    probe: bytes = b""
    cosines: str = ""


def in_use() -> InUse:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, dimension, probe, cosines FROM memory_embeddingmodel")
        rows = cursor.fetchall()
    return next((InUse(str(name), int(size), bytes(probe), str(text)) for name, size, probe, text in rows), InUse())


def dimension_in_use() -> int:
    """The size of the stored vectors; before there is one, the bundled model's."""
    with connection.cursor() as cursor:
        # Checks call it before an upgrade, when the column may not exist yet.
        cursor.execute("SELECT count(*) FROM pragma_table_info('memory_embeddingmodel') WHERE name = 'dimension'")
        if not cursor.fetchone()[0]:
            return embedding.DIMENSION
        cursor.execute("SELECT dimension FROM memory_embeddingmodel")
        return next((int(size) for (size,) in cursor.fetchall()), embedding.DIMENSION)


def follow() -> str:
    """Make this process embed with the model in use; returns its name. Call before embedding."""
    embedding.use(*in_use())
    return embedding.name()


def expect(model: str) -> None:
    """Raises ModelChanged if `model` is no longer the one in use."""
    if follow() != model:
        raise ModelChanged("the embedding model was changed meanwhile")


def with_one_model(function: Callable[P, T]) -> Callable[P, T]:
    """`function`, repeated if the model was changed meanwhile, up to MAX_TRIES times."""

    @wraps(function)
    def repeated(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(MAX_TRIES - 1):
            try:
                return function(*args, **kwargs)
            except ModelChanged:
                continue
        return function(*args, **kwargs)

    return repeated


def learn(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """Read the model with a process's first connection, so that the process loads no other model."""
    if connection.alias != DEFAULT_DB_ALIAS:
        return
    try:
        follow()
    except DatabaseError:
        return  # nothing is migrated yet
