"""A phrase by which a cry is known: the words of it, and what must not stand around them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

LONGEST = 160  # characters from a key word, either side, within which its phrase lies
LOOKED_AT = 48  # characters before and after the words
SENTENCE_LOOKED_AT = 160  # characters either side, in which news and fiction are told by their words
_ENDS = ".!?。！？\n"


@dataclass(frozen=True)
class Phrase:
    """A way to say it.

    `keys` are plain texts of which at least one stands in whatever `words` finds; without any, nothing is tried.
    Where `not_before` matches up to the words, or `not_after` from their end, something else is meant; and where their
    sentence speaks of what is `told` (news, fiction), unless `own` matches up to them.
    """

    keys: tuple[str, ...]
    words: re.Pattern[str]
    not_before: re.Pattern[str] | None = None
    not_after: re.Pattern[str] | None = None
    told: re.Pattern[str] | None = None
    own: re.Pattern[str] | None = None

    def is_in(self, text: str) -> bool:
        """Whether `text`, in one of its plain forms, holds the phrase and means it."""
        return any(
            self._is_meant(text, found)
            for start, end in _around(self.keys, text)
            for found in self.words.finditer(text, start, end)
        )

    def _is_meant(self, text: str, found: re.Match[str]) -> bool:
        before = text[max(0, found.start() - LOOKED_AT) : found.start()]
        if self.not_before and self.not_before.search(before):
            return False
        if self.not_after and self.not_after.match(text, found.end(), found.end() + LOOKED_AT):
            return False
        return self.told is None or not self._is_told(text, before, found)

    def _is_told(self, text: str, before: str, found: re.Match[str]) -> bool:
        """Whether it is what somebody else said or did, in the news or in a story."""
        if self.own and self.own.search(before):
            return False
        return bool(self.told and self.told.search(_sentence(text, found.start(), found.end())))


def _around(keys: Sequence[str], text: str) -> list[tuple[int, int]]:
    """The pieces of `text` in which a key stands, with what may belong to it; no character is in two."""
    if len(text) <= 2 * LONGEST:
        return [(0, len(text))] if any(key in text for key in keys) else []
    at = sorted(place for key in keys for place in _places(key, text))
    pieces: list[tuple[int, int]] = []
    for place in at:
        start, end = max(0, place - LONGEST), place + LONGEST
        if pieces and start <= pieces[-1][1]:
            start = pieces.pop()[0]
        pieces.append((start, end))
    return pieces


def _places(key: str, text: str) -> Iterator[int]:
    place = text.find(key)
    while place >= 0:
        yield place
        place = text.find(key, place + len(key))


def _sentence(text: str, start: int, end: int) -> str:
    before = text[max(0, start - SENTENCE_LOOKED_AT) : start]
    after = text[end : end + SENTENCE_LOOKED_AT]
    begins = max(before.rfind(sign) for sign in _ENDS) + 1
    ends = min((at for sign in _ENDS if (at := after.find(sign)) >= 0), default=len(after))
    return f"{before[begins:]}{text[start:end]}{after[:ends]}"
