"""What was said elsewhere: a session that somebody brought in a file, read as a talk or as prose.

It is read like any other, but for this: nobody has just said it. What lies back changes no mood of today, is no news
to think about, and replaces nothing that was told later; nor does a page have to hear of each of a thousand talks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from chat.models import Session
from chat.prompt.assemble import NOBODY_NAMED, find_addressees
from echovessel.llm.models import Purpose
from memory.models import ImportChunk

PAST = timedelta(days=1)
_MAX_OTHERS = 50


@dataclass(frozen=True)
class ImportedMaterial:
    """What is read: a talk, or prose; and whether the file says when it was. `others` are those with whom the owner
    talks where the persona takes no part: "you" in such a talk is one of them, and never the persona."""

    is_prose: bool = False
    is_dated: bool = True
    others: Sequence[str] = ()


def is_imported(session: Session) -> bool:
    return session.close_reason == Session.CloseReason.IMPORT


def is_long_past(session: Session, now: datetime) -> bool:
    """Whether it was brought, and is not of today any more."""
    return is_imported(session) and session.last_message_at < now - PAST


def material_of(session: Session) -> ImportedMaterial:
    """What there is to read. A talk of ours is none but a talk."""
    chunk = ImportChunk.objects.filter(session=session).first() if is_imported(session) else None
    if chunk is None:
        return ImportedMaterial()
    if chunk.kind == ImportChunk.Kind.PROSE:
        return ImportedMaterial(is_prose=True, is_dated=chunk.dated)
    others: Sequence[str] = ()
    addressees = find_addressees([(session.pk, session.import_uuid.hex if session.import_uuid else "")])
    if session.pk in addressees:
        others = addressees[session.pk][:_MAX_OTHERS] or (NOBODY_NAMED[session.persona.language],)
    return ImportedMaterial(is_dated=chunk.dated, others=others)


def purpose_of(session: Session) -> Purpose:
    """What reading it is paid for as: what is brought has a budget of its own."""
    return Purpose.IMPORT if is_imported(session) else Purpose.EXTRACTION
