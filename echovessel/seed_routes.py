"""The paths that the seeds name (001 §1 and §6): the API for the caller's own persona. `admin` in them means the
owner's administration of their persona, not Django's admin.

`?persona=` chooses one if the caller has several; without it the answer is a 409, `which_persona`.
"""

from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from ninja import Query, Router, Status
from pydantic import Field

import chat.api as chats
import persona.api as personas
from chat.api import MessageOut, SessionOut
from echovessel.api import pagination
from echovessel.api.bodies import Body
from echovessel.api.pagination import Page
from echovessel.api.problems import ApiError
from memory.models import ConceptNode
from memory.web.api import curation, entities, forgetting, imports, memories, slow_cycle
from memory.web.api.curation import Trace
from memory.web.api.entities import PairIn, ProposalOut
from memory.web.api.forgetting import AffectedOut, ForgetQuery, ReceiptOut
from memory.web.api.imports import ChoicesIn
from memory.web.api.memories import EntityOut, NodeDetail, NodeFilters, NodeOut
from memory.web.api.slow_cycle import RunPage
from memory.web.serializers import serialize_node, serialize_node_detail
from persona.api import PersonaDetail, PersonaIn, Text
from persona.models import Persona
from persona.serializers import serialize_persona_detail

router = Router()
Which = Annotated[UUID | None, Query(description="Which of your personas; not needed if you have only one.")]
THOUGHTS = ("thought", "intention", "expectation", "lesson")
NO_PERSONA = "You have no persona yet."


class PersonaPart(Body):
    """The fields to change; those left out stay. The style has a path of its own."""

    name: personas.Name | None = None
    user_name: personas.Called | None = None
    timezone: personas.Zone | None = None
    language: Persona.Language | None = None
    facts: personas.Facts | None = None
    persona: Text | None = None
    user: Text | None = None


class StyleIn(Body):
    """How the persona should speak from now on."""

    style: Text


class OnboardingIn(PersonaIn):
    """The persona to meet. `material` is an import that was uploaded at `/api/imports` and waits for an answer: the
    persona begins with it, imported as `choices` says."""

    material: UUID | None = None
    choices: ChoicesIn = ChoicesIn()


class OtherIn(Body):
    """The entity that is the same as the one in the path."""

    other: UUID


class SearchQuery(pagination.PageParams):
    """The text to search for in the messages."""

    q: str = Field(min_length=1, max_length=200, pattern=r"\S", description="Words as they are in a message.")


def own(request: HttpRequest, which: UUID | None) -> Persona:
    """The caller's chosen persona. Raises ApiError if the choice is missing or there is none, Http404 for another
    owner's."""
    personas = Persona.objects.owned_by(request.user).select_related("owner")
    if which is not None:
        return get_object_or_404(personas, uuid=which)
    only = list(personas[:2])
    if len(only) > 1:
        raise ApiError(409, "which_persona", "You have several personas: choose one with ?persona=.")
    if not only:
        raise ApiError(404, "no_persona", NO_PERSONA)
    return only[0]


# --- messages and sessions ------------------------------------------------------------------------------------------
@router.get("/chat/history", response=Page[MessageOut], summary="Messages, newest first")
def history(request: HttpRequest, page_params: Query[pagination.PageParams], persona: Which = None) -> Any:
    """As `/api/personas/{id}/messages`."""
    return chats.list_messages(request, own(request, persona).uuid, page_params)


@router.get("/admin/memory/search", response=Page[MessageOut], summary="Search messages")
def search(request: HttpRequest, query: Query[SearchQuery], persona: Which = None) -> Any:
    """As `POST /api/personas/{id}/messages/search`, except that the text is in the address."""
    return memories.lines_page(own(request, persona), query, query.q)


@router.delete("/admin/memory/messages/{uuid:of}", response=ReceiptOut, summary="Forget a message, for good")
def forget_message(request: HttpRequest, of: UUID, how: Query[ForgetQuery], persona: Which = None) -> Any:
    """As `DELETE /api/personas/{id}/messages/{message}`."""
    return forgetting.forget_message(request, own(request, persona).uuid, of, how)


@router.get("/admin/memory/sessions", response=Page[SessionOut], summary="Sessions, newest first")
def sessions(request: HttpRequest, page_params: Query[pagination.PageParams], persona: Which = None) -> Any:
    """As `/api/personas/{id}/sessions`."""
    return chats.list_sessions(request, own(request, persona).uuid, page_params)


@router.delete("/admin/memory/sessions/{uuid:of}", response=ReceiptOut, summary="Forget a session, for good")
def forget_session(request: HttpRequest, of: UUID, how: Query[ForgetQuery], persona: Which = None) -> Any:
    """As `DELETE /api/personas/{id}/sessions/{session}`."""
    return forgetting.forget_session(request, own(request, persona).uuid, of, how)


# --- the persona ----------------------------------------------------------------------------------------------------
@router.get("/admin/persona", response=PersonaDetail, summary="Your persona with its blocks and its mood")
def get_persona(request: HttpRequest, persona: Which = None) -> dict[str, Any]:
    """As `/api/personas/{id}`, with `episodic_state`."""
    return serialize_persona_detail(own(request, persona))


@router.post("/admin/persona", response=PersonaDetail, summary="Change your persona")
def post_persona(request: HttpRequest, body: PersonaPart, persona: Which = None) -> dict[str, Any]:
    """The persona's name and other settings, and the blocks about the persona and about you; all of them or none. An
    unknown key is a 422."""
    values = body.model_dump(exclude_none=True)
    blocks: dict[str, str] = {label: values.pop(label) for label in ("persona", "user") if label in values}
    return serialize_persona_detail(personas.edit_persona(request, own(request, persona), values, blocks))


@router.post("/admin/persona/style", response=PersonaDetail, summary="Say how the persona should speak")
def post_style(request: HttpRequest, body: StyleIn, persona: Which = None) -> dict[str, Any]:
    """Change the style block, and nothing else."""
    return serialize_persona_detail(personas.edit_persona(request, own(request, persona), {}, {"style": body.style}))


@router.post("/admin/persona/onboarding", response={201: PersonaDetail}, summary="Meet your first persona")
def post_onboarding(request: HttpRequest, body: OnboardingIn) -> Status[dict[str, Any]]:
    """As `POST /api/personas`, for callers without a persona; 409 `met_already` for others. With `material` it begins
    as described at `POST /api/imports/{id}/confirm`."""
    if Persona.objects.owned_by(request.user).exists():
        raise ApiError(409, "met_already", "You already have a persona: create another one at /api/personas.")
    whom = PersonaIn(**body.model_dump(exclude={"material", "choices"}))
    if body.material is None:
        return personas.post_persona(request, whom)
    job = imports.begin_persona_with(request, imports.own_import(request, body.material), whom, body.choices)
    assert job.persona is not None  # it was just created
    return Status(201, serialize_persona_detail(job.persona))


# --- memory ---------------------------------------------------------------------------------------------------------
@router.get("/admin/memory/events", response=Page[NodeOut], summary="Events (L3), newest first")
def events(request: HttpRequest, page_params: Query[pagination.PageParams], persona: Which = None) -> dict[str, Any]:
    """The events. `/api/personas/{id}/nodes` lists them with filters."""
    return memories.nodes_page(own(request, persona), page_params, NodeFilters(kind="event"))


@router.get("/admin/memory/events/{uuid:of}", response=NodeDetail, summary="One event with its evidence")
def event(request: HttpRequest, of: UUID, persona: Which = None) -> dict[str, Any]:
    """An event and the messages it came from."""
    return serialize_node_detail(_node(request, persona, of, ("event",)))


@router.get(
    "/admin/memory/events/{uuid:of}/dependents",
    response=list[AffectedOut],
    summary="What would be forgotten with an event",
)
def dependents(request: HttpRequest, of: UUID, persona: Which = None) -> list[dict[str, Any]]:
    """The conclusions that are based on this event only."""
    node = _node(request, persona, of, ("event",))
    return forgetting.list_dependents(request, node.persona.uuid, "nodes", node.uuid)


@router.delete("/admin/memory/events/{uuid:of}", response=ReceiptOut, summary="Forget an event, for good")
def forget_event(request: HttpRequest, of: UUID, how: Query[ForgetQuery], persona: Which = None) -> dict[str, Any]:
    """Also forget the conclusions from it (`mode=cascade`), or keep them (`orphan`)."""
    node = _node(request, persona, of, ("event",))
    return forgetting.forget_node(request, node.persona.uuid, node.uuid, how)


@router.get("/admin/memory/thoughts", response=Page[NodeOut], summary="Thoughts (L4), newest first")
def thoughts(request: HttpRequest, page_params: Query[pagination.PageParams], persona: Which = None) -> Any:
    """Thoughts, intentions and expectations."""
    thoughts_of_persona = ConceptNode.objects.of(own(request, persona)).filter(kind__in=THOUGHTS)
    return pagination.page(thoughts_of_persona, page_params, serialize_node, ("created_at", "id"))


@router.get("/admin/memory/thoughts/{uuid:of}", response=NodeDetail, summary="One thought with its evidence")
def thought(request: HttpRequest, of: UUID, persona: Which = None) -> dict[str, Any]:
    """A thought, and what it was concluded from."""
    return serialize_node_detail(_node(request, persona, of, THOUGHTS))


@router.get("/admin/memory/thoughts/{uuid:of}/trace", response=Trace, summary="A thought, traced both ways")
def trace(request: HttpRequest, of: UUID, persona: Which = None) -> dict[str, Any]:
    """As `/api/personas/{id}/nodes/{node}/trace`."""
    node = _node(request, persona, of, THOUGHTS)
    return curation.trace_node(request, node.persona.uuid, node.uuid)


@router.delete("/admin/memory/thoughts/{uuid:of}", response=ReceiptOut, summary="Forget a thought, for good")
def forget_thought(request: HttpRequest, of: UUID, how: Query[ForgetQuery], persona: Which = None) -> dict[str, Any]:
    """Also forget the conclusions from it (`mode=cascade`), or keep them (`orphan`)."""
    node = _node(request, persona, of, THOUGHTS)
    return forgetting.forget_node(request, node.persona.uuid, node.uuid, how)


@router.get("/admin/memory/entities", response=Page[EntityOut], summary="People and things (L5), newest first")
def list_entities(request: HttpRequest, page_params: Query[pagination.PageParams], persona: Which = None) -> Any:
    """As `/api/personas/{id}/entities`."""
    return memories.list_entities(request, own(request, persona).uuid, page_params)


@router.post("/admin/memory/entities/{uuid:of}/merge", response=ProposalOut, summary="Merge two people or things")
def merge_entities(request: HttpRequest, of: UUID, body: OtherIn, persona: Which = None) -> dict[str, Any]:
    """Merge the entity in the path with `other`; as `/api/personas/{id}/entities/merge`."""
    return entities.merge_entities(request, own(request, persona).uuid, PairIn(one=of, other=body.other))


@router.get("/admin/slow-tick/transcripts", response=RunPage, summary="What was concluded between sessions")
def transcripts(
    request: HttpRequest,
    before: slow_cycle.Below | None = None,
    limit: slow_cycle.Limit = 50,
    persona: Which = None,
) -> dict[str, Any]:
    """As `/api/personas/{id}/slow-cycle`."""
    return slow_cycle.runs_page(own(request, persona), before, limit)


def _node(request: HttpRequest, which: UUID | None, of: UUID, kinds: tuple[str, ...]) -> ConceptNode:
    nodes = ConceptNode.objects.of(own(request, which)).filter(kind__in=kinds).select_related("persona")
    return get_object_or_404(nodes, uuid=of)
