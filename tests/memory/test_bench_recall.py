"""The measurement of recall: the same life each time, and figures for every step."""

import pytest
from django.contrib.auth.models import User
from django.db import connection

from memory.bench import recall
from memory.bench.made_up import LINES_A_TALK, Life, Size, live
from memory.models import ConceptNode, Mention

pytestmark = pytest.mark.django_db


def test_the_same_seed_makes_the_same_life_and_another_one_another() -> None:
    def said(seed: int) -> list[str]:
        life = Life(seed)
        return [life.line(topic) for topic in range(6)] + life.question() + [life.name(number) for number in range(6)]

    assert said(1) == said(1)
    assert not set(said(1)) & set(said(2)[:-6])


def test_a_made_up_life_is_as_large_as_asked(ana: User) -> None:
    persona = live(ana, Size(nodes=60, messages=2 * LINES_A_TALK), progress=False)
    assert (ConceptNode.objects.of(persona).count(), persona.messages.count()) == (60, 2 * LINES_A_TALK)
    assert Mention.objects.filter(node__persona=persona).exists()
    assert not ConceptNode.objects.filter(evidence=None).exists()


def test_every_step_is_timed_and_the_search_compared_with_an_exact_one() -> None:
    figures = recall.measured(nodes=60, messages=2 * LINES_A_TALK, queries=3)
    assert {"embed", "search", "load", "rank", "search to rank"} <= figures["ms"].keys()
    assert all(0 <= median <= p95 for median, p95 in figures["ms"].values())
    assert figures["exactness"] == 1
    assert figures["nodes"] == 60


def test_the_index_serves_the_search_for_recallable_nodes_and_misleads_no_other(ana: User) -> None:
    persona = live(ana, Size(nodes=10, messages=LINES_A_TALK), progress=False)
    with connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN QUERY PLAN SELECT id FROM memory_conceptnode WHERE persona_id = %s AND status = 'active'",
            [persona.pk],
        )
        assert "COVERING INDEX node_recallable" in cursor.fetchone()[3]
    promises = ConceptNode.objects.of(persona).recallable().filter(kind=ConceptNode.Kind.INTENTION)
    assert "node_by_kind" in promises.explain()
