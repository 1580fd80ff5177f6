"""Holding: while something is forgotten, no reply is made from what goes."""

from collections.abc import Iterable

from chat.models import Turn
from memory.forgetting.types import Busy
from persona.models import Persona


def hold(personas: Iterable[Persona]) -> None:
    """See that no reply of these is under way. Call inside a transaction, which holds the write lock from its beginning
    on: no reply can begin until it ends. Raises Busy."""
    keys = [persona.pk for persona in personas]
    if Turn.objects.running().filter(persona__in=keys).exists():
        raise Busy
