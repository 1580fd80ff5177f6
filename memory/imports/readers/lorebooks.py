"""Reads and writes entries of a lorebook: the book of a card, a separate one (lorebook_v3), SillyTavern's world info,
and files of NovelAI, Agnai and RisuAI.

The keys of an entry are words to look for. Some books call them regular expressions; patterns of files are never run.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile
from typing import Any

from django.utils.translation import gettext as _

from memory.imports.readers.types import ImportRejected, Limits, Lore, Skipped, digest

# Under this key `rest` keeps the decorators, the lines that begin with "@@" above the content. An entry's own field
# with this name is kept there in a list.
DECORATORS = "@@"
# Other programs' names of the fields of an entry.
_NAMED = {
    "key": "keys", "keywords": "keys", "comment": "name", "displayName": "name", "text": "content", "entry": "content",
}  # fmt: skip
_WORDS_APART = re.compile(r"\s*[,，]\s*")


def book_entries(book: Any, location: str) -> Iterator[Lore | Skipped]:
    """Each entry of a book in the format of the card specifications, in order."""
    for number, entry in enumerate(book["entries"] if has_entries(book) else (), 1):
        place = _("%(book)s, entry %(number)d") % {"book": location, "number": number}
        yield _lore(dict(entry), place) if isinstance(entry, dict) else Skipped(place, "broken")


def standalone(document: Mapping[str, Any], limits: Limits) -> Iterator[Lore | Skipped]:
    """The entries of a book without a card; those without text, or with too much, are skipped."""
    # SillyTavern has an object with its entries by number; others have a list, some under "data".
    data = document.get("data")
    entries = document.get("entries", data.get("entries") if isinstance(data, dict) else data)
    if not entries or not isinstance(entries, dict | list):
        raise ImportRejected("nothing_found")
    for number, entry in enumerate(entries.values() if isinstance(entries, dict) else entries, 1):
        place = _("%(book)s, entry %(number)d") % {"book": _("lorebook"), "number": number}
        if not isinstance(entry, dict):
            yield Skipped(place, "broken")
            continue
        # The entry with field names and lists of keys as in card specifications. A field that already has the usual
        # name is kept.
        usual = {name: value for name, value in entry.items() if name not in _NAMED and name != "disable"}
        usual = {_NAMED[name]: value for name, value in entry.items() if name in _NAMED} | usual
        if isinstance(usual.get("keys"), str):
            usual["keys"] = [key for key in _WORDS_APART.split(usual["keys"].strip()) if key]
        if "disable" in entry:
            usual["enabled"] = not entry["disable"]
        lore = _lore(usual, place)
        is_long = len(lore.content.encode()) > limits.message_bytes
        yield Skipped(place, "too_long" if is_long else "empty") if is_long or not lore.content.strip() else lore


def _lore(rest: dict[str, Any], location: str) -> Lore:
    keys = tuple(lore_of(rest, "keys", are_texts, ()))
    name = lore_of(rest, "name", is_named, "")
    enabled = lore_of(rest, "enabled", lambda value: isinstance(value, bool), True)
    content = lore_of(rest, "content", is_text, "")
    if DECORATORS in rest:
        rest[DECORATORS] = [rest[DECORATORS]]
    elif content.startswith("@@"):
        # The decorators above a content, with blank lines among them; joined they are the original text.
        lines = content.splitlines(keepends=True)
        above = "".join(takewhile(lambda line: line.startswith("@@") or not line.strip(), lines))
        rest[DECORATORS], content = above, content.removeprefix(above)
    return Lore(keys, content, name, enabled, digest("lore", keys, name, content), location, rest)


def entry_of(lore: Lore) -> dict[str, Any]:
    """The entry in the format of a book, including what `rest` kept."""
    rest = dict(lore.other_data)
    decorators = rest.pop(DECORATORS, "")
    rest |= {DECORATORS: decorators[0]} if isinstance(decorators, list) else {}
    name_field = {"name": lore.name} if lore.name else {}
    content = lore.content if isinstance(decorators, list) else decorators + lore.content
    own = {"keys": list(lore.keys), "content": content, "enabled": lore.enabled}
    needed = {"extensions": {}, "insertion_order": 100}
    return needed | own | name_field | rest


def has_entries(book: Any) -> bool:
    return isinstance(book, dict) and isinstance(book.get("entries"), list)


def lore_of(rest: dict[str, Any], key: str, fits: Callable[[Any], bool], otherwise: Any) -> Any:
    """The value under `key`, moved out of `rest`; a value that does not fit stays there."""
    return rest.pop(key) if key in rest and fits(rest[key]) else otherwise


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_named(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)
