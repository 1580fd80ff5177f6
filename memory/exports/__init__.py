"""Exports: a persona as a file, in our own format or in a format of others.

The archive holds everything and can be restored. Portable AI Memory holds conversations and memories, for another
system of its kind. A character card describes the persona and may be given away: it holds nothing about the owner.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.archive import write
from memory.exports import card, pam
from persona.models import Persona


@dataclass(frozen=True)
class Way:
    """One export format: `write` yields the file's bytes, `suffix` ends the file's name."""

    name: str
    label: str | Promise
    suffix: str
    media_type: str
    write: Callable[[Persona, datetime], Iterator[bytes]]

    def file_name(self, persona: Persona, now: datetime) -> str:
        """A file name without anybody's words."""
        return f"echovessel-{persona.uuid}-{now:%Y-%m-%d}{self.suffix}"


WAYS = {
    way.name: way
    for way in (
        Way("archive", _("EchoVessel archive: everything"), ".jsonl", "application/x-ndjson", write.archive_lines),
        Way("pam", _("Portable AI Memory: conversations and memories"), ".zip", "application/zip", pam.write_pam),
        Way("card", _("Character card, V3: the persona alone"), ".json", "application/json", card.write_card),
        Way("card_png", _("Character card, V3, as a picture"), ".png", "image/png", card.draw_picture),
    )
}
