"""The search structures follow their nodes, whoever writes."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from django.conf import settings
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import connection, transaction
from django.db.utils import IntegrityError
from django.utils import timezone

from chat import search
from chat.messages import receive_message
from echovessel.embeddings import embedding
from echovessel.process.word_caches import LRUCache
from memory.models import ConceptNode, NodeText, NodeVector
from memory.store import vectors
from memory.store.vector_cache import Matrix, State
from persona.models import Persona

pytestmark = pytest.mark.django_db
Remember = Callable[..., ConceptNode]


def searched() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT node_id FROM memory_nodevec")
        return {row[0] for row in cursor.fetchall()}


def test_a_node_is_found_while_it_may_be_recalled(mira: Persona, remember: Remember) -> None:
    node = remember(mira, "Ana keeps bees.")
    vector = embedding.embed(["bees"])[0]
    assert [found for found, _ in vectors.nearest(mira.pk, vector, 5)] == [node.id]
    for status in ("hidden", "superseded", "archived", "quarantined"):
        ConceptNode.objects.filter(pk=node.pk).update(status=status)
        assert vectors.nearest(mira.pk, vector, 5) == []
    ConceptNode.objects.filter(pk=node.pk).update(status="active")
    assert [found for found, _ in vectors.nearest(mira.pk, vector, 5)] == [node.id]


@pytest.mark.parametrize("how", ["model", "queryset", "sql"])
def test_nothing_of_a_node_outlives_it(mira: Persona, remember: Remember, how: str) -> None:
    node = remember(mira, "Ana keeps bees.")
    if how == "model":
        node.delete()
    elif how == "queryset":
        ConceptNode.objects.filter(pk=node.pk).delete()
    else:
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM memory_conceptnode WHERE id = %s", [node.pk])
    assert searched() == set()
    assert not NodeVector.objects.exists()
    assert not NodeText.objects.exists()
    assert vectors.find_by_terms(mira.pk, ["bee"], 5)["bee"].tolist() == []


def test_nothing_of_a_message_outlives_it(mira: Persona) -> None:
    message = receive_message(mira, "I keep bees.", None, "web", timezone.now()).message
    assert search.find_by_terms(mira.pk, ["bee"], 5)["bee"].tolist() == [message.id]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM chat_message WHERE id = %s", [message.pk])
    assert search.find_by_terms(mira.pk, ["bee"], 5)["bee"].tolist() == []


def test_a_personas_vectors_are_hers_alone(mira: Persona, otto: Persona, remember: Remember) -> None:
    mine = [remember(mira, f"Ana keeps bee number {number}.").id for number in range(3)]
    for number in range(50):
        remember(otto, f"Ben keeps bee number {number}.")
    vector = embedding.embed(["bee"])[0]
    assert sorted(found for found, _ in vectors.nearest(mira.pk, vector, 40)) == mine
    assert sorted(vectors.find_by_terms(mira.pk, ["bee"], 40)["bee"].tolist()) == mine
    assert (vectors.count(mira.pk), vectors.count(otto.pk)) == (3, 50)


@pytest.mark.parametrize("bad", [np.zeros((1, 384)), np.full((1, 384), np.nan), np.ones((1, 384)), np.ones((1, 3))])
def test_a_vector_that_would_rank_first_everywhere_is_refused(
    mira: Persona, remember: Remember, bad: np.ndarray
) -> None:
    node = remember(mira, "Ana keeps bees.")
    with pytest.raises(ValueError, match="vector"):
        vectors.index([node], bad.astype(np.float32))


def test_the_database_refuses_what_the_layers_forbid(mira: Persona, remember: Remember) -> None:
    wrong = [
        {"emotional_impact": 11},
        {"kind": "rumour"},
        {"confidence": 1.5},
        {"description": ""},
        {"relational_tags": ["best-friend"]},
        {"relational_tags": ["commitment", "correction", "unresolved", "vulnerability"]},
        {"emotion_tags": ["a", "b", "c", "d", "e"]},
    ]
    for fields in wrong:
        with pytest.raises(IntegrityError), transaction.atomic():
            ConceptNode.objects.create(
                persona=mira, **({"kind": "event", "source": "import", "description": "x"} | fields)
            )


@pytest.mark.django_db(transaction=True)
def test_a_missing_trigger_is_said_and_mended() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER memory_node_delete")
        cursor.execute("DROP TRIGGER chat_message_delete")
    found = [message for message in run_checks(databases=["default"]) if message.id == "echovessel.W002"]
    assert len(found) == 2
    assert "migrate" in str(found[0].hint)
    vectors.ensure_indexes()
    search.ensure_index()
    assert not [message for message in run_checks(databases=["default"]) if message.id == "echovessel.W002"]


def vectors_around(count: int, seed: int = 1) -> np.ndarray:
    """Unit vectors in clusters, as memories lie."""
    dice = np.random.default_rng(seed)
    centres = dice.standard_normal((20, embedding.DIMENSION))
    made = centres[dice.integers(20, size=count)] + 0.7 * dice.standard_normal((count, embedding.DIMENSION))
    return (made / np.linalg.norm(made, axis=1, keepdims=True)).astype(np.float32)


def remembered(persona: Persona, rows: np.ndarray) -> list[int]:
    """Memories with these vectors; their ids."""
    made = ConceptNode.objects.bulk_create(
        ConceptNode(
            persona=persona,
            kind="event",
            source="import",
            description=f"number {number}",
            embedding_model=embedding.name(),
        )
        for number in range(len(rows))
    )
    vectors.index(made, rows)
    return [node.pk for node in made]


def found(persona: Persona, vector: np.ndarray, k: int = 5) -> list[int]:
    return [node for node, _ in vectors.nearest(persona.pk, vector, k)]


@pytest.mark.django_db(transaction=True)
def test_the_vector_cache_follows_every_change(mira: Persona) -> None:
    rows = vectors_around(30)
    ids = remembered(mira, rows)
    assert found(mira, rows[3])[0] == ids[3]
    ConceptNode.objects.filter(pk=ids[3]).update(status="hidden")
    assert ids[3] not in found(mira, rows[3], 30)
    ConceptNode.objects.filter(pk=ids[3]).update(status="active")
    assert found(mira, rows[3])[0] == ids[3]
    ConceptNode.objects.get(pk=ids[3]).delete()
    assert ids[3] not in found(mira, rows[3], 30)
    (new,) = remembered(mira, rows[3:4])
    assert found(mira, rows[3])[0] == new


@pytest.mark.django_db(transaction=True)
def test_a_vector_that_was_replaced_is_read_again(mira: Persona) -> None:
    rows = vectors_around(3)
    ids = remembered(mira, rows[:2])
    assert found(mira, rows[0])[0] == ids[0]
    NodeVector.objects.filter(pk=ids[0]).update(embedding=(-rows[0]).tobytes())
    assert vectors.nearest(mira.pk, rows[0], 2)[-1] == (ids[0], pytest.approx(2.0, abs=1e-5))


@pytest.mark.django_db(transaction=True)
def test_another_process_that_writes_is_noticed_at_once(mira: Persona) -> None:
    rows = vectors_around(10)
    ids = remembered(mira, rows)
    assert found(mira, rows[0])[0] == ids[0]
    script = "import os, django; django.setup(); from django.db import connection as c; "
    script += "c.settings_dict['NAME'] = os.environ['FILE']; cursor = c.cursor(); "
    script += f"cursor.execute('DELETE FROM memory_conceptnode WHERE id = {ids[0]}')"
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "tests.settings", "FILE": str(connection.settings_dict["NAME"])}
    subprocess.run([sys.executable, "-c", script], check=True, env=env, cwd=settings.BASE_DIR)
    assert ids[0] not in found(mira, rows[0], 10)


@pytest.mark.django_db(transaction=True)
def test_what_a_transaction_undoes_was_never_held(mira: Persona) -> None:
    rows = vectors_around(4)
    remembered(mira, rows[:2])
    with contextlib.suppress(ZeroDivisionError), transaction.atomic():
        (undone,) = remembered(mira, rows[2:3])
        assert found(mira, rows[2])[0] == undone
        raise ZeroDivisionError
    (kept,) = remembered(mira, rows[3:4])
    assert dict(vectors.nearest(mira.pk, rows[3], 3))[kept] == pytest.approx(0, abs=1e-5)


@pytest.mark.django_db(transaction=True)
def test_without_room_in_memory_the_search_in_two_passes_finds_the_same(
    mira: Persona, otto: Persona, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, asked = vectors_around(2_000), vectors_around(20, seed=2)
    theirs = set(remembered(otto, asked))
    remembered(mira, rows)
    exact = [vectors.nearest(mira.pk, vector, 40) for vector in asked]
    settings.KNOBS = {"memory.vectors_in_memory_mb": 0}
    monkeypatch.setattr(vectors, "FIRST_PASS", 800)
    passed = [vectors.nearest(mira.pk, vector, 40) for vector in asked]
    shares = [len({pk for pk, _ in one} & {pk for pk, _ in two}) / 40 for one, two in zip(exact, passed, strict=True)]
    assert np.mean(shares) >= 0.99
    assert not theirs & {pk for one in passed for pk, _ in one}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("room", [0, 256])
def test_the_vector_of_any_node_is_exact_and_anothers_is_not_told(
    mira: Persona, otto: Persona, settings: Any, room: int
) -> None:
    settings.KNOBS = {"memory.vectors_in_memory_mb": room}
    rows = vectors_around(3)
    ids, theirs = remembered(mira, rows), remembered(otto, rows)
    ConceptNode.objects.filter(pk=ids[1]).update(status="hidden")
    found = vectors.space(mira.pk).vectors([*theirs, *reversed(ids), 10**9])
    assert np.array_equal(found[[3, 5]], rows[[2, 0]])
    assert np.isnan(found[[0, 1, 2, 4, 6]]).all()
    ConceptNode.objects.all().delete()
    assert np.isnan(vectors.space(mira.pk).vectors(ids)).all()


@pytest.mark.django_db(transaction=True)
def test_an_older_search_structure_is_made_anew_with_all_vectors(mira: Persona) -> None:
    rows = vectors_around(5)
    ids = remembered(mira, rows)
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE memory_nodevec")
        cursor.execute(
            "CREATE VIRTUAL TABLE memory_nodevec USING vec0("
            "node_id integer primary key, persona_id integer partition key, embedding float[384], chunk_size=64)"
        )
        cursor.execute("DROP TABLE memory_vectorstate")
    assert {"memory_nodevec", "memory_vectorstate"} <= set(vectors.missing())
    vectors.ensure_indexes()
    assert vectors.missing() == []
    assert searched() == set(ids)
    assert [found(mira, row)[0] for row in rows] == ids


def test_the_vector_cache_drops_the_least_recently_used() -> None:
    shelf = LRUCache()
    rows = vectors_around(10)
    state = State(b"1", b"1", 384)
    for key in range(3):
        shelf.put(key, Matrix(state, np.arange(10), rows), room=2 * rows.nbytes)
        shelf.take(0)
    assert [shelf.take(key) is not None for key in range(3)] == [True, False, True]


@pytest.mark.django_db(transaction=True)
def test_a_start_with_nothing_to_migrate_fills_no_index_anew() -> None:
    asked: list[str] = []
    with connection.execute_wrapper(lambda do, sql, *rest: (asked.append(sql), do(sql, *rest))[1]):
        call_command("migrate", verbosity=0)
    assert any("sqlite_master" in sql for sql in asked)
    assert not [sql for sql in asked if ("_fts" in sql and "INSERT" in sql) or "rebuild" in sql or "DROP" in sql]
