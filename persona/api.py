"""API of personas: who they are (L1) and how they feel (L6). Only people write L1; a caller of this API counts as
one."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import Field

from echovessel.api import pagination
from echovessel.api.bodies import Body, storable_within
from echovessel.api.pagination import Page
from echovessel.api.problems import ApiError, refused_fields
from echovessel.api.routing import Section
from persona.companion import editing
from persona.lookup import own_persona
from persona.models import CoreBlock, Persona
from persona.models.core_block import MAX_CHARACTERS, Label
from persona.models.core_draft import CoreDraft
from persona.onboarding import drafts
from persona.onboarding.creation import create_persona
from persona.onboarding.drafts import DraftRefused
from persona.serializers import serialize_draft, serialize_persona, serialize_persona_detail

addresses = Router()  # everything below a persona, of all apps
router = Section(addresses, "persona")
MAX_FACTS = 20_000  # characters, as JSON
Name = Annotated[str, Field(min_length=1, max_length=80, pattern=r"\S", examples=["Mira"])]
Called = Annotated[str, Field(max_length=80, examples=["Ana"])]
Zone = Annotated[str, Field(min_length=1, max_length=64, examples=["Asia/Shanghai"])]
Text = Annotated[str, Field(max_length=MAX_CHARACTERS, examples=["A calm listener who loves the sea."])]
Facts = Annotated[dict[str, Any], Field(max_length=200, examples=[{"birthday": "03-14"}]), storable_within(MAX_FACTS)]


class MoodOut(Schema):
    """How the persona feels, and the last sign of the user's that it came from; energy is 0 to 10."""

    mood: str = Field(examples=["content"])
    energy: int = Field(examples=[6])
    last_user_signal: str | None = Field(examples=["laughed about the cat"])


class PersonaOut(Schema):
    """A persona in a list."""

    id: UUID
    name: str = Field(examples=["Mira"])
    user_name: str = Field(examples=["Ana"])
    language: str = Field(examples=["en"])
    colour: str = Field(examples=["celadon"])
    timezone: str = Field(examples=["Asia/Shanghai"])


class PersonaDetail(PersonaOut):
    """A persona with its core blocks and its mood; a neutral mood is null."""

    blocks: dict[str, str] = Field(examples=[{"persona": "A calm listener.", "user": "Ana.", "style": "Short."}])
    facts: dict[str, Any]
    episodic_state: MoodOut | None


class BlocksIn(Body):
    """The three core blocks; one that is left out is empty."""

    persona: Text = ""
    user: Text = ""
    style: Text = ""


class PersonaIn(Body):
    """A new persona."""

    name: Name
    user_name: Called = ""
    timezone: Zone = "UTC"
    language: Persona.Language = Persona.Language.ENGLISH
    blocks: BlocksIn = BlocksIn()
    facts: Facts = {}


class PersonaChange(Body):
    """The values to change; those left out stay."""

    name: Name | None = None
    user_name: Called | None = None
    timezone: Zone | None = None
    language: Persona.Language | None = None
    colour: Persona.Colour | None = None
    facts: Facts | None = None


class BlockOut(Schema):
    """The current text of a core block."""

    label: Label
    content: str = Field(examples=["A calm listener who loves the sea."])
    version: int
    edited_at: datetime


class BlockIn(Body):
    """The new text of the block."""

    content: Text


class BlockVersionOut(Schema):
    """An earlier text of a core block."""

    version: int
    content: str = Field(examples=["A listener."])
    edited_at: datetime


class BlockVersions(Schema):
    """A page of versions; `next` is the `before` of the next page, or null on the last one."""

    items: list[BlockVersionOut]
    next: int | None


class QuoteOut(Schema):
    """A quote that a draft rests on: from a message (`message_id`), or from a place in a file (`where`)."""

    quote: str = Field(examples=["I live by the sea."])
    message_id: UUID | None
    said_at: datetime | None
    where: str = Field(examples=[""])


class DraftOut(Schema):
    """A proposed addition to a core block, with its quotes; `room` is how many characters the block has left."""

    id: UUID
    label: Label
    text: str = Field(examples=["Ana lives by the sea."])
    status: str = Field(examples=["open"])
    quotes: list[QuoteOut]
    room: int = Field(examples=[4_980])
    import_id: UUID | None
    created_at: datetime
    decided_at: datetime | None


Decision = Literal["open", "accepted", "rejected"]


class AcceptIn(Body):
    """The words to accept the draft in: its own, or these."""

    text: Text | None = None


Version = Annotated[int, Query(ge=1, le=2**31, description="The `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=200, description="The maximum number of items.")]


@router.get("", response=Page[PersonaOut], summary="Your personas")
def list_personas(request: HttpRequest, page_params: Query[pagination.PageParams]) -> Any:
    """All your personas, newest first."""
    return pagination.page(Persona.objects.owned_by(request.user), page_params, serialize_persona)


@router.post("", response={201: PersonaDetail}, summary="Make a persona")
def post_persona(request: HttpRequest, body: PersonaIn) -> Any:
    """A new persona of yours, with its three core blocks."""
    return Status(201, serialize_persona_detail(create_own_persona(request, body)))


@router.get("/{uuid:persona_id}", response=PersonaDetail, summary="One persona, her blocks and her mood")
def get_persona(request: HttpRequest, persona_id: UUID) -> dict[str, Any]:
    """Who the persona is, who you are to it, how it speaks, and how it feels now."""
    return serialize_persona_detail(own_persona(request, persona_id))


@router.patch("/{uuid:persona_id}", response=PersonaDetail, summary="Change what is known of her")
def patch_persona(request: HttpRequest, persona_id: UUID, body: PersonaChange) -> dict[str, Any]:
    """The persona's name, what it calls you, language, time zone, facts. Facts are replaced as a whole."""
    return serialize_persona_detail(
        edit_persona(request, own_persona(request, persona_id), body.model_dump(exclude_none=True), {})
    )


@router.get("/{uuid:persona_id}/blocks", response=list[BlockOut], summary="Her core blocks (L1)")
def list_blocks(request: HttpRequest, persona_id: UUID) -> list[CoreBlock]:
    """The three texts that people wrote: of the persona, of you, and of how to speak."""
    return list(own_persona(request, persona_id).core_blocks.all())


@router.put("/{uuid:persona_id}/blocks/{label}", response=BlockOut, summary="Rewrite a core block")
def put_block(request: HttpRequest, persona_id: UUID, label: Label, body: BlockIn) -> CoreBlock:
    """The new text holds immediately; the old one is kept as a version. The same text again changes nothing."""
    persona = own_persona(request, persona_id)
    edit_persona(request, persona, {}, {label: body.content})
    return persona.core_blocks.get(label=label)


@router.get(
    "/{uuid:persona_id}/blocks/{label}/versions", response=BlockVersions, summary="What a core block said before"
)
def list_block_versions(
    request: HttpRequest, persona_id: UUID, label: Label, before: Version | None = None, limit: Limit = 50
) -> dict[str, Any]:
    """Newest first, each with its number."""
    block = get_object_or_404(own_persona(request, persona_id).core_blocks, label=label)
    versions = block.versions.all() if before is None else block.versions.filter(version__lt=before)
    version_rows = list(versions[: limit + 1])
    return {
        "items": version_rows[:limit],
        "next": version_rows[limit - 1].version if len(version_rows) > limit else None,
    }


@router.get("/{uuid:persona_id}/drafts", response=Page[DraftOut], summary="What her core blocks could say")
def list_drafts(
    request: HttpRequest, persona_id: UUID, page_params: Query[pagination.PageParams], status: Decision | None = None
) -> Any:
    """Proposals from what you imported, newest first. None stands in a block before you accept it."""
    persona = own_persona(request, persona_id)
    draft_rows = persona.core_drafts.prefetch_related("quotes")
    room = {label: drafts.room(persona, label) for label in Label.values}
    return pagination.page(
        draft_rows.filter(status=status) if status else draft_rows,
        page_params,
        lambda draft: serialize_draft(draft, room),
    )


@router.post("/{uuid:persona_id}/drafts/{uuid:draft_id}/accept", response=DraftOut, summary="Accept a draft")
def accept_draft(request: HttpRequest, persona_id: UUID, draft_id: UUID, body: AcceptIn) -> dict[str, Any]:
    """Adds the draft to its core block, in its own words or in yours. 409 `decided` if it was decided before; 422
    `empty` for no words, `too_long` if the block has no room for them."""
    return _decided(request, persona_id, draft_id, lambda draft, by, now: drafts.accept(draft, body.text, by, now))


@router.post("/{uuid:persona_id}/drafts/{uuid:draft_id}/reject", response=DraftOut, summary="Reject a draft")
def reject_draft(request: HttpRequest, persona_id: UUID, draft_id: UUID) -> dict[str, Any]:
    """The draft is not used, and not proposed again. 409 `decided` if it was decided before."""
    return _decided(request, persona_id, draft_id, drafts.reject)


def _decided(
    request: HttpRequest, persona_id: UUID, draft_id: UUID, decide: Callable[[CoreDraft, User, datetime], CoreDraft]
) -> dict[str, Any]:
    persona = own_persona(request, persona_id)
    try:
        draft = decide(get_object_or_404(persona.core_drafts, uuid=draft_id), cast(User, request.user), timezone.now())
    except DraftRefused as error:
        raise ApiError(409 if error.code == "decided" else 422, error.code, error.message) from error
    return serialize_draft(draft, {draft.label: drafts.room(persona, draft.label)})


def create_own_persona(request: HttpRequest, body: PersonaIn) -> Persona:
    """A new persona of the caller's. Raises ApiError for values that cannot be stored."""
    try:
        return create_persona(request.user, **body.model_dump())  # type: ignore[arg-type]
    except ValidationError as error:
        raise _wrong(error) from error


def edit_persona(request: HttpRequest, persona: Persona, values: dict[str, Any], blocks: dict[str, str]) -> Persona:
    """Store these values and core block texts of the persona on the caller's behalf, all or nothing. Raises ApiError
    for values that cannot be stored."""
    stripped = {name: value.strip() if isinstance(value, str) else value for name, value in values.items()}
    try:
        editing.edit_persona(persona, stripped, blocks, cast(User, request.user))
    except ValidationError as error:
        raise _wrong(error) from error
    return persona


def _wrong(error: ValidationError) -> ApiError:
    return refused_fields(*(f"body.body.{name}" for name in getattr(error, "error_dict", {})))
