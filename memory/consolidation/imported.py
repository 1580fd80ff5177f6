"""Imported sessions, read as a conversation or as prose.

They are read like any other, except that nobody has just said it: a past session changes no present mood, is no news to
think about, and replaces nothing that was recorded later. Pages are not notified of each of a thousand sessions.
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
    """The kind of text that is read, and whether the file gives its times. `others` are the people the owner talks with
    in a session without the persona: "you" in such a session is one of them, never the persona."""

    is_prose: bool = False
    is_dated: bool = True
    others: Sequence[str] = ()


def is_imported(session: Session) -> bool:
    return session.close_reason == Session.CloseReason.IMPORT


def is_long_past(session: Session, now: datetime) -> bool:
    """Whether the session was imported and is older than a day."""
    return is_imported(session) and session.last_message_at < now - PAST


def material_of(session: Session) -> ImportedMaterial:
    """The material of a session. A live session is always a conversation."""
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
    """The purpose whose budget pays for reading: imports have their own."""
    return Purpose.IMPORT if is_imported(session) else Purpose.EXTRACTION
