"""Find a persona: commands by its id or a unique archive id, pages and API by id among the caller's own."""

import uuid

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from echovessel.db.public_id import parse_uuid
from persona.models import Persona


class NoSuchPersona(LookupError):
    """There is no such persona, or more than one; the message says which."""


def persona_by(reference: str) -> Persona:
    """The persona with that id, or with that external id if it is unique. Raises NoSuchPersona."""
    uuid = parse_uuid(reference)
    personas = list(Persona.objects.filter(uuid=uuid)) if uuid else []
    personas = personas or list(Persona.objects.filter(external_id=reference)[:2])
    if not personas:
        raise NoSuchPersona(f"There is no persona {reference!r}.")
    if len(personas) > 1:
        raise NoSuchPersona(f"More than one persona has the external id {reference!r}: give the id.")
    return personas[0]


def own_persona(request: HttpRequest, persona_id: uuid.UUID) -> Persona:
    """The caller's persona with that id; 404 for anybody else's."""
    return get_object_or_404(Persona.objects.owned_by(request.user).select_related("owner"), uuid=persona_id)
