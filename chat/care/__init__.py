"""Whether a line of the user speaks of a crisis: suicide, self-harm, danger, not being able to go on. Pure.

No model is asked, so that help is there at once and without a network. In English and Chinese (both scripts) a cry is
known by phrases: the words of seed 000, plain first-person cries, questions that are cries, what is said on the net,
and all of it in light disguise. Made to miss little: help that was not needed is folded away, a cry that was missed
is heard by nobody. What only sounds alike does not count ("cost breakdown", 「笑死我了」), nor do news and fiction, as
far as a rule can tell them. Other languages it does not understand.

The time grows with the line and no faster: patterns are of bounded length, and are tried only around their key words.
Measured 2026-11-21: 0.04 ms for a short line, 9 ms for 20,000 characters of prose, 28 for as many of near-cries alone.
"""

import re
from collections.abc import Iterator

from chat.care.disguises import forms
from chat.care.phrase import Phrase
from chat.care.phrases_en import ENGLISH
from chat.care.phrases_zh import CHINESE, PINYIN

_LATIN, _HAN = re.compile("[a-z]{3}"), re.compile("[\u3400-\u9fff]")


def speaks_of_crisis(text: str) -> bool:
    """Whether `text` speaks of not wanting, or not being able, to go on.

    >>> [speaks_of_crisis(text) for text in ("I want to die", "我 不 想 活 了", "dying to see you", "电脑崩溃了")]
    [True, True, False, False]
    """
    return any(phrase.is_in(form) for form in forms(text) for phrase in _phrases_for(form))


def _phrases_for(form: str) -> Iterator[Phrase]:
    if _LATIN.search(form):
        yield from ENGLISH
        yield from PINYIN
    if _HAN.search(form):
        yield from CHINESE
