"""API of reaching out: whether a persona may speak first, its quiet hours, and how often at most."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Schema
from pydantic import Field

from echovessel.api.bodies import Body
from echovessel.api.problems import ApiError
from echovessel.api.routing import Section
from persona.api import addresses
from persona.lookup import own_persona
from persona.models import Persona
from proactive import knobs
from proactive.models import ReachingOut
from proactive.policy.situation import bounds_of

router = Section(addresses, "settings")


class ReachingOutOut(Schema):
    """The settings in force. Hours are local to the persona's time zone; `most` is the installation's own limit."""

    enabled: bool
    quiet_start: int = Field(examples=[22])
    quiet_end: int = Field(examples=[8])
    max_per_24h: int = Field(examples=[2])
    push: bool
    most: int = Field(examples=[3])


class ReachingOutIn(Body):
    """The settings to change; those left out stay. Null for an hour or the limit: the installation's default."""

    enabled: bool = False
    quiet_start: int | None = Field(None, ge=0, le=23, examples=[22])
    quiet_end: int | None = Field(None, ge=0, le=23, examples=[8])
    max_per_24h: int | None = Field(None, ge=1, le=1_000, examples=[2])
    push: bool = False


@router.get("/{uuid:persona_id}/reaching-out", response=ReachingOutOut, summary="Whether she may speak first")
def get_reaching_out(request: HttpRequest, persona_id: UUID) -> dict[str, Any]:
    """Whether the persona may speak first, and the limits."""
    return _serialize(_allowed(own_persona(request, persona_id)))


@router.patch("/{uuid:persona_id}/reaching-out", response=ReachingOutOut, summary="Let her speak first, or not")
def patch_reaching_out(request: HttpRequest, persona_id: UUID, body: ReachingOutIn) -> dict[str, Any]:
    """422 for more than the installation allows."""
    allowed = _allowed(own_persona(request, persona_id))
    if body.max_per_24h is not None and body.max_per_24h > knobs.max_per_24h():
        raise ApiError(422, "invalid", "The installation allows fewer.", fields=["body.body.max_per_24h"])
    for name, value in body.model_dump(exclude_unset=True).items():
        setattr(allowed, name, value)
    allowed.changed_at = timezone.now()
    allowed.save()
    return _serialize(allowed)


def _allowed(persona: Persona) -> ReachingOut:
    return ReachingOut.objects.filter(persona=persona).first() or ReachingOut(persona=persona)


def _serialize(allowed: ReachingOut) -> dict[str, Any]:
    in_force = bounds_of(allowed)
    names = ("enabled", "quiet_start", "quiet_end", "max_per_24h", "push")
    return {name: getattr(in_force, name) for name in names} | {"most": knobs.max_per_24h()}
