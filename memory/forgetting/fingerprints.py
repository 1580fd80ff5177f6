"""Prints: by them what went is known again, though nobody knows what it was.

A print is a keyed digest of eight words that followed each other. Without the installation's key no words can be tried
against it, and a text of less than eight words leaves none.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import islice

from django.conf import settings

from echovessel.language import tokenizer

WINDOW = 8
MOST = 200
_BYTES = 8


def of(texts: Iterable[str], but: Iterable[str] = ()) -> list[str]:
    """The prints of these texts, at most 200, taken evenly from all of them; none that a text of `but` has, too."""
    kept = {one for text in but for one in in_text(text)}
    found = [one for one in dict.fromkeys(one for text in texts for one in in_text(text)) if one not in kept]
    step = -(-len(found) // MOST) or 1
    return found[::step]


def in_text(text: str) -> Iterator[str]:
    """The print of each window of a text."""
    return in_tokens(tokenizer.tokenize(text))


def in_tokens(tokens: list[str]) -> Iterator[str]:
    """The print of each window of words that were cut already."""
    key = hashlib.sha256(f"memory.forgetting.prints {settings.TOMBSTONE_KEY}".encode()).digest()
    for window in zip(*(islice(tokens, first, None) for first in range(WINDOW)), strict=False):
        yield hashlib.blake2b(" ".join(window).encode(), key=key, digest_size=_BYTES).hexdigest()
