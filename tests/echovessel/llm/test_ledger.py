"""Every call leaves a row, whatever becomes of it."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError
from pydantic import BaseModel

from echovessel import llm
from echovessel.llm import ledger
from echovessel.llm.models import LLMCall
from echovessel.llm.providers import Models, Provider
from echovessel.llm.request import ResponseSchema, StreamEnd


class Yes(BaseModel):
    """The smallest answer."""

    yes: bool


class Scripted(Provider):
    """Says yes in two pieces."""

    name = "scripted"
    defaults = Models("big", "middle", "small")

    async def stream(
        self, request: llm.Request, shape: ResponseSchema | None = None
    ) -> AsyncGenerator[str | StreamEnd, None]:
        yield '{"yes":'
        yield " true}"
        yield StreamEnd("stop", llm.Usage(10, 0, 4))


@pytest.fixture(autouse=True)
def _scripted(settings: Any) -> None:
    settings.LLM_PROVIDER = f"{__name__}.Scripted"


def a_request(**changes: Any) -> llm.Request:
    words: dict[str, Any] = {"system": "", "user": "Yes?", "tier": "small", "purpose": "extraction", "max_tokens": 5}
    return llm.Request(**(words | changes))


@pytest.mark.django_db(transaction=True)
async def test_a_stream_is_entered_before_its_end_is_seen() -> None:
    owner = await User.objects.acreate(username="ana")
    assert [piece async for piece in llm.stream(a_request(owner_id=owner.id))] == ['{"yes":', " true}"]
    call = await LLMCall.objects.aget()
    assert (call.owner_id, call.provider, call.model, call.outcome) == (owner.id, "scripted", "small", "ok")
    assert (call.tokens_in, call.tokens_out, call.cost) == (10, 4, None)


@pytest.mark.django_db(transaction=True)
async def test_a_stream_that_is_left_is_entered_as_stopped() -> None:
    async with aclosing(llm.stream(a_request())) as pieces:
        await anext(pieces)
    assert (await LLMCall.objects.aget()).outcome == "stopped"


@pytest.mark.django_db
def test_a_job_writes_in_its_own_connection() -> None:
    answer = llm.answer_now(a_request(), Yes)
    assert answer.value.yes
    assert answer.usage == llm.Usage(10, 0, 4)
    assert LLMCall.objects.get().purpose == "extraction"


@pytest.mark.django_db
def test_a_row_that_cannot_be_written_is_a_log_line_and_no_lost_answer(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(row: LLMCall) -> None:
        raise IntegrityError("no room")

    monkeypatch.setattr(ledger, "insert", broken)
    with caplog.at_level(logging.ERROR):
        assert llm.answer_now(a_request(), Yes).value.yes
    assert "ledger" in caplog.text


@pytest.mark.django_db
@pytest.mark.parametrize(
    "wrong",
    [{"purpose": "spying"}, {"outcome": "fine"}, {"tokens_cached": 5}, {"cost": -1}],
)
def test_the_database_refuses_rows_that_make_no_sense(wrong: dict[str, Any]) -> None:
    row = {"purpose": "chat", "provider": "openai", "model": "m", "outcome": "ok"}
    with pytest.raises(IntegrityError):
        LLMCall.objects.create(**(row | wrong))


@pytest.mark.django_db
def test_a_call_that_belongs_to_nobody_stays_and_one_of_a_deleted_owner_goes() -> None:
    owner = User.objects.create(username="ana")
    llm.answer_now(a_request(owner_id=owner.id), Yes)
    llm.answer_now(a_request(), Yes)
    owner.delete()
    assert LLMCall.objects.count() == 1
