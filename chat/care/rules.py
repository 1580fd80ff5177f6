"""The first ear: phrases. What only sounds alike does not count ("cost breakdown", 「笑死我了」), nor do news and
fiction, as far as a rule can tell them. Pure.

The time grows with the text and no faster: patterns are of bounded length, and are tried only around their key words.
Measured 2026-11-21: 0.04 ms for a short message, 9 ms for 20,000 characters of prose, 28 for as many of near-cries.
"""

import re
from collections.abc import Iterator

from chat.care.disguises import forms
from chat.care.phrase import Phrase
from chat.care.phrases import CHINESE, ENGLISH, PINYIN

_LATIN, _HAN = re.compile("[a-z]{3}"), re.compile("[\u3400-\u9fff]")


def speaks_by_rule(text: str) -> bool:
    """Whether `text` holds a phrase of a cry, plain or in light disguise."""
    return any(phrase.is_in(form) for form in forms(text) for phrase in _phrases_for(form))


def _phrases_for(form: str) -> Iterator[Phrase]:
    if _LATIN.search(form):
        yield from ENGLISH
        yield from PINYIN
    if _HAN.search(form):
        yield from CHINESE
