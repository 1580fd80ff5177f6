"""API of imports: a file is uploaded and analyzed, a person says who is who, and then it is imported.

An import may begin before its persona exists: then confirming it also creates the persona.
"""

from dataclasses import asdict, replace
from datetime import datetime
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.shortcuts import get_object_or_404
from django.utils import timezone
from ninja import File, Query, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field, WithJsonSchema

from echovessel.api import pagination
from echovessel.api.bodies import Body, storable_within
from echovessel.api.pagination import Page
from echovessel.api.problems import ApiError, refused_fields
from memory import imports
from memory.imports import WrongChoice, uploads
from memory.imports.choices import NotAwaitingConfirmation, follow_choices
from memory.imports.readers import Source
from memory.imports.readers.types import ImportRejected
from memory.models import ImportJob
from memory.web.api.account import router as account
from memory.web.api.routing import router
from memory.web.forms import Day
from persona.api import PersonaIn, Zone, create_own_persona
from persona.lookup import own_persona
from persona.models import Persona

MAX_MAPPING = 20_000  # characters, as JSON
MAX_SPEAKERS = 10_000
MAX_TALKS = 2**31


Side = Literal["user", "persona", "other", "skip"]
Roles = Annotated[dict[str, Side], Field(max_length=MAX_SPEAKERS, examples=[{"Ana": "user", "Mira": "persona"}])]
# None for a file that is too large: the upload handler discards it.
Handed = Annotated[
    UploadedFile | None,
    WithJsonSchema({"type": "string", "format": "binary"}),
    File(None, description="The file, as it was exported."),
]


class EstimateOut(Schema):
    """The cost of importing it; `dollars` is null if no prices are known, `days` is how often the day's budget is used
    up on the way. If `is_connected` is false there is no model and no cost: memories are extracted by rules."""

    calls: int = Field(examples=[40])
    tokens_in: int = Field(examples=[120_000])
    tokens_out: int = Field(examples=[20_000])
    dollars: float | None = Field(examples=[0.35])
    seconds: int = Field(examples=[600])
    days: int = Field(examples=[0])
    is_connected: bool = Field(examples=[True])


class ImportOut(Schema):
    """An import. `found` is the content of the file, `choices` a person's answers about it, `counts` the result so far:
    what is new, what was `known`, what was `refused` because it was forgotten, and the messages `left_out` because
    their speakers are skipped. `progress` goes from 0 to 1, `refusal` and `where` are why the file could not be read;
    while it is `asking`, why it could not be read as the last answer said, and `found` stays as before. `estimate` is
    null before the analysis and after the end. `called` is the owner's name in memories; if it is empty only the
    account's name is known, and memories say "the user" until a name is given."""

    id: UUID
    persona_id: UUID | None
    status: str = Field(examples=["asking"])
    format: str = Field(examples=["whatsapp"])
    label: str = Field(examples=["WhatsApp chat (text or zip)"])
    file_name: str = Field(examples=["WhatsApp Chat with Mira.txt"])
    file_size: int
    found: dict[str, Any] = Field(examples=[{"counts": {"talks": 3, "lines": 1200}, "first_day": "2024-02-03"}])
    estimate: EstimateOut | None
    choices: dict[str, Any] = Field(examples=[{"roles": {"Ana": "user", "Mira": "persona"}, "zone": "UTC"}])
    counts: dict[str, Any] = Field(examples=[{"lines": 1200, "known": 0, "refused": 0, "left_out": 3}])
    called: str = Field(examples=["Ana"])
    progress: float = Field(examples=[0.5])
    refusal: str = Field(examples=[""])
    where: str = Field(examples=[""])
    failure: str = Field(examples=[""])
    waits_until: datetime | None
    created_at: datetime
    confirmed_at: datetime | None
    finished_at: datetime | None


class ChoicesIn(Body):
    """Answers about the file; those left out are as the import suggests. `roles` gives each speaker a side. If `format`
    (`auto`: as recognised), `day_first`, `kind` or `mapping` differ from how the file was read, it is analyzed again
    first, and then waits for another answer."""

    roles: Roles = {}
    day_first: bool | None = None
    mapping: Annotated[dict[str, Any], Field(max_length=50), storable_within(MAX_MAPPING)] | None = None
    format: Annotated[str, Field(max_length=40, examples=["whatsapp"])] | None = None
    kind: Annotated[
        Literal["chat", "notes"] | None,
        Field(description="A chat of several people, or the owner's own notes; asked if the file does not show it."),
    ] = None
    called: Annotated[
        str,
        Field(
            max_length=80, examples=["Ana"], description="The owner's name, for a persona that does not know it yet."
        ),
    ] = ""
    without_owner: Annotated[bool, Field(description="None of the speakers is the owner.")] = False
    zone: Zone | None = None
    undated: Annotated[Day, Field(description="The day of messages that have none.")] | None = None
    limit: (
        Annotated[int, Field(ge=1, le=MAX_TALKS, description="The maximum number of conversations and entries.")] | None
    ) = None


class BeginningIn(ChoicesIn):
    """The same for an import that comes before its persona, with the persona to create."""

    persona: PersonaIn | None = None


# --- of a persona -----------------------------------------------------------------------------------------------------
@router.post("/{uuid:persona_id}/imports", response={202: ImportOut}, summary="Import a file")
def post_import(request: HttpRequest, persona_id: UUID, file: Handed = None) -> Any:
    """Uploads a file. It is analyzed first (`looking`), then waits for your answers (`asking`): nothing of it is
    remembered before that. 413 if it is larger than allowed."""
    return Status(202, imports.summarize(_begin_import(request, own_persona(request, persona_id), file)))


@router.get("/{uuid:persona_id}/imports", response=Page[ImportOut], summary="Imports, newest first")
def list_imports(request: HttpRequest, persona_id: UUID, params: Query[pagination.PageParams]) -> Any:
    """The files that were imported for this persona."""
    jobs = ImportJob.objects.filter(persona=own_persona(request, persona_id)).select_related("persona")
    return pagination.page(jobs, params, imports.summarize)


@router.get("/{uuid:persona_id}/imports/{uuid:import_id}", response=ImportOut, summary="One import")
def get_import(request: HttpRequest, persona_id: UUID, import_id: UUID) -> dict[str, Any]:
    """The state and progress of an import. The event `memory.import.updated` says when to ask again."""
    return imports.summarize(_own_import_of(request, persona_id, import_id))


@router.get("/{uuid:persona_id}/imports/{uuid:import_id}/estimate", response=EstimateOut, summary="What it will cost")
def estimate_import(request: HttpRequest, persona_id: UUID, import_id: UUID) -> dict[str, Any]:
    """Calls, tokens, money and time. 409 `not_asking` before the file was analyzed."""
    return _estimate(_own_import_of(request, persona_id, import_id))


@router.post(
    "/{uuid:persona_id}/imports/{uuid:import_id}/confirm",
    response=ImportOut,
    summary="Say who is who, and start the import",
)
def confirm_import(request: HttpRequest, persona_id: UUID, import_id: UUID, body: ChoicesIn) -> dict[str, Any]:
    """Starts the import with your answers. If the file has to be read in another way first, it is `asking` again after
    that, with a `refusal` if it cannot be read so. 422 with a code for answers that do not fit the file; 409
    `not_asking` if it is not waiting for an answer."""
    job = _own_import_of(request, persona_id, import_id)
    _confirm(job, body)
    return imports.summarize(job)


@router.post("/{uuid:persona_id}/imports/{uuid:import_id}/cancel", response=ImportOut, summary="Cancel an import")
def cancel_import(request: HttpRequest, persona_id: UUID, import_id: UUID) -> dict[str, Any]:
    """Cancels it. Memories imported so far stay, and may be forgotten; the rest of the file is deleted. 409 `over`."""
    return _cancel(_own_import_of(request, persona_id, import_id))


# --- of the caller ----------------------------------------------------------------------------------------------------
@account.post("/imports", response={202: ImportOut}, summary="Create a persona from a file")
def post_beginning(request: HttpRequest, file: Handed = None) -> Any:
    """Like `/api/personas/{id}/imports`, but without a persona yet: a new one is created from the file."""
    return Status(202, imports.summarize(_begin_import(request, None, file)))


@account.get("/imports", response=Page[ImportOut], summary="All your imports, newest first")
def list_all_imports(request: HttpRequest, params: Query[pagination.PageParams]) -> Any:
    """The imports of all your personas, and those that have no persona yet."""
    return pagination.page(_of_the_caller(request), params, imports.summarize)


@account.get("/imports/{uuid:import_id}", response=ImportOut, summary="One of your imports")
def get_any_import(request: HttpRequest, import_id: UUID) -> dict[str, Any]:
    """As `/api/personas/{id}/imports/{import}`."""
    return imports.summarize(own_import(request, import_id))


@account.get("/imports/{uuid:import_id}/estimate", response=EstimateOut, summary="What one of your imports will cost")
def estimate_any_import(request: HttpRequest, import_id: UUID) -> dict[str, Any]:
    """As `/api/personas/{id}/imports/{import}/estimate`."""
    return _estimate(own_import(request, import_id))


@account.post("/imports/{uuid:import_id}/confirm", response=ImportOut, summary="Say who is who, and create the persona")
def confirm_beginning(request: HttpRequest, import_id: UUID, body: BeginningIn) -> dict[str, Any]:
    """Creates the persona and starts the import for them, or does neither. Leave out `persona` if the import has one
    already; otherwise it is required (422 `no_persona`)."""
    return imports.summarize(begin_persona_with(request, own_import(request, import_id), body.persona, body))


@account.post("/imports/{uuid:import_id}/cancel", response=ImportOut, summary="Cancel one of your imports")
def cancel_any_import(request: HttpRequest, import_id: UUID) -> dict[str, Any]:
    """As `/api/personas/{id}/imports/{import}/cancel`."""
    return _cancel(own_import(request, import_id))


def begin_persona_with(request: HttpRequest, job: ImportJob, whom: PersonaIn | None, body: ChoicesIn) -> ImportJob:
    """Confirm an import, and create its persona if `whom` is given; both or neither."""
    with transaction.atomic():
        if job.persona is None and whom is None:
            raise ApiError(422, "no_persona", "This import has no persona yet: say who they are to be.")
        if job.persona is not None and whom is not None:
            raise ApiError(409, "has_persona", "This import has a persona already.")
        _confirm(job, body, create_own_persona(request, whom) if whom else None)
    return job


def _own_import_of(request: HttpRequest, persona_id: UUID, import_id: UUID) -> ImportJob:
    jobs = ImportJob.objects.filter(persona=own_persona(request, persona_id)).select_related("owner", "persona__owner")
    return get_object_or_404(jobs, uuid=import_id)


def own_import(request: HttpRequest, import_id: UUID) -> ImportJob:
    """The caller's import with that id; 404 for anybody else's."""
    return get_object_or_404(_of_the_caller(request), uuid=import_id)


def _of_the_caller(request: HttpRequest) -> Any:
    jobs = ImportJob.objects.filter(owner_id=cast(int, request.user.pk))
    return jobs.select_related("owner", "persona__owner")


def _begin_import(request: HttpRequest, persona: Persona | None, file: UploadedFile | None) -> ImportJob:
    if uploads.is_too_big(request):
        raise ApiError(413, "too_big", "The file is larger than the limit.", most_bytes=uploads.most_bytes())
    if file is None:
        raise refused_fields("body.file")
    now = timezone.now()
    try:
        source = Source(cast(Any, file.file), file.name or "")
        job = imports.begin(cast(User, request.user), persona, source, now, keep=True)
    except ImportRejected as error:
        status = 413 if error.code == "too_big" else 422
        raise ApiError(status, error.code, error.reason, most_bytes=uploads.most_bytes()) from error
    imports.enqueue(job, now)
    job.refresh_from_db()
    return job


def _confirm(job: ImportJob, body: ChoicesIn, persona: Persona | None = None) -> None:
    """Confirm the import; with `persona`, for this new one."""
    try:
        if persona is not None:
            imports.assign_persona(job, persona)
        between_people = bool(job.found.get("between_people"))
        # Suggested choices, overridden by the person's answers.
        likely = imports.suggest_choices(job)
        answers = body.model_dump(exclude_unset=True, exclude={"persona"}, exclude_none=True)
        roles = follow_choices(likely.roles, body.roles, between_people=between_people)
        if between_people and body.without_owner:
            roles = {name: role or "other" for name, role in roles.items()}
        choices = replace(likely, **answers | {"roles": roles})
        imports.confirm(job, choices, timezone.now())
    except NotAwaitingConfirmation as error:
        job.refresh_from_db(fields=["status"])
        raise ApiError(409, error.code, "This import is not waiting for an answer.", status_now=job.status) from error
    except WrongChoice as error:
        raise ApiError(422, error.code, error.message) from error


def _estimate(job: ImportJob) -> dict[str, Any]:
    if not job.found:
        raise ApiError(409, "not_asking", "The file has not been analyzed yet.", status_now=job.status)
    return asdict(imports.estimate(job))


def _cancel(job: ImportJob) -> dict[str, Any]:
    if not imports.cancel(job, timezone.now()):
        raise ApiError(409, "over", "This import is over.", status_now=job.status)
    job.refresh_from_db()
    return imports.summarize(job)
