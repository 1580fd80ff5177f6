"""A persona as a character card that other programs read. Cards are shared: messages, memories and the name of the
owner are left out."""

import io
from collections.abc import Iterator
from datetime import datetime

from echovessel.language import person_names
from memory.imports.readers import card_writing
from memory.imports.readers.types import Card
from persona.models import Persona, Picture
from persona.models.core_block import Label

# Placeholder for the user's name: each program replaces it with the name of its own user.
USER = "{{user}}"


def write_card(persona: Persona, now: datetime) -> Iterator[bytes]:
    """The card as JSON."""
    yield card_writing.as_bytes(_card(persona, now), 3)


def draw_picture(persona: Persona, now: datetime) -> Iterator[bytes]:
    """The card inside a picture, for readers of V3 and V2: the persona's own picture if that is a PNG, else a plain
    one."""
    own = Picture.objects.filter(persona=persona, format=Picture.Format.PNG).first()
    yield from card_writing.as_picture(_card(persona, now), 3, io.BytesIO(own.content) if own else None)


def _card(persona: Persona, now: datetime) -> Card:
    blocks = {
        label: person_names.replace_name(persona.user_name, USER, content)
        for label, content in persona.core_blocks.values_list("label", "content")
    }
    return Card(
        name=persona.name,
        nickname="",
        description=blocks.get(Label.PERSONA, ""),
        personality="",
        scenario="",
        example_messages="",
        post_history=blocks.get(Label.STYLE, ""),
        greetings=(),
        lore=(),
        source_id=str(persona.uuid),
        location="",
        other_data={
            "data": {
                "creation_date": int(persona.created_at.timestamp()),
                "modification_date": int(now.timestamp()),
                "extensions": {"echovessel": {"language": persona.language}},
            }
        },
    )
