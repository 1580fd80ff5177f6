"""Serializers of personas and drafts. Values are Python's; an API schema may leave keys out."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from persona import mood as moods
from persona.models import Persona
from persona.models.core_draft import CoreDraft


def serialize_persona(persona: Persona) -> dict[str, Any]:
    """A persona as lists show it."""
    return {
        "id": persona.uuid,
        "name": persona.name,
        "user_name": persona.user_name or persona.owner.get_username(),
        "language": persona.language,
        "colour": persona.colour,
        "timezone": persona.timezone,
    }


def serialize_persona_detail(persona: Persona) -> dict[str, Any]:
    """A persona with its core blocks, its facts and its mood; a neutral mood is None."""
    mood = moods.current(persona, timezone.now())
    return serialize_persona(persona) | {
        "blocks": dict(persona.core_blocks.values_list("label", "content")),
        "facts": persona.facts,
        "episodic_state": mood.__dict__ if mood else None,
    }


def serialize_draft(draft: CoreDraft, room: Mapping[str, int]) -> dict[str, Any]:
    """A draft of a core block with its quotes; `room`: free characters by block label."""
    return {
        "id": draft.uuid,
        "label": draft.label,
        "text": draft.text,
        "status": draft.status,
        "quotes": [
            {"quote": quote.quote, "message_id": quote.said_in, "said_at": quote.said_at, "where": quote.where}
            for quote in draft.quotes.all()
        ],
        "room": room[draft.label],
        "import_id": draft.import_uuid,
        "created_at": draft.created_at,
        "decided_at": draft.decided_at,
    }
