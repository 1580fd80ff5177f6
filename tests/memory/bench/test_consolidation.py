"""The life that consolidation is timed on, and the figures."""

import pytest

from chat.models import Session
from memory.bench.consolidation import ConsolidationTime, Figures, format_table, measure
from memory.bench.synthetic_sessions import generate_sessions
from memory.models import ConceptNode, Entity


def test_a_life_is_the_same_for_its_seed_and_no_two_sessions_are() -> None:
    life = list(generate_sessions(60, 20))
    assert life == list(generate_sessions(60, 20))
    assert life != list(generate_sessions(60, 20, seed=2))
    assert len({session.lines for session in life}) == 60
    assert {len(session.lines) for session in life} == {20}
    assert [session.language for session in life[:3]] == ["en", "en", "zh"]
    texts = [text for session in life for text in session.lines[::2]]
    assert len(set(texts)) > 0.9 * len(texts)
    assert not any("{" in text for text in texts)


@pytest.mark.django_db
def test_sessions_are_remembered_and_timed() -> None:
    done: list[int] = []
    figures = measure(3, 6, 1, done.append)
    assert done == [1, 1, 1]
    assert set(Session.objects.values_list("status", flat=True)) == {"closed"}
    assert (figures.nodes, figures.entities) == (ConceptNode.objects.count(), Entity.objects.count())
    assert figures.nodes > 3
    assert all(one.wall > 0 for one in figures.times)


def test_growth_is_the_last_hundred_against_the_first() -> None:
    figures = Figures(
        [ConsolidationTime(1.0, 0.5)] * 100
        + [ConsolidationTime(9.0, 9.0)] * 100
        + [ConsolidationTime(2.0, 0.75)] * 100,
        7,
        3,
    )
    assert figures.growth() == ConsolidationTime(2.0, 1.5)
    assert figures.sessions_per_minute == pytest.approx(15)
    assert "2.00      1.50" in "\n".join(format_table(figures))
