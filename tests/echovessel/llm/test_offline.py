"""The provider without a model: free, streaming, and empty where something would have to be concluded."""

from typing import Any

import pytest
from pydantic import BaseModel

from echovessel import llm
from echovessel.llm.models import LLMCall
from echovessel.llm.offline.extraction import extract
from memory.consolidation.answer_schema import ReflectionAnswer
from memory.imports.drafts import DraftsAnswer
from memory.slow_cycle.answer_schema import EntityAnswer, SlowCycleAnswer
from proactive.outreach.write import FirstWord
from tests.echovessel.llm.offline import answer, session, talk

pytestmark = pytest.mark.django_db
CAT = "I adopted a white cat named Snowball."


class Anything(BaseModel, extra="allow"):
    """A schema that takes what comes."""


@pytest.fixture(autouse=True)
def offline(settings: Any) -> None:
    settings.LLM_PROVIDER = "offline"


def a_request(purpose: str, material: dict[str, Any]) -> llm.Request:
    return llm.Request(system="", user="", tier="large", purpose=purpose, max_tokens=100, material=material)


@pytest.mark.django_db(transaction=True)
async def test_it_streams_in_small_pieces_and_is_free() -> None:
    pieces = [piece async for piece in llm.stream(a_request("chat", talk("What is your name?")))]
    assert len(pieces) > 5
    assert max(map(len, pieces)) < 40
    assert "".join(map(str, pieces)) == answer("What is your name?")
    call = await LLMCall.objects.aget()
    assert (call.provider, call.model, call.outcome, call.estimated, call.cost) == ("offline", "offline", "ok", True, 0)


def test_it_answers_in_the_shape_that_is_asked() -> None:
    found = llm.answer_now(a_request("extraction", session(CAT)), Anything)
    assert found.value.model_dump() == extract(session(CAT))
    assert LLMCall.objects.get().purpose == "extraction"


def test_where_something_would_have_to_be_concluded_the_answer_is_empty_and_valid() -> None:
    for purpose, schema in (
        ("reflection", ReflectionAnswer), ("slow_cycle", SlowCycleAnswer), ("entity", EntityAnswer),
        ("onboarding", DraftsAnswer),
    ):  # fmt: skip
        value = llm.answer_now(a_request(purpose, {"events": [{"id": "e1"}]}), schema).value
        assert not any(value.model_dump().values())
        assert LLMCall.objects.filter(purpose=purpose, outcome="ok").count() == 1
    assert llm.answer_now(a_request("proactive", talk(about="", trigger="silence")), FirstWord).value.message


def test_it_says_that_no_model_is_connected_where_rules_do_not_do() -> None:
    with pytest.raises(llm.LLMError) as caught:
        llm.answer_now(a_request("chat", {}), Anything)
    assert caught.value.permanent
    assert LLMCall.objects.get().outcome == "provider_unavailable"
