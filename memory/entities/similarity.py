"""How far what is remembered of two names suggests that both mean the same, and what follows. Pure.

The score is on the relevance scale of recall (1 - d/2 of unit vectors, d Euclidean), of the two most similar memories.
The bundled embedding model reads Chinese as dictionary words, and names become such words as well: 「小黑」 a small
black thing. Where its script is not Latin, the words that both memories share carry the score.

A score alone says little: "Ana's sister Anna lives in Lyon" and the same of Bea have 0.72, and of two words for one
uncle 0.75. So memories only count together with names that could be of one (spelling.py), or that are in two scripts,
as "Scott" and 「黄逸扬」 are.

    same   the one is the other's shorter form, and the score is at least `entities.same_score`
    ask    a transliteration or a similar spelling; or the names could be of one and the score is `entities.ask_score`
    other  anything else; and always where both stand in one memory

The figures on the table of pairs (tests/memory/entities/pairs.py) are checked in
tests/memory/entities/test_similarity.py.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import numpy as np

from echovessel.embeddings import embedding
from echovessel.language import tokenizer
from echovessel.language.person_names import normalize_name, occurs
from memory import knobs
from memory.entities import spelling
from memory.models import Entity
from memory.recall.query import script_of

Verdict = Literal["same", "ask", "other"]

ENOUGH_WORDS = 6  # fewer shared tokens than this are chance, however short the memory
UNRELATED = 1 - 2**0.5 / 2  # the relevance of vectors at a right angle: the lexical score begins there, too
SURE_TO_ASK = {"transliteration", "similar_spelling"}
COULD_BE_ONE = {"shared_name", "familiar_name", "other_script"}


@dataclass(frozen=True)
class Profile:
    """A name as it is known: all its forms, its kind, the memories it stands in with their vectors `(n, 384) float32,
    unit length`, and the names (normalised) of others in them."""

    names: Sequence[str]
    kind: str
    texts: Sequence[str]
    vectors: np.ndarray = field(repr=False)
    company: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Likeness:
    """What was found of two profiles. `reasons` are words of a fixed vocabulary, kept on a proposal."""

    verdict: Verdict
    score: float
    reasons: tuple[str, ...] = ()


def compatible(one: str, other: str) -> bool:
    """Whether two kinds can be of the same: equal, or one of them unknown."""
    return one == other or Entity.Kind.OTHER in (one, other)


def likeness(one: Profile, other: Profile, talking: Collection[str]) -> Likeness:
    """How like the two are. `talking` are the names of the two who talk: they stand everywhere and say nothing."""
    if not compatible(one.kind, other.kind):
        return Likeness("other", 0.0)
    kind = one.kind if other.kind == Entity.Kind.OTHER else other.kind
    reasons = spelling.reasons(one.names, other.names, kind, knobs.least_alike_spelling())
    if spelling.in_other_scripts(one.names, other.names):
        reasons.add("other_script")
    if not reasons or _stand_together(one, other):
        return Likeness("other", 0.0)
    score = round(context_score(one, other, talking), 3)
    return Likeness(_verdict(reasons, score), score, tuple(sorted(_told(reasons, one, other, score))))


def context_score(one: Profile, other: Profile, talking: Collection[str]) -> float:
    """The relevance of the two most similar memories, 0 … 1; 0 where there are none."""
    ignored = frozenset(token for name in (*one.names, *other.names, *talking) for token in tokenizer.tokenize(name))
    scores = [
        _relevance(first, one.vectors[row], second, other.vectors[column], ignored)
        for row, first in enumerate(one.texts)
        for column, second in enumerate(other.texts)
    ]
    return max(scores, default=0.0)


def nearest_bearer(profile: Profile, bearers: Mapping[int, Profile], talking: Collection[str]) -> int | None:
    """Of several who bear the same name, the one who is meant: near enough, with a clear lead over the next, and known
    by the same company or by another name as well; None where that cannot be told."""
    scored = sorted(((context_score(profile, known, talking), pk) for pk, known in bearers.items()), reverse=True)
    if not scored or scored[0][0] < knobs.same_score():
        return None
    best = bearers[scored[0][1]]
    corroborated = profile.company & best.company or len(_plain(profile) & _plain(best)) > 1
    return scored[0][1] if corroborated and _leads(scored) else None


def only_match(found: Mapping[int, Likeness]) -> int | None:
    """The one entity that is surely the same, or None: where a second is as likely, nobody can tell."""
    same = sorted(((one.score, pk) for pk, one in found.items() if one.verdict == "same"), reverse=True)
    return same[0][1] if same and _leads(same) else None


def _leads(scored: Sequence[tuple[float, int]]) -> bool:
    return len(scored) == 1 or scored[0][0] - scored[1][0] >= knobs.clear_margin()


def _verdict(reasons: Collection[str], score: float) -> Verdict:
    if "shared_name" in reasons and score >= knobs.same_score():
        return "same"
    if SURE_TO_ASK & set(reasons) or (COULD_BE_ONE & set(reasons) and score >= knobs.ask_score()):
        return "ask"
    return "other"


def _told(reasons: set[str], one: Profile, other: Profile, score: float) -> set[str]:
    also = {"similar_memories"} if score >= knobs.ask_score() else set()
    return reasons | also | ({"shared_company"} if one.company & other.company else set())


def _stand_together(one: Profile, other: Profile) -> bool:
    """Whether a memory names both: then they are two. "Scott" does not stand in "Scott Huang called"."""
    shared = _plain(one) & _plain(other)
    mine, theirs = ({name for name in side.names if normalize_name(name) not in shared} for side in (one, other))
    found = (_standing_in(text, mine | theirs) for text in (*one.texts, *other.texts))
    return any(standing & mine and standing & theirs for standing in found)


def _standing_in(text: str, names: Collection[str]) -> set[str]:
    """The names that stand in `text`, not counting those that are only a part of a longer one there."""
    standing = set()
    for name in sorted(names, key=lambda name: (-len(name), name)):
        if occurs(name, text):
            standing.add(name)
            text = re.sub(re.escape(name), "\N{BULLET}", text, flags=re.IGNORECASE)
    return standing


def _plain(profile: Profile) -> set[str]:
    return {normalize_name(name) for name in profile.names}


def _relevance(one: str, vector: np.ndarray, other: str, against: np.ndarray, ignored: frozenset[str]) -> float:
    if is_read(one) and is_read(other):
        return max(0.0, 1 - float(np.linalg.norm(vector - against)) / 2)
    return UNRELATED + (1 - UNRELATED) * _shared_words(one, other, ignored)


def is_read(text: str) -> bool:
    """Whether the embedding model knows the script of `text`; another model than the bundled one is trusted to."""
    return embedding.name() != embedding.BUNDLED or _script_of(text) == "latin"


_script_of = lru_cache(maxsize=2_048)(script_of)


def _shared_words(one: str, other: str, ignored: frozenset[str]) -> float:
    """Of the words that the shorter one holds, the share that the other holds as well."""
    first, second = _telling(one) - ignored, _telling(other) - ignored
    return len(first & second) / max(ENOUGH_WORDS, min(len(first), len(second)))


@lru_cache(maxsize=2_048)
def _telling(text: str) -> frozenset[str]:
    return frozenset(tokenizer.content_words(text))


def clear_cache() -> None:
    """Keep none of the memories that were compared."""
    for cached in (_script_of, _telling):
        cached.cache_clear()
