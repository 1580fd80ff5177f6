"""Tombstones: forgotten text is refused when it comes back, and nothing shows what it was.

A tombstone is an HMAC of forgotten text, keyed by the installation, for one persona. Without the key no text can be
tried against it, and the same text has another tombstone with every persona. Its input is one of

    text      the comparable form of a text (`echovessel.language.plain_text`) that is distinctive by its words alone
    line      another text ("Yes.", "I am tired."), with the day of its message: another day makes another tombstone
    name      a name in plain form, as `echovessel.language.person_names` normalises it
    external  an id in an archive, with its kind

Tombstones set before 2026-11-22 are digests of an older form, which cannot be made again without the text. So every
text is looked up in both forms.

The write gate refuses a node if its description, a quote, or a whole message it quotes has a tombstone. The importer
refuses ids and names as well; no other path refuses a name alone, because another Tom may come. A message that the
owner sends after the tombstone was set is remembered: a tombstone binds imports and derived text.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from hashlib import sha256
from types import MappingProxyType
from typing import Any, Literal

from django.conf import settings
from django.db.models import F
from django.utils.crypto import salted_hmac

from echovessel.db import text_columns
from echovessel.db.compiled_queries import Query
from echovessel.language import person_names, tokenizer
from echovessel.language.plain_text import comparable_form, normalize_text, plain_form
from memory.models import Tombstone
from persona.models import Persona
from persona.onboarding import drafts

Kind = Tombstone.Kind
_any_tombstone: Query[tuple[int]] = Query(
    lambda persona: Tombstone.objects.filter(persona=persona).order_by().values_list("pk")[:1]
)
# A text is distinctive by its words alone if it has this many content words, or this many characters.
TELLING_WORDS = 4
TELLING_SIGNS_OF_UNSPACED = 6
TELLING_SIGNS = 25


@dataclass(frozen=True)
class TombstoneSource:
    """A text, name or id to be refused. `day` is that of a message, in the owner's zone."""

    kind: Literal["text", "line", "name", "external", "draft"]
    text: str
    day: date | None = None
    label: str = ""  # of a draft: the core block it is for


def of_words(text: str, day: date) -> TombstoneSource:
    """The source for text of a message of `day`: without the day if it is distinctive, else with it."""
    return TombstoneSource("text", text) if is_telling(text) else TombstoneSource("line", text, day)


def of_external(kind: str, external_id: str) -> TombstoneSource:
    """The source for an id in an archive of a "session", "message", "node" or "entity"."""
    return TombstoneSource("external", f"{kind} {external_id}")


def of_draft(label: str, text: str) -> TombstoneSource:
    """The source for a draft of a core block: the very same draft is not proposed again."""
    return TombstoneSource("draft", text, label=label)


def of_row(row: Any, day: date | None = None) -> Iterator[TombstoneSource]:
    """The sources for a forgotten row: each text for which its model declares a tombstone. `day` is the day of its
    message."""
    for name, column in text_columns.declared(type(row)).items():
        text = getattr(row, name) if column.tombstone else ""
        if text and column.tombstone == "line":
            assert day is not None
            yield of_words(text, day)
        elif text and column.tombstone == "draft":
            yield of_draft(row.label, text)
        elif text and column.tombstone in ("text", "name"):
            yield TombstoneSource(column.tombstone, text)


def of_ids(kind: str, row: Any) -> Iterator[TombstoneSource]:
    """The sources for a row's id in an archive, and for the id that our own export gives it."""
    yield of_external(kind, str(row.uuid))
    if row.external_id:
        yield of_external(kind, row.external_id)


def refuses_draft(persona: Persona, label: str, *texts: str) -> bool:
    """Whether this very draft was forgotten, or one of `texts`: its own text and its quotes."""
    return bool(refused_among(persona, {of_draft(label, texts[0]), *(TombstoneSource("text", text) for text in texts)}))


def of_line(external_id: str, text: str, day: date) -> set[TombstoneSource]:
    """All sources by which an imported message of `day` may be refused."""
    return {of_external("message", external_id), TombstoneSource("text", text), TombstoneSource("line", text, day)}


def is_telling(text: str) -> bool:
    """Whether a text is distinctive: nobody would use it to say something else.

    >>> is_telling("I am so tired."), is_telling("My cat Milo died in Lisbon")
    (False, True)
    >>> is_telling("我好累"), is_telling("小黑昨天走丢了")
    (False, True)
    """
    plain = normalize_text(text)
    telling = {
        token
        for token in tokenizer.tokenize(plain)
        if not tokenizer.is_function_word(token) and not person_names.UNSPACED_LETTER.search(token)
    }
    return (
        len(telling) >= TELLING_WORDS
        or len(person_names.UNSPACED_LETTER.findall(plain)) >= TELLING_SIGNS_OF_UNSPACED
        or len(plain) >= TELLING_SIGNS
    )


def add_tombstone(persona: Persona, text: str) -> Tombstone:
    """Refuse `text` from now on; a repeat does nothing. Raises ValueError for a text without letters or digits."""
    if not comparable_form(text):
        raise ValueError("there is nothing to refuse in an empty text")
    add_tombstones(persona, [TombstoneSource("text", text)])
    return Tombstone.objects.get(persona=persona, digest=_digests(persona, TombstoneSource("text", text))[0])


def add_tombstones(persona: Persona, sources: Iterable[TombstoneSource], now: datetime | None = None) -> list[int]:
    """Refuse all sources from `now` on; returns the keys of the new tombstones. A text without letters or digits is
    left out. Call in the transaction that forgets."""
    kinds = {_digests(persona, source)[0]: _KINDS[source.kind] for source in sources if any(_forms(source))}
    present_tombstones = Tombstone.objects.filter(persona=persona, digest__in=kinds)
    present_digests = set(present_tombstones.values_list("digest", flat=True))
    if now is not None:  # text that was sent again since the first tombstone is forgotten now
        present_tombstones.filter(created_at__lt=now).update(created_at=now)
    key = key_id()
    new = Tombstone.objects.bulk_create(
        Tombstone(persona=persona, kind=kind, digest=digest, key_id=key)
        for digest, kind in kinds.items()
        if digest not in present_digests
    )
    if now is not None:
        Tombstone.objects.filter(pk__in=[tombstone.pk for tombstone in new]).update(created_at=now)
    return [tombstone.pk for tombstone in new]


def remove_tombstone(persona: Persona, text: str) -> bool:
    """Admit `text` again; False if it has no tombstone."""
    tombstones = Tombstone.objects.filter(persona=persona, digest__in=_digests(persona, TombstoneSource("text", text)))
    return bool(tombstones.delete()[0])


def refuses(persona: Persona, texts: Iterable[str]) -> bool:
    """Whether one of the texts has a tombstone. Each tombstone that refuses counts it."""
    return bool(refused_among(persona, [TombstoneSource("text", text) for text in texts]))


def refused_among(
    persona: Persona,
    sources: Iterable[TombstoneSource],
    sent_at: Mapping[TombstoneSource, datetime | None] = MappingProxyType({}),
    archive_tombstones: Mapping[str, datetime] = MappingProxyType({}),
) -> set[TombstoneSource]:
    """The sources that have a tombstone. Each tombstone that refuses counts it.

    Sources that the owner sent again since (`sent_at`) are not refused, and neither are those whose tombstone comes
    from the archive that is being read (`archive_tombstones`: digests, with the times at which they were set).
    """
    binding = {
        source: tombstone
        for source, tombstone in find_tombstones(persona, sources).items()
        if ((at := sent_at.get(source)) is None or tombstone.created_at >= at)
        and (tombstone.digest not in archive_tombstones or tombstone.created_at > archive_tombstones[tombstone.digest])
    }
    if binding:
        keys = {tombstone.pk for tombstone in binding.values()}
        Tombstone.objects.filter(pk__in=keys).update(refused=F("refused") + 1)
    return set(binding)


def find_tombstones(persona: Persona, sources: Iterable[TombstoneSource]) -> dict[TombstoneSource, Tombstone]:
    """The newest tombstone of each source that has one; nothing is counted."""
    if not _any_tombstone(persona.pk):
        return {}
    by_digest: dict[str, list[TombstoneSource]] = {}
    for source in sources:
        for digest in _digests(persona, source):
            by_digest.setdefault(digest, []).append(source)
    tombstones = Tombstone.objects.filter(persona=persona, digest__in=by_digest).order_by("created_at")
    return {source: tombstone for tombstone in tombstones for source in by_digest[tombstone.digest]}


def key_id() -> str:
    """The id of the key with which tombstones are made."""
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


def _digests(persona: Persona, source: TombstoneSource) -> list[str]:
    """The current digest, and the digest of the older form if it differs."""
    day = f"\n{source.day}" if source.kind == "line" else ""
    forms = dict.fromkeys(_forms(source))
    return [_hmac(f"{_SALTS[source.kind]}.{persona.uuid}", form + day) for form in forms]


def _forms(source: TombstoneSource) -> Iterator[str]:
    """The inputs of the digests, the current one first, normalised as the kind requires."""
    text = source.text
    if source.kind == "external":
        yield text
    elif source.kind == "draft":
        yield f"draft {source.label} {sha256(comparable_form(text).encode()).hexdigest()}"
        yield f"draft {source.label} {drafts.content_hash(text)}"
    elif source.kind == "name":
        yield person_names.normalize_name(plain_form(text))
        yield person_names.normalize_name(text)
    else:
        yield comparable_form(text)
        yield normalize_text(text)


def _hmac(salt: str, value: str) -> str:
    return salted_hmac(salt, value, secret=settings.TOMBSTONE_KEY, algorithm="sha256").hexdigest()
