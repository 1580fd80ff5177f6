"""Near-duplicates: memories and messages with the same content, of which one is enough. Pure.

A cosine alone does not decide: "Ana's mother died" is near "Ana's father died" (store/deduplication.py). Two memories
are duplicates if their meanings are near, neither has a number, a day, a relative or a name that the other lacks, and
they are not the same sentence with one word replaced. Messages have no vector: a message is a duplicate if nearly all
its words are in what is shown.
"""

import re
from operator import add

from echovessel.language import tokenizer
from memory.store.deduplication import denials

# A message is a duplicate if this share of its words is shown, and it has enough words to mean something.
SHOWN_SHARE = 0.8
MIN_WORDS = 4
# Texts that share this much of their words are one sentence; the differing words count: "a red car", "a blue car".
SAME_SENTENCE = 0.6

_SPACED = re.compile(r"[a-z0-9]+(?:'[a-z]+)?")
_UNSPACED = re.compile("[\u3400-\u9fff]+")
_NAME = re.compile(r"\b[A-Z][\w’']*|《[^》]*》")
_PLAN = re.compile(
    r"\b(?:plan\w*|hop(?:e|es|ing)|wants?|will|going to|wish\w*|dreams? of)\b|打算|计划|想要?|希望|将|准备", re.I
)
_DETAIL = re.compile(
    r"\d+|\b(?:two|three|four|five|six|seven|eight|nine|ten|first|second|third|fourth|fifth|twice|last|next"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september|october"
    r"|november|december|mother|mom|mum|father|dad|parents?|brother|sister|son|daughter|husband|wife|grand\w+|uncle"
    r"|aunt|cousin|nephew|niece|boyfriend|girlfriend|partner|boss|won|lost|stopped|quit|yesterday|tomorrow)\b"
    r"|[一二两三四五六七八九十]+|[妈爸母父哥弟姐妹爷奶姥叔舅姨姑赢输昨明]|外公|外婆|儿子|女儿|丈夫|妻子|老公|老婆|男友|女友|不再|打算",
    re.I,
)


def words_of(text: str) -> frozenset[str]:
    """The content words of a text; for Chinese, pairs of characters.

    >>> sorted(words_of("The cat and the sea")), sorted(words_of("橘猫豆豆"))
    (['cat', 'sea'], ['橘猫', '猫豆', '豆豆'])
    """
    lower = text.lower()
    if lower.isascii():
        return frozenset(_SPACED.findall(lower)) - tokenizer.FUNCTION_WORDS
    lower = lower.replace("’", "'")
    words = set(_SPACED.findall(lower)) - tokenizer.FUNCTION_WORDS
    for run in _UNSPACED.findall(lower):
        words.update(map(add, run, run[1:]) if len(run) > 1 else run)
    return frozenset(words)


def choose_complete_text(one: str, other: str) -> str:
    """Of two texts of near meaning, the one that contains all of the other; "" if each has something of its own: a
    name, a number, a day, a relative, a denial, a plan, or one word in the place of another.

    >>> choose_complete_text("Ana's mother died.", "Ana's father died.")
    ''
    >>> choose_complete_text("Ana paints at dusk.", "At dusk Ana likes to paint with Ben.")
    'At dusk Ana likes to paint with Ben.'
    """
    first, second = words_of(one), words_of(other)
    is_same_sentence = len(first & second) >= SAME_SENTENCE * max(len(first), len(second))
    if (
        denials(one) != denials(other)
        or bool(_PLAN.search(one)) != bool(_PLAN.search(other))
        or (is_same_sentence and first - second and second - first)
    ):
        return ""
    details, others = details_of(one), details_of(other)
    return one if others <= details else other if details <= others else ""


def details_of(text: str) -> frozenset[str]:
    """The names, numbers, days and relatives of a text."""
    names = (name.replace("’", "'").lower().removesuffix("'s") for name in _NAME.findall(text))
    return frozenset([*names, *(detail.lower() for detail in _DETAIL.findall(text))])


class ShownWords:
    """The words of the selected items, item by item and together."""

    def __init__(self) -> None:
        self._items: list[frozenset[str]] = []
        self._together: set[str] = set()

    def add(self, words: frozenset[str]) -> None:
        self._items.append(words)
        self._together |= words

    def contains_most(self, words: frozenset[str]) -> bool:
        """Whether one item contains nearly all of the words."""
        enough = SHOWN_SHARE * len(words)
        # Of most messages not even all items together contain as many.
        if len(words) < MIN_WORDS or len(words & self._together) < enough:
            return False
        return any(len(words & item) >= enough for item in self._items)
