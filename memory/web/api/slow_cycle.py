"""API of the slow cycle: its runs, by ids, and the persona's open questions."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Schema
from pydantic import Field

from memory.models import Question, SlowCycleRun
from memory.web.api.routing import router
from memory.web.serializers import serialize_question, serialize_run
from persona.lookup import own_persona
from persona.models import Persona

Below = Annotated[int, Query(ge=1, le=2**62, description="The `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=200, description="The maximum number of items.")]


class RunOut(Schema):
    """One run of the slow cycle: its reason, inputs and results, by keys only."""

    key: int
    reason: str = Field(examples=["rested"])
    outcome: str = Field(examples=["done"])
    failure: str = Field(examples=[""])
    given: dict[str, Any]
    made: list[dict[str, Any]]
    dropped: int
    tokens_in: int
    tokens_out: int
    at: datetime


class RunPage(Schema):
    """A page of runs; `next` is the `before` of the page after it, or null on the last one."""

    items: list[RunOut]
    next: int | None


class QuestionOut(Schema):
    """A question that the persona has about your life."""

    text: str = Field(examples=["Did the interview go well?"])
    status: str = Field(examples=["open"])
    asked_at: datetime
    grounds: list[UUID]


@router.get("/{uuid:persona_id}/slow-cycle", response=RunPage, summary="What was concluded between sessions")
def list_runs(request: HttpRequest, persona_id: UUID, before: Below | None = None, limit: Limit = 50) -> dict[str, Any]:
    """The runs of the slow cycle, newest first."""
    return runs_page(own_persona(request, persona_id), before, limit)


@router.get("/{uuid:persona_id}/questions", response=list[QuestionOut], summary="The persona's open questions")
def list_questions(request: HttpRequest, persona_id: UUID, limit: Limit = 50) -> list[dict[str, Any]]:
    """The open questions, newest first."""
    questions = Question.objects.open().filter(persona=own_persona(request, persona_id)).prefetch_related("grounds")
    return [serialize_question(question) for question in questions[:limit]]


def runs_page(persona: Persona, before: int | None, limit: int) -> dict[str, Any]:
    """A page of a persona's runs."""
    runs = SlowCycleRun.objects.filter(persona=persona).order_by("-pk")
    rows = list((runs.filter(pk__lt=before) if before else runs)[: limit + 1])
    return {
        "items": [serialize_run(run) for run in rows[:limit]],
        "next": rows[limit - 1].pk if len(rows) > limit else None,
    }
