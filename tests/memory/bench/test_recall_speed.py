"""The measurement of recall: the same life each time, and figures for every step."""

from collections import Counter

import pytest
from django.contrib.auth.models import User
from django.db import connection

from memory.bench import isolation, recall
from memory.bench.synthetic import MESSAGES_PER_SESSION, Life, Size, write_life
from memory.models import ConceptNode, Mention
from memory.recall.dates import read_window
from persona.models import Persona

pytestmark = pytest.mark.django_db
STEPS = {"embed", "search", "rank", "without_embed"}


def test_the_same_seed_makes_the_same_life_and_another_one_another() -> None:
    def said(seed: int) -> list[str]:
        life = Life(seed)
        return [life.text(topic) for topic in range(6)] + life.question() + [life.name(number) for number in range(6)]

    assert said(1) == said(1)
    assert not set(said(1)) & set(said(2)[:-6])


def test_a_made_up_life_is_as_large_as_asked(ana: User) -> None:
    persona = write_life(ana, Size(nodes=60, messages=2 * MESSAGES_PER_SESSION), progress=False)
    assert (ConceptNode.objects.of(persona).count(), persona.messages.count()) == (60, 2 * MESSAGES_PER_SESSION)
    assert Mention.objects.filter(node__persona=persona).exists()
    assert not ConceptNode.objects.filter(evidence=None).exists()


def test_a_life_that_is_given_goes_on_with_the_next_persona(ana: User) -> None:
    life = Life(1)
    first, second = (write_life(ana, Size(5, MESSAGES_PER_SESSION), life=life, progress=False) for _ in range(2))
    assert not {line.content for line in first.messages.all()} & {line.content for line in second.messages.all()}


def test_questions_come_in_one_line_in_several_and_with_days(mira: Persona) -> None:
    found = recall.questions(20)
    assert found == recall.questions(20)
    assert Counter(question.kind for question in found) == {"one line": 8, "several lines": 8, "with days": 4}
    assert all(len(question.turns) == (4 if question.kind == "several lines" else 1) for question in found)
    dated = {bool(read_window(question.turns, recall.NOW, mira.zone)): question.kind for question in found}
    assert dated[True] == "with days"


def test_every_step_is_timed_and_the_search_compared_with_an_exact_one() -> None:
    figures = recall.measure(nodes=60, messages=2 * MESSAGES_PER_SESSION, queries=5)
    assert figures["ms"].keys() == {"all", "one line", "several lines", "with days"}
    for steps in figures["ms"].values():
        assert steps.keys() >= STEPS
        assert all(0 <= value["p50"] <= value["p95"] for value in steps.values())
    assert (figures["exactness"], figures["exactness_in_two_passes"]) == (1, 1)
    assert figures["nodes"] == 60


def test_a_neighbour_is_told_by_the_results_and_by_the_time(ana: User, ben: User) -> None:
    small = write_life(ana, Size(20, MESSAGES_PER_SESSION), seed=isolation.SEED, progress=False)
    beside = isolation.measure(small, 3, lambda: write_life(ben, Size(20, MESSAGES_PER_SESSION), progress=False))
    assert beside["same_results"]
    assert beside["ratio"] > 0

    changed = isolation.measure(small, 3, lambda: ConceptNode.objects.all().delete() and small.messages.all().delete())
    assert not changed["same_results"]


def test_the_index_serves_the_search_for_recallable_nodes_and_misleads_no_other(ana: User) -> None:
    persona = write_life(ana, Size(nodes=10, messages=MESSAGES_PER_SESSION), progress=False)
    with connection.cursor() as cursor:
        cursor.execute(
            "EXPLAIN QUERY PLAN SELECT id FROM memory_conceptnode WHERE persona_id = %s AND status = 'active'",
            [persona.pk],
        )
        assert "COVERING INDEX node_recallable" in cursor.fetchone()[3]
    promises = ConceptNode.objects.of(persona).recallable().filter(kind=ConceptNode.Kind.INTENTION)
    assert "node_by_kind" in promises.explain()
