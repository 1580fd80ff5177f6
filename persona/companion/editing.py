"""Edits of a persona by people, published to open pages."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction

from echovessel.outbox import events
from persona.models import Persona

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def edit_persona(persona: Persona, values: Mapping[str, Any], blocks: Mapping[str, str], editor: "User") -> None:
    """Store these values of the persona and these texts of the core blocks, all or nothing. Raises ValidationError."""
    with transaction.atomic():
        changed = {name for name, value in values.items() if getattr(persona, name) != value}
        for name in changed:
            setattr(persona, name, values[name])
        persona.full_clean()
        if changed:
            persona.save(update_fields=changed)
        for block in persona.core_blocks.filter(label__in=blocks):
            if block.rewrite(blocks[block.label], editor):
                changed.add(block.label)
        if changed - {"colour", "timezone"}:
            persona.drop_model_greeting()
        publish_settings(persona, changed)


def publish_settings(persona: Persona, changed_fields: Collection[str]) -> None:
    """Publish which fields changed, so that open pages update. Field names only: an event contains no words."""
    if changed_fields:
        events.publish(persona.uuid, "chat.settings.updated", changed_fields=sorted(changed_fields))
