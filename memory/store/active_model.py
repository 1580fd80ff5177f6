"""Which embedding model is in use: a row of the database, the same for web server, workers and commands.

Where the model is changed (`memory.store.reembedding`), all vectors change in one transaction, while others are at
work: a turn has asked for the vector of its line, a worker for those of its drafts. Whoever reads vectors says at the
end, by `expect`, of which model its own were; the write gate says so inside the transaction that writes. When that is
no more the model in use, nothing comes of the work, and `@with_one_model` has it done again.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from django.db import DEFAULT_DB_ALIAS, DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper

from echovessel.embeddings import embedding
from memory.store import vectors

TRIES = 3
P = ParamSpec("P")
T = TypeVar("T")


class ModelChanged(embedding.EmbeddingUnavailable):
    """Another embedding model came into use meanwhile: vectors that were made before cannot be used."""


def follow() -> str:
    """The name of the model in use, by which this process embeds from now on. Ask before you embed."""
    embedding.use(vectors.model_in_use())
    return embedding.name()


def expect(model: str) -> None:
    """Raises ModelChanged where `model` is not the one in use any more."""
    if follow() != model:
        raise ModelChanged("the embedding model was changed meanwhile")


def with_one_model(deed: Callable[P, T]) -> Callable[P, T]:
    """`deed`, done anew when the model was changed while it was at work; at most so often."""

    @wraps(deed)
    def done(*args: P.args, **kwargs: P.kwargs) -> T:
        for _ in range(TRIES - 1):
            try:
                return deed(*args, **kwargs)
            except ModelChanged:
                continue
        return deed(*args, **kwargs)

    return done


def learn(connection: BaseDatabaseWrapper, **_: Any) -> None:
    """With its first connection a process knows the model, so that it warms no other one."""
    if connection.alias != DEFAULT_DB_ALIAS:
        return
    try:
        follow()
    except DatabaseError:
        return  # nothing is migrated yet
