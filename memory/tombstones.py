"""Tombstones: what was forgotten does not come back, and nothing tells what it was.

A tombstone is an HMAC, keyed by the installation, of what was forgotten, for one persona. Without the key no text can
be tried against it, and the same text has another one with every persona. It is made of

    text      a normalised text (case, width, signs and spaces do not matter) that says enough to be known again
    line      one that does not ("Yes.", "I am tired."), with the day on which it was said: on another day it is another
    name      a name, as `memory.entities.names` normalises it
    external  an id in an archive, with what it is the id of

The write gate refuses a node whose description, whose quote, or one of whose whole messages is buried. The importer
refuses ids and names as well; a name alone is refused by nobody else, for another Tom may come.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Literal

from django.conf import settings
from django.db.models import F
from django.utils.crypto import salted_hmac

from echovessel import words
from memory.entities import names
from memory.models import Tombstone
from memory.sameness import normalized
from persona import drafts
from persona.models import Persona

Kind = Tombstone.Kind
# What a text needs to be known again by its words alone: so many words that say something, or so many signs.
TELLING_WORDS = 4
TELLING_SIGNS_OF_UNSPACED = 6
TELLING_SIGNS = 25
_UNSPACED = re.compile(names.LETTERS_OF_UNSPACED)


@dataclass(frozen=True)
class Burial:
    """Something to be refused from now on. `day` is that of a line, where the persona's owner lives."""

    kind: Literal["text", "line", "name", "external"]
    text: str
    day: date | None = None


def of_words(text: str, day: date) -> Burial:
    """The burial of words that were said on `day`: by themselves where they tell enough, else as a line of that day."""
    return Burial("text", text) if is_telling(text) else Burial("line", text, day)


def of_external(what: str, external_id: str) -> Burial:
    """The burial of an id in an archive. `what` has it: "session", "message", "node" or "entity"."""
    return Burial("external", f"{what} {external_id}")


def of_draft(label: str, text: str) -> Burial:
    """The burial of a draft of a core block: the very same one is not proposed again."""
    return of_external("draft", f"{label} {drafts.content_hash(text)}")


def refuses_draft(persona: Persona, label: str, *texts: str) -> bool:
    """Whether a draft was forgotten here: the very same one, or one of the texts, which are what it says and what it
    rests on."""
    return bool(refused_among(persona, {of_draft(label, texts[0]), *(Burial("text", text) for text in texts)}))


def of_line(external_id: str, text: str, day: date) -> set[Burial]:
    """All by which a line of an archive, or of another file, may have been buried that was said on `day`."""
    return {of_external("message", external_id), Burial("text", text), Burial("line", text, day)}


def is_telling(text: str) -> bool:
    """Whether nobody else would say just this of something else.

    >>> is_telling("I am so tired."), is_telling("My cat Milo died in Lisbon")
    (False, True)
    >>> is_telling("我好累"), is_telling("小黑昨天走丢了")
    (False, True)
    """
    plain = normalized(text)
    telling = {token for token in words.cut(plain) if not words.is_function_word(token) and not _UNSPACED.search(token)}
    return (
        len(telling) >= TELLING_WORDS
        or len(_UNSPACED.findall(plain)) >= TELLING_SIGNS_OF_UNSPACED
        or len(plain) >= TELLING_SIGNS
    )


def bury(persona: Persona, text: str) -> Tombstone:
    """Have `text` refused from now on; again does nothing. Raises ValueError for a text without any sign in it."""
    if not normalized(text):
        raise ValueError("there is nothing to bury in an empty text")
    bury_all(persona, [Burial("text", text)])
    return Tombstone.objects.get(persona=persona, digest=_digest(persona, Burial("text", text)))


def bury_all(persona: Persona, burials: Iterable[Burial]) -> list[int]:
    """Have all of them refused from now on; the keys of the tombstones that are new. What has no sign in it is left
    out. Call in the transaction that forgets."""
    kinds = {_digest(persona, burial): burial.kind for burial in burials if _plain(burial)}
    wanted = Tombstone.objects.filter(persona=persona, digest__in=kinds)
    known = set(wanted.values_list("digest", flat=True))
    whose = key_id()
    made = Tombstone.objects.bulk_create(
        Tombstone(persona=persona, kind=kind, digest=digest, key_id=whose)
        for digest, kind in kinds.items()
        if digest not in known
    )
    return [stone.pk for stone in made]


def lift(persona: Persona, text: str) -> bool:
    """Admit `text` again; False where it was not buried."""
    stones = Tombstone.objects.filter(persona=persona, digest=_digest(persona, Burial("text", text)))
    return bool(stones.delete()[0])


def refuses(persona: Persona, texts: Iterable[str], lines: Iterable[tuple[str, date]] = ()) -> bool:
    """Whether anything is buried of the texts that a node brings, or of the `lines` that it brings from a day; counted
    with each tombstone that refuses it."""
    brought = [*(Burial("text", text) for text in texts), *(Burial("line", text, day) for text, day in lines)]
    return bool(refused_among(persona, brought))


def refused_among(persona: Persona, brought: Iterable[Burial]) -> set[Burial]:
    """Those that are buried; counted with each tombstone that refuses one."""
    by_digest: dict[str, list[Burial]] = {}
    for burial in brought:
        by_digest.setdefault(_digest(persona, burial), []).append(burial)
    stones = Tombstone.objects.filter(persona=persona, digest__in=by_digest)
    buried = dict(stones.values_list("digest", "pk"))
    if buried:
        Tombstone.objects.filter(pk__in=buried.values()).update(refused=F("refused") + 1)
    return {burial for digest in buried for burial in by_digest[digest]}


def key_id() -> str:
    """By what it is told with which key a tombstone was made."""
    return _hmac("memory.tombstones.key", "")[:8]


_SALTS: Mapping[str, str] = {
    "text": "memory.tombstones",
    "line": "memory.tombstones.line",
    "name": "memory.tombstones.name",
    "external": "memory.tombstones.external",
}


def _digest(persona: Persona, burial: Burial) -> str:
    day = f"\n{burial.day}" if burial.kind == "line" else ""
    return _hmac(f"{_SALTS[burial.kind]}.{persona.uuid}", _plain(burial) + day)


def _plain(burial: Burial) -> str:
    """What a digest is made of: the text without what does not matter to its kind."""
    if burial.kind == "external":
        return burial.text
    return names.normalized(burial.text) if burial.kind == "name" else normalized(burial.text)


def _hmac(salt: str, value: str) -> str:
    return salted_hmac(salt, value, secret=settings.TOMBSTONE_KEY, algorithm="sha256").hexdigest()
