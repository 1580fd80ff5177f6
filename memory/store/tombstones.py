"""Tombstones: what was forgotten does not come back, and nothing tells what it was.

A tombstone is an HMAC, keyed by the installation, of what was forgotten, for one persona. Without the key no text can
be tried against it, and the same text has another one with every persona. It is made of

    text      the comparable form of a text (`echovessel.language.plain_text`) that says enough to be known again
    line      one that does not ("Yes.", "I am tired."), with the day on which it was said: on another day it is another
    name      a name, as `echovessel.language.person_names` normalises it, in its plain form
    external  an id in an archive, with what it is the id of

Tombstones set before 2026-11-22 are digests of an older form, which nobody can make anew without the words. So every
text is looked up in both forms.

The write gate refuses a node whose description, whose quote, or one of whose whole messages is buried. The importer
refuses ids and names as well; a name alone is refused by nobody else, for another Tom may come. What the owner says
anew, in a message sent after the tombstone was set, is remembered: a tombstone binds imports and what is derived.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from types import MappingProxyType
from typing import Literal

from django.conf import settings
from django.db.models import F
from django.utils.crypto import salted_hmac

from echovessel.language import person_names, tokenizer
from echovessel.language.plain_text import comparable_form, plain_form
from memory.models import Tombstone
from memory.store.deduplication import normalized
from persona.models import Persona
from persona.onboarding import drafts

Kind = Tombstone.Kind
# What a text needs to be known again by its words alone: so many words that say something, or so many signs.
TELLING_WORDS = 4
TELLING_SIGNS_OF_UNSPACED = 6
TELLING_SIGNS = 25
_UNSPACED = re.compile(person_names.LETTERS_OF_UNSPACED)


@dataclass(frozen=True)
class Burial:
    """Something to be refused from now on. `day` is that of a line, where the persona's owner lives."""

    kind: Literal["text", "line", "name", "external", "draft"]
    text: str
    day: date | None = None
    label: str = ""  # of a draft: the core block it is for


def of_words(text: str, day: date) -> Burial:
    """The burial of words that were said on `day`: by themselves where they tell enough, else as a line of that day."""
    return Burial("text", text) if is_telling(text) else Burial("line", text, day)


def of_external(what: str, external_id: str) -> Burial:
    """The burial of an id in an archive. `what` has it: "session", "message", "node" or "entity"."""
    return Burial("external", f"{what} {external_id}")


def of_draft(label: str, text: str) -> Burial:
    """The burial of a draft of a core block: the very same one is not proposed again."""
    return Burial("draft", text, label=label)


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
    telling = {
        token for token in tokenizer.cut(plain) if not tokenizer.is_function_word(token) and not _UNSPACED.search(token)
    }
    return (
        len(telling) >= TELLING_WORDS
        or len(_UNSPACED.findall(plain)) >= TELLING_SIGNS_OF_UNSPACED
        or len(plain) >= TELLING_SIGNS
    )


def bury(persona: Persona, text: str) -> Tombstone:
    """Have `text` refused from now on; again does nothing. Raises ValueError for a text without any sign in it."""
    if not comparable_form(text):
        raise ValueError("there is nothing to bury in an empty text")
    bury_all(persona, [Burial("text", text)])
    return Tombstone.objects.get(persona=persona, digest=_digests(persona, Burial("text", text))[0])


def bury_all(persona: Persona, burials: Iterable[Burial], now: datetime | None = None) -> list[int]:
    """Have all of them refused from `now` on; the keys of the tombstones that are new. What has no sign in it is left
    out. Call in the transaction that forgets."""
    kinds = {_digests(persona, burial)[0]: _KINDS[burial.kind] for burial in burials if any(_forms(burial))}
    wanted = Tombstone.objects.filter(persona=persona, digest__in=kinds)
    known = set(wanted.values_list("digest", flat=True))
    if now is not None:  # what was told anew since it was buried first is forgotten now
        wanted.filter(created_at__lt=now).update(created_at=now)
    whose = key_id()
    made = Tombstone.objects.bulk_create(
        Tombstone(persona=persona, kind=kind, digest=digest, key_id=whose)
        for digest, kind in kinds.items()
        if digest not in known
    )
    if now is not None:
        Tombstone.objects.filter(pk__in=[stone.pk for stone in made]).update(created_at=now)
    return [stone.pk for stone in made]


def lift(persona: Persona, text: str) -> bool:
    """Admit `text` again; False where it was not buried."""
    stones = Tombstone.objects.filter(persona=persona, digest__in=_digests(persona, Burial("text", text)))
    return bool(stones.delete()[0])


def refuses(persona: Persona, texts: Iterable[str]) -> bool:
    """Whether one of the texts is buried; counted with each tombstone that refuses one."""
    return bool(refused_among(persona, [Burial("text", text) for text in texts]))


def refused_among(
    persona: Persona,
    brought: Iterable[Burial],
    told_at: Mapping[Burial, datetime | None] = MappingProxyType({}),
    beside: Mapping[str, datetime] = MappingProxyType({}),
) -> set[Burial]:
    """Those that are buried; counted with each tombstone that refuses one.

    Not refused are what the owner told anew after it was buried (`told_at`), and what stood beside its tombstone in the
    archive that is read (`beside`: digests, and when they were set).
    """
    found = buried_at(persona, brought)
    binding = {
        burial: stone
        for burial, stone in found.items()
        if ((at := told_at.get(burial)) is None or stone.created_at >= at)
        and (stone.digest not in beside or stone.created_at > beside[stone.digest])
    }
    if binding:
        keys = {stone.pk for stone in binding.values()}
        Tombstone.objects.filter(pk__in=keys).update(refused=F("refused") + 1)
    return set(binding)


def buried_at(persona: Persona, brought: Iterable[Burial]) -> dict[Burial, Tombstone]:
    """The newest tombstone of each that has one; nothing is counted."""
    by_digest: dict[str, list[Burial]] = {}
    for burial in brought:
        for digest in _digests(persona, burial):
            by_digest.setdefault(digest, []).append(burial)
    stones = Tombstone.objects.filter(persona=persona, digest__in=by_digest).order_by("created_at")
    return {burial: stone for stone in stones for burial in by_digest[stone.digest]}


def key_id() -> str:
    """By what it is told with which key a tombstone was made."""
    return _hmac("memory.tombstones.key", "")[:8]


_SALTS: Mapping[str, str] = {
    "text": "memory.tombstones",
    "line": "memory.tombstones.line",
    "name": "memory.tombstones.name",
    "external": "memory.tombstones.external",
    "draft": "memory.tombstones.external",
}
_KINDS: Mapping[str, str] = {
    "text": Kind.TEXT,
    "line": Kind.LINE,
    "name": Kind.NAME,
    "external": Kind.EXTERNAL,
    "draft": Kind.EXTERNAL,
}


def _digests(persona: Persona, burial: Burial) -> list[str]:
    """The digest of today, and the one that the same had before there was a comparable form, where it differs."""
    day = f"\n{burial.day}" if burial.kind == "line" else ""
    forms = dict.fromkeys(_forms(burial))
    return [_hmac(f"{_SALTS[burial.kind]}.{persona.uuid}", form + day) for form in forms]


def _forms(burial: Burial) -> Iterator[str]:
    """What digests are made of, the one of today first: the text without what does not matter to its kind."""
    text = burial.text
    if burial.kind == "external":
        yield text
    elif burial.kind == "draft":
        yield f"draft {burial.label} {sha256(comparable_form(text).encode()).hexdigest()}"
        yield f"draft {burial.label} {drafts.content_hash(text)}"
    elif burial.kind == "name":
        yield person_names.normalized(plain_form(text))
        yield person_names.normalized(text)
    else:
        yield comparable_form(text)
        yield normalized(text)


def _hmac(salt: str, value: str) -> str:
    return salted_hmac(salt, value, secret=settings.TOMBSTONE_KEY, algorithm="sha256").hexdigest()
