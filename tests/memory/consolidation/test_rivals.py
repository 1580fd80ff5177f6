"""Facts that cannot both hold, and no model decided: the owner is asked, never overruled."""

from typing import Any

import pytest

from memory.consolidation import runner
from memory.consolidation.rivals import are_rivals
from memory.models import ConceptNode, Question
from persona.models import Persona
from tests.memory.consolidation.test_facts import fact
from tests.memory.sessions import Clock, cite, extraction, talk
from tests.scripted import Script
from tests.table import each_row


@each_row(
    ("first", "other", "rival"),
    [
        ("Ana lives in Basel.", "Ana lives in Oslo with Ben.", True),
        ("Ana loves steak.", "Ana is a vegetarian.", True),
        ("Ana works at a bakery.", "Ana works as a nurse.", True),
        ("Ana's boyfriend is Tom.", "Ana is single.", True),
        ("安娜住在苏州。", "安娜住在上海。", True),
        ("安娜爱吃红烧肉。", "安娜吃素。", True),
        ("Ana lives in Basel.", "Ana lives in Basel, near the river.", False),
        ("Ana no longer lives in Basel.", "Ana lives in Oslo.", False),
        ("Ana lives in Basel.", "Ana works at a bakery.", False),
        ("Ana plays the cello.", "Ana plays tennis.", False),
        ("安娜以前住在苏州。", "安娜住在上海。", False),
    ],
)
def test_two_facts_rival_each_other_where_only_one_can_hold(first: str, other: str, rival: bool) -> None:
    assert are_rivals(first, other) is are_rivals(other, first) is rival


def consolidate_fact(persona: Persona, model: Script, clock: Clock, text: str, **facts: Any) -> None:
    session = talk(persona, text, "> I see.", "It rains here, by the way.", "> Does it?")
    message = session.messages.earliest("id")
    model.answers(extraction(facts=[fact(facts.pop("says"), cite(message), **facts)]))
    runner.run(session.pk, clock)


@pytest.mark.parametrize("whose", ["owner", "Rosa"])
def test_a_rival_that_the_model_left_standing_is_asked_about_once(
    mira: Persona, model: Script, clock: Clock, whose: str
) -> None:
    name = "Ana" if whose == "owner" else "Rosa"
    entities = {"domain": "home", "whose": whose}
    consolidate_fact(mira, model, clock, f"{name} lives in Basel.", says=f"{name} lives in Basel.", **entities)
    assert not Question.objects.exists()
    consolidate_fact(
        mira, model, clock, f"{name} lives in Oslo with Ben.", says=f"{name} lives in Oslo with Ben.", **entities
    )
    question = Question.objects.get()
    assert (
        question.text == f"Which holds now: “{name} lives in Basel.” or “{name} lives in Oslo with Ben.”? Or do both?"
    )
    assert set(question.grounds.values_list("description", flat=True)) == {
        f"{name} lives in Basel.",
        f"{name} lives in Oslo with Ben.",
    }
    assert set(ConceptNode.objects.values_list("status", flat=True)) == {"active"}
    consolidate_fact(
        mira, model, clock, f"{name} lives in Oslo, with Ben.", says=f"{name} lives in Oslo with Ben.", **entities
    )
    assert Question.objects.count() == 1


def test_facts_about_two_people_are_no_rivals(mira: Persona, model: Script, clock: Clock) -> None:
    consolidate_fact(
        mira, model, clock, "Rosa lives in Basel.", says="Rosa lives in Basel.", domain="home", whose="Rosa"
    )
    consolidate_fact(mira, model, clock, "Otto lives in Oslo.", says="Otto lives in Oslo.", domain="home", whose="Otto")
    consolidate_fact(mira, model, clock, "I live in York.", says="Ana lives in York.", domain="home")
    assert not Question.objects.exists()
