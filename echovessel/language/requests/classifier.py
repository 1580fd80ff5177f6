"""How likely a sentence asks the persona for something, and for what: a linear classifier over n-grams.

It decides whether to ASK about what the rules leave open, and nobody ever acts by it. `train` makes its weights from
sentences of the house (`lines/`), of others and of everyday talk. Figures: README.md of the package. Pure.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from echovessel.language.ngrams import counts, runs, weigh
from echovessel.language.requests.types import RequestKind

FILE = Path(__file__).with_name("classifier.npz")
KINDS = (RequestKind.FORGET, RequestKind.REMEMBER, RequestKind.CORRECTION, RequestKind.WISH, RequestKind.NAME)
# From this probability on the persona asks.
LIKELY = {"en": 0.36, "zh": 0.35}
LIKELY_WITH_HINT = 0.1
_HAN = re.compile("[\u3400-\u9fff]")
_TOKEN = re.compile(r"[a-z0-9']+|[^\sa-z0-9']")
# What is written short in chats is read as what it stands for.
_LONG = dict(
    re.findall(
        r"(\S+):(\S+)",
        "u:you ur:your r:are pls:please plz:please dont:don't thx:thanks w:with 2:to 4:for rmbr:remember abt:about "
        "msgs:messages msg:message n:and nxt:next dnt:don't im:i'm ive:i've cant:can't wont:won't doesnt:doesn't "
        "didnt:didn't isnt:isn't wasnt:wasn't thats:that's its:it's hes:he's shes:she's ya:you k:ok b:be bc:because "
        "cuz:because tmrw:tomorrow smth:something every1:everyone id:i'd ill:i'll tho:though y:why",
    )
)


def language_of(text: str) -> str:
    return "zh" if _HAN.search(text) else "en"


def features(text: str, previous: str = "") -> list[tuple[np.ndarray, np.ndarray]]:
    """The n-grams of a prepared text, gaps and first words among them, and how it relates to the message before."""
    plain = " ".join(text.lower().replace("\x00", " \x00 ").split())
    return counts((_chinese if language_of(plain) == "zh" else _english)(plain, previous.lower()))


def _english(plain: str, previous: str) -> Iterator[list[str]]:
    words = ["<", *(_LONG.get(word, word) for word in _TOKEN.findall(plain)), ">"]
    yield list(runs("w", words, 3, " "))
    yield [f"s{words[at]} {words[at + gap]}" for gap in (2, 3) for at in range(len(words) - gap)]
    yield [
        "c" + padded[start : start + length]
        for word in words[1:-1]
        for padded in [f" {word[:30]} "]
        for length in (3, 4, 5)
        for start in range(max(1, len(padded) - length + 1))
    ]
    telling = {word for word in words if len(word) > 3 or word.isdigit()}
    yield [*_context(telling, set(_TOKEN.findall(previous)), previous), "^" + words[1], "^" + " ".join(words[1:3])]


def _chinese(plain: str, previous: str) -> Iterator[list[str]]:
    from pypinyin import lazy_pinyin  # noqa: PLC0415  (its dictionaries cost 0.3 s: only where a Chinese message is)

    signs = ["<", *(sign for sign in plain if not sign.isspace()), ">"]
    yield list(runs("z", signs, 4, ""))
    yield [f"s{signs[at]} {signs[at + gap]}" for gap in (2, 3) for at in range(len(signs) - gap)]
    yield [sound for sound in runs("p", lazy_pinyin(plain), 3, " ") if " " in sound]
    yield _context(_pairs(plain), _pairs(previous), previous)


def _pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1) if _HAN.match(text[at]) and _HAN.match(text[at + 1])}


def _context(telling: set[str], before: set[str], previous: str) -> list[str]:
    if not previous:
        return ["first"]
    return ["later", "shared" if telling & before else "other", "asked" if previous.rstrip()[-1:] in "?？" else "told"]


def likely_kinds(
    texts: Sequence[str], previous: str = "", hints: Collection[tuple[str, RequestKind]] = ()
) -> list[RequestKind | None]:
    """What each text asks for, where it likely asks for something. A kind that the grammar leans to may be less likely.

    >>> likely_kinds(["keep off the subject of my dad pls", "my dad keeps bees"])
    [<RequestKind.WISH: 'wish'>, None]
    """
    kinds: list[RequestKind | None] = []
    for text in texts:
        language = language_of(text)
        rarity, weights, biases = _load()[language]
        buckets, values = weigh(features(text, previous), rarity)
        scores = values @ weights[buckets] + biases  # of none, and of KINDS
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        kind = KINDS[int(shares[1:].argmax())]
        least = LIKELY_WITH_HINT if (text, kind) in hints else LIKELY[language]
        kinds.append(kind if 1 - shares[0] >= least else None)
    return kinds


@cache
def _load() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    with np.load(FILE) as parts:
        return {
            language: (
                parts[f"{language}.rarity"].astype(np.float64),
                parts[f"{language}.weights"] * parts[f"{language}.scale"].astype(np.float64),
                parts[f"{language}.biases"],
            )
            for language in LIKELY
        }
