"""The impact of a sentence on the scale of seed 001 (−10 … 10), by small English and Chinese lists.

Only for gates: whether a memory shocks, and which words come before others. `chat.care` decides whether words are about
a crisis. It is no model of emotion, and its results are never shown to people as their feelings: the strongest word
decides, and a negation before it reverses and weakens it.
"""

import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Self

from echovessel.language import lazy_re as re
from echovessel.language.plain_text import straighten
from echovessel.language.sentences import CJK, sentences
from echovessel.language.stories import is_of_a_story

# The impact of an illness.
ILL = -6
LATIN_WORD = re.compile("[a-z]{3}")


@dataclass(frozen=True)
class Feeling:
    """An impact, and the words and patterns that show it; `ascii_patterns` are those that can match a text without
    Chinese characters."""

    weight: int
    words: Sequence[str]
    patterns: Sequence[re.Pattern[str]]
    ascii_patterns: Sequence[re.Pattern[str]]

    @classmethod
    def of(cls, weight: int, words: str, patterns: Sequence[str]) -> Self:
        # Compiled here: there are more patterns than `re` caches.
        compiled = {pattern: re.compile(pattern) for pattern in patterns}
        ascii_patterns = [
            compiled[pattern] for pattern in patterns if LATIN_WORD.search(pattern) or not CJK.search(pattern)
        ]
        return cls(weight, words.split("|"), list(compiled.values()), ascii_patterns)


@cache
def load_feelings() -> tuple[Sequence[Feeling], Sequence[tuple[re.Pattern[str], str]]]:
    """The feelings, and the sayings with their meanings, of `feelings.toml`."""
    tables = tomllib.loads(Path(__file__).with_name("feelings.toml").read_text(encoding="utf-8"))
    parts: dict[str, str] = {}

    def fill(pattern: str) -> str:
        return re.sub(r"<([A-Z_]+)>", lambda name: parts[name[1]], pattern)

    for name, pattern in tables["parts"].items():
        parts[name] = fill(pattern)
    feelings = [
        Feeling.of(entry["weight"], entry["words"], list(map(fill, entry.get("patterns", ()))))
        for entry in tables["feelings"]
    ]
    return feelings, [(re.compile(fill(saying["pattern"])), saying["meant"]) for saying in tables["sayings"]]


# "I never felt so happy" and 从没这么开心过 strengthen the word that they seem to negate.
RAISED = re.compile(
    r"\bnever\s+(?:\w+\s+){0,3}?(?:so|this|more|as|such|happier)\s+(?:\w+\s+)?$|"
    r"\bnever\s+(?:been|felt)\s+$|\bcouldn't be (?:more )?$|没(?:有)?(?:这么|那么这么|如此)$"
)
# Characters that have another meaning inside these words.
NOT_MEANT = {
    "爱": "可爱|恋爱|爱好|爱人|亲爱|爱情|没(?:有)?人[^，。]{0,4}爱",
    "累": "积累|累计|累积",
    "烦": "麻烦",
    "哭": "笑哭|哭笑",
}
NOT_BEFORE_ZH = re.compile(
    r"(?:(?<![是好对])不|没|别|不太|不怎么|没那么|不是很|并不)(?:太|怎么|很|是很|那么|再|会|觉得|感到)?$"
)
NOT_BEFORE_EN = re.compile(
    r"(?:\bnot|n't|\bnever|\bno longer|\bno|\bwithout|\bhardly)\s+(?:\w+\s+)?$|"
    r"(?:\bcan't say|\bcannot say|\bcan't call|\bdon't think|\bdoubt|\bwish|\bif only)\b[^.,;!?]{0,24}$"
)
# 「结了婚」 is 「结婚」.
SPLIT_ZH = re.compile(
    "([结离订求毕失分怀住生辞升退破出])[了过完成]+(婚|业|手|孕|院|病|职|休|产|轨)|(婚)(?:已经|终于|也|就)?(结|离)"
)
SOFTENED = 0.5
LIGHT = 4  # limit for feelings caused by a story
# A serious event that did not happen is not good news; it counts 0.
DENIED_TO_NOTHING = -7
A_PET = "猫"


def impact_of(text: str, near: Iterable[str] = ()) -> int:
    """The impact of `text`. Events in a film, in the news or in cells have a low impact. `near` are Chinese names of
    people and pets: the subject decides the meaning of 走了.

    >>> [impact_of(text) for text in ("妈妈去世了", "I'm not happy", "我先走了", "The hero dies in the film.")]
    [-9, -2, 0, 0]
    """
    weights = []
    feelings, sayings = load_feelings()
    for name in near:
        text = text.replace(name, A_PET) if CJK.search(name) else text
    for start, end in sentences(text):
        lower = SPLIT_ZH.sub(
            lambda parts: f"{parts[1] or parts[4]}{parts[2] or parts[3]}", straighten(text[start:end].casefold())
        )
        for saying, weight in sayings:  # otherwise their words would match a feeling
            lower = saying.sub(weight, lower)
        limit = LIGHT if is_of_a_story(lower) else max(abs(feeling.weight) for feeling in feelings)
        weights += [_impact(feeling, lower) for feeling in feelings if abs(feeling.weight) <= limit]
    # "My pregnant cousin is in hospital" is no good news.
    return ILL if ILL in weights and max(weights) > 0 else max(weights, key=abs, default=0)


def _impact(feeling: Feeling, lower: str) -> int:
    """The impact of one feeling in a text; 0 if nothing shows it."""
    present = (word for word in feeling.words if word in lower)
    starts = [match.start() for word in present for match in _matches(word, lower)]
    patterns = feeling.ascii_patterns if lower.isascii() else feeling.patterns
    starts += [match.start() for pattern in patterns for match in pattern.finditer(lower)]
    weights = []
    for start in starts:
        before = lower[max(0, start - 40) : start]
        if RAISED.search(before) or not (NOT_BEFORE_ZH.search(before) or NOT_BEFORE_EN.search(before)):
            weights.append(feeling.weight)
        elif feeling.weight > DENIED_TO_NOTHING:
            weights.append(round(-feeling.weight * SOFTENED))
    return max(weights, key=abs, default=0)


@cache
def _pattern_of(word: str) -> re.Pattern[str]:
    return re.compile(re.escape(word) if CJK.search(word) else rf"(?<![a-z]){re.escape(word)}(?![a-z'])")


def _matches(word: str, lower: str) -> list[re.Match[str]]:
    if word in NOT_MEANT:
        lower = re.sub(NOT_MEANT[word], lambda match: " " * len(match[0]), lower)
    return list(_pattern_of(word).finditer(lower))
