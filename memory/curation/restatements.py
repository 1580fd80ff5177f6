"""Restatements: whether a text repeats content that is to be forgotten. Pure.

A reply repeats what the owner wrote ("You told me that your cat died"), and so may a later one that recalled it. A
restatement in entirely other words is not found; the preview says so.
"""

import re
from collections.abc import Iterable
from functools import cache, cached_property

from echovessel.embeddings import bundled_model
from echovessel.language import tokenizer
from echovessel.language.common_words import is_everyday
from echovessel.language.person_names import UNSPACED_LETTER, occurs
from echovessel.language.plain_text import comparable_form
from memory.store.tombstones import is_telling
from persona.models import Persona

MIN_SHARED = 2
# Words of courtesy, whatever the subject.
COURTESIES = frozenset(
    tokenizer.tokenize(
        "thank thanks wow glad awesome amazing excited support appreciate help enjoy hope cool share stay wait "
        "谢谢 开心 希望 加油 支持 享受 期待 分享"
    )
)
MIN_SHARE = 3  # a third of the shorter one: two long messages share two words by chance


class Statement:
    """The texts of content to forget: description, earlier versions and quotes of one memory, or one message."""

    def __init__(self, texts: Iterable[str], names: frozenset[str]) -> None:
        self._written = sorted({text for text in texts if comparable_form(text)})
        self.texts = sorted({comparable_form(text) for text in self._written})
        self._names = names

    @cached_property
    def telling(self) -> frozenset[str]:
        return frozenset(token for text in self._written for token in telling_words(text, self._names))

    @cached_property
    def literal(self) -> list[str]:
        """The texts that are so distinctive that nobody writes them by chance."""
        return [text for text in self.texts if is_telling(text)]

    def is_repeated_by(self, reply: str) -> bool:
        """Whether a reply restates it: it contains it, or shares enough significant words with it, measured by the
        shorter of the two."""
        text_words = telling_words(reply, self._names)
        shared = len(self.telling & text_words)
        is_much = shared * MIN_SHARE >= min(len(self.telling), len(text_words))
        return (shared >= MIN_SHARED and is_much) or self.is_contained_in(reply)

    def is_contained_in(self, text: str) -> bool:
        """Whether a text contains it word for word, up to case, punctuation and spaces."""
        return contains(text, self.literal)


def contains(text: str, words: Iterable[str]) -> bool:
    """Whether `text` contains one of the normalised texts `words` as whole words."""
    padded = _padded(comparable_form(text))
    return any(_padded(word) in padded if not UNSPACED_LETTER.search(word) else word in padded for word in words)


def is_named(name: str, content: str) -> bool:
    """Whether a message names somebody. Will and May count only if they are spelled like the name."""
    is_word = all(tokenizer.is_function_word(token) or token in is_everyday() for token in tokenizer.tokenize(name))
    return occurs(name, content) and (name in content or not is_word)


def telling_words(text: str, names: frozenset[str]) -> set[str]:
    """The significant words of a text: no everyday words, and no names of owner and persona.

    A text without spaces is cut into pairs of characters. 「林子：我…」 and 「林子对…」 would give a pair of the
    name's last character and the next word's first, which is rare and means nothing.

    >>> sorted(telling_words("林子：“我对芒果过敏。”", frozenset(tokenizer.tokenize("林子"))))
    ['对芒', '果过', '芒果', '过敏']
    """
    pairs = [re.escape(name) for name in names if len(name) == 2 and UNSPACED_LETTER.match(name)]
    if pairs:
        starts = [match.start() for match in re.finditer(f"(?={'|'.join(pairs)})", text)]
        in_names = {at + step for at in starts for step in (0, 1)}
        text = "".join(" " if at in in_names else sign for at, sign in enumerate(text))
    telling = (token for token in tokenizer.content_words(text) if len(token) > 1 or not UNSPACED_LETTER.match(token))
    return {token for token in telling if token not in is_everyday() and token not in names and token not in COURTESIES}


def names_of(persona: Persona) -> frozenset[str]:
    """The words of the names of owner and persona."""
    return frozenset(tokenizer.tokenize(f"{persona.name} {persona.user_display_name}"))


def _padded(plain: str) -> str:
    return f" {plain} "


# --- how common an English word is ---------------------------------------------------------------------------------
# Ranks (2026-11): mother 2,388, doctor 3,460, garden 3,871, coffee 4,157, divorce 8,179, pottery 11,378, dentist
# 24,385; sarcoidosis is not in the list.
COMMON = 3_500  # such a word says nothing by itself
TELLING = 10_000  # a rarer one is hardly repeated by chance


_COUNTING = frozenset("一二两三四五六七八九十百千万几半第个只条张本件位名块双年月日号点分钟")


@cache
def _ranks() -> dict[str, int]:
    """The rank of each of the commoner words, by token."""
    pieces = (bundled_model.FOLDER / "vocab.txt").read_text(encoding="utf-8").splitlines()[:TELLING]
    ranks: dict[str, int] = {}
    for rank, piece in enumerate(pieces):
        if piece.isascii() and piece.isalpha():
            for token in tokenizer.tokenize(piece):
                ranks.setdefault(token, rank)
    return ranks


def is_common(token: str) -> bool:
    """Whether the word is common in any context; numbers too. A pair of Chinese characters with a common character is
    usually part of two words."""
    if not token.isascii():
        return any(tokenizer.is_function_word(sign) or sign in is_everyday() or sign in _COUNTING for sign in token)
    return token.isdecimal() or len(token) < 3 or _ranks().get(token, TELLING) < COMMON


def is_telling_alone(token: str) -> bool:
    """Whether the word is hardly used by chance. A pair of Chinese characters may be part of two words, so it is
    not."""
    return token.isascii() and not is_common(token) and token not in _ranks()
