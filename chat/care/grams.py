"""The parts of a line that the classifier counts: pieces of words and characters, each as a number of a bucket. Pure.

English: words (1 to 3 in a row) and pieces of words (2 to 5 characters). Chinese: characters (1 to 3 in a row), their
sounds (pinyin without tones, against wrong characters of the same sound) and the English words of the dictionary. The
buckets of one kind of part have a common weight of 1, so that no kind outvotes another by its number.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

BUCKETS = 1 << 15
_TOKEN = re.compile(r"[a-z0-9]+|[^\sa-z0-9]")
_WORD = re.compile(r"[a-z0-9]+")


def english_parts(plain: str) -> Iterator[list[str]]:
    tokens = _TOKEN.findall(plain)
    yield list(_rows("w", tokens, 3, " "))
    yield [
        "c" + padded[start : start + length]
        for word in plain.split()
        for padded in [f" {word[:40]} "]
        for length in range(2, 6)
        for start in range(max(1, len(padded) - length + 1))
    ]


def chinese_parts(plain: str, glossed: str) -> Iterator[list[str]]:
    from pypinyin import lazy_pinyin  # noqa: PLC0415  (its dictionaries cost 0.3 s: only where a Chinese message is)

    characters = [character for character in plain if not character.isspace()]
    yield list(_rows("z", characters, 3, ""))
    yield list(_rows("p", [sound for sound in lazy_pinyin(plain) if not sound.isspace()], 3, " "))
    yield list(_rows("g", _WORD.findall(glossed), 2, " "))


def counts(kinds: Iterable[list[str]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each kind of part the buckets and how much each counts, before what is common counts less."""
    return [_count(parts) for parts in kinds]


def weigh(kinds: Sequence[tuple[np.ndarray, np.ndarray]], rarity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All buckets of a line and their weights: rare ones count more, and each kind of part has the same length."""
    weighed = []
    for buckets, amounts in kinds:
        values = amounts * rarity[buckets]
        length = math.sqrt(float(values @ values) * len(kinds))
        weighed.append(values / length if length else values)
    return np.concatenate([buckets for buckets, _ in kinds]), np.concatenate(weighed)


def _count(parts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    buckets = Counter(zlib.crc32(part.encode(errors="surrogatepass")) % BUCKETS for part in parts)
    amounts = 1 + np.log(np.fromiter(buckets.values(), np.float64, len(buckets)))
    return np.fromiter(buckets, np.int64, len(buckets)), amounts


def _rows(kind: str, tokens: Sequence[str], longest: int, between: str) -> Iterator[str]:
    for length in range(1, longest + 1):
        for start in range(len(tokens) - length + 1):
            yield kind + between.join(tokens[start : start + length])
