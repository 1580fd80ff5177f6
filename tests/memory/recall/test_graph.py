"""What belongs together comes to mind together: one step by a thought, or by somebody whom few memories mention."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from echovessel.embeddings import embedding
from memory.models import Alias, ConceptNode, Entity, Filling, Mention, NodeVector
from memory.recall import Recall, details, recall
from memory.recall.retrievers import COMPANY
from memory.store import vectors
from persona.models import Persona

NOW = datetime(2026, 3, 5, 12, tzinfo=UTC)
VIOLIN, FIRE = "Somebody gives Ana lessons on the violin.", "The workshop burned down to the ground."
QUESTION = "Who gives me violin lessons?"
Remember = Callable[..., ConceptNode]


@pytest.fixture
def violin(mira: Persona, remember: Remember) -> ConceptNode:
    remember(mira, "Six plus seven makes thirteen.")
    return remember(mira, VIOLIN)


@pytest.fixture
def fire(mira: Persona, remember: Remember) -> ConceptNode:
    """Has no word and no meaning in common with the question."""
    return remember(mira, FIRE)


def mentioned(persona: Persona, name: str, *nodes: ConceptNode) -> Entity:
    entity = Entity.objects.create(persona=persona, canonical_name=name, kind="person", description="")
    Alias.objects.create(entity=entity, persona=persona, text=name, normalized=name.casefold())
    Mention.objects.bulk_create(Mention(node=node, entity=entity) for node in nodes)
    return entity


def asking(persona: Persona, *turns: str) -> Recall:
    return recall(persona, turns, now=NOW, budget_tokens=1_500)


def said(found: Recall) -> list[str]:
    return [item.content for item in found.items]


def arms_of(found: Recall, node: ConceptNode) -> tuple[str, ...]:
    return next(seen.arms for seen in found.xray.candidates if seen.id == str(node.uuid))


def joined(*nodes: ConceptNode, company: int = COMPANY) -> list[list[int]]:
    return details.neighbours(nodes[0].persona_id, [node.pk for node in nodes], company).tolist()


@pytest.mark.parametrize(("asked", "answer"), [(QUESTION, VIOLIN), ("Did the workshop burn down?", FIRE)])
def test_what_has_nothing_in_common_with_the_question_or_its_answer_stays_out(
    mira: Persona, violin: ConceptNode, fire: ConceptNode, asked: str, answer: str
) -> None:
    assert said(asking(mira, asked)) == [answer]


@pytest.mark.parametrize("asked", [QUESTION, "Did the workshop burn down?"])
def test_what_mentions_the_same_comes_along_in_both_directions(
    mira: Persona, violin: ConceptNode, fire: ConceptNode, asked: str
) -> None:
    mentioned(mira, "Ruben", violin, fire)
    found = asking(mira, asked)
    assert set(said(found)) == {VIOLIN, FIRE}
    assert found.items[0].content == (VIOLIN if asked == QUESTION else FIRE)
    assert "graph" in arms_of(found, fire if asked == QUESTION else violin)


@pytest.mark.parametrize("asked", [QUESTION, "Did the workshop burn down?"])
def test_a_thought_and_what_it_rests_on_come_along_in_both_directions(
    mira: Persona, violin: ConceptNode, fire: ConceptNode, asked: str
) -> None:
    Filling.objects.create(parent=fire, child=violin)
    assert set(said(asking(mira, asked))) == {VIOLIN, FIRE}


@pytest.mark.parametrize("status", ["hidden", "superseded", "archived", "quarantined"])
def test_what_may_not_be_recalled_does_not_come_along(
    mira: Persona, violin: ConceptNode, fire: ConceptNode, status: str
) -> None:
    mentioned(mira, "Ruben", violin, fire)
    Filling.objects.create(parent=fire, child=violin)
    ConceptNode.objects.filter(pk=fire.pk).update(status=status)
    assert said(asking(mira, QUESTION)) == [VIOLIN]
    assert joined(violin) == []


def test_whom_many_memories_mention_brings_nothing_along(
    mira: Persona, remember: Remember, violin: ConceptNode, fire: ConceptNode
) -> None:
    others = [remember(mira, f"Ana wrote postcard number {number}.") for number in range(COMPANY - 2)]
    entity = mentioned(mira, "Ruben", violin, fire, *others)
    assert [violin.pk, fire.pk, COMPANY] in joined(violin)
    Mention.objects.create(node=remember(mira, "Ana wrote a letter."), entity=entity)
    assert joined(violin) == []
    assert FIRE not in said(asking(mira, QUESTION))


def test_of_several_ties_the_closest_counts(
    mira: Persona, violin: ConceptNode, fire: ConceptNode, remember: Remember
) -> None:
    mentioned(mira, "Ruben", violin, fire, remember(mira, "Ana wrote a letter."))
    assert [row for row in joined(violin) if row[1] == fire.pk] == [[violin.pk, fire.pk, 3]]
    mentioned(mira, "Lyon", violin, fire)
    assert [row for row in joined(violin) if row[1] == fire.pk] == [[violin.pk, fire.pk, 2]]


def test_no_step_leads_to_another_persona(
    mira: Persona, otto: Persona, remember: Remember, violin: ConceptNode
) -> None:
    his = remember(otto, FIRE)
    assert details.neighbours(otto.pk, [violin.pk], COMPANY).tolist() == []
    mentioned(otto, "Ruben", his)
    mentioned(mira, "Ruben", violin)
    assert said(asking(mira, QUESTION)) == [VIOLIN]


def test_who_is_named_needs_no_step(mira: Persona, violin: ConceptNode, fire: ConceptNode) -> None:
    plain = asking(mira, QUESTION + " Ruben?")
    mentioned(mira, "Ruben", violin, fire)
    named = asking(mira, QUESTION + " Ruben?")
    assert "entity" in arms_of(named, fire)
    relevance = {seen.id: seen.parts["raw_relevance"] for seen in (*plain.xray.candidates, *named.xray.candidates)}
    for seen in plain.xray.candidates:
        assert relevance[seen.id] == pytest.approx(seen.parts["raw_relevance"], abs=1e-6)


def test_an_empty_selection_has_no_neighbours(mira: Persona, violin: ConceptNode) -> None:
    assert details.neighbours(mira.pk, [], COMPANY).shape == (0, 3)
    assert joined(violin) == []


def test_one_step_is_not_two(mira: Persona, violin: ConceptNode, fire: ConceptNode, remember: Remember) -> None:
    far = remember(mira, "The mayor opened a bridge.")
    mentioned(mira, "Ruben", violin, fire)
    mentioned(mira, "Lyon", fire, far)
    assert joined(violin) == [[violin.pk, fire.pk, 2]]


def test_a_node_without_a_vector_comes_along_too_and_spoils_no_other(
    mira: Persona, violin: ConceptNode, fire: ConceptNode
) -> None:
    mentioned(mira, "Ruben", violin, fire)
    NodeVector.objects.filter(node=fire).delete()
    vectors.rebuild()
    found = asking(mira, QUESTION)
    assert set(said(found)) == {VIOLIN, FIRE}
    assert all(np.isfinite(item.score) for item in found.items)


def test_without_the_model_a_step_is_made_from_what_holds_the_words(
    mira: Persona, violin: ConceptNode, fire: ConceptNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(texts: Any, **_: Any) -> Any:
        raise embedding.EmbeddingUnavailable("the file is missing")

    monkeypatch.setattr(embedding, "embed", missing)
    mentioned(mira, "Ruben", violin, fire)
    assert said(asking(mira, "violin lessons")) == [VIOLIN, FIRE]
