"""Create a persona with its name and its three core blocks."""

from typing import TYPE_CHECKING

from django.db import transaction

from persona.models import CoreBlock, Persona
from persona.models.core_block import MAX_CHARACTERS, Label, plain_line_breaks

if TYPE_CHECKING:
    from django.contrib.auth.models import User


def create_persona(
    owner: "User",
    name: str,
    *,
    blocks: dict[str, str] | None = None,
    user_name: str = "",
    timezone: str = "UTC",
    language: str = Persona.Language.ENGLISH,
    facts: dict[str, object] | None = None,
    external_id: str | None = None,
) -> Persona:
    """A new persona with all three core blocks. Raises ValidationError for a value that cannot be stored."""
    persona = Persona(
        owner=owner,
        name=name.strip(),
        user_name=user_name.strip(),
        timezone=timezone or "UTC",
        language=language,
        facts=facts or {},
        external_id=external_id,
    )
    persona.full_clean()
    with transaction.atomic():
        persona.save()
        for label in Label.values:
            block = CoreBlock(
                persona=persona, label=label, content=plain_line_breaks((blocks or {}).get(label, "")), edited_by=owner
            )
            block.clean_fields(exclude={"persona", "edited_by"})
            # Of the constraints only the length can fail here; full validation has the database check each, 1 ms
            # apiece.
            if len(block.content) > MAX_CHARACTERS:
                block.validate_constraints()
            block.save()
    return persona


def language_of(text: str) -> str:
    """`zh` if Han characters are a fair share of the letters, else `en`."""
    letters = [character for character in text if character.isalpha()]
    han = sum("\u4e00" <= character <= "\u9fff" for character in letters)
    return Persona.Language.CHINESE if han * 4 > len(letters) else Persona.Language.ENGLISH
