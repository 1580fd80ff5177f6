"""API of the personas: who they are (L1) and how they feel (L6)."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema

from persona import mood as moods
from persona.lookup import own_persona
from persona.models import Persona

router = Router()


class MoodOut(Schema):
    mood: str
    energy: int
    last_user_signal: str | None


class PersonaOut(Schema):
    """A persona in a list."""

    id: UUID
    name: str
    user_name: str
    language: str
    timezone: str


class PersonaDetail(PersonaOut):
    """A persona with her core blocks and her mood; a neutral mood is null."""

    blocks: dict[str, str]
    facts: dict[str, Any]
    episodic_state: MoodOut | None


@router.get("", response=list[PersonaOut], summary="Your personas")
def list_personas(request: HttpRequest) -> list[dict[str, Any]]:
    return [_brief(persona) for persona in Persona.objects.owned_by(request.user)]


@router.get("/{uuid:persona_id}", response=PersonaDetail, summary="One persona, her blocks and her mood")
def get_persona(request: HttpRequest, persona_id: UUID) -> dict[str, Any]:
    persona = own_persona(request, persona_id)
    mood = moods.current(persona, timezone.now())
    return _brief(persona) | {
        "blocks": dict(persona.core_blocks.values_list("label", "content")),
        "facts": persona.facts,
        "episodic_state": mood.__dict__ if mood else None,
    }


def _brief(persona: Persona) -> dict[str, Any]:
    return {
        "id": persona.uuid,
        "name": persona.name,
        "user_name": persona.called,
        "language": persona.language,
        "timezone": persona.timezone,
    }
