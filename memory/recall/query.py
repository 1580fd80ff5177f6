"""What is asked: the user's recent lines as weighted words and as one vector."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from echovessel import embedding, words
from memory.recall import everyday

UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u31ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff]")
LATIN = re.compile("[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
# Of a very long line the first words say what it is about.
MOST_WORDS = 64


@dataclass(frozen=True)
class Query:
    """The recent lines, oldest first, each with its weight; and the words they ask for, each with its own."""

    turns: tuple[str, ...]
    weights: tuple[float, ...]
    words: Mapping[str, float]
    script: str


def asked(turns: Sequence[str], decay: float, names: Iterable[str] = ()) -> Query:
    """The query of `turns`, oldest first; each line back weighs `decay` of the one after it.

    Words of every day count less. `names` are those of the two who talk: they stand everywhere and say nothing, so
    their words do not count unless there are no others.

    >>> asked(["I got a cat", "Is Mira fond of it?"], 0.6, ["Mira"]).words
    {'fond': 1.0, 'got': 0.6, 'cat': 0.6}
    """
    spoken = tuple(turn for turn in turns if turn.strip())
    weights = tuple(decay**back for back in reversed(range(len(spoken))))
    weighed: dict[str, float] = {}
    for turn, weight in zip(reversed(spoken), reversed(weights), strict=True):
        for word in words.content_words(turn):
            weighed.setdefault(word, weight * (everyday.WEIGHT if word in everyday.everyday() else 1))
    theirs = {word for name in names for word in words.cut(name)}
    meant = {word: weight for word, weight in weighed.items() if word not in theirs}
    kept = dict(islice((meant or weighed).items(), MOST_WORDS))
    return Query(spoken, weights, kept, script_of(" ".join(spoken)))


def vector(query: Query) -> np.ndarray:
    """The weighted mean of the lines' vectors: (384,) float32, unit length. Raises EmbeddingUnavailable."""
    rows = embedding.embed(query.turns)
    mean = np.asarray(query.weights, dtype=np.float32) @ rows
    length = float(np.linalg.norm(mean))
    return (mean / length if length > 1e-6 else rows[-1]).astype(np.float32)


def script_of(text: str) -> str:
    """`unspaced` where characters of scripts without spaces make up a fair share of the letters, else `latin`
    where most letters are, else `other`."""
    unspaced, latin = len(UNSPACED.findall(text)), len(LATIN.findall(text))
    letters = sum(character.isalpha() for character in text)
    if unspaced * 4 > letters:
        return "unspaced"
    return "latin" if latin * 2 >= letters else "other"
