"""The search structures follow their nodes, whoever writes."""

from collections.abc import Callable

import numpy as np
import pytest
from django.core.checks import run_checks
from django.db import connection, transaction
from django.db.utils import IntegrityError
from django.utils import timezone

from chat import search
from chat.lines import take_line
from echovessel import embedding
from memory import vectors
from memory.models import ConceptNode, NodeText, NodeVector
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
    assert [found for found, _ in vectors.matching(mira.pk, ["bee"], 5)] == [node.id]
    for status in ("hidden", "superseded", "archived", "quarantined"):
        ConceptNode.objects.filter(pk=node.pk).update(status=status)
        assert vectors.nearest(mira.pk, vector, 5) == []
        assert vectors.matching(mira.pk, ["bee"], 5) == []
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
    assert vectors.matching(mira.pk, ["bee"], 5) == []


def test_nothing_of_a_message_outlives_it(mira: Persona) -> None:
    message = take_line(mira, "I keep bees.", None, "web", timezone.now()).message
    assert [found for found, _ in search.lines(mira.pk, ["bee"], 5)] == [message.id]
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM chat_message WHERE id = %s", [message.pk])
    assert search.lines(mira.pk, ["bee"], 5) == []


def test_a_personas_vectors_are_hers_alone(mira: Persona, otto: Persona, remember: Remember) -> None:
    mine = [remember(mira, f"Ana keeps bee number {number}.").id for number in range(3)]
    for number in range(50):
        remember(otto, f"Ben keeps bee number {number}.")
    vector = embedding.embed(["bee"])[0]
    assert sorted(found for found, _ in vectors.nearest(mira.pk, vector, 40)) == mine
    assert sorted(found for found, _ in vectors.matching(mira.pk, ["bee"], 40)) == mine


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
    found = [message for message in run_checks(databases=["default"]) if message.id == "echovessel.E004"]
    assert len(found) == 2
    assert "migrate" in str(found[0].hint)
    vectors.ensure_indexes()
    search.ensure_index()
    assert not [message for message in run_checks(databases=["default"]) if message.id == "echovessel.E004"]
