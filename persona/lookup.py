"""Which persona a command means: her id, or her archive id where only one has it."""

import uuid

from persona.models import Persona


class NoSuchPersona(LookupError):
    """There is none, or more than one; the message says which."""


def persona_by(reference: str) -> Persona:
    """The persona of that id or, where it is unique, that external id. Raises NoSuchPersona."""
    found = _by_id(reference) or list(Persona.objects.filter(external_id=reference)[:2])
    if not found:
        raise NoSuchPersona(f"There is no persona {reference!r}.")
    if len(found) > 1:
        raise NoSuchPersona(f"More than one persona has the external id {reference!r}: give the id.")
    return found[0]


def _by_id(reference: str) -> list[Persona]:
    try:
        return list(Persona.objects.filter(uuid=uuid.UUID(reference)))
    except ValueError:
        return []
