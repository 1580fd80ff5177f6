"""A request of the owner alone is no event, whatever a model answers."""

from typing import Any

import pytest

from memory.consolidation import runner
from memory.consolidation.asked_for import told_beside_requests
from memory.models import ConceptNode
from persona.models import Persona
from tests.memory.sessions import Clock, cite, event, extraction, talk
from tests.scripted import Script
from tests.table import each_row

STORY = "I moved to Porto last week and I like it a lot."


@each_row(
    "content, statement",
    [
        ("Forget that I'm allergic to peanuts.", ""),
        ("I moved to Porto. Call me Sam.", "I moved to Porto. "),
        ("叫我阿明。我搬到波尔图了。", "我搬到波尔图了。"),
        ("Remember that I'm vegan.", "Remember that I'm vegan."),
        ("No, York.", "No, York."),
        ("I always forget my keys.", "I always forget my keys."),
    ],
)
def test_a_message_tells_what_it_does_not_only_ask_for(content: str, statement: str) -> None:
    assert told_beside_requests(content) == statement


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("request_text", "quote"),
    [
        ("Forget that I'm allergic to peanuts.", "I'm allergic to peanuts"),
        ("When I'm sad, just be with me.", "When I'm sad, just be with me."),
        ("请忘记我对花生过敏这件事。", "我对花生过敏"),
        ("别再问我爸的事。", "别再问我爸的事"),
        ("Call me Sam.", "Call me Sam"),
    ],
)
def test_an_event_that_rests_on_a_request_alone_is_dropped_and_others_are_kept(
    mira: Persona, model: Script, request_text: str, quote: str
) -> None:
    session = talk(mira, STORY, "> Oh!", request_text)
    story, _reply, request = session.messages.order_by("id")
    wrong: dict[str, Any] = event("Ana said so.", cite(request, quote))
    model.structured = [extraction([wrong, event("Ana moved to Porto.", cite(story))]), {"thoughts": []}]
    runner.run(session.pk, Clock())
    assert [node.description for node in ConceptNode.objects.filter(kind="event")] == ["Ana moved to Porto."]


@pytest.mark.django_db
@pytest.mark.parametrize("request_text", ["Forget that I'm allergic to peanuts.", "别再问我爸的事", "叫我阿明"])
def test_a_session_that_only_asks_is_not_read(mira: Persona, request_text: str) -> None:
    session = talk(mira, request_text, "> All right.")
    assert runner.run(session.pk, Clock()) == runner.Outcome.TRIVIAL
    assert not ConceptNode.objects.exists()
