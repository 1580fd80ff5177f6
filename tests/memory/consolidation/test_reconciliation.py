"""Facts that rest on what has ended: told as past where the model says so, asked about where it is not sure."""

from typing import Any

import pytest

from chat.models import Message
from memory.consolidation import runner
from memory.models import ConceptNode, Question
from memory.recall import recall
from memory.requests.withhold import withhold
from persona.models import Persona
from tests.memory.consolidation.test_facts import fact
from tests.memory.sessions import Clock, cite, extraction, talk
from tests.scripted import Script

PILLS = "I take ramipril every morning, and no grapefruit because of the ramipril."
TREE = "I can't eat prawns, they'd kill me, but I eat crab. Ben and I will buy a house with a pear tree in May."


def lived(persona: Persona, model: Script, clock: Clock) -> None:
    session = talk(persona, PILLS, "> I see.", TREE)
    pills, _, tree = session.messages.order_by("id")
    model.answers(
        extraction(
            facts=[
                fact("Ana takes ramipril every morning.", cite(pills), domain="health"),
                fact("Ana may eat no grapefruit because of the ramipril.", cite(pills), domain="health"),
                fact("Ana is allergic to prawns but eats crab.", cite(tree), domain="health"),
                fact(
                    "Ana and Ben will buy a house with a pear tree.",
                    cite(tree),
                    domain="plans",
                    state="planned",
                    since="2026-05",
                    until="2026-05",
                ),
            ]
        )
    )
    runner.run(session.pk, clock)


def node(description: str) -> ConceptNode:
    return ConceptNode.objects.get(description__startswith=description)


def tell(persona: Persona, model: Script, clock: Clock, line: str, *facts: Any, changes: Any) -> Message:
    """A session with this news, and the verdicts on what is known; `changes` are of (fact, verdict, still)."""
    session = talk(persona, line, "> I see.", "And it rains here.")
    said = session.messages.earliest("id")
    listed = [{"id": f"e{node(text).pk}", "verdict": verdict, "still": still} for text, verdict, still in changes]
    told = [fact(text, cite(said), supersedes=[f"e{node(old).pk}"] if old else [], **more) for text, old, more in facts]
    model.answers(extraction(facts=told), {"changes": listed})
    runner.run(session.pk, clock)
    return said


NEW_PILLS = ("Ana takes amlodipine instead of ramipril.", "Ana takes ramipril", {"domain": "health"})


def test_what_rested_on_what_ended_is_told_as_past_until_the_news_is_withheld(
    mira: Persona, model: Script, clock: Clock
) -> None:
    lived(mira, model, clock)
    said = tell(
        mira,
        model,
        clock,
        "I take amlodipine instead of the ramipril now.",
        NEW_PILLS,
        changes=[("Ana may eat no grapefruit", "over", "")],
    )
    asked = model.requests[-2].user if "grapefruit" in model.requests[-2].user else model.requests[-1].user
    assert "amlodipine" in asked
    assert node("Ana may eat no grapefruit").until == "2026-03"
    shown = " ".join(
        item.text for item in recall(mira, ["May I eat grapefruit?"], now=clock(), budget_tokens=500).items
    )
    assert "until March 2026" in shown
    assert not Question.objects.exists()
    withhold(said)
    assert (node("Ana may eat no grapefruit").until, node("Ana takes ramipril").status) == ("", "active")
    assert node("Ana takes amlodipine").status == "hidden"


def test_of_a_fact_that_ended_in_part_the_rest_stays_with_its_words(mira: Persona, model: Script, clock: Clock) -> None:
    lived(mira, model, clock)
    said = tell(
        mira,
        model,
        clock,
        "I'm vegetarian now, no crab either.",
        ("Ana is vegetarian.", "", {"domain": "health"}),
        changes=[("Ana is allergic to prawns", "partly", "Ana is allergic to prawns.")],
    )
    rest = ConceptNode.objects.get(description="Ana is allergic to prawns.")
    before = ConceptNode.objects.get(description="Ana is allergic to prawns but eats crab.")
    assert (rest.status, before.status, before.superseded_by) == ("active", "superseded", rest)
    assert [row.quote for row in rest.evidence.all()] == [row.quote for row in before.evidence.all()]
    withhold(said)
    rest.refresh_from_db()
    before.refresh_from_db()
    assert (rest.status, before.status) == ("hidden", "active")


def test_a_plan_of_two_who_have_parted_is_called_off(mira: Persona, model: Script, clock: Clock) -> None:
    lived(mira, model, clock)
    tell(
        mira,
        model,
        clock,
        "Ben and I broke up.",
        ("Ana and Ben broke up.", "", {"domain": "people"}),
        changes=[("Ana and Ben will buy", "over", "")],
    )
    assert node("Ana and Ben will buy").plan_state == "cancelled"


@pytest.mark.parametrize(
    ("verdict", "still"), [("over", ""), ("partly", "Ana eats crab and lobster."), ("partly", ""), ("unsure", "")]
)
def test_what_is_not_sure_is_asked_about_and_nothing_is_ended(
    mira: Persona, model: Script, clock: Clock, verdict: str, still: str
) -> None:
    """News of a house ends no allergy, whatever a model says, and nobody's words are made up."""
    lived(mira, model, clock)
    tell(
        mira,
        model,
        clock,
        "We sold the house with the prawns on the door.",
        ("Ana sold the house with the prawns on the door.", "", {"domain": "home"}),
        changes=[("Ana is allergic to prawns", verdict, still)],
    )
    allergy = ConceptNode.objects.get(description="Ana is allergic to prawns but eats crab.")
    assert (allergy.status, allergy.until) == ("active", "")
    assert allergy in Question.objects.get().grounds.all()


def test_no_second_question_is_asked_where_nothing_has_changed_and_none_that_nobody_can_read_fails(
    mira: Persona, model: Script, clock: Clock
) -> None:
    lived(mira, model, clock)
    before = len(model.requests)
    session = talk(mira, "I play the cello in a small orchestra.", "> How nice!", "On Mondays.")
    model.answers(extraction(facts=[fact("Ana plays the cello.", cite(session.messages.earliest("id")))]))
    runner.run(session.pk, clock)
    assert [request.purpose for request in model.requests[before:] if request.purpose == "extraction"] == ["extraction"]
    session = talk(mira, "I take amlodipine instead of the ramipril now.", "> I see.", "It rains.")
    text, old, more = NEW_PILLS
    told = fact(text, cite(session.messages.earliest("id")), supersedes=[f"e{node(old).pk}"], **more)
    model.answers(extraction(facts=[told]), "no JSON", "nor this")
    assert runner.run(session.pk, clock) == "closed"
    assert (node("Ana may eat no grapefruit").until, node("Ana takes ramipril").status) == ("", "superseded")


@pytest.mark.parametrize("is_named", [True, False])
def test_one_plan_is_done_once_however_often_it_is_told(
    mira: Persona, model: Script, clock: Clock, is_named: bool
) -> None:
    """Whether the model names the plan or tells it anew, of the same day."""
    first = talk(mira, "I give a talk on lighthouses at the library on 5 March 2026.", "> I see.", "It rains.")
    days = {"domain": "plans", "since": "2026-03-05", "until": "2026-03-05"}
    told = cite(first.messages.earliest("id"))
    model.answers(extraction(facts=[fact("Ana gives a talk on lighthouses.", told, state="planned", **days)]))
    runner.run(first.pk, clock)
    plan = ConceptNode.objects.get()
    second = talk(mira, "On 5 March I gave my talk on lighthouses, to forty people.", "> Well done!", "Yes.")
    said = second.messages.earliest("id")
    times = {"domain": "plans", "since": "2026-03", "until": "2026-03"} if is_named else days
    more = times | ({"supersedes": [f"e{plan.pk}"]} if is_named else {})
    gave = fact("Ana gave the talk on lighthouses, to forty people.", cite(said), state="done", **more)
    model.answers(extraction(facts=[gave]))
    runner.run(second.pk, clock)
    plan.refresh_from_db()
    told = ConceptNode.objects.get(description=gave["description"])
    assert (plan.status, plan.plan_state, plan.resolved_by) == ("active", "done", told)
    assert (told.status, told.plan_state) == ("active", "")
