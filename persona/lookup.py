"""Which persona is meant: by a command, by her id or a unique archive id; by a page or program, among one's own."""

import uuid

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from echovessel.db.public_id import parse_uuid
from persona.models import Persona


class NoSuchPersona(LookupError):
    """There is none, or more than one; the message says which."""


def persona_by(reference: str) -> Persona:
    """The persona of that id or, where it is unique, that external id. Raises NoSuchPersona."""
    uuid = parse_uuid(reference)
    found = list(Persona.objects.filter(uuid=uuid)) if uuid else []
    found = found or list(Persona.objects.filter(external_id=reference)[:2])
    if not found:
        raise NoSuchPersona(f"There is no persona {reference!r}.")
    if len(found) > 1:
        raise NoSuchPersona(f"More than one persona has the external id {reference!r}: give the id.")
    return found[0]


def own_persona(request: HttpRequest, persona_id: uuid.UUID) -> Persona:
    """The caller's persona of that id; anybody else's does not exist (404)."""
    return get_object_or_404(Persona.objects.owned_by(request.user).select_related("owner"), uuid=persona_id)
