"""Decide whether two descriptions say the same. Pure.

A cosine alone cannot decide it. Measured with the bundled model on 2026-11-21: "Ana's mother died." and "Ana's father
died." have 0.93; 「我们周五见面」 and 「我们周六见面」 have 0.93, too. So the words must agree as well: a
description is a duplicate only if it adds nothing to the older one and has the same order, because "from Paris to Rome"
and "from Rome to Paris" have the same words.
"""

import hashlib
import re
from datetime import date

from echovessel.language import tokenizer
from echovessel.language.plain_text import normalize_text

DateRange = tuple[date, date]

# Words that carry a fact without being part of it: "a cat named Milo" is "a cat called Milo".
_CARRIERS = frozenset(tokenizer.tokenize("""
    call name say said tell told mention share describe explain report express also again still really very quite
    recently currently now just there it its this that had got one
""")) | frozenset("一个只位名叫字说讲提告诉示过着很也又再还并且非常这那它他她")  # fmt: skip
_NEGATION_WORDS = re.compile(r"\b(?:not|no|never|nobody|nothing|none|without|cannot)\b|n't\b")
_NEGATION_SIGNS = re.compile("[不没别无未]")


def content_hash(text: str) -> str:
    """SHA-256 of the normalised text: NFKC, case folded, punctuation stripped, spaces collapsed.

    >>> content_hash("Ana  has a CAT.") == content_hash("ana has a cat！")
    True
    """
    return hashlib.sha256(normalize_text(text).encode()).hexdigest()


def adds_nothing(text: str, other_text: str) -> bool:
    """Whether `text` contains no word, number or negation that `other_text` does not contain in this order.

    >>> adds_nothing("Ana's cat is called Milo.", "Ana has a cat named Milo.")
    True
    >>> adds_nothing("Ana has 3 cats.", "Ana has 2 cats.")
    False
    """
    remaining_words = iter(_content(other_text))
    return all(word in remaining_words for word in _content(text)) and denials(text) == denials(other_text)


def telling_words(text: str) -> set[str]:
    """The content words of a text; for scripts without spaces the pairs of characters."""
    return {token for token in tokenizer.content_words(text) if len(token) > 1}


def dates_conflict(first: DateRange | None, other: DateRange | None) -> bool:
    """Whether two day ranges (first, last) do not overlap, so that they cannot belong to one event."""
    if first is None or other is None:
        return False
    return first[1] < other[0] or other[1] < first[0]


def _content(text: str) -> list[str]:
    """The content words of `text` in order; for scripts without spaces the single characters, not their pairs."""
    content = {token for token in tokenizer.content_words(text) if len(tokenizer.tokenize(token)) == 1} - _CARRIERS
    return [token for token in tokenizer.tokenize(text) if token in content]


def denials(text: str) -> int:
    plain = text.casefold().replace("\u2019", "'")
    return len(_NEGATION_WORDS.findall(plain)) + len(_NEGATION_SIGNS.findall(plain))
