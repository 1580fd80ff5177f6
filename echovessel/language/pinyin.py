"""The sounds of Chinese text without tones: those that pypinyin gives, in a third of its memory (16 MB).

pypinyin knows the sounds of single characters, and of 47,000 phrases in which a character may sound otherwise: 「银行」
is "yin hang". As objects of Python the phrases take 45 MB; here they are sorted arrays (2026-11).
"""

import json
import os
import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np

# pypinyin reads this when it is imported, and then leaves out its own copy of the phrases.
os.environ.setdefault("PYPINYIN_NO_PHRASES", "1")
_ENTRY = re.compile(r'"([^"]+)":\s*(\[(?:\s*\[[^\]]*\],?)*\s*\])')


class Phrases(NamedTuple):
    """The phrases in ascending order. `text[start:end]`, with (start, end) in `spans`, has the sounds of each in UTF-8:
    spaces separate its syllables, and commas the readings of one."""

    words: np.ndarray
    spans: np.ndarray
    text: bytes


def sounds(text: str) -> list[str]:
    """The likeliest sound of each character; other text as it is (`pypinyin.lazy_pinyin`).

    >>> sounds("我去银行 ok")
    ['wo', 'qu', 'yin', 'hang', ' ok']
    """
    return [readings[0] for readings in possible_sounds(text)]


def possible_sounds(text: str) -> list[list[str]]:
    """All sounds of each character, of a phrase only those that it has there (`pypinyin.pinyin`, heteronyms included).

    >>> possible_sounds("乐"), possible_sounds("音乐")
    ([['le', 'yue']], [['yin'], ['yue']])
    """
    from pypinyin import Style, pinyin  # noqa: PLC0415  (its characters cost 9 MB: only where Chinese text is)
    from pypinyin.constants import RE_HANS  # noqa: PLC0415
    from pypinyin.seg.simpleseg import simple_seg  # noqa: PLC0415

    syllables: list[list[str]] = []
    for run in simple_seg(text):
        for word, readings in _cut(run) if RE_HANS.match(run) else [(run, None)]:
            syllables += readings or pinyin(word, style=Style.NORMAL, heteronym=True)
    return syllables


def _cut(run: str) -> Iterator[tuple[str, list[list[str]] | None]]:
    """The words of Chinese text, cut as pypinyin does: the longest phrase that is there, with its sounds, else one
    character. If the rest is the beginning of a phrase and contains none there, it is cut into characters."""
    phrases = load_phrases()
    while run:
        length, place, found = 0, 0, -1
        # Go on as long as some phrase begins with these characters.
        while length < len(run):
            place = bisect_left(phrases.words, run[: length + 1], place)
            if place == len(phrases.words) or not phrases.words[place].startswith(run[: length + 1]):
                break
            length += 1
            found = place if phrases.words[place] == run[:length] else found
        if found >= 0:
            start, end = phrases.spans[found]
            readings = [syllable.split(",") for syllable in phrases.text[start:end].decode().split(" ")]
            word = str(phrases.words[found])
            yield word, readings
            run = run[len(word) :]
        else:
            count = len(run) if length == len(run) else 1
            yield from ((character, None) for character in run[:count])
            run = run[count:]


@cache
def load_phrases() -> Phrases:
    from pypinyin import Style  # noqa: PLC0415
    from pypinyin.style import convert  # noqa: PLC0415

    to_sound = cache(lambda reading: convert(reading, Style.NORMAL, strict=True))
    words, spans, text = list[str](), array("I"), bytearray()
    for entry in _ENTRY.finditer((resources.files("pypinyin") / "phrases_dict.json").read_text(encoding="utf-8")):
        start = len(text)
        syllables = (",".join(dict.fromkeys(map(to_sound, readings))) for readings in json.loads(entry[2]))
        text += " ".join(syllables).encode()
        words.append(entry[1])
        spans.extend((start, len(text)))
    order = np.argsort(np.array(words), kind="stable")
    return Phrases(np.array(words)[order], np.array(spans, dtype=np.uint32).reshape(-1, 2)[order], bytes(text))
