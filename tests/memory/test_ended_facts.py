"""What people complain of most in companions that remember: what is over is told as if it were so still.

A year of one thing, then another: on every surface only the present is told as present, and the past as past.
"""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from echovessel.llm.offline.reply import reply
from echovessel.llm.prompts import ContextRequest
from memory import context
from memory.consolidation import runner
from memory.models import ConceptNode
from persona.models import Persona
from tests.memory.consolidation.test_facts import fact
from tests.memory.sessions import NOW, Clock, cite, extraction, talk
from tests.scripted import Script

A_YEAR_AGO = NOW - timedelta(days=365)
# What was said and kept a year ago, what is said and kept now, and a question in other words.
CHANGES: dict[str, dict[str, Any]] = {
    "diet": {
        "domain": "likes",
        "before": ("Steak night again, I love steak.", "Ana loves steak."),
        "now": ("I'm vegetarian now, by the way.", "Ana is vegetarian and no longer eats meat."),
        "asked": "What should I have for dinner?",
    },
    "move": {
        "domain": "home",
        "before": ("My flat in Basel is freezing.", "Ana lives in a flat in Basel."),
        "now": ("We moved! The boxes are in Oslo.", "Ana lives in Oslo."),
        "asked": "Where is my home?",
    },
    "job": {
        "domain": "work",
        "before": ("Another shift at the bakery.", "Ana works at a bakery."),
        "now": ("First week as a bus driver.", "Ana works as a bus driver."),
        "asked": "What do I do for a living?",
    },
    "partner": {
        "domain": "people",
        "whose": "Tom",
        "before": ("Tom, my boyfriend, cooked tonight.", "Tom is Ana's boyfriend."),
        "now": ("Tom and I split up.", "Ana is single; she and Tom split up."),
        "asked": "Who is my partner?",
    },
    "pet": {
        "domain": "belongings",
        "whose": "Rex",
        "before": ("Rex, my dog, ate a shoe.", "Ana has a dog, Rex."),
        "now": ("Rex died on Sunday.", "Ana's dog Rex died."),
        "asked": "How is my pet?",
    },
}


@pytest.fixture(params=CHANGES)
def change(request: pytest.FixtureRequest, mira: Persona, model: Script, clock: Clock) -> dict[str, Any]:
    """A year of something, consolidated, and then its end."""
    told: dict[str, Any] = CHANGES[request.param]
    told["whose"] = told.get("whose", "owner")
    known: ConceptNode | None = None
    for (line, says), at in ((told["before"], A_YEAR_AGO), (told["now"], NOW)):
        session = talk(mira, line, "> Tell me.", "That is all, really.", "> All right.", at=at)
        replaced = [f"e{known.pk}"] if known else []
        said = fact(says, cite(session.messages.earliest("id")), supersedes=replaced)
        model.answers(extraction(facts=[said | {"domain": told["domain"], "whose": told["whose"]}]))
        clock.now = at + timedelta(minutes=31)
        runner.run(session.pk, clock)
        known = ConceptNode.objects.get(description=says)
    return told


def sections(persona: Persona, asked: str) -> list[Any]:
    request = ContextRequest(persona=persona, turns=[asked], now=NOW + timedelta(days=1), budget=1_500)
    return [one for one in (context.always_known(request), context.recollections(request)) if one]


@pytest.mark.real_embeddings
@pytest.mark.django_db
def test_only_the_present_is_told_as_present(mira: Persona, change: dict[str, Any], client: Client) -> None:
    (line, before), (_, now) = change["before"], change["now"]
    shown = sections(mira, change["asked"])
    prompt = "\n".join(one.text for one in shown)
    assert now in prompt
    assert before not in prompt
    assert not any(line in row and "2025" not in row for row in prompt.splitlines())

    recollections = [item for one in shown for item in one.material.get("recollections", ())]
    answer = reply(
        {"language": "en", "persona_name": "Mira", "user_name": "Ana", "lines": [change["asked"]], "recent": []}
        | {"recollections": recollections}
    )
    assert before not in answer

    client.force_login(mira.owner)
    page = client.get(f"/memory/{mira.uuid}/facts/").content.decode().replace("&#x27;", "'")
    present, past = page.split('data-testid="past-fact"')
    assert (now in present, before in present, before in past) == (True, False, True)
    listed = client.get(f"/api/personas/{mira.uuid}/nodes?kind=fact").json()
    states = {one["description"]: one["status"] for one in listed["items"]}
    assert states[now] == "active"
    assert states.get(before, "superseded") == "superseded"
