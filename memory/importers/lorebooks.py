"""Entries of a lorebook, and back: the book of a card, one on its own (lorebook_v3), and SillyTavern's world info.

The keys of an entry are words to look for. Some books call them regular expressions; nobody's patterns are run here.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from django.utils.translation import gettext as _

from memory.importers.types import ImportRejected, Limits, Lore, Skipped, digest

# Under this key `rest` keeps the decorators, the lines that begin with "@@" above the content. A field of the entry
# that is itself called so is kept there in a list.
DECORATORS = "@@"


def book_entries(book: Any, where: str) -> Iterator[Lore | Skipped]:
    """Each entry of a book as the card specifications have it, in order."""
    for number, entry in enumerate(book["entries"] if has_entries(book) else (), 1):
        place = _("%(book)s, entry %(number)d") % {"book": where, "number": number}
        yield _lore(dict(entry), place) if isinstance(entry, dict) else Skipped(place, "broken")


def standalone(document: Mapping[str, Any], limits: Limits) -> Iterator[Lore | Skipped]:
    """The entries of a book that comes without a card, those apart that say nothing or too much."""
    found = _world_info(document) if isinstance(document.get("entries"), dict) else _lorebook(document)
    for item in found:
        yield _told(item, limits) if isinstance(item, Lore) else item


def _lorebook(document: Mapping[str, Any]) -> Iterator[Lore | Skipped]:
    if not has_entries(document.get("data")):
        raise ImportRejected("nothing_found")
    return book_entries(document["data"], _("lorebook"))


def _world_info(document: Mapping[str, Any]) -> Iterator[Lore | Skipped]:
    """SillyTavern keys its entries by number and has names of its own for their fields."""
    for number, entry in enumerate(document["entries"].values(), 1):
        place = _("%(book)s, entry %(number)d") % {"book": _("lorebook"), "number": number}
        if not isinstance(entry, dict):
            yield Skipped(place, "broken")
            continue
        renamed = {"key": "keys", "comment": "name"}
        named: dict[str, Any] = {renamed.get(name) or name: entry[name] for name in entry if name != "disable"}
        yield _lore(named | {"enabled": not entry.get("disable")}, place)


def _told(lore: Lore, limits: Limits) -> Lore | Skipped:
    if not lore.content.strip():
        return Skipped(lore.where, "empty")
    return lore if len(lore.content.encode()) <= limits.message_bytes else Skipped(lore.where, "too_long")


def _lore(rest: dict[str, Any], where: str) -> Lore:
    keys = tuple(taken(rest, "keys", _is_words, ()))
    name = taken(rest, "name", is_named, "")
    enabled = taken(rest, "enabled", lambda value: isinstance(value, bool), True)
    content = taken(rest, "content", is_text, "")
    decorators, content = _apart(content) if DECORATORS not in rest else ([rest[DECORATORS]], content)
    rest |= {DECORATORS: decorators} if decorators else {}
    return Lore(keys, content, name, enabled, digest("lore", keys, name, content), where, rest)


def _apart(content: str) -> tuple[str, str]:
    """The decorators above a content, and the content itself; together they are what was there."""
    lines = content.splitlines(keepends=True)
    last = next((number for number, line in enumerate(lines) if line.strip() and not line.startswith("@@")), len(lines))
    if not lines or not lines[0].startswith("@@"):
        return "", content
    return "".join(lines[:last]), "".join(lines[last:])


def entry_of(lore: Lore) -> dict[str, Any]:
    """The entry as a book has it, what `rest` kept included."""
    rest = dict(lore.rest)
    kept = rest.pop(DECORATORS, "")
    rest |= {DECORATORS: kept[0]} if isinstance(kept, list) else {}
    named = {"name": lore.name} if lore.name else {}
    content = lore.content if isinstance(kept, list) else kept + lore.content
    own = {"keys": list(lore.keys), "content": content, "enabled": lore.enabled}
    needed = {"extensions": {}, "insertion_order": 100}
    return needed | own | named | rest


def has_entries(book: Any) -> bool:
    return isinstance(book, dict) and isinstance(book.get("entries"), list)


def taken(rest: dict[str, Any], key: str, fits: Callable[[Any], bool], otherwise: Any) -> Any:
    """The value under `key`, moved out of `rest`; what does not fit stays there."""
    return rest.pop(key) if key in rest and fits(rest[key]) else otherwise


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_named(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_words(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)
