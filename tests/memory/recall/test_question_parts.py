"""A question that asks several things brings up the memories of each, however many speak of the first."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from memory.models import ConceptNode
from memory.recall import query, recall
from persona.models import Persona

NOW = datetime(2026, 1, 24, 12, tzinfo=UTC)
PLACES = ("harbour", "market", "cathedral", "tram", "castle", "fountain", "museum", "hill", "bakery", "station")
LISBON = [f"On the trip to Lisbon Ana sketched the {place}." for place in PLACES]
PORTO = "In Porto Ana tasted port wine with Ben."
DENTIST = "The dentist pulled a wisdom tooth."


@pytest.mark.django_db
@pytest.mark.real_embeddings
@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        ("What did I do in Lisbon and Porto?", PORTO),
        ("What did I sketch on the trip to Lisbon, and what did the dentist do?", DENTIST),
    ],
)
def test_each_part_of_a_question_is_answered(
    mira: Persona, remember: Callable[..., ConceptNode], monkeypatch: pytest.MonkeyPatch, asked: str, wanted: str
) -> None:
    for text in (*LISBON, PORTO, DENTIST):
        remember(mira, text)
    found = recall(mira, [asked], now=NOW, budget_tokens=1_500)
    places = [item.content for item in found.items]
    assert places.index(wanted) < 4
    assert set(places) & set(LISBON)
    assert "parts" in {arm["name"] for arm in found.xray.as_json()["arms"]}
    monkeypatch.setattr(query, "parts_of", lambda text: ())
    without = [item.content for item in recall(mira, [asked], now=NOW, budget_tokens=1_500).items]
    assert places.index(wanted) <= ([*without, wanted].index(wanted))
