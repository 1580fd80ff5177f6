"""Tombstones: what was forgotten does not come back, and nothing tells what it was.

A tombstone is an HMAC, keyed by the installation's secret, of the normalised text (case, width, signs and spaces do not
matter) for one persona. Without the secret no text can be tried against it, and the same text has another one with
every persona. The write gate refuses a node whose description, whose quote, or one of whose whole messages is buried.
"""

from collections.abc import Iterable

from django.db.models import F
from django.utils.crypto import salted_hmac

from memory.models import Tombstone
from memory.sameness import normalized
from persona.models import Persona


def bury(persona: Persona, text: str) -> Tombstone:
    """Have `text` refused from now on; again does nothing. Raises ValueError for a text without any sign in it."""
    if not normalized(text):
        raise ValueError("there is nothing to bury in an empty text")
    return Tombstone.objects.get_or_create(persona=persona, digest=_digest(persona, text))[0]


def lift(persona: Persona, text: str) -> bool:
    """Admit `text` again; False where it was not buried."""
    return bool(Tombstone.objects.filter(persona=persona, digest=_digest(persona, text)).delete()[0])


def refuses(persona: Persona, texts: Iterable[str]) -> bool:
    """Whether any of the texts that a node brings is buried; counted with each tombstone that refuses it."""
    digests = {_digest(persona, text) for text in set(texts)}
    buried = Tombstone.objects.filter(persona=persona, digest__in=digests)
    return bool(buried.update(refused=F("refused") + 1))


def _digest(persona: Persona, text: str) -> str:
    return salted_hmac(f"memory.tombstones.{persona.uuid}", normalized(text), algorithm="sha256").hexdigest()
