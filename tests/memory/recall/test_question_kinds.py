"""A question in other words than the memory finds it by what it asks for: somebody's role, a day, a part of a life."""

from collections.abc import Callable
from datetime import UTC, date, datetime

import pytest

from memory.models import Alias, ConceptNode, Entity, Mention
from memory.recall import recall, retrievers
from persona.models import Persona

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
Remember = Callable[..., ConceptNode]


def about(persona: Persona, name: str, node: ConceptNode, *, kind: str = "person", relation: str = "") -> None:
    entity = Entity.objects.create(persona=persona, canonical_name=name, kind=kind, relation=relation)
    Alias.objects.create(entity=entity, persona=persona, text=name, normalized=name.casefold())
    Mention.objects.create(node=node, entity=entity)


@pytest.mark.django_db
def test_a_question_by_role_or_for_a_day_finds_what_shares_no_word_with_it(
    mira: Persona, remember: Remember, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retrievers, "KIND_RELEVANCE", 0.0)  # there is no meaning in these vectors
    bunsen = remember(mira, "Bunsen died in her lap.")
    martin = remember(mira, "Martin takes the train to Leeds.")
    about(mira, "Bunsen", bunsen, kind="pet")
    about(mira, "Martin", martin, relation="son")
    exam = remember(mira, "Torts were examined in the old hall.")
    ConceptNode.objects.filter(pk=exam.pk).update(
        event_time_start=date(2025, 10, 24), event_time_end=date(2025, 10, 24)
    )

    def found(question: str) -> set[str]:
        return {item.content for item in recall(mira, [question], now=NOW, budget_tokens=750).items}

    assert found("What became of my pet?") == {bunsen.description}
    assert found("How is my boy getting on?") == {martin.description}
    assert found("When did I sit through it all?") == {exam.description}
    assert not found("What became of my neighbour's dog?")
    assert not found("Is water wet?")
