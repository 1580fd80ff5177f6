"""An installation that was at work before the database said which embedding model is in use."""

from collections.abc import Sequence
from typing import Any

import pytest

from tests.memory.test_migrations import migrated, old  # noqa: F401  (a fixture)

BEFORE = [("memory", "0003_node_recallable")]
AFTER = [("memory", "0004_embedding_model")]


def with_vectors_of(alias: str, models: Sequence[str]) -> None:
    apps = migrated(alias, BEFORE)

    def new(kind: str, /, **values: Any) -> Any:
        return apps.get_model(kind).objects.using(alias).create(**values)

    persona = new("persona.Persona", owner=new("auth.User", username="ana"), name="Mira")
    for model in models:
        node = new("memory.ConceptNode", persona=persona, kind="event", source="import", description="x")
        new("memory.NodeVector", node=node, model=model, embedding=b"")


@pytest.mark.parametrize(
    ("models", "in_use"),
    [(["a", "b", "b"], ["b"]), (["", "", "a"], ["a"]), ([], [])],
    ids=["mixed", "unnamed", "none"],
)
def test_the_model_of_most_vectors_is_the_one_in_use(old: str, models: list[str], in_use: list[str]) -> None:  # noqa: F811
    with_vectors_of(old, models)
    found = migrated(old, AFTER).get_model("memory.EmbeddingModel").objects.using(old)
    assert list(found.values_list("name", flat=True)) == in_use
