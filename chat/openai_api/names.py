"""Names of personas as models."""

from collections.abc import Sequence
from itertools import chain, count
from typing import Any

from django.contrib.auth.models import User
from django.utils.text import slugify

from persona.models import Persona


def models_of(user: User) -> dict[str, Persona]:
    """The user's personas by model name: the archive id, else a slug of the persona's name."""
    personas = list(Persona.objects.owned_by(user).order_by("id"))
    by_slug = _slugs(personas)
    return {persona.external_id or slug: persona for slug, persona in by_slug.items()}


def find_persona(user: User, name: str) -> Persona | None:
    """The user's persona with that archive id, slug or id, or with that name if it is unique; anybody else's does not
    exist."""
    personas = list(Persona.objects.owned_by(user).select_related("owner").order_by("id"))
    by_external_id = {persona.external_id: persona for persona in personas if persona.external_id}
    by_uuid = {str(persona.uuid): persona for persona in personas}
    same_named = [persona for persona in personas if persona.name == name]
    by_name = same_named[0] if len(same_named) == 1 else None
    return by_external_id.get(name) or _slugs(personas).get(name) or by_uuid.get(name.lower()) or by_name


def as_model(name: str, persona: Persona) -> dict[str, Any]:
    """A persona in a list of models; some clients show `name`."""
    return {
        "id": name,
        "object": "model",
        "created": int(persona.created_at.timestamp()),
        "owned_by": "echovessel",
        "name": persona.name,
    }


def _slugs(personas: Sequence[Persona]) -> dict[str, Persona]:
    """Each persona by a slug of its name that no other persona and no archive id has; the oldest gets it without a
    number."""
    taken_ids = {persona.external_id for persona in personas}
    personas_by_slug: dict[str, Persona] = {}
    for persona in personas:
        slug = slugify(persona.name, allow_unicode=True) or "persona"
        names = chain([slug], (f"{slug}-{number}" for number in count(2)))
        name = next(candidate for candidate in names if candidate not in taken_ids)
        taken_ids.add(name)
        personas_by_slug[name] = persona
    return personas_by_slug
