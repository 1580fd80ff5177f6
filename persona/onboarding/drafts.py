"""Drafts of core blocks: proposed from imported material, added to a block only by a person's decision."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING
from unicodedata import normalize
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from persona.models import CoreBlock, CoreDraft, DraftQuote, Persona
from persona.models.core_block import MAX_CHARACTERS

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Status = CoreDraft.Status


@dataclass(frozen=True)
class DraftSource:
    """A quote that a draft rests on: from a message (`said_in` is its uuid), or from a place in the file (`where`)."""

    quote: str
    said_in: UUID | None = None
    said_at: datetime | None = None
    where: str = ""


class DraftRefused(Exception):
    """A decision that cannot be carried out: `code` is "decided", "empty" or "too_long"; `message` explains it in the
    current language."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return self.message


def propose(
    persona: Persona, label: str, text: str, quotes: Sequence[DraftSource], import_uuid: UUID | None, now: datetime
) -> CoreDraft | None:
    """A new draft; None if the same text was proposed for this block before, whatever was decided, or stands in it.
    Call inside a transaction. Raises ValueError for a text that no block could hold."""
    words = text.strip()
    if not words or len(words) > MAX_CHARACTERS:
        raise ValueError("no block could hold this text")
    if says(_block(persona, label).content, words):
        return None
    draft, is_new = CoreDraft.objects.get_or_create(
        persona=persona,
        label=label,
        content_hash=content_hash(words),
        defaults={"text": words, "import_uuid": import_uuid, "created_at": now},
    )
    if not is_new:
        return None
    longest = DraftQuote._meta.get_field("where").max_length
    DraftQuote.objects.bulk_create(
        DraftQuote(
            draft=draft, quote=quote.quote, said_in=quote.said_in, said_at=quote.said_at, where=quote.where[:longest]
        )
        for quote in quotes
    )
    return draft


def accept(draft: CoreDraft, text: str | None, by: "User", now: datetime) -> CoreDraft:
    """Add the draft to its block, in its own words or in `text`. Raises DraftRefused without changing anything."""
    words = (draft.text if text is None else text).strip()
    if not words:
        raise DraftRefused("empty", _("There is nothing to add."))
    with transaction.atomic():
        _decide(draft, Status.ACCEPTED, by, now)
        block = _block(draft.persona, draft.label)
        content = block.content
        if not says(content.rstrip(), words):  # else it stays as it is
            content = "\n".join(filter(None, (content.rstrip(), words)))
        if (excess := len(content) - MAX_CHARACTERS) > 0:
            text = ngettext(
                "The text would be %(count)d character too long. Shorten it or the draft.",
                "The text would be %(count)d characters too long. Shorten it or the draft.",
                excess,
            )
            raise DraftRefused("too_long", text % {"count": excess})
        block.rewrite(content, by)
    return draft


def reject(draft: CoreDraft, by: "User", now: datetime) -> CoreDraft:
    """Reject the draft; it is not proposed again. Raises DraftRefused if it was decided before."""
    with transaction.atomic():
        _decide(draft, Status.REJECTED, by, now)
    return draft


def block_texts(persona: Persona) -> dict[str, str]:
    """The text of each of the three blocks."""
    return dict(CoreBlock.objects.filter(persona=persona).values_list("label", "content"))


def room(persona: Persona, label: str) -> int:
    """Free characters of the block."""
    content = _block(persona, label).content.rstrip()
    return MAX_CHARACTERS - len(content) - bool(content)


def content_hash(text: str) -> str:
    """Hash that identifies a text regardless of case and spaces."""
    return sha256(_plain(text).encode()).hexdigest()


def says(content: str, words: str) -> bool:
    """Whether a block's text contains exactly these words, not as part of longer ones.

    >>> says("Ana is a nurse.", "ana  is a nurse"), says("Ana is a nursery teacher.", "Ana is a nurse")
    (True, False)
    """
    return bool(re.search(rf"(?<!\w){re.escape(_plain(words))}(?!\w)", _plain(content)))


def _decide(draft: CoreDraft, status: str, by: "User", now: datetime) -> None:
    # An update first: it takes the write lock before anything is read.
    decided = CoreDraft.objects.open().filter(pk=draft.pk).update(status=status, decided_at=now, decided_by=by)
    if not decided:
        raise DraftRefused("decided", _("This draft has already been decided or no longer exists."))
    draft.refresh_from_db()


def _block(persona: Persona, label: str) -> CoreBlock:
    return CoreBlock.objects.get(persona=persona, label=label)


def _plain(text: str) -> str:
    return " ".join(normalize("NFKC", text).split()).casefold()
